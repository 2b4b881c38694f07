import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { until } from '../../until.ts';
import { emptyReply, type Gateway, type Hit, type Reply, startGateway, statusOf } from '../gateway.ts';

const behindProxy = { trustedProxies: ['127.0.0.1'] };

/** Headers of a caller in a network. The test acts as a proxy that the gateway trusts. */
const callerOf = (name: string, network = '192.0.2.1') => ({
  'X-Api-User': name,
  'X-Api-Key': 'key',
  'X-Forwarded-For': network,
});

const write = (gateway: Gateway, name: string, caller = callerOf('u')): Promise<Reply> =>
  gateway.send('PUT', '/subusers/update', caller, `{"request":{"subUserName":"${name}"}}`);

/** Raw request line and headers of a write, without Content-Length. */
const writeHead = 'PUT /v2/subusers/update HTTP/1.1\r\nHost: x\r\nX-Api-User: u\r\nX-Api-Key: key\r\n';
const writeBody = '{"request":{"subUserName":"by hand"}}';

const read = (gateway: Gateway, caller: Record<string, string>): Promise<Reply> =>
  gateway.send('POST', '/json/reply/GetSearch', caller, '{}');

/** Makes the upstream hold its responses to writes until they are released. It answers reads at once. */
function holdWrites(gateway: Gateway) {
  const held: (() => void)[] = [];
  gateway.answer((hit: Hit, response) => {
    if (hit.path.includes('UpdateSubUser')) held.push(() => response.end(emptyReply));
    else response.end(emptyReply);
  });
  return {
    held: () => held.length,
    release: (count = held.length) => {
      for (const answer of held.splice(0, count)) answer();
    },
  };
}

/** Releases held responses until `hits` calls have arrived in total. */
async function releaseUntil(
  hits: number,
  gateway: Gateway,
  upstream: ReturnType<typeof holdWrites>,
): Promise<void> {
  for (;;) {
    upstream.release();
    if (gateway.hits.length === hits) break;
    await pause(5);
  }
}

const waiting = async (gateway: Gateway): Promise<number> => {
  const page = await (await fetch(`${gateway.running.url}/metrics`)).text();
  return Number(/^soapbridge_upstream_waiting\{contract="\/v2"\} (\d+)$/m.exec(page)?.[1]);
};

const outcomes = (gateway: Gateway): readonly (readonly [number, string])[] =>
  gateway
    .log()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ audit }) => audit === 'settled')
    .map(({ status, outcome }) => [status, outcome]);

test('upstreamQueueMs: a call that waits longer is an unsent 503 with Retry-After', async (t) => {
  const limits = {
    upstreamConnections: 2,
    upstreamQueueMs: 200,
    breakerCalls: 1,
    breakerFailingMs: 1,
    breakerProbeMs: 600_000,
  };
  const gateway = await startGateway(t, { limits });
  const upstream = holdWrites(gateway);
  const replies = Promise.all(Array.from({ length: 8 }, (_, index) => write(gateway, `w${index}`)));
  await until(() => gateway.log().split('"unsent"').length === 7);
  upstream.release();
  const shed = (await replies).filter(({ status }) => status !== 200);
  t.is(shed.length, 6);
  for (const reply of shed) {
    t.is(reply.status, 503);
    t.is(reply.headers['retry-after'], '1');
    t.is(statusOf(reply.text).errorCode, 'Overloaded');
  }
  t.is(gateway.hits.length, 2);
  await until(() => outcomes(gateway).length === 8);
  t.deepEqual(outcomes(gateway).toSorted(), [
    [200, 'answered'],
    [200, 'answered'],
    ...Array.from({ length: 6 }, () => [503, 'unsent'] as const),
  ]);
  t.is((await read(gateway, callerOf('u'))).status, 200);
  const longer = await startGateway(t, { limits: { ...limits, upstreamQueueMs: 600_000 } });
  const patient = holdWrites(longer);
  const all = Promise.all(Array.from({ length: 8 }, (_, index) => write(longer, `w${index}`)));
  await pause(400);
  await until(() => patient.held() === 2);
  await releaseUntil(8, longer, patient);
  t.true((await all).every(({ status }) => status === 200));
});

test('calls wait for one connection beyond inFlight, until the queue is full: the next one is 503 at once', async (t) => {
  const limits = { upstreamConnections: 1, inFlight: 10, queue: 2 };
  const gateway = await startGateway(t, { limits, isPatient: true });
  const upstream = holdWrites(gateway);
  // six calls of the operation have slots, two wait without
  const accepted = Array.from({ length: 8 }, (_, index) => write(gateway, `w${index}`));
  while ((await waiting(gateway)) < 7);
  const ninth = await write(gateway, 'w8');
  t.is(ninth.status, 503);
  t.is(ninth.headers['retry-after'], '1');
  const other = read(gateway, callerOf('u'));
  while ((await waiting(gateway)) < 8);
  const page = await (await fetch(`${gateway.running.url}/metrics`)).text();
  t.regex(page, /^soapbridge_upstream_shed_total\{contract="\/v2"\} 1$/m);
  t.regex(page, /^soapbridge_queued 2$/m);
  await releaseUntil(9, gateway, upstream);
  for (const reply of [...accepted, other]) t.is((await reply).status, 200);
  t.regex(await (await fetch(`${gateway.running.url}/metrics`)).text(), /^soapbridge_in_flight 0$/m);
});

test('the time limit of the first byte starts when a call is sent, not when it waits', async (t) => {
  const limits = { upstreamConnections: 1, upstreamFirstByteMs: 1_000 };
  const gateway = await startGateway(t, { limits });
  gateway.answer((_hit, response) => setTimeout(() => response.end(emptyReply), 250));
  const replies = await Promise.all(Array.from({ length: 6 }, (_, index) => write(gateway, `w${index}`)));
  t.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 200, 200, 200, 200],
  );
  const waits = gateway.log().match(/"queueMs":/g) ?? [];
  t.is(waits.length, 5);
});

test('a write that waits for a connection is not sent if its caller left', async (t) => {
  const gateway = await startGateway(t, { limits: { upstreamConnections: 1 } });
  const upstream = holdWrites(gateway);
  const first = write(gateway, 'first');
  await until(() => upstream.held() === 1);
  const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
  socket.write(`${writeHead}Content-Length: ${writeBody.length}\r\n\r\n${writeBody}`);
  while ((await waiting(gateway)) < 1);
  socket.resetAndDestroy();
  while ((await waiting(gateway)) > 0);
  upstream.release();
  t.is((await first).status, 200);
  await until(() => outcomes(gateway).length === 2);
  t.deepEqual(outcomes(gateway), [
    [499, 'unsent'],
    [200, 'answered'],
  ]);
  t.is((await read(gateway, callerOf('u'))).status, 200);
  t.false(gateway.hits.some(({ body: sent }) => sent.includes('by hand')));
});

for (const [what, harmful, another] of [
  ['one caller', () => callerOf('harmful'), callerOf('another')],
  ['one network', (count: number) => callerOf(`invented${count}`), callerOf('another', '192.0.2.2')],
  [
    'one operation',
    (count: number) => callerOf('u', `192.0.2.${count}`),
    callerOf('another', '198.51.100.1'),
  ],
] as const) {
  test(`${what} cannot use all connections: calls of others continue at once`, async (t) => {
    const limits = { upstreamConnections: 20 };
    const gateway = await startGateway(t, { limits, serve: behindProxy });
    const upstream = holdWrites(gateway);
    const slow = Promise.all(
      Array.from({ length: 60 }, (_, count) => write(gateway, `w${count}`, harmful(count))),
    );
    while ((await waiting(gateway)) < 40);
    for (let call = 0; call < 20; call++) t.is((await read(gateway, another)).status, 200);
    await releaseUntil(80, gateway, upstream);
    t.true((await slow).every(({ status }) => status === 200));
  });
}

test('a call sent late, after a slow body, is no failure of the upstream when its time ends', async (t) => {
  const limits = { totalMs: 2_000, breakerCalls: 1, breakerFailingMs: 1, breakerProbeMs: 600_000 };
  const gateway = await startGateway(t, { limits });
  gateway.answer((hit, response) => {
    if (hit.body.includes('quick')) response.end(emptyReply);
  });
  const slow = connect(gateway.port, '127.0.0.1').on('error', () => {});
  t.teardown(() => slow.destroy());
  slow.write(`${writeHead}Content-Length: ${writeBody.length}\r\n\r\n${writeBody.slice(0, 9)}`);
  await pause(500);
  slow.write(writeBody.slice(9));
  const [answer] = await once(slow, 'data');
  t.regex(String(answer), /^HTTP\/1\.1 504 /);
  t.is((await write(gateway, 'quick')).status, 200);
});

test('abandoned calls leave no connection in use', async (t) => {
  const gateway = await startGateway(t, { limits: { upstreamConnections: 2, upstreamFirstByteMs: 50 } });
  gateway.answer(() => {});
  for (let call = 0; call < 6; call++) t.is((await read(gateway, callerOf('u'))).status, 504);
  gateway.answer({ body: emptyReply });
  t.is((await read(gateway, callerOf('u'))).status, 200);
  t.is(await waiting(gateway), 0);
});

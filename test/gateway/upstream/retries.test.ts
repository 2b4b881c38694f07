import test from 'ava';
import { emptyReply, type Gateway, keyHeaders, type Reply, startGateway } from '../gateway.ts';

const read = (gateway: Gateway): Promise<Reply> =>
  gateway.send('POST', '/json/reply/GetSearch', keyHeaders, '{}');
const write = (gateway: Gateway): Promise<Reply> =>
  gateway.send('PUT', '/subusers/update', keyHeaders, '{"request":{"subUserName":"a"}}');

test('retrySavings: with two saved retries the first two of three failing reads are sent twice', async (t) => {
  const limits = { retryPercent: 0, retrySavings: 2, breakerCalls: 1_000 };
  const gateway = await startGateway(t, { limits });
  gateway.answer((_hit, response) => response.destroy());
  const sent: number[] = [];
  for (let call = 0; call < 3; call++) {
    await read(gateway);
    sent.push(gateway.hits.length);
  }
  t.deepEqual(sent, [2, 4, 5]);
});

test('retryPercent: at 50 every second failing read is sent twice', async (t) => {
  const limits = { retryPercent: 50, retrySavings: 1, breakerCalls: 1_000 };
  const gateway = await startGateway(t, { limits });
  gateway.answer((_hit, response) => response.destroy());
  const sent: number[] = [];
  for (let call = 0; call < 5; call++) {
    await read(gateway);
    sent.push(gateway.hits.length);
  }
  t.deepEqual(sent, [2, 3, 5, 6, 8]);
});

test('a write whose connection is reset is sent once', async (t) => {
  const gateway = await startGateway(t);
  gateway.answer((_hit, response) => response.socket?.resetAndDestroy());
  t.is((await write(gateway)).status, 502);
  t.is(gateway.hits.length, 1);
});

/** Makes the upstream answer its first call with 503 and a Retry-After, and each later call with a success. */
function busyOnce(gateway: Gateway, retryAfter: string | undefined): void {
  const headers = retryAfter === undefined ? {} : { 'Retry-After': retryAfter };
  gateway.answer((_hit, response) => {
    if (gateway.hits.length === 1) response.writeHead(503, headers).end();
    else response.end(emptyReply);
  });
}

test('retryAfterMs: a read with Retry-After: 1 is sent again, with 2 it is not', async (t) => {
  for (const [asked, status, hits] of [
    ['1', 200, 2],
    ['2', 503, 1],
  ] as const) {
    const gateway = await startGateway(t, { limits: { retryAfterMs: 1_000 } });
    busyOnce(gateway, asked);
    const reply = await read(gateway);
    t.is(reply.status, status);
    t.is(reply.headers['retry-after'], status === 503 ? asked : undefined);
    t.is(gateway.hits.length, hits);
    t.is(JSON.parse(gateway.log()).retry, hits === 2 ? true : undefined);
  }
});

for (const [what, asked, limits] of [
  ['without Retry-After', undefined, {}],
  ['whose Retry-After is a date', 'Fri, 31 Dec 1999 23:59:59 GMT', {}],
  ['that asks to wait beyond the deadline', '30', { totalMs: 20_000, retryAfterMs: 60_000 }],
  ['when there is no retry in the budget', '0', { retryPercent: 0, retrySavings: 0 }],
] as const) {
  test(`a 503 ${what} is passed on without a wait`, async (t) => {
    const gateway = await startGateway(t, { limits });
    busyOnce(gateway, asked);
    const reply = await read(gateway);
    t.is(reply.status, 503);
    t.is(reply.headers['retry-after'], asked);
    t.is(gateway.hits.length, 1);
  });
}

test('a write with a 503 and Retry-After: 0 is sent once', async (t) => {
  const gateway = await startGateway(t);
  busyOnce(gateway, '0');
  t.is((await write(gateway)).status, 503);
  t.is(gateway.hits.length, 1);
});

test('a read with a second 503 returns it, and is not sent a third time', async (t) => {
  const gateway = await startGateway(t);
  gateway.answer({ status: 503, headers: { 'retry-after': '0' } });
  t.is((await read(gateway)).status, 503);
  t.is(gateway.hits.length, 2);
});

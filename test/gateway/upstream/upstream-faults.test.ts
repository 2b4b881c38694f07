import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { folderOf } from '../../plain/folders.ts';
import { until } from '../../until.ts';
import {
  emptyReply,
  type Gateway,
  keyHeaders,
  type Reply,
  send,
  startGateway,
  statusOf,
} from '../gateway.ts';
import { startSockets } from '../sockets.ts';

// Numbers refer to the faults in docs/security.md. errors.test.ts contains the others.

const read = (gateway: Gateway): Promise<Reply> =>
  gateway.send('POST', '/json/reply/GetSearch', keyHeaders, '{}');
const write = (gateway: Gateway): Promise<Reply> =>
  gateway.send('PUT', '/subusers/update', keyHeaders, '{"request":{"subUserName":"a"}}');

function replyOf(body: string | Buffer, ...lines: readonly string[]): Buffer {
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  return Buffer.concat([
    Buffer.from(`${['HTTP/1.1 200 OK', length, ...lines].join('\r\n')}\r\n\r\n`),
    Buffer.from(body),
  ]);
}

test('fault 19: unknown members of a reply are dropped from XML and counted', async (t) => {
  const gateway = await startGateway(t);
  gateway.answer({ body: '{"data":{"responseStatus":{},"x":{"y":[1]},"z":1},"w":null}' });
  const reply = await gateway.send('POST', '/json/reply/GetSearch?format=xml', keyHeaders, '{}');
  t.is(reply.status, 200);
  t.false(/[<"][xyzw][>"]/i.test(reply.text), reply.text);
  t.is(JSON.parse(gateway.log()).noted.dropped, 3);
});

test('fault 26: an untrusted certificate, or no TLS at all, is 503 without a detail', async (t) => {
  const key = readFileSync(new URL('../../fixtures/tls/key.pem', import.meta.url));
  const cert = readFileSync(new URL('../../fixtures/tls/certificate.pem', import.meta.url));
  const tls = createTlsServer({ key, cert }, (socket) => socket.end(replyOf(emptyReply)));
  tls.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve));
  t.teardown(() => tls.close());
  const address = tls.address();
  const plain = await startSockets(t, (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  for (const port of [typeof address === 'object' ? address?.port : undefined, new URL(plain.url).port]) {
    const gateway = await startGateway(t, { serve: { upstreamUrl: `https://127.0.0.1:${port}` } });
    for (const call of [read, write]) {
      const reply = await call(gateway);
      t.is(reply.status, 503);
      t.is(statusOf(reply.text).errorCode, 'UpstreamUnavailable');
      t.is(statusOf(reply.text).message, 'the upstream is unavailable');
    }
    t.regex(gateway.log(), /"cause":"tls"/);
  }
});

test('an upstream that prefers HTTP/2 is offered only HTTP/1.1', async (t) => {
  const key = readFileSync(new URL('../../fixtures/tls/key.pem', import.meta.url));
  const cert = readFileSync(new URL('../../fixtures/tls/certificate.pem', import.meta.url));
  const offered: string[][] = [];
  const tls = createTlsServer({
    key,
    cert,
    ALPNCallback: ({ protocols }) => {
      offered.push(protocols);
      return protocols[0];
    },
  });
  tls.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve));
  t.teardown(() => tls.close());
  const address = tls.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const gateway = await startGateway(t, { serve: { upstreamUrl: `https://127.0.0.1:${port}` } });
  await write(gateway);
  t.deepEqual(offered, [['http/1.1']]);
});

test('a 205 with content is a 200, also for JSON callers', async (t) => {
  const chunk = `${emptyReply.length.toString(16)}\r\n${emptyReply}\r\n0\r\n\r\n`;
  const sockets = await startSockets(t, (socket) =>
    socket.write(`HTTP/1.1 205 Reset Content\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`),
  );
  const gateway = await startGateway(t, { serve: { upstreamUrl: sockets.url } });
  const reply = await read(gateway);
  t.is(reply.status, 200);
  t.is(reply.text, emptyReply);
});

test('fault 28: an unrequested gzip, bomb or not, is 502 and never unpacked', async (t) => {
  const bomb = gzipSync(Buffer.alloc(20_000_000, 32));
  const sockets = await startSockets(t, (socket) => socket.write(replyOf(bomb, 'Content-Encoding: gzip')));
  const gateway = await startGateway(t, { serve: { upstreamUrl: sockets.url } });
  const reply = await read(gateway);
  t.is(reply.status, 502);
  t.is(statusOf(reply.text).errorCode, 'UpstreamInvalidResponse');
});

for (const [coding, isChunked] of [
  ['gzip, chunked', true],
  ['gzip', false],
] as const)
  test(`fault 28: an unrequested transfer coding (${coding}) is 502 if it changes the bytes`, async (t) => {
    const packed = gzipSync('hello');
    const body = isChunked
      ? Buffer.concat([
          Buffer.from(`${packed.length.toString(16)}\r\n`),
          packed,
          Buffer.from('\r\n0\r\n\r\n'),
        ])
      : packed;
    const sockets = await startSockets(t, (socket) => {
      socket.write(`HTTP/1.1 201 Created\r\nTransfer-Encoding: ${coding}\r\n\r\n`);
      socket.end(body);
    });
    const gateway = await startGateway(t, {
      serve: { contract: folderOf('replies'), upstreamUrl: sockets.url },
    });
    const reply = await send(gateway.port, 'POST', '/json/reply/ranges', {}, '{}');
    t.is(reply.status, 502);
    t.true(reply.text.includes('UpstreamInvalidResponse'), reply.text);
    t.regex(gateway.log(), /a transfer coding that was not requested/);
  });

for (const [range, status] of [
  ['bytes 0-4/9', 502],
  ['bytes 4-8/9', 502],
  ['bytes 0-4/*', 502],
  ['bytes 0-4/5', 206],
  ['items 0-4/9', 206],
  [undefined, 206],
] as const)
  test(`fault 28: an unrequested partial response (${range}) is ${status === 502 ? '502, and the whole was expected' : 'the whole'}`, async (t) => {
    const head = range === undefined ? '' : `Content-Range: ${range}\r\n`;
    const sockets = await startSockets(t, (socket) =>
      socket.end(`HTTP/1.1 206 Partial Content\r\n${head}Content-Length: 5\r\n\r\nhello`),
    );
    const gateway = await startGateway(t, {
      serve: { contract: folderOf('replies'), upstreamUrl: sockets.url },
    });
    const reply = await send(gateway.port, 'POST', '/json/reply/ranges', {}, '{}');
    t.is(reply.status, status, reply.text);
    if (status === 502) t.regex(gateway.log(), /a partial response that was not requested/);
    else t.deepEqual(JSON.parse(reply.text), { StatusCode: 206, Body2XX: 'hello' });
  });

test('fault 29: a second response to one request reaches no other call, and its socket is closed', async (t) => {
  const other = '{"data":{"responseStatus":{"message":"of nobody’s call"}}}';
  const sockets = await startSockets(t, (socket) =>
    socket.write(Buffer.concat([replyOf(emptyReply), replyOf(other)])),
  );
  const limits = { upstreamConnections: 1 };
  const gateway = await startGateway(t, { limits, isPatient: true, serve: { upstreamUrl: sockets.url } });
  const replies = await Promise.all(Array.from({ length: 12 }, () => read(gateway)));
  for (const reply of replies) {
    t.true(reply.status === 200 || reply.status === 502, reply.text);
    t.false(reply.text.includes('of nobody'), reply.text);
  }
  await until(() => sockets.open() === 0);
});

test('fault 29: a response on a connection without a request belongs to no call', async (t) => {
  const early = '{"data":{"responseStatus":{"message":"too early"}}}';
  const seen = new Set<Socket>();
  const sockets = await startSockets(t, (socket) => {
    socket.write(replyOf(emptyReply));
    // wait until the first exchange has ended, so that the bytes arrive before the next one
    if (!seen.has(socket)) setTimeout(() => socket.writable && socket.write(replyOf(early)), 20);
    seen.add(socket);
  });
  const gateway = await startGateway(t, { serve: { upstreamUrl: sockets.url } });
  t.is((await read(gateway)).status, 200);
  await until(() => sockets.open() === 0);
  t.is((await read(gateway)).text, emptyReply);
});

// --- the circuit breaker ----------------------------------------------------------------------------------

/** Headers of a caller in a network. The test acts as a proxy that the gateway trusts. */
const callerOf = (name: string, network = '192.0.2.1') => ({
  'X-Api-User': name,
  'X-Api-Key': 'key',
  'X-Forwarded-For': network,
});

const behindProxy = { trustedProxies: ['127.0.0.1'] };

const search = (gateway: Gateway, headers: Record<string, string>, id = 1): Promise<Reply> =>
  gateway.send('POST', '/json/reply/GetSearch', headers, `{"request":{"id":${id}}}`);

/** Makes the upstream answer a search for id 500 with status 500, and all other calls with success. */
function failOn500(gateway: Gateway): void {
  gateway.answer((hit, response) => {
    if (hit.body.includes('"id":500')) response.statusCode = 500;
    response.end(emptyReply);
  });
}

/** Repeats a call until it is rejected, as the circuit breaker does after `breakerFailingMs`. */
async function untilRefused(call: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    const reply = await call();
    if (reply.status === 503) return reply;
  }
}

test('a caller whose calls cause 500 has no effect on calls of others, at one address or several', async (t) => {
  const limits = { breakerCalls: 5, breakerFailingMs: 1 };
  const gateway = await startGateway(t, { limits, serve: behindProxy });
  failOn500(gateway);
  for (let round = 0; round < 20; round++) {
    for (let call = 0; call < 6; call++) await search(gateway, callerOf('harmful'), 500);
    t.is((await search(gateway, callerOf('another'))).status, 200);
    for (let call = 0; call < 6; call++) await search(gateway, callerOf('harmful'), 500);
    t.is((await search(gateway, callerOf('harmful', '192.0.2.2'))).status, 200);
  }
});

test('a network with any number of callers has no effect on calls of other networks', async (t) => {
  const limits = { breakerCalls: 5, breakerFailingMs: 1, breakerProbeMs: 600_000 };
  const gateway = await startGateway(t, { limits, serve: behindProxy });
  failOn500(gateway);
  let made = 0;
  await untilRefused(() => search(gateway, callerOf(`invented${made++}`), 500));
  t.is((await search(gateway, callerOf('harmful'), 500)).status, 503);
  t.is((await search(gateway, callerOf('another', '192.0.2.2'))).status, 200);
});

test('faults 22 and 30: an operation whose calls all fail is refused, except for probes', async (t) => {
  const gateway = await startGateway(t, {
    limits: { breakerFailingMs: 50, breakerCalls: 20, breakerProbeMs: 400 },
  });
  gateway.answer((_hit, response) => response.destroy());
  const first = await untilRefused(() => write(gateway));
  const sent = gateway.hits.length;
  t.true(sent >= 20);
  t.is((await gateway.send('POST', '/json/reply/GetSearch', callerOf('u'), '{}')).status, 502);
  gateway.answer({ body: emptyReply });
  const refused: Reply[] = [first];
  let answered: Reply | undefined;
  while (answered === undefined) {
    const reply = await write(gateway);
    if (reply.status === 503) refused.push(reply);
    else answered = reply;
  }
  for (const reply of refused) {
    t.is(reply.headers['retry-after'], '1');
    t.is(statusOf(reply.text).errorCode, 'UpstreamUnavailable');
  }
  t.is(answered.status, 200);
  t.is((await write(gateway)).status, 200);
  const told = gateway
    .log()
    .split('\n')
    .filter((line) => line.includes('"breaker":'))
    .map((line) => JSON.parse(line));
  t.deepEqual(
    told.map(({ breaker, operation }) => [breaker, operation]),
    [
      ['open', 'UpdateSubUser'],
      ['closed', 'UpdateSubUser'],
    ],
  );
});

test('one caller’s failures to connect refuse all calls until the upstream is reachable again', async (t) => {
  const gone = await startSockets(t, () => {});
  const { port } = new URL(gone.url);
  gone.close();
  const gateway = await startGateway(t, {
    limits: { breakerFailingMs: 50, breakerCalls: 5, breakerProbeMs: 300 },
    serve: { ...behindProxy, upstreamUrl: gone.url },
  });
  // A call without a connection also gets 503, but without Retry-After.
  while ((await search(gateway, callerOf('u'))).headers['retry-after'] === undefined);
  while ((await search(gateway, callerOf('another', '192.0.2.2'))).headers['retry-after'] !== '1');
  const metrics = await (await fetch(`${gateway.running.url}/metrics`)).text();
  t.regex(metrics, /^soapbridge_upstream_breaker_open\{contract="\/v2"\} 1$/m);
  // The upstream is available again. It answers the probe with 500, which also proves that it is available.
  const back = createServer((_request, response) => response.writeHead(500).end());
  await new Promise<void>((resolve) => back.listen(Number(port), '127.0.0.1', resolve));
  t.teardown(() => {
    back.closeAllConnections();
    back.close();
  });
  while ((await search(gateway, callerOf('u'))).status !== 502);
  t.is((await search(gateway, callerOf('another', '192.0.2.2'))).status, 502);
});

/** Makes calls in sequence and returns their statuses. The upstream breaks off the calls marked in `failing`. */
async function callInTurn(gateway: Gateway, failing: readonly boolean[]): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (const fails of failing) {
    if (fails) gateway.answer((_hit, response) => response.destroy());
    else gateway.answer({ body: emptyReply });
    statuses.push((await write(gateway)).status);
  }
  return statuses;
}

const long = 600_000;

test('breakerCalls: two failures keep the breaker closed, three open it, a success resets', async (t) => {
  const limits = { breakerCalls: 3, breakerFailingMs: 1, breakerWindowMs: long, breakerProbeMs: long };
  const calls = [true, true, false, true, true, true, false];
  const statuses = await callInTurn(await startGateway(t, { limits }), calls);
  t.deepEqual(statuses, [502, 502, 200, 502, 502, 502, 503]);
});

test('breakerFailingMs: an operation that failed that long is refused, a shorter failure is not', async (t) => {
  for (const [breakerFailingMs, last] of [
    [long, 200],
    [100, 503],
  ] as const) {
    const limits = { breakerCalls: 2, breakerFailingMs, breakerProbeMs: long };
    const gateway = await startGateway(t, { limits });
    await callInTurn(gateway, [true]);
    await pause(300);
    t.deepEqual(await callInTurn(gateway, [true, false]), [502, last]);
  }
});

test('breakerWindowMs: failures within it count, earlier ones do not', async (t) => {
  for (const [breakerWindowMs, last] of [
    [long, 503],
    [100, 200],
  ] as const) {
    const limits = { breakerCalls: 2, breakerFailingMs: 1, breakerWindowMs, breakerProbeMs: long };
    const gateway = await startGateway(t, { limits });
    await callInTurn(gateway, [true]);
    await pause(300);
    t.deepEqual(await callInTurn(gateway, [true, false]), [502, last]);
  }
});

test('breakerProbeMs: an open breaker sends a probe after it, and none before', async (t) => {
  for (const [breakerProbeMs, status] of [
    [long, 503],
    [100, 200],
  ] as const) {
    const limits = { breakerCalls: 1, breakerFailingMs: 1, breakerProbeMs };
    const gateway = await startGateway(t, { limits });
    gateway.answer((_hit, response) => setTimeout(() => response.destroy(), 20));
    t.is((await write(gateway)).status, 502);
    await pause(300);
    t.deepEqual(await callInTurn(gateway, [false, false]), [status, status]);
  }
});

test('breakerNetworks: a network may try if two of three failed, and not if two of two failed', async (t) => {
  for (const [breakerNetworks, status] of [
    [3, 200],
    [2, 503],
  ] as const) {
    const limits = { breakerCalls: 2, breakerFailingMs: 1, breakerProbeMs: long, breakerNetworks };
    const gateway = await startGateway(t, { limits, serve: behindProxy });
    gateway.answer((_hit, response) => setTimeout(() => response.writeHead(500).end(), 20));
    for (const network of ['192.0.2.1', '2001:db8:1::1'])
      t.is((await search(gateway, callerOf('u', network))).status, 502);
    gateway.answer({ body: emptyReply });
    t.is((await search(gateway, callerOf('u', '2001:db8:2::1'))).status, status);
  }
});

// --- a 503 with Retry-After -------------------------------------------------------------------------------

/** Makes the upstream answer its first call with 503 and a Retry-After, and each later call with a success. */
function busyOnce(gateway: Gateway, retryAfter: string | undefined): void {
  const headers = retryAfter === undefined ? {} : { 'Retry-After': retryAfter };
  gateway.answer((_hit, response) => {
    if (gateway.hits.length === 1) response.writeHead(503, headers).end();
    else response.end(emptyReply);
  });
}

test('a read is not sent again if its caller leaves during the wait for Retry-After', async (t) => {
  const gateway = await startGateway(t, { limits: { retryAfterMs: 30_000 } });
  busyOnce(gateway, '30');
  const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
  socket.write(post('GetSearch', '{}'));
  await until(() => gateway.hits.length === 1);
  socket.resetAndDestroy();
  await until(() => gateway.log() !== '');
  t.is(JSON.parse(gateway.log()).status, 499);
  t.is(gateway.running.load().inFlight, 0);
  t.is(gateway.hits.length, 1);
});

// --- a caller that disconnects ----------------------------------------------------------------------------

const post = (path: string, body: string): string =>
  `POST /v2/json/reply/${path} HTTP/1.1\r\nHost: x\r\nX-Api-User: u\r\nX-Api-Key: key\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

for (const [how, leave] of [
  ['resets', (socket: Socket) => socket.resetAndDestroy()],
  ['closes', (socket: Socket) => socket.end()],
] as const) {
  test(`a caller that ${how} its connection during a read aborts it upstream`, async (t) => {
    const gateway = await startGateway(t);
    const aborted = new Promise<void>((resolve) => {
      gateway.answer((_hit, response) => response.on('close', resolve));
    });
    const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
    socket.write(post('GetSearch', '{}'));
    await until(() => gateway.hits.length === 1);
    leave(socket);
    await aborted;
    await until(() => gateway.log() !== '');
    const { status, aborted: gone } = JSON.parse(gateway.log());
    t.deepEqual({ status, gone }, { status: 499, gone: true });
    gateway.answer({ body: emptyReply });
    t.is((await read(gateway)).status, 200);
  });
}

test('a write whose caller leaves is finished, and its outcome is logged', async (t) => {
  const gateway = await startGateway(t);
  let finish: (() => void) | undefined;
  let cut = false;
  gateway.answer((_hit, response) => {
    response.on('close', () => {
      cut = !response.writableFinished;
    });
    finish = () => response.end(emptyReply);
  });
  const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
  socket.write(post('UpdateSubUser', '{"request":{"subUserName":"a"}}'));
  await until(() => finish !== undefined);
  socket.resetAndDestroy();
  await once(socket, 'close');
  // If the disconnect ended the call, it would have ended before another call is answered.
  await gateway.send('GET', '?wsdl');
  t.false(cut);
  finish?.();
  await until(() => gateway.log().includes('"transport":"json"'));
  const line =
    gateway
      .log()
      .split('\n')
      .find((text) => text.includes('"transport":"json"')) ?? '';
  const { status, aborted } = JSON.parse(line);
  t.deepEqual({ status, aborted }, { status: 200, aborted: true });
  t.false(cut);
});

test('a read that waits for a connection is not sent if its caller left', async (t) => {
  const gateway = await startGateway(t, { limits: { upstreamConnections: 1 } });
  let release: (() => void) | undefined;
  gateway.answer((_hit, response) => {
    release = () => response.end(emptyReply);
  });
  const first = read(gateway);
  await until(() => release !== undefined);
  const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
  socket.write(post('GetSearch', '{"request":{"id":2}}'));
  await until(() => gateway.running.load().inFlight === 2);
  socket.resetAndDestroy();
  await until(() => gateway.running.load().inFlight === 1);
  release?.();
  t.is((await first).status, 200);
  gateway.answer({ body: emptyReply });
  t.is((await read(gateway)).status, 200);
  t.false(gateway.hits.some(({ body }) => body.includes('"id":2')));
});

test('an unrequested interim response is skipped, and the following response is used', async (t) => {
  const interim = 'HTTP/1.1 100 Continue\r\nX: y\r\n\r\n';
  const answer = replyOf(emptyReply).toString();
  const whole = Array.from(interim + interim + answer);
  for (const parts of [
    [interim + answer],
    [interim, answer],
    [interim + interim, answer],
    [`${interim}HTTP/1.1 103 Early Hints\r\n\r\n${answer}`],
    whole,
  ]) {
    const upstream = await startSockets(t, (socket) => {
      socket.setNoDelay();
      const send = (at: number): void => {
        if (at < parts.length) socket.write(parts[at] ?? '', () => setImmediate(send, at + 1));
      };
      send(0);
    });
    const gateway = await startGateway(t, { serve: { upstreamUrl: upstream.url } });
    for (const call of [write, read, write]) t.is((await call(gateway)).status, 200, parts[0]);
    t.is(upstream.count(), 3);
  }
});

test('a body that looks like an interim response is unchanged', async (t) => {
  const body = '{"data":{"subUser":{"name":"HTTP/1.1 100 Continue\\r\\n\\r\\n"}}}';
  const text = replyOf(body).toString();
  const at = text.indexOf('HTTP/1.1 100');
  const upstream = await startSockets(t, (socket) => {
    socket.write(text.slice(0, at));
    setTimeout(() => socket.write(text.slice(at)), 20);
  });
  const gateway = await startGateway(t, { serve: { upstreamUrl: upstream.url } });
  t.is((await write(gateway)).text, body);
});

test('an undefined HTTP status is 502, whatever its body', async (t) => {
  const gateway = await startGateway(t);
  for (const status of [600, 999]) {
    for (const body of [emptyReply, '{"responseStatus":{"errorCode":"E","message":"m"}}', '']) {
      gateway.answer({ status, body });
      for (const call of [read, write]) t.is((await call(gateway)).status, 502);
    }
  }
});

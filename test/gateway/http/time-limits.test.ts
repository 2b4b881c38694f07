import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { createPages } from '../../../console/server/pages.ts';
import type { Limits } from '../../../mappings/contract/limits.ts';
import { until } from '../../until.ts';
import { emptyReply, type Gateway, keyHeaders, startGateway, statusOf } from '../gateway.ts';

/** A slow exchange, and the status if it exceeds a limit. */
interface Row {
  /** The limit that the exchange exceeds. */
  readonly limits: Partial<Limits>;
  readonly what: string;
  /** Returns the status of the reply. If `goesOn` is false, the exchange never ends on its own. */
  readonly exchange: (t: ExecutionContext, gateway: Gateway, goesOn: boolean) => Promise<number>;
  readonly beyond: number;
}

/** Longer than the limits in these tests, shorter than their defaults. */
const pauseMs = 400;

const head = 'POST /v2/json/reply/GetSearch HTTP/1.1\r\nHost: x\r\nX-Api-User: u\r\nX-Api-Key: key\r\n';

/**
 * Sends the pieces with a pause before each except the first, and returns the status. Sends only the first if `goesOn`
 * is false.
 */
async function inPieces(
  t: ExecutionContext,
  { port }: Gateway,
  goesOn: boolean,
  pieces: readonly string[],
): Promise<number> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  t.teardown(() => socket.destroy());
  const answered = once(socket, 'data');
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await pause(pauseMs);
    socket.write(piece);
    if (!goesOn) break;
  }
  return statusIn(await answered);
}

const statusIn = ([chunk]: readonly unknown[]): number => Number(String(chunk).slice(9, 12));

/** Makes a call that the upstream answers in pieces, with a pause before each. */
async function repliedInPieces(
  { answer, send }: Gateway,
  operation: string,
  goesOn: boolean,
  pieces: readonly string[],
): Promise<number> {
  answer(async (_hit, response) => {
    for (const [index, piece] of pieces.entries()) {
      if (index === pieces.length - 1 && !goesOn) return;
      await pause(pauseMs);
      response.write(piece);
    }
    response.end();
  });
  return (await send('POST', `/json/reply/${operation}`, keyHeaders, '{}')).status;
}

const bodyInPieces: Row['exchange'] = (t, gateway, goesOn) =>
  inPieces(t, gateway, goesOn, [`${head}Content-Length: 2\r\n\r\n{`, '}']);

const rows: readonly Row[] = [
  {
    // longer than the others, because connecting counts too, and the reply is 503 if that takes all the time
    limits: { totalMs: 2_000 },
    what: 'a call',
    exchange: (_t, gateway, goesOn) => repliedInPieces(gateway, 'GetSearch', goesOn, [emptyReply]),
    beyond: 504,
  },
  {
    limits: { headersMs: 1_000 }, // on a busy machine, the head arrives later than the connection
    what: 'headers',
    exchange: (t, gateway, goesOn) => inPieces(t, gateway, goesOn, [head, 'Content-Length: 2\r\n\r\n{}']),
    beyond: 408,
  },
  {
    limits: { bodyMs: 100 },
    what: 'a body',
    exchange: bodyInPieces,
    beyond: 408,
  },
  {
    limits: { bodyIdleMs: 100 },
    what: 'the pause in a body',
    exchange: bodyInPieces,
    beyond: 408,
  },
  {
    limits: { bodySlowMs: 100 },
    what: 'a body slower than bodyBytesPerSecond',
    exchange: bodyInPieces,
    beyond: 408,
  },
  {
    limits: { upstreamFirstByteMs: 100 },
    what: 'the wait for an answer',
    exchange: (_t, gateway, goesOn) => repliedInPieces(gateway, 'GetSearch', goesOn, [emptyReply]),
    beyond: 504,
  },
  {
    limits: { upstreamIdleMs: 100 },
    what: 'the pause in an answer',
    exchange: (_t, gateway, goesOn) =>
      repliedInPieces(gateway, 'GetSearch', goesOn, [emptyReply.slice(0, 9), emptyReply.slice(9)]),
    beyond: 504,
  },
];

test('upstreamFirstByteMs: a response with base64 may take 1.5 times as long', async (t) => {
  const gateway = await startGateway(t, { limits: { upstreamFirstByteMs: 400 } });
  const began = performance.now();
  t.is(await repliedInPieces(gateway, 'GetPdf', false, [emptyReply]), 504);
  t.true(performance.now() - began >= 590);
});

for (const { limits, what, exchange, beyond } of rows) {
  const [limit] = Object.keys(limits);
  test(`${limit}: ${what} may take that long; ${beyond} after it`, async (t) => {
    t.is(await exchange(t, await startGateway(t), true), 200);
    t.is(await exchange(t, await startGateway(t, { limits }), false), beyond);
  });
}

test('bodyBytesPerSecond: after bodySlowMs a slower body is 408, a faster one is read', async (t) => {
  for (const [bodyBytesPerSecond, status] of [
    [1, 200],
    [1_000_000, 408],
  ] as const) {
    const gateway = await startGateway(t, { limits: { bodySlowMs: 100, bodyBytesPerSecond } });
    const pieces = [`${head}Content-Length: 1002\r\n\r\n{${' '.repeat(996)}`, ...'    }'];
    t.is(await inPieces(t, gateway, true, pieces), status);
  }
});

test('writeSlowMs and writeBytesPerSecond: a reply read slower than the rate is cut', async (t) => {
  const bytes = 30_000_000;
  for (const [writeBytesPerSecond, isWhole] of [
    [1_000, true],
    [1_000_000_000, false],
  ] as const) {
    const gateway = await startGateway(t, { limits: { writeSlowMs: 100, writeBytesPerSecond } });
    gateway.answer({ body: emptyReply.padEnd(bytes) });
    const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
    t.teardown(() => socket.destroy());
    socket.pause();
    socket.write(`${head}Connection: close\r\nContent-Length: 2\r\n\r\n{}`);
    const load = () => gateway.running.load();
    while (load().leaving === 0) await pause(10);
    if (isWhole)
      await pause(2_200); // the time is checked once a second
    else while (load().leaving > 0) await pause(10);
    await once(socket.resume(), 'close');
    t.is(socket.bytesRead > bytes, isWhole);
  }
});

test('writeSlowMs and writeBytesPerSecond: apply to pages and monitoring replies too', async (t) => {
  const id = 'x'.repeat(64); // the reply contains it twice
  for (const [path, more, requests] of [
    ['/v2/docs/-/contract', '', 3_000],
    ['/metrics', '', 3_000],
    ['/v2/docs/GetSearch', `X-Request-Id: ${id}\r\nExpect: tea\r\n`, 20_000],
  ] as const) {
    const gateway = await startGateway(t, {
      serve: { pages: createPages },
      limits: { writeSlowMs: 100, writeBytesPerSecond: 1_000_000_000, requestsPerSocket: 30_000 },
    });
    await gateway.send('GET', path.slice('/v2'.length));
    const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
    t.teardown(() => socket.destroy());
    socket.pause();
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`.repeat(requests));
    const load = () => gateway.running.load();
    await until(() => gateway.log().includes('"cut":true'));
    while (load().leaving > 0) await pause(10);
    t.is(load().heldBytes, 0);
  }
});

test('keepAliveMs: a connection may be idle that long between requests, then it is closed', async (t) => {
  const get = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
  const open = async (keepAliveMs: number): Promise<Socket> => {
    const { port } = await startGateway(t, { limits: { keepAliveMs } });
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    t.teardown(() => socket.destroy());
    socket.write(get);
    t.is(statusIn(await once(socket, 'data')), 200);
    return socket;
  };
  const kept = await open(60_000);
  await pause(pauseMs);
  kept.write(get);
  t.is(statusIn(await once(kept, 'data')), 200);
  await once((await open(100)).resume(), 'close');
});

test('upstreamConnectMs: an upstream that accepts no connection in that time is 503', async (t) => {
  // a process that listens and never accepts: connections beyond its backlog get no answer
  const deaf = spawn(process.execPath, ['-e', deafServer], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => deaf.kill('SIGKILL'));
  const port = Number((await once(deaf.stdout, 'data'))[0]);
  for (let count = 0; count < 8; count++) {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    t.teardown(() => socket.destroy());
  }
  await pause(pauseMs);
  const gateway = await startGateway(t, {
    limits: { upstreamConnectMs: 100 },
    serve: { upstreamUrl: `http://127.0.0.1:${port}` },
  });
  const reply = await gateway.send('PUT', '/subusers/update', keyHeaders, '{"request":{"subUserName":"a"}}');
  t.is(reply.status, 503);
  t.is(statusOf(reply.text).errorCode, 'UpstreamUnavailable');
});

const deafServer = `
  const { createServer } = require('node:net');
  const { writeSync } = require('node:fs');
  const server = createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    writeSync(1, String(server.address().port));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
`;

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import test, { type ExecutionContext } from 'ava';
import { emptyReply, type Gateway, keyHeaders, startGateway } from '../gateway.ts';

// The time that one body blocks the event loop does not grow with the body.

const megabyte = 1_000_000;
const documents = fileURLToPath(new URL('../../fire/figures/documents', import.meta.url));

/** Measures how many more bytes are held after each event-loop iteration. */
function watchTurns({ running }: Gateway): () => readonly number[] {
  const came: number[] = [];
  let before = running.load().heldBytes;
  let isOver = false;
  const look = (): void => {
    const { heldBytes } = running.load();
    came.push(heldBytes - before);
    before = heldBytes;
    if (!isOver) setImmediate(look);
  };
  look();
  return () => {
    isOver = true;
    return came;
  };
}

/**
 * A client in a thread of its own, with connections that all send the same data at once and read the replies. The
 * thread posts a message when it has begun, and then the replies of all connections when they have ended.
 */
async function callerAside(
  t: ExecutionContext,
  port: number,
  head: string,
  body: string,
  connections = 1,
): Promise<Worker> {
  const code = `const { parentPort, workerData: { port, head, body, connections } } = require('node:worker_threads');
    const sockets = Array.from({ length: connections }, () => require('node:net').connect(port, '127.0.0.1'));
    const came = sockets.map(() => '');
    let open = connections;
    let left = connections;
    for (const [index, socket] of sockets.entries()) {
      socket.once('connect', () => {
        if (--left > 0) return;
        for (const one of sockets) one.write(head + body);
        parentPort.postMessage('begun');
      });
      socket.on('error', () => {}).on('data', (piece) => { came[index] += piece; });
      socket.on('close', () => {
        if (--open === 0) parentPort.postMessage(connections === 1 ? came[0] : came);
      });
    }`;
  const worker = new Worker(code, { eval: true, workerData: { port, head, body, connections } });
  t.teardown(() => worker.terminate());
  await once(worker, 'message');
  return worker;
}

/** Blocks the event loop, so that all data that arrives meanwhile is available in the next iteration. */
function hold(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test.serial(
  'little more than maxIterationBytes of a large request body is read in one event-loop iteration',
  async (t) => {
    const gateway = await startGateway(t, { serve: { contract: documents } });
    const body = '{}'.padEnd(15 * megabyte);
    const turns = watchTurns(gateway);
    const caller = await callerAside(
      t,
      gateway.port,
      `POST /json/reply/convert HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`,
      body,
    );
    const reply = once(caller, 'message');
    hold(200);
    t.regex(String((await reply)[0]), /^HTTP\/1\.1 20/);
    const most = turns().reduce((left, right) => Math.max(left, right));
    t.true(most <= 512 * 1024, `${most}`);
  },
);

test.serial('eight of many large request bodies are read in one event-loop iteration', async (t) => {
  const gateway = await startGateway(t, { serve: { contract: documents } });
  const body = '{}'.padEnd(3 * megabyte);
  const turns = watchTurns(gateway);
  const head = `POST /json/reply/convert HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
  const caller = await callerAside(t, gateway.port, head, body, 32);
  const [came] = await once(caller, 'message');
  t.is(came.filter((reply: string) => reply.startsWith('HTTP/1.1 20')).length, 32);
  // all bodies begin together; without the limit, about 50 iterations would each read 2 MiB
  const many = turns().filter((bytes) => bytes > 1024 * 1024);
  t.true(many.length <= 8, `${many}`);
});

test.serial(
  'little more than maxIterationBytes of a large response is read in one event-loop iteration',
  async (t) => {
    const gateway = await startGateway(t);
    const body = Buffer.from(emptyReply.padEnd(15 * megabyte));
    gateway.answer((_hit, response) => {
      response.write(body);
      hold(100);
      response.end();
    });
    const turns = watchTurns(gateway);
    const reply = await gateway.send('POST', '/json/reply/GetSearch', keyHeaders, '{}');
    t.is(reply.text.length, body.length);
    const most = turns().reduce((left, right) => Math.max(left, right));
    t.true(most <= 512 * 1024, `${most}`);
  },
);

test.serial('eight of many large responses are read in one event-loop iteration', async (t) => {
  const gateway = await startGateway(t);
  const body = Buffer.from(emptyReply.padEnd(3 * megabyte));
  const waiting: (() => void)[] = [];
  gateway.answer((_hit, response) => {
    waiting.push(() => {
      response.write(body); // a response without Content-Length
      response.end();
    });
    if (waiting.length === 32) for (const answer of waiting) answer();
  });
  const turns = watchTurns(gateway);
  const keys = Object.entries(keyHeaders)
    .map((header) => `${header.join(': ')}\r\n`)
    .join('');
  const head = `POST /v2/json/reply/GetSearch HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${keys}Content-Length: 2\r\n\r\n`;
  const caller = await callerAside(t, gateway.port, head, '{}', 32);
  const [came] = await once(caller, 'message');
  t.is(came.filter((reply: string) => reply.startsWith('HTTP/1.1 200')).length, 32);
  const many = turns().filter((bytes) => bytes > 1024 * 1024);
  t.true(many.length <= 8, `${many}`);
});

test.serial(
  'reading of a body in chunks of one byte stops after the packet with too many of them',
  async (t) => {
    const gateway = await startGateway(t);
    const head = 'POST /v2/soap11 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    const caller = await callerAside(t, gateway.port, head, '1\r\n \r\n'.repeat(megabyte));
    const reply = once(caller, 'message');
    hold(200);
    const [came] = await reply;
    t.regex(String(came), /^HTTP\/1\.1 413[\s\S]*got smaller chunks/);
  },
);

/** Returns the maximum number of requests whose head is parsed in one event-loop iteration. */
function watchParsing(t: ExecutionContext): () => number {
  let most = 0;
  let parsed = 0;
  let isOver = false;
  const count = (): void => {
    parsed += 1;
  };
  subscribe('http.server.request.start', count);
  t.teardown(() => unsubscribe('http.server.request.start', count));
  const look = (): void => {
    most = Math.max(most, parsed);
    parsed = 0;
    if (!isOver) setImmediate(look);
  };
  look();
  return () => {
    isOver = true;
    return most;
  };
}

// without slices: 25 and more, and 170,000
for (const [what, body, bound] of [
  ['chunks of one byte', '1\r\n \r\n'.repeat(50_000), 8],
  ['requests in a row', 'GET /v2/nothing HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(5_000), 20_000],
] as const) {
  test.serial(
    `${what} on fifty connections at once are not all parsed in one event-loop iteration`,
    async (t) => {
      const head = body.startsWith('GET')
        ? ''
        : 'POST /v2/soap11 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
      const gateway = await startGateway(t);
      const most = watchParsing(t);
      const caller = await callerAside(t, gateway.port, head, body, 50);
      const replies = once(caller, 'message');
      hold(300);
      const [came]: [readonly string[]] = (await replies) as [readonly string[]];
      t.true(came.every((reply) => reply === '' || /^HTTP\/1\.1 4\d\d/.test(reply)));
      t.true(most() <= bound, `${most()} requests in one iteration`);
    },
  );
}

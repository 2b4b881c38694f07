import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import test, { type ExecutionContext } from 'ava';
import { watchCpu } from '../cpu-turns.ts';
import { emptyReply, type Gateway, keyHeaders, startGateway } from '../gateway.ts';

// What one body holds the event loop for doesn't grow with the body.

const megabyte = 1_000_000;
const documents = fileURLToPath(new URL('../../fire/figures/documents', import.meta.url));

/** Looks in each turn of the event loop how many bytes came to be held; gives the most. */
function watchTurns({ running }: Gateway): () => number {
  let most = 0;
  let before = running.load().heldBytes;
  let isOver = false;
  const look = (): void => {
    const { heldBytes } = running.load();
    most = Math.max(most, heldBytes - before);
    before = heldBytes;
    if (!isOver) setImmediate(look);
  };
  look();
  return () => {
    isOver = true;
    return most;
  };
}

/** A caller in a thread of its own, which sends what it is given and takes what comes; told where it is when it has begun. */
async function callerAside(t: ExecutionContext, port: number, head: string, body: string): Promise<Worker> {
  const code = `const { parentPort, workerData: { port, head, body } } = require('node:worker_threads');
    const socket = require('node:net').connect(port, '127.0.0.1', () => {
      socket.write(head + body);
      parentPort.postMessage('begun');
    });
    let came = '';
    socket.on('error', () => {}).on('data', (piece) => { came += piece; });
    socket.on('close', () => parentPort.postMessage(came));`;
  const worker = new Worker(code, { eval: true, workerData: { port, head, body } });
  t.teardown(() => worker.terminate());
  await once(worker, 'message');
  return worker;
}

/** Keeps the event loop to itself: what comes meanwhile is all there in the next turn. */
function hold(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test.serial('of a large request body little more than turnBytes is taken in one turn', async (t) => {
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
  const most = turns();
  t.true(most <= 512 * 1024, `${most}`);
});

test.serial('of a large reply of the upstream little more than turnBytes is taken in one turn', async (t) => {
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
  const most = turns();
  t.true(most <= 512 * 1024, `${most}`);
});

test.serial(
  'a body in chunks of one byte is read no further than what came together with too many of them',
  async (t) => {
    const gateway = await startGateway(t);
    const turns = watchCpu();
    const head = 'POST /v2/soap11 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    const caller = await callerAside(t, gateway.port, head, '1\r\n \r\n'.repeat(megabyte));
    const reply = once(caller, 'message');
    hold(200);
    turns.reset();
    const [came] = await reply;
    const longest = turns.end();
    t.regex(String(came), /^HTTP\/1\.1 413[\s\S]*got smaller ones/);
    t.true(longest < 90, `${longest} ms of CPU in one turn`); // what has come takes 1 µs a chunk to parse
  },
);

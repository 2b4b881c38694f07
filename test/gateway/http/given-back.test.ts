import { EventEmitter, once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import test, { type ExecutionContext } from 'ava';
import type { Task } from '../../../gateway/protocols/read-thread.ts';
import type { Limits } from '../../../mappings/contract/limits.ts';
import {
  authentication,
  elementText,
  envelope,
  keyHeaders,
  startGateway,
  typesNamespace,
} from '../gateway.ts';

// The memory of large requests is released at once, without waiting for V8's garbage collection. The sizes of released
// buffers are recorded here.

const files = fileURLToPath(new URL('../../siege/files', import.meta.url));
const given: number[] = [];
const { transfer } = ArrayBuffer.prototype;
ArrayBuffer.prototype.transfer = function (this: ArrayBuffer, length?: number) {
  if (length === 0) given.push(this.byteLength);
  return transfer.call(this, length);
};

/** Emits an event, named after the kind of message, for each task that is sent to a thread. */
const posted = new EventEmitter();
const { postMessage } = Worker.prototype;
Worker.prototype.postMessage = function (this: Worker, task: Task, memory) {
  posted.emit(task.message.kind);
  postMessage.call(this, task, memory);
};

const update = (bytes: number): string => JSON.stringify({ request: { subUserName: 'a'.repeat(bytes) } });

async function startLarge(t: ExecutionContext, limits: Partial<Limits> = {}) {
  const gateway = await startGateway(t, { limits: { bodyBytes: 8_000_000, xmlText: 8_000_000, ...limits } });
  const call = (bytes: number) => gateway.send('PUT', '/subusers/update', keyHeaders, update(bytes));
  return { gateway, call };
}

for (const [where, readAsideBytes] of [
  ['beside the event loop', 1],
  ['on the event loop', 8_000_000],
] as const) {
  test(`the memory of a large body read ${where} is freed after it was sent upstream`, async (t) => {
    const { gateway, call } = await startLarge(t, { readAsideBytes });
    t.is((await call(2_000_000)).status, 200);
    const sent = gateway.hits[0]?.body.length ?? 0;
    t.true(sent > 2_000_000);
    t.true(given.includes(sent), `expected ${sent} among ${given.join(' ')}`);
  });
}

test('the memory of a large body that exceeds the capacity on its way upstream is freed', async (t) => {
  const { gateway } = await startLarge(t, { readAsideBytes: 1, heldBytes: 2_500_000 });
  const text = '"'.repeat(1_500_000); // 3 MB in JSON
  const request = `<UpdateSubUser xmlns="${typesNamespace}">${authentication}<Request><SubUserName>${text}</SubUserName></Request></UpdateSubUser>`;
  const reply = await gateway.send(
    'POST',
    '/soap11',
    { 'Content-Type': 'text/xml' },
    envelope('1.1', { body: request }),
  );
  t.is(elementText(reply.text, 'ErrorCode'), 'Overloaded');
  t.is(gateway.hits.length, 0);
  t.true(
    given.some((length) => length > 3_000_000),
    given.join(' '),
  );
});

/** Calls the contract of files, and returns the reply. */
async function readFile({ port }: { readonly port: number }, signal?: AbortSignal): Promise<string> {
  const call = request({
    port,
    path: '/soap11',
    method: 'POST',
    signal,
    headers: { 'Content-Type': 'text/xml' },
  });
  call.end(envelope('1.1', { body: '<read xmlns="urn:Files"/>' }));
  const [response] = await once(call, 'response');
  return text(response);
}

const notesOf = (letters: number): string => JSON.stringify({ notes: ['&'.repeat(letters)] });
const hasGiven = (least: number, before: number): boolean =>
  given.slice(before).some((length) => length >= least);

test.serial('the memory of a reply for a disconnected caller is freed', async (t) => {
  const gateway = await startGateway(t, { serve: { contract: files }, limits: { replyAsideBytes: 1 } });
  gateway.answer({ body: notesOf(2_000_000) });
  const left = new AbortController();
  const before = given.length;
  const isRead = once(posted, 'reply');
  readFile(gateway, left.signal).catch(() => {});
  await isRead;
  left.abort();
  while (!hasGiven(10_000_000, before)) await setImmediate();
  t.pass();
});

/** Reads a file of many `&`, which take five times as much memory in XML, with memory for only a part of that. */
async function readWithoutRoom(t: ExecutionContext, replyAsideBytes: number, letters: number) {
  const gateway = await startGateway(t, {
    serve: { contract: files },
    limits: { replyAsideBytes, heldBytes: letters * 2 },
  });
  gateway.answer({ body: notesOf(letters) });
  const before = given.length;
  t.is(elementText(await readFile(gateway), 'code'), 'Overloaded');
  return hasGiven(letters * 5, before);
}

test.serial('the memory of a reply that exceeds the capacity after writing is freed', async (t) => {
  t.true(await readWithoutRoom(t, 8_000_000, 6_600_000), given.join(' '));
});

test.serial('a reply read in a worker thread that exceeds the capacity stays in the thread', async (t) => {
  t.false(await readWithoutRoom(t, 1, 4_100_000), given.join(' '));
});

test.serial('the memory of an abandoned upstream response is freed', async (t) => {
  const gateway = await startGateway(t, {
    serve: { contract: files },
    limits: { replyBytesWithBinary: 5_300_000 },
  });
  gateway.answer((_hit, response) => {
    for (let count = 0; count < 11; count++) response.write('x'.repeat(500_000)); // a response without Content-Length
    response.end();
  });
  const before = given.length;
  t.is(elementText(await readFile(gateway), 'code'), 'UpstreamInvalidResponse');
  await setImmediate();
  // the 8 bytes are zeros after the data
  const segments = given.slice(before).filter((length) => length === 1_048_576 + 8);
  t.true(segments.length >= 5, given.join(' '));
});

test.serial('the memory of a discarded request body is freed chunk by chunk', async (t) => {
  const gateway = await startGateway(t);
  const caller = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true }).resume();
  t.teardown(() => caller.destroy());
  const before = given.length;
  caller.write('POST /v2/json/reply/GetSearch HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n');
  await once(caller, 'end'); // the request is rejected before any of its body arrives
  caller.end(Buffer.alloc(12_000_000));
  await once(caller, 'close');
  t.true(given.length - before >= 50, `${given.length - before}`);
});

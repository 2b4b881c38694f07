import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import type { Limits } from '../../../mappings/contract/limits.ts';
import { until } from '../../until.ts';
import {
  authentication,
  elementText,
  emptyReply,
  envelope,
  type Gateway,
  keyHeaders,
  type Reply,
  startGateway as startBase,
  statusOf,
  typesNamespace,
} from '../gateway.ts';

const kilobyte = 1_000;
const megabyte = 1_000 * kilobyte;

/** A gateway without time limits for calls, because some of these tests take a minute on a busy machine. */
const startGateway = (
  t: ExecutionContext,
  options: { readonly limits?: Partial<Limits> } = {},
): Promise<Gateway> => startBase(t, { ...options, isPatient: true });

/** A gateway with an upstream that holds every call until it is released. */
async function startHeld(t: ExecutionContext, limits: Partial<Limits>) {
  const gateway = await startGateway(t, { limits });
  const held: (() => void)[] = [];
  gateway.answer((_hit, response) => held.push(() => response.end(emptyReply)));
  return { gateway, held };
}

const headOf = (headers: string): string =>
  `POST /v2/json/reply/GetSearch HTTP/1.1\r\nHost: x\r\nX-Api-User: u\r\nX-Api-Key: key\r\n${headers}\r\n\r\n`;

const readOf = ({ send }: Gateway, bytes: number): Promise<Reply> =>
  send('POST', '/json/reply/GetSearch', keyHeaders, '{}'.padEnd(bytes));

const write = ({ send }: Gateway): Promise<Reply> =>
  send('PUT', '/subusers/update', keyHeaders, '{"request":{"subUserName":"a"}}');

const otherWrite = ({ send }: Gateway): Promise<Reply> =>
  send('POST', '/json/reply/RenewAllPepSearches', keyHeaders, '{"request":{}}');

/** A body that has partly arrived. */
interface Coming {
  readonly socket: Socket;
  readonly status: Promise<number>;
  /** Sends the rest of the body. */
  readonly end: () => void;
}

async function startBody(
  t: ExecutionContext,
  gateway: Gateway,
  came: number,
  bytes: number,
): Promise<Coming> {
  const { arriving, heldBytes } = gateway.running.load();
  const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
  t.teardown(() => socket.destroy());
  const status = Promise.race([
    once(socket, 'data').then(([chunk]) => Number(String(chunk).slice(9, 12))),
    once(socket, 'close').then(() => 0),
  ]);
  socket.write(`${headOf(`Content-Length: ${bytes}`)}${'{}'.padEnd(came)}`);
  const { running } = gateway;
  await until(() => running.load().arriving !== arriving || running.load().heldBytes !== heldBytes);
  return { socket, status, end: () => socket.write(' '.repeat(bytes - came)) };
}

test('heldBytes: large bodies may fill it; one more byte gets 503; small bodies are always read', async (t) => {
  const { gateway, held } = await startHeld(t, { heldBytes: 400 * kilobyte, readAsideBytes: megabyte });
  const calls: Promise<Reply>[] = [];
  const start = async (bytes: number): Promise<void> => {
    const { length } = held;
    calls.push(readOf(gateway, bytes));
    await until(() => held.length > length);
  };
  await start(2);
  // counts the body as received and as sent upstream, with its credentials
  const more = (gateway.hits[0]?.body.length ?? 0) - 2;
  const most = 400 * kilobyte - gateway.running.load().heldBytes;
  t.is((await readOf(gateway, (most - more) / 2 + 1)).status, 503);
  await start(130 * kilobyte);
  const left = (most - 2 * 130 * kilobyte - more - more) / 2;
  t.is((await readOf(gateway, left + 1)).status, 503);
  await start(left);
  await start(60 * kilobyte);
  for (const release of held) release();
  for (const call of calls) t.is((await await call).status, 200);
  t.is(gateway.running.load().heldBytes, 0);
});

test('without capacity a large upstream response is refused for a read, not for a write', async (t) => {
  const gateway = await startGateway(t, { limits: { heldBytes: megabyte } });
  for (const [bytes, status] of [
    [megabyte - 100, 200],
    [megabyte + 1, 503],
  ] as const) {
    gateway.answer({ body: emptyReply.padEnd(bytes) });
    t.is((await readOf(gateway, 2)).status, status);
    t.is((await write(gateway)).status, 200);
  }
  await until(() => gateway.running.load().heldBytes === 0);
});

test('a large request counts as received and as sent; in a worker thread only as sent', async (t) => {
  for (const [readAsideBytes, times] of [
    [megabyte, 2],
    [1, 1],
  ] as const) {
    const { gateway, held } = await startHeld(t, { readAsideBytes });
    const bytes = 100 * kilobyte;
    const call = readOf(gateway, bytes);
    await until(() => held.length === 1);
    const { heldBytes } = gateway.running.load();
    t.true(heldBytes >= bytes * times && heldBytes < bytes * times + kilobyte, `${heldBytes}`);
    held[0]?.();
    t.is((await call).status, 200);
  }
});

test('slow bodies use no slots: a complete call is served whatever bodies are arriving', async (t) => {
  const gateway = await startGateway(t, { limits: { inFlight: 1, queue: 0 } });
  const coming = [];
  for (let count = 0; count < 5; count++) coming.push(await startBody(t, gateway, 10, 20));
  t.is(gateway.running.load().arriving, 5);
  t.is(gateway.running.load().inFlight, 0);
  t.is((await readOf(gateway, 2)).status, 200);
  for (const { end, status } of coming) {
    end();
    t.is(await status, 200);
  }
});

test('a complete body waits in the queue if all slots are used, and gets 503 if the queue is full', async (t) => {
  const { gateway, held } = await startHeld(t, { inFlight: 1, queue: 1 });
  const coming = [await startBody(t, gateway, 10, 20), await startBody(t, gateway, 10, 20)];
  const going = readOf(gateway, 2);
  await until(() => held.length === 1);
  coming[0]?.end();
  await until(() => gateway.running.load().queued === 1);
  coming[1]?.end();
  t.is(await coming[1]?.status, 503);
  held[0]?.();
  await until(() => held.length === 2);
  held[1]?.();
  t.is(await coming[0]?.status, 200);
  t.is((await going).status, 200);
});

test('arriving: two bodies may be slow; a third evicts the slowest, with 503', async (t) => {
  const gateway = await startGateway(t, { limits: { arriving: 2 } });
  const slow = await startBody(t, gateway, 2, 100 * kilobyte);
  const fast = await startBody(t, gateway, 50 * kilobyte, 100 * kilobyte);
  t.is(gateway.running.load().arriving, 2);
  const third = await startBody(t, gateway, 50 * kilobyte, 100 * kilobyte);
  t.is(await slow.status, 503);
  for (const { end, status } of [fast, third]) {
    end();
    t.is(await status, 200);
  }
});

test('arrivingBytes: only bodies beyond their share are evicted for a reply, the slowest first', async (t) => {
  for (const [arrivingBytes, bodyStatus, replyStatus] of [
    [300 * kilobyte, 200, 503],
    [300 * kilobyte - 1, 503, 200],
  ] as const) {
    const gateway = await startGateway(t, { limits: { heldBytes: 700 * kilobyte, arrivingBytes } });
    gateway.answer({ body: emptyReply });
    const { end, status } = await startBody(t, gateway, 300 * kilobyte, 301 * kilobyte);
    await until(() => gateway.running.load().heldBytes === 300 * kilobyte);
    gateway.answer({ body: emptyReply.padEnd(450 * kilobyte) });
    t.is((await readOf(gateway, 2)).status, replyStatus);
    gateway.answer({ body: emptyReply });
    end();
    t.is(await status, bodyStatus);
  }
});

test('leavingBytes: only slow replies beyond their share are cut when another needs memory', async (t) => {
  const big = 30 * megabyte;
  const body = emptyReply.padEnd(big);
  for (const [leavingBytes, isCut] of [
    [big, false],
    [big - 1, true],
  ] as const) {
    const gateway = await startGateway(t, { limits: { heldBytes: 40 * megabyte, leavingBytes } });
    gateway.answer({ headers: { 'content-length': String(big) }, body });
    const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
    t.teardown(() => socket.destroy());
    const closed = once(socket, 'close');
    socket.pause();
    socket.write(`${headOf('Content-Length: 2')}{}`);
    await until(() => gateway.running.load().leaving === 1);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    if (!isCut) {
      t.is((await readOf(gateway, 2)).status, 503);
      continue;
    }
    // the part that the system accepted at once still counts for a while
    while ((await readOf(gateway, 2)).status !== 200)
      await new Promise((resolve) => setTimeout(resolve, 100));
    socket.resume();
    await closed;
    t.true(socket.bytesRead < big);
  }
});

for (const [how, headers] of [
  ['its length known', true],
  ['in chunks', false],
] as const) {
  test(`replies of writes, ${how}, wait for memory: all are complete, and at most one exceeds it`, async (t) => {
    const heldBytes = 4 * megabyte;
    const bytes = 3 * megabyte;
    // a reply in transit still counts, and blocks the others while memory is short
    const limits = { heldBytes, leavingBytes: megabyte, roomWaits: 64 };
    const gateway = await startGateway(t, { limits });
    const body = Buffer.from(emptyReply.padEnd(bytes));
    gateway.answer((_hit, response) => {
      if (headers) response.setHeader('content-length', bytes);
      response.end(body);
    });
    let most = 0;
    const looks = setInterval(() => {
      most = Math.max(most, gateway.running.load().heldBytes);
    }, 1);
    t.teardown(() => clearInterval(looks));
    for (const reply of await Promise.all(Array.from({ length: 12 }, () => write(gateway)))) {
      t.is(reply.status, 200);
      t.is(reply.text.length, bytes);
    }
    t.true(most <= heldBytes + bytes + 12 * 70 * kilobyte, `${most}`);
    await until(() => gateway.running.load().heldBytes === 0);
  });
}

test('replies of writes that grow five times in XML are written one at a time', async (t) => {
  const bytes = 4 * megabyte;
  const heldBytes = 40 * megabyte;
  const limits = { heldBytes, leavingBytes: megabyte, roomWaits: 64 };
  const gateway = await startGateway(t, { limits });
  const load = () => gateway.running.load();
  const body = Buffer.from(`{"data":{"subUser":{"name":"${'&'.repeat(bytes)}"},"responseStatus":{}}}`);
  const call = envelope('1.1', {
    body: `<UpdateSubUser xmlns="${typesNamespace}">${authentication}<Request><SubUserName>a</SubUserName></Request></UpdateSubUser>`,
  });
  const ends: (() => void)[] = [];
  gateway.answer((_hit, response) => {
    response.setHeader('content-length', body.length);
    response.write(body.subarray(0, -1));
    ends.push(() => response.end(body.subarray(-1)));
  });
  const replies = Array.from({ length: 6 }, () => gateway.send('POST', '/soap11', {}, call));
  await until(() => ends.length === 6 && load().heldBytes >= 6 * bytes);
  // these would all fit without one reply that its client does not read
  gateway.answer({ body });
  const idle = connect(gateway.port, '127.0.0.1');
  t.teardown(() => idle.destroy());
  idle.pause();
  idle.write(`POST /v2/soap11 HTTP/1.1\r\nHost: x\r\nContent-Length: ${call.length}\r\n\r\n${call}`);
  await until(() => load().leaving === 1);
  for (const end of ends) end();
  await new Promise((resolve) => setTimeout(resolve, 300));
  let most = 0;
  const looks = setInterval(() => {
    most = Math.max(most, load().heldBytes);
  }, 1);
  t.teardown(() => clearInterval(looks));
  idle.resume();
  for (const reply of await Promise.all(replies)) {
    t.is(reply.status, 200);
    t.is(elementText(reply.text, 'Name')?.length, 5 * bytes);
  }
  t.true(most <= heldBytes + 5 * bytes, `${most}`);
});

test('roomWaits: one write starts while one waits; the next gets 503 unless replies are small', async (t) => {
  for (const [roomWaits, status] of [
    [3, 200],
    [2, 503],
  ] as const) {
    const gateway = await startGateway(t, { limits: { heldBytes: 100 * kilobyte, roomWaits } });
    const ends: (() => void)[] = [];
    gateway.answer((_hit, response) => {
      if (ends.length === 3) response.end(emptyReply);
      else {
        // more than there is memory for, so only one at a time is accepted
        response.write(emptyReply.padEnd(200 * kilobyte));
        ends.push(() => response.end());
      }
    });
    const first = [write(gateway), write(gateway), write(gateway)];
    await until(() => gateway.running.load().heldBytes > 300 * kilobyte && ends.length === 3);
    const { length } = gateway.hits;
    const last = await write(gateway);
    t.is(last.status, status);
    if (status === 503) {
      t.is(statusOf(last.text).errorCode, 'Overloaded');
      t.is(gateway.hits.length, length);
    }
    t.is((await otherWrite(gateway)).status, 200);
    for (const end of ends) end();
    for (const reply of first) t.is((await reply).status, 200);
  }
});

test('unpacking: two bodies are unpacked at once, a third waits, or gets 503 with a full queue', async (t) => {
  const body = gzipSync(Buffer.alloc(64 * megabyte, 'no JSON'), { level: 1 });
  const limits = { unpacking: 2, bodyBytes: 65 * megabyte, compressionRatio: 10_000 };
  for (const [queue, good] of [
    [1, 3],
    [0, 2],
  ] as const) {
    const gateway = await startGateway(t, { limits: { ...limits, queue } });
    const coming = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
        t.teardown(() => socket.destroy());
        const answered = once(socket, 'data').then(([chunk]) => Number(String(chunk).slice(9, 12)));
        socket.write(headOf(`Content-Encoding: gzip\r\nContent-Length: ${body.length}`));
        socket.write(body.subarray(0, -1));
        return { socket, answered };
      }),
    );
    await until(() => gateway.running.load().heldBytes === (body.length - 1) * 3);
    for (const { socket } of coming) socket.write(body.subarray(-1));
    const statuses = await Promise.all(coming.map(({ answered }) => answered));
    t.is(statuses.filter((status) => status === 400).length, good, statuses.join());
  }
});

test('small unread replies count for a connection that sends requests and reads nothing', async (t) => {
  const gateway = await startGateway(t);
  gateway.answer({ body: emptyReply.padEnd(60 * kilobyte) });
  const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
  t.teardown(() => socket.destroy());
  socket.pause();
  socket.write(`${headOf('Content-Length: 2')}{}`.repeat(400));
  await until(() => gateway.running.load().leaving > 0);
  t.true(gateway.running.load().heldBytes >= 60 * kilobyte);
  socket.destroy();
  await until(() => gateway.running.load().heldBytes === 0);
});

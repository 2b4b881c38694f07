import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import test from 'ava';
import { Admission } from '../../../gateway/admission/admission.ts';
import type { Slot } from '../../../gateway/admission/permits.ts';
import { isLoopback } from '../../../gateway/http/networks.ts';
import { defaultLimits, type Limits } from '../../../mappings/contract/limits.ts';
import { until } from '../../until.ts';
import {
  emptyReply,
  envelope,
  type Gateway,
  keyHeaders,
  type Reply,
  startGateway,
  statusOf,
} from '../gateway.ts';

const newSlot = (): Slot => ({ admitted: false, enteredAfter: 0, heldBytes: 0, stats: { queueMs: 0 } });

const read = ({ send }: Gateway, id = 1): Promise<Reply> =>
  send('POST', '/json/reply/GetSearch', keyHeaders, `{"request":{"id":${id}}}`);

/** Starts a gateway whose upstream holds every call until it is released. */
async function startHeld(t: Parameters<typeof startGateway>[0], limits: Partial<Limits>) {
  const gateway = await startGateway(t, { limits });
  const held: (() => void)[] = [];
  gateway.answer((_hit, response) => held.push(() => response.end(emptyReply)));
  return { gateway, held };
}

test('calls that wait for a slow upstream cause no 503 when the event loop is late', (t) => {
  const admission = new Admission({ ...defaultLimits, loopDelayMs: 100, loopDelayInFlight: 2 });
  const begin = (): Slot => {
    const place = newSlot();
    t.is(admission.enter(place), undefined);
    return place;
  };
  const parked = [begin(), begin(), begin()];
  admission.observeDelay(500);
  t.throws(() => admission.enter(newSlot()), { message: 'too many requests are waiting' });
  admission.observeDelay(500);
  const young = [begin(), begin()];
  t.throws(() => admission.enter(newSlot()), { message: 'too many requests are waiting' });
  for (const place of young) admission.release(place);
  admission.observeDelay(500);
  for (const place of parked) admission.release(place);
  const next = [begin(), begin()];
  t.throws(() => admission.enter(newSlot()), { message: 'too many requests are waiting' });
  for (const place of next) admission.release(place);
  t.is(admission.load().inFlight, 0);
});

test('inFlight and queue: two calls run, a third waits, a fourth is rejected unread', async (t) => {
  const { gateway, held } = await startHeld(t, { inFlight: 2, queue: 1, queueMs: 60_000 });
  t.is((await gateway.send('GET', '?wsdl')).status, 200); // writes the WSDL now
  const going = [read(gateway), read(gateway)];
  await until(() => held.length === 2);
  const waiting = read(gateway);
  await until(() => gateway.running.load().queued === 1);
  const json = await read(gateway);
  t.is(json.status, 503);
  t.is(json.headers['retry-after'], '1');
  t.is(statusOf(json.text).errorCode, 'Overloaded');
  const soap = await gateway.send('POST', '/soap11', {}, envelope('1.1'));
  t.is(soap.status, 503);
  t.is(soap.headers['retry-after'], '1');
  t.is(soap.headers['content-type'], 'text/plain; charset=utf-8');
  const route = await gateway.send('GET', '/dbs/1', keyHeaders);
  t.is(statusOf(route.text).errorCode, 'Overloaded');
  // a request without a single byte of its body
  const head = 'POST /v2/soap12 HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\n';
  t.regex(await gateway.raw(head), /^HTTP\/1\.1 503 .*\r\nRetry-After: 1\r\n/is);
  t.regex(
    await gateway.raw(head.replace('\r\n\r\n', '\r\nExpect: 100-continue\r\n\r\n')),
    /^HTTP\/1\.1 503 /,
  );
  // health checks and WSDL requests are still served
  t.regex(await gateway.raw('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'), / 200 /);
  t.is((await gateway.send('GET', '?wsdl')).status, 200);
  t.is(held.length, 2);
  held.shift()?.();
  await until(() => held.length === 2);
  for (const release of held) release();
  for (const call of [...going, waiting]) t.is((await call).status, 200);
  t.deepEqual(gateway.running.load(), {
    inFlight: 0,
    queued: 0,
    arriving: 0,
    leaving: 0,
    heldBytes: 0,
    shed: 5,
  });
});

test('queueMs: a call that waited that long for a slot is rejected with 503', async (t) => {
  const { gateway, held } = await startHeld(t, { inFlight: 1, queueMs: 50 });
  const going = read(gateway);
  await until(() => held.length === 1);
  const reply = await read(gateway);
  t.is(reply.status, 503);
  t.is(statusOf(reply.text).errorCode, 'Overloaded');
  t.is(gateway.running.load().queued, 0);
  held[0]?.();
  t.is((await going).status, 200);
});

test('a rejected call keeps its connection, and the next call on it is served', async (t) => {
  const { gateway, held } = await startHeld(t, { inFlight: 1, queue: 0 });
  const going = read(gateway);
  await until(() => held.length === 1);
  const body = envelope('1.1');
  const call = `POST /v2/soap11 HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const socket = connect(gateway.port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.write(call);
  const [shed] = await once(socket, 'data');
  t.regex(String(shed), /^HTTP\/1\.1 503 .*\r\nConnection: keep-alive\r\n/is);
  held[0]?.();
  await going;
  gateway.answer({ body: emptyReply });
  socket.write(call);
  const [served] = await once(socket, 'data');
  t.regex(String(served), /^HTTP\/1\.1 200 /);
});

test('the bytes of a reply count until its caller has read them', async (t) => {
  const gateway = await startGateway(t);
  const big = 24 * 1024 * 1024;
  gateway.answer({ body: emptyReply.padEnd(big) });
  const socket = connect(gateway.port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.pause();
  socket.write(
    'POST /v2/json/reply/GetSearch HTTP/1.1\r\nHost: x\r\nX-Api-User: u\r\nX-Api-Key: key\r\nContent-Length: 2\r\n\r\n{}',
  );
  await until(() => gateway.running.load().leaving === 1);
  t.true(gateway.running.load().heldBytes >= big);
  t.is(gateway.running.load().inFlight, 0);
  socket.resume();
  await until(() => gateway.running.load().heldBytes === 0);
  t.is(gateway.running.load().leaving, 0);
});

test('writeIdleMs: the connection of a caller that reads nothing of its reply is closed', async (t) => {
  const gateway = await startGateway(t, { limits: { writeIdleMs: 100 } });
  gateway.answer({ body: emptyReply.padEnd(24 * 1024 * 1024) });
  const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
  t.teardown(() => socket.destroy());
  socket.pause();
  socket.write(
    'POST /v2/json/reply/GetSearch HTTP/1.1\r\nHost: x\r\nX-Api-User: u\r\nX-Api-Key: key\r\nContent-Length: 2\r\n\r\n{}',
  );
  await until(() => gateway.running.load().leaving === 1);
  await until(() => gateway.running.load().leaving === 0);
  t.is(gateway.running.load().heldBytes, 0);
});

test('writeIdleMs: a CONNECT request after the call does not keep its connection open', async (t) => {
  const { port, running } = await startGateway(t, { limits: { writeIdleMs: 100, writeSlowMs: 60_000 } });
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  t.teardown(() => socket.destroy());
  socket.pause();
  const get = 'GET /v2/soap11?wsdl HTTP/1.1\r\nHost: x\r\n\r\n'; // 100 KB
  socket.write(`${get.repeat(200)}CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n`);
  await until(() => running.load().leaving === 1);
  await until(() => running.load().leaving === 0);
  t.is(running.load().heldBytes, 0);
});

test('a slot is given to the longest waiting call, or released if none waits', async (t) => {
  const admission = new Admission({ ...defaultLimits, inFlight: 1 });
  const [first, second, third] = [newSlot(), newSlot(), newSlot()];
  admission.enter(first);
  const came: number[] = [];
  const waits = [second, third].map((place, index) => admission.enter(place)?.then(() => came.push(index)));
  t.is(admission.load().queued, 2);
  admission.release(first);
  await waits[0];
  t.deepEqual(came, [0]);
  t.true(second.admitted && second.stats.queueMs >= 0);
  admission.release(first); // it holds nothing any more
  admission.release(second);
  await waits[1];
  admission.release(third);
  t.deepEqual(admission.load(), { inFlight: 0, queued: 0, arriving: 0, leaving: 0, heldBytes: 0, shed: 0 });
});

// a non-loopback address of this machine, since loopback is exempt
const own = Object.values(networkInterfaces())
  .flat()
  .find((address) => address?.family === 'IPv4' && !address.internal)?.address;

(own === undefined ? test.skip : test)(
  'connectionsPerAddress: two of an address are served, a third is refused, and served again when one has gone',
  async (t) => {
    const { port } = await startGateway(t, {
      limits: { connectionsPerAddress: 2 },
      serve: { host: '0.0.0.0', publicUrl: 'http://gateway.example' },
    });
    /** Requests a page on a kept connection. Returns false if the connection is closed without a response. */
    const open = async (): Promise<{ readonly socket: Socket; readonly served: boolean }> => {
      const socket = connect(port, own).on('error', () => {});
      t.teardown(() => socket.destroy());
      socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
      const came = once(socket, 'data').then(([chunk]) => /^HTTP\/1\.1 200 /.test(String(chunk)));
      const served = await Promise.race([came, once(socket, 'close').then(() => false)]);
      return { socket, served };
    };
    const first = await open();
    t.true(first.served);
    t.true((await open()).served);
    t.false((await open()).served);
    first.socket.destroy();
    let fourth = await open();
    while (!fourth.served) fourth = await open(); // the gateway may not have noticed the closed connection yet
    t.false((await open()).served);
  },
);

for (const [address, own] of [
  ['127.0.0.1', true],
  ['::ffff:127.0.0.2', true],
  ['::1', true],
  ['10.0.0.1', false],
  ['1.127.0.0', false],
  ['::ffff:10.0.0.127', false],
] as const) {
  test(`${address} is ${own ? '' : 'not '}an address of this machine`, (t) => t.is(isLoopback(address), own));
}

// --- slow bodies -----------------------------------------------------------------------------------------

const head = 'POST /v2/json/reply/GetSearch HTTP/1.1\r\nHost: x\r\nContent-Length: 999\r\n\r\n';

/** Sends a byte at intervals until the connection closes. Returns the response. */
async function drip(port: number, everyMs: number): Promise<string> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
  });
  socket.write(`${head}{`);
  const timer = setInterval(() => socket.write(' '), everyMs);
  await once(socket, 'close');
  clearInterval(timer);
  return answer;
}

test('bodyMs: a body that arrives slowly but steadily is 408 after that time', async (t) => {
  const { port } = await startGateway(t, { limits: { bodyMs: 300, bodyBytesPerSecond: 1 } });
  t.regex(await drip(port, 20), /^HTTP\/1\.1 408 /);
});

import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { createPages } from '../../../console/server/pages.ts';
import { Connections } from '../../../gateway/http/connections.ts';
import { networkOf } from '../../../gateway/http/networks.ts';
import { defaultLimits, type Limits } from '../../../mappings/contract/limits.ts';
import { until } from '../../until.ts';
import { emptyReply, type Gateway, type GatewayOptions, send, startGateway } from '../gateway.ts';

/** A gateway with an upstream that holds every call until it is released. */
async function startHeld(t: ExecutionContext, limits: Partial<Limits> = {}) {
  const gateway = await startGateway(t, { limits });
  const held: (() => void)[] = [];
  gateway.answer((_hit, response) => held.push(() => response.end(emptyReply)));
  return { gateway, held };
}

/** Opens a connection and collects the data that arrives on it. */
function open(t: ExecutionContext, port: number) {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  t.teardown(() => socket.destroy());
  let came = '';
  socket.on('data', (chunk) => {
    came += chunk;
  });
  return { socket, came: () => came, statuses: () => came.match(/HTTP\/1\.1 \d+/g) ?? [] };
}

const credentials = 'X-Api-User: u\r\nX-Api-Key: k\r\n';

/** A call of GetSearch with a body of `bytes` bytes. */
function call(bytes = 2): string {
  return `POST /v2/json/reply/GetSearch HTTP/1.1\r\nHost: x\r\n${credentials}Content-Length: ${bytes}\r\n\r\n${'{}'.padEnd(bytes)}`;
}

const write = '{"request":{"subUserName":"a"}}';
const writeCall = `PUT /v2/subusers/update HTTP/1.1\r\nHost: x\r\n${credentials}Content-Type: application/json\r\nContent-Length: ${write.length}\r\n\r\n${write}`;
const healthz = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
const ok = 'HTTP/1.1 200';

// --- one request of a connection at a time ---------------------------------------------------------------

test('600 pipelined requests use one slot, and are all answered', async (t) => {
  const gateway = await startGateway(t);
  let most = 0;
  gateway.answer((_hit, response) => {
    most = Math.max(most, gateway.running.load().inFlight);
    response.end(emptyReply);
  });
  const { socket, statuses } = open(t, gateway.port);
  socket.write(call().repeat(600));
  await until(() => statuses().length === 600);
  t.deepEqual([...new Set(statuses())], [ok]);
  t.is(most, 1);
});

test('the bodies of pipelined requests that wait for an earlier one are not buffered', async (t) => {
  const { gateway, held } = await startHeld(t);
  const { socket, statuses } = open(t, gateway.port);
  socket.write(call(500_000).repeat(8));
  await until(() => held.length === 1);
  for (let times = 0; times < 10; times++) await send(gateway.port, 'GET', '/healthz');
  // the call in progress has been sent upstream, with its credentials
  const { heldBytes, ...load } = gateway.running.load();
  t.deepEqual(load, { inFlight: 1, queued: 0, arriving: 0, leaving: 0, shed: 0 });
  t.true(heldBytes >= 500_000 && heldBytes < 501_000, `${heldBytes}`);
  for (let released = 0; released < 8; released++) {
    await until(() => held.length === released + 1);
    held[released]?.();
  }
  await until(() => statuses().length === 8);
});

test('replies to pipelined requests keep the order of the requests', async (t) => {
  const { gateway, held } = await startHeld(t);
  const { socket, came } = open(t, gateway.port);
  socket.write(`${call()}GET /v2?wsdl HTTP/1.1\r\nHost: x\r\n\r\n${call()}${healthz}`);
  await until(() => held.length === 1);
  t.is(came(), '');
  held[0]?.();
  await until(() => held.length === 2);
  held[1]?.();
  await until(() => came().endsWith('ok\n'));
  const types = came().match(/(?<=Content-Type: )[^;]+/g);
  t.deepEqual(types, ['application/json', 'text/xml', 'application/json', 'text/plain']);
});

test('the time limit of a partly read request starts when reading continues', async (t) => {
  const { gateway, held } = await startHeld(t, { headersMs: 1_500 });
  const { socket, statuses } = open(t, gateway.port);
  const [half, rest] = [call().slice(0, 30), call().slice(30)];
  socket.write(call().repeat(2) + half);
  await until(() => held.length === 1);
  await pause(2_000);
  held[0]?.();
  await until(() => held.length === 2);
  socket.write(rest + half);
  await until(() => statuses().length === 1);
  held[1]?.();
  await until(() => held.length === 3);
  held[2]?.();
  await once(socket, 'close');
  t.deepEqual(statuses(), [ok, ok, ok, 'HTTP/1.1 408']);
});

test('a waiting request whose caller disconnects is not started', async (t) => {
  const { gateway, held } = await startHeld(t);
  const { socket } = open(t, gateway.port);
  socket.write(call().repeat(3));
  await until(() => held.length === 1);
  // the gateway notices this when it writes the first reply, because it does not read until then
  socket.resetAndDestroy();
  await new Promise((resolve) => setTimeout(resolve, 50));
  held[0]?.();
  await until(() => gateway.running.load().inFlight === 0);
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.is(gateway.running.load().inFlight, 0);
  t.is(gateway.hits.length, 1);
});

test('pipelined: three requests may wait, one per connection; the next closes a connection', async (t) => {
  const { gateway, held } = await startHeld(t, { pipelined: 3 });
  const first = open(t, gateway.port);
  first.socket.write(call().repeat(4));
  await until(() => held.length === 1);
  const second = open(t, gateway.port);
  second.socket.write(call().repeat(2));
  await until(() => held.length === 2);
  const third = open(t, gateway.port);
  third.socket.write(call().repeat(3));
  await once(third.socket, 'close');
  t.is(third.came(), '');
  gateway.answer({ body: emptyReply });
  for (const release of held) release();
  await until(() => first.statuses().length === 4 && second.statuses().length === 2);
  // requests of a cut connection no longer count as waiting
  const fourth = open(t, gateway.port);
  fourth.socket.write(call().repeat(4));
  await until(() => fourth.statuses().length === 4);
});

test('pipelined: a reset connection with thousands of requests is closed at once', async (t) => {
  const { gateway } = await startHeld(t, { pipelined: 3 });
  for (let count = 1; count <= 20; count++) {
    const { socket } = open(t, gateway.port);
    socket.write(call() + 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2_000));
    await once(socket, 'close');
  }
  t.true(await isServed(t, gateway.port));
  await until(() => gateway.running.load().inFlight === 0);
});

test('pipelinedAtOnce: of four waiting requests without reply two start, and two after 50 ms', async (t) => {
  const { gateway, held } = await startHeld(t, { pipelinedAtOnce: 2 });
  for (let count = 0; count < 4; count++) open(t, gateway.port).socket.write(call().repeat(2));
  await until(() => held.length === 4); // the first request of each connection, which waited for no other
  const released = performance.now();
  for (const release of held.splice(0)) release();
  await until(() => held.length === 4);
  t.true(performance.now() - released > 45);
});

test('pipelinedAtOnce: a request that arrives after the reply to the previous one uses no slot', async (t) => {
  const handled: ServerResponse[] = [];
  const connections = new Connections({ ...defaultLimits, pipelinedAtOnce: 1 }, () => false);
  let arrived = 0;
  const server = createServer((request, response) => {
    arrived++;
    connections.begin(request, response, () => handled.push(response));
  });
  server.on('connection', (socket) => connections.add(socket)).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  // the second request of this connection uses the slot and gets no reply
  open(t, port).socket.write(healthz.repeat(2));
  await until(() => handled.length === 1);
  const { socket } = open(t, port);
  socket.write(healthz);
  await until(() => handled.length === 2);
  const [first, other] = handled;
  // as over TLS, Node is informed late that everything was sent
  const out = other?.socket;
  t.truthy(out);
  if (out) out.uncork = () => {};
  out?.cork();
  other?.end();
  socket.write(healthz);
  await until(() => arrived === 4);
  first?.end();
  await until(() => handled.length === 3);
  if (out) Socket.prototype.uncork.call(out);
  for (let turns = 0; turns < 5; turns++) await turn();
  t.is(handled.length, 4);
});

// --- closing idle connections ----------------------------------------------------------------------------

/** Resolves to true when the connection gets a reply, or to false when it is closed. */
async function isServed(t: ExecutionContext, port: number, request = healthz): Promise<boolean> {
  const { socket } = open(t, port);
  socket.write(request);
  return Promise.race([once(socket, 'data').then(() => true), once(socket, 'close').then(() => false)]);
}

test('connections: the connection with the least recent request is evicted', async (t) => {
  const { gateway } = await startHeld(t, { connections: 2 });
  const closed: string[] = [];
  const opened = async (name: string): Promise<Socket> => {
    const { socket } = open(t, gateway.port);
    socket.on('close', () => closed.push(name));
    socket.write(healthz);
    await once(socket, 'data');
    return socket;
  };
  const first = await opened('first');
  await opened('second');
  first.write(healthz);
  await once(first, 'data');
  await opened('third');
  await until(() => closed.length === 1);
  t.deepEqual(closed, ['second']);
});

test('connections: with three of them the longest idle one is evicted, and none with a call', async (t) => {
  const { gateway, held } = await startHeld(t, { connections: 3 });
  const closed: string[] = [];
  const opened = async (name: string, request: string): Promise<Socket> => {
    const { socket } = open(t, gateway.port);
    socket.on('close', () => closed.push(name));
    await once(socket, 'connect');
    if (request !== '') socket.write(request);
    if (request === healthz) await once(socket, 'data');
    return socket;
  };
  await opened('with a call', call());
  await until(() => held.length === 1);
  const kept = await opened('kept', healthz);
  await opened('silent', '');
  // the third connection has certainly been accepted by then
  await send(gateway.port, 'GET', '/healthz').catch(() => {});
  await until(() => closed.length === 1);
  t.deepEqual(closed, ['kept'], 'it had its last request before the silent one came');
  t.true(kept.destroyed);
  t.true(await isServed(t, gateway.port));
  await until(() => closed.length === 2);
  t.deepEqual(closed, ['kept', 'silent']);
  for (let taken = 1; taken < 3; taken++) {
    open(t, gateway.port).socket.write(call());
    await until(() => held.length === taken + 1);
  }
  t.false(await isServed(t, gateway.port), 'each of three has a call');
  held[0]?.();
  await until(() => gateway.running.load().inFlight === 2);
  // a call has ended, and idle connections are searched again after a short time
  while (!(await isServed(t, gateway.port)));
});

test('the maximum number of idle and silent connections keeps no new caller out', async (t) => {
  const gateway = await startGateway(t, { limits: { connections: 100 } });
  for (let count = 0; count < 100; count++) {
    const { socket } = open(t, gateway.port);
    await once(socket, 'connect');
    if (count % 2 === 0) continue;
    socket.write(healthz);
    await once(socket, 'data');
  }
  for (let count = 0; count < 150; count++) t.true(await isServed(t, gateway.port));
});

for (const [address, network] of [
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:0:1::1', '2001:db8:0:1'],
  ['2001:db8:0:1:ffff:ffff:ffff:ffff', '2001:db8:0:1'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['2001:db8:0:2::', '2001:db8:0:2'],
  ['::', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0'],
] as const) {
  test(`${address} is counted as ${network}`, (t) => t.is(networkOf(address), network));
}

// --- data after a request --------------------------------------------------------------------------------

for (const [what, garbage] of [
  ['bytes that are no request', 'more}\r\n\r\n'],
  ['header lines too long', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(40_000)}`],
  ['a request for a tunnel', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'],
] as const) {
  test(`pipelined: a write followed by ${what} gets its own reply, then the error, then the end`, async (t) => {
    const { gateway, held } = await startHeld(t);
    const { socket, came, statuses } = open(t, gateway.port);
    socket.write(writeCall + garbage);
    await until(() => held.length === 1);
    for (let times = 0; times < 3; times++) await send(gateway.port, 'GET', '/healthz');
    t.is(came(), '');
    held[0]?.();
    await once(socket, 'close');
    const refusal = { m: 'HTTP/1.1 400', G: 'HTTP/1.1 431', C: 'HTTP/1.1 405' }[garbage[0] ?? ''];
    t.deepEqual(statuses(), [ok, refusal]);
    t.is(gateway.hits.length, 1);
  });
}

test('garbage after two requests is refused after both replies', async (t) => {
  const { gateway, held } = await startHeld(t);
  const { socket, statuses } = open(t, gateway.port);
  socket.write(`${writeCall}${writeCall}\0`);
  await until(() => held.length === 1);
  held[0]?.();
  await until(() => held.length === 2);
  held[1]?.();
  await once(socket, 'close');
  t.deepEqual(statuses(), [ok, ok, 'HTTP/1.1 400']);
});

test('a request whose body breaks while it waits is refused in its order', async (t) => {
  const { gateway, held } = await startHeld(t);
  const { socket, statuses } = open(t, gateway.port);
  socket.write(`${writeCall}POST /v2/soap11 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`);
  await until(() => held.length === 1);
  held[0]?.();
  await once(socket, 'close');
  t.deepEqual(statuses(), [ok, 'HTTP/1.1 400']);
});

for (const [what, head, status] of [
  ['OPTIONS of an operation', 'OPTIONS /v2/json/reply/GetSearch', 204],
  ['OPTIONS of a SOAP endpoint', 'OPTIONS /v2/soap11', 204],
  ['a WSDL', 'GET /v2/soap11?wsdl', 200],
  ['a page', 'GET /v2/docs/GetSearch', 200],
  ['a page that takes no such message', 'POST /v2/docs/GetSearch', 405],
  ['a page of the process', 'GET /healthz', 200],
  ['a page of the process that takes none', 'POST /healthz', 405],
] as const) {
  for (const framing of ['Content-Length: 1000000000', 'Transfer-Encoding: chunked'])
    test(`an endless body after ${what} (${framing}) is not read, and the connection ends`, async (t) => {
      const gateway = await startGateway(t, { serve: { pages: createPages } });
      const { socket, came } = open(t, gateway.port);
      const closed = once(socket, 'close');
      const piece = `10000\r\n${'x'.repeat(65_536)}\r\n`;
      socket.write(`${head} HTTP/1.1\r\nHost: x\r\n${framing}\r\n\r\n`);
      const more = setInterval(() => {
        if (socket.writableLength === 0) socket.write(piece);
      }, 1);
      t.teardown(() => clearInterval(more));
      await closed;
      t.regex(came(), new RegExp(`^HTTP/1\\.1 ${status} [^]*\r\nConnection: close\r\n`));
    });
}

test('a reply is complete if its short request body arrives late, and the caller closes', async (t) => {
  const { port } = await startGateway(t);
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).pause();
  t.teardown(() => socket.destroy());
  socket.write('GET /v2/soap11?wsdl HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 9\r\n\r\n');
  for (const piece of ['abc', 'def', 'ghi']) {
    await pause(200);
    socket.write(piece);
  }
  t.regex(await text(socket), /<\/wsdl:definitions>\s*$/);
});

test('a short body of OPTIONS is discarded, and the connection stays open', async (t) => {
  const { port } = await startGateway(t);
  const { socket, statuses } = open(t, port);
  socket.write('OPTIONS /v2/soap11 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab');
  await until(() => statuses().length === 1);
  socket.write(`cde${healthz}`);
  await until(() => statuses().length === 2);
  t.deepEqual(statuses(), ['HTTP/1.1 204', ok]);
});

// --- one line per request --------------------------------------------------------------------------------

/** Returns the request lines of the log. */
function linesOf(gateway: Gateway): Record<string, unknown>[] {
  return gateway
    .log()
    .split('\n')
    .filter((line) => line.includes('"method"'))
    .map((line) => JSON.parse(line));
}

const logging: GatewayOptions = { limits: { headerBytes: 2_000 } };
const impatient: GatewayOptions = { limits: { headersMs: 1_000 } };
const end = 'Host: x\r\nConnection: close\r\n\r\n';

for (const [what, message, method, status] of [
  ['the WSDL', `GET /v2/soap11?wsdl HTTP/1.1\r\n${end}`, 'GET', 200],
  ['the head of the page', `HEAD /v2 HTTP/1.1\r\n${end}`, 'HEAD', 200],
  ['OPTIONS', `OPTIONS /v2/soap11 HTTP/1.1\r\n${end}`, 'OPTIONS', 204],
  ['OPTIONS of a process page', `OPTIONS /healthz HTTP/1.1\r\n${end}`, 'OPTIONS', 200],
  ['another verb of a process page', `DELETE /healthz HTTP/1.1\r\n${end}`, 'DELETE', 405],
  ['an unknown verb of a process page', `PROPFIND /healthz HTTP/1.1\r\n${end}`, 'PROPFIND', 501],
  ['no page', `GET /nowhere HTTP/1.1\r\n${end}`, 'GET', 404],
  ['TRACE', `TRACE /v2/soap11 HTTP/1.1\r\n${end}`, 'TRACE', 405],
  ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', 'CONNECT', 405],
  ['no Host', 'GET /v2 HTTP/1.1\r\n\r\n', 'GET', 400],
  ['no HTTP', 'garbage\r\n\r\n', '', 400],
  ['a head too long', `GET /v2 HTTP/1.1\r\nX: ${'x'.repeat(3_000)}\r\n${end}`, '', 431],
  ['a head that is never whole', 'GET /v2 HTTP/1.1\r\n', '', 408],
  ['an expectation', `POST /v2/soap11 HTTP/1.1\r\nExpect: canary\r\n${end}`, 'POST', 417],
  [
    'a body that breaks',
    `POST /v2/soap11 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n${end}zz\r\n`,
    'POST',
    400,
  ],
] as const) {
  test(`every request has one log line and is counted: ${what}`, async (t) => {
    const gateway = await startGateway(t, status === 408 ? impatient : logging);
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write(message);
    const reply = await text(socket);
    t.is(Number(/^HTTP\/1\.1 (\d+) /.exec(reply)?.[1]), status);
    await until(() => linesOf(gateway).length > 0);
    const lines = linesOf(gateway);
    t.is(lines.length, 1, gateway.log());
    const [line] = lines;
    t.like(line, { method, status, contract: '/v2', clientIp: '127.0.0.1' });
    if (status >= 400) t.regex(reply, /\r\n\r\n.*\S/s);
    if (method === '') t.true(reply.includes(`(request ${line?.requestId})`));
    t.false(gateway.log().includes('canary'));
    const { text: page } = await send(gateway.port, 'GET', '/metrics');
    t.regex(
      page,
      new RegExp(
        `^soapbridge_requests_total\\{contract="/v2",transport="\\w+",status="${status}"\\} 1$`,
        'm',
      ),
    );
  });
}

test('monitoring requests are logged at level debug, and always counted', async (t) => {
  for (const [logLevel, told] of [
    ['info', 0],
    ['debug', 3],
  ] as const) {
    const gateway = await startGateway(t, { serve: { logLevel } });
    for (const path of ['/healthz', '/readyz', '/metrics']) await send(gateway.port, 'GET', path);
    const lines = linesOf(gateway);
    t.is(lines.length, told);
    t.true(lines.every(({ level }) => level === 20));
    const { text: page } = await send(gateway.port, 'GET', '/metrics');
    t.regex(page, /^soapbridge_requests_total\{contract="\/v2",transport="http",status="200"\} 3$/m);
  }
});

test('a connection without any byte is closed without a reply and a log line', async (t) => {
  const gateway = await startGateway(t, logging);
  const { socket, came } = open(t, gateway.port);
  await once(socket, 'close');
  t.is(came(), '');
  t.deepEqual(linesOf(gateway), []);
});

test('a second log line reports a reply that its caller aborted, not a complete one', async (t) => {
  const gateway = await startGateway(t);
  gateway.answer({ body: emptyReply.padEnd(24 * 1024 * 1024) });
  for (const leaves of [false, true]) {
    const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
    socket.write(call());
    await once(socket, 'readable');
    await until(() => linesOf(gateway).length === (leaves ? 2 : 1));
    if (leaves) socket.destroy();
    else {
      let bytes = 0;
      while (bytes < 24 * 1024 * 1024) {
        const [chunk] = await once(socket, 'data');
        bytes += chunk.length;
      }
      socket.destroy();
    }
  }
  await until(() => gateway.log().includes('"cut":true'));
  const cut = gateway
    .log()
    .split('\n')
    .filter((line) => line.includes('"cut":true'));
  t.is(cut.length, 1);
  t.is(JSON.parse(cut[0] ?? '').requestId, linesOf(gateway)[1]?.requestId);
  const { text: page } = await send(gateway.port, 'GET', '/metrics');
  t.regex(page, /^soapbridge_cut_total\{contract="\/v2"\} 1$/m);
});

test('a reply whose caller closes during the write is logged as sent, cut or aborted', async (t) => {
  const gateway = await startGateway(t);
  let leave = (): void => {};
  gateway.answer((_hit, response) => {
    response.end(emptyReply);
    leave();
  });
  let taken = 0;
  for (let times = 0; times < 50; times++) {
    const socket = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true });
    leave = () => socket.end();
    let bytes = 0;
    socket.on('data', (chunk) => {
      bytes += chunk.length;
    });
    socket.write(call());
    await once(socket, 'end');
    socket.destroy();
    if (bytes > 0) taken++;
  }
  await until(() => linesOf(gateway).length === 50 && gateway.running.load().leaving === 0);
  const cut = gateway.log().match(/"cut":true/g)?.length ?? 0;
  const sent = linesOf(gateway).filter(({ aborted }) => aborted !== true).length;
  t.is(sent - cut, taken);
});

test.serial('connections that wait for accept are answered when the gateway closes', async (t) => {
  const gateway = await startGateway(t);
  const callers = Array.from({ length: 15 }, () => open(t, gateway.port));
  for (const { socket } of callers) socket.write(healthz);
  const closed = Promise.all(callers.map(({ socket }) => once(socket, 'close')));
  const stopped = gateway.running.stop(0);
  await closed;
  t.deepEqual(
    callers.flatMap(({ statuses }) => statuses()),
    Array(callers.length).fill(ok),
  );
  t.true(await stopped);
});

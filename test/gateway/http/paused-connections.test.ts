import { once } from 'node:events';
import { createServer, type IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { Connections } from '../../../gateway/http/connections.ts';
import { maxUnreadMs, NewConnections } from '../../../gateway/http/new-connections.ts';
import {
  maxUnpacedRefusals,
  RefusedConnections,
  refusedPauseMs,
} from '../../../gateway/http/refused-connections.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';

let sockets = 0;
const socketOf = (isDestroyed = false): Socket =>
  ({ destroyed: isDestroyed, number: sockets++ }) as unknown as Socket;

/** Connections that are accepted, one per event-loop iteration, with the duration of each iteration. */
function burstOf() {
  const clock = { now: 1_000 };
  const read: Socket[] = [];
  const connections = new NewConnections(
    (socket) => read.push(socket),
    () => clock.now,
  );

  /** Runs event-loop iterations. Returns the sockets that were accepted. */
  async function turns(count: number, ms: number, isAccepting = true): Promise<readonly Socket[]> {
    const accepted: Socket[] = [];
    for (let turn = 0; turn < count; turn++) {
      if (isAccepting) {
        const socket = socketOf();
        accepted.push(socket);
        if (!connections.add(socket)) read.push(socket);
      }
      clock.now += ms;
      await nextTurn();
    }
    return accepted;
  }

  return { clock, read, connections, turns };
}

test('sixteen connections in a row are read at once, the next one is not', async (t) => {
  const { read, connections, turns } = burstOf();
  const accepted = await turns(16, 10);
  t.deepEqual(read, accepted);
  const next = socketOf();
  t.true(connections.add(next));
  await turns(2, 10, false);
  t.deepEqual(read, [...accepted, next]);
});

test('while connections are accepted, one of sixteen iterations reads one', async (t) => {
  const { clock, read, connections, turns } = burstOf();
  await turns(216, 2);
  t.is(connections.size + read.length, 216);
  t.true(read.length >= 28 && read.length <= 30, `${read.length}`);
  t.is(clock.now, 1_432);
});

test('after a burst the newest and the oldest connection are read alternately', async (t) => {
  const { read, connections, turns } = burstOf();
  const accepted = await turns(120, 0.5 + maxUnreadMs / 1_000);
  const already = read.length;
  const left = accepted.filter((socket) => !read.includes(socket));
  await turns(1, 2, false);
  t.is(read.length - already, 8);
  const first = read.slice(already, already + 2);
  t.true([left.at(-1), left[0]].every((socket) => socket !== undefined && first.includes(socket)));
  const probe = socketOf();
  t.true(connections.add(probe));
  await turns(1, 20, false);
  await turns(1, 20, false);
  t.true(read.includes(probe));
  await turns(20, 2, false);
  t.is(connections.size, 0);
});

test('a caller that sends a request during a burst is read again with the new connections', async (t) => {
  const { read, connections, turns } = burstOf();
  await turns(16, 2);
  t.false(connections.isBurst);
  await turns(1, 2);
  t.true(connections.isBurst);
  const caller = socketOf();
  connections.hold(caller);
  t.false(read.includes(caller));
  await turns(2, 2, false);
  t.true(read.includes(caller));
  t.false(connections.isBurst);
});

test('all connections of a burst are read even if every iteration is long', async (t) => {
  const { read, connections, turns } = burstOf();
  await turns(500, 0.1);
  await turns(400, 30, false);
  t.is(connections.size, 0);
  t.is(new Set(read).size, 500);
});

test('connections that are closed before they are read are left out', async (t) => {
  const { read, connections, turns } = burstOf();
  await turns(16, 0);
  t.true(connections.add(socketOf(true)));
  await turns(3, 2, false);
  t.is(read.length, 16);
  t.is(connections.size, 0);
});

test('the connections of the first ten rejected calls in 100 ms are read on, the next ones pause for a second', (t) => {
  const clock = { now: 1_000 };
  const read: Socket[] = [];
  const refused = new RefusedConnections(
    (socket) => read.push(socket),
    () => clock.now,
  );
  const isPaused = (count: number): readonly boolean[] =>
    Array.from({ length: count }, () => refused.add(socketOf()));
  t.deepEqual(isPaused(maxUnpacedRefusals), Array(maxUnpacedRefusals).fill(false));
  t.deepEqual(isPaused(2), [true, true]);
  clock.now += 99;
  t.deepEqual(isPaused(1), [true]);
  clock.now++;
  t.deepEqual(isPaused(maxUnpacedRefusals), Array(maxUnpacedRefusals).fill(false));
  t.true(refused.add(socketOf(true)));
  t.is(refused.size, 4);
  clock.now = 1_000 + refusedPauseMs - 1;
  refused.look();
  t.is(read.length, 0);
  clock.now++;
  refused.look();
  t.is(read.length, 2);
  clock.now += 100;
  refused.look();
  t.is(read.length, 3);
  t.is(refused.size, 0);
});

/** Opens connections to a server and returns the sockets that the server accepted. */
async function accept(t: ExecutionContext, count: number): Promise<readonly Socket[]> {
  const accepted: Socket[] = [];
  const server = createTcpServer((socket) => accepted.push(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (let opened = 0; opened < count; opened++) {
    const caller = connect(port, '127.0.0.1');
    const came = once(server, 'connection');
    t.teardown(() => caller.destroy());
    await came;
  }
  t.teardown(() => {
    for (const socket of accepted) socket.destroy();
    server.close();
  });
  return accepted;
}

for (const isProxy of [true, false]) {
  const what = isProxy
    ? 'the connection of a trusted proxy is not paused'
    : 'the connection of a caller is paused';

  test(`${what} after many rejected calls`, async (t) => {
    const connections = new Connections(defaultLimits, () => isProxy);
    const [socket] = await accept(t, 1);
    if (socket === undefined) return t.fail();
    connections.add(socket);
    for (let calls = 0; calls < 100; calls++) connections.pace(socket);
    t.is(socket.isPaused(), !isProxy);
  });

  test(`${what} after a request during a burst`, async (t) => {
    const connections = new Connections(defaultLimits, () => isProxy);
    const sockets = await accept(t, 17);
    for (const socket of sockets) connections.add(socket);
    const [socket] = sockets;
    if (socket === undefined) return t.fail();
    const request = { socket, headers: {} } as IncomingMessage;
    const response = new ServerResponse(request);
    response.assignSocket(socket);
    connections.begin(request, response, () => {});
    t.is(socket.isPaused(), !isProxy);
  });
}

test('a closing server answers a request that arrived on a paused connection', async (t) => {
  const connections = new Connections(defaultLimits, () => false);
  const server = createServer((request, response) =>
    connections.begin(request, response, () => response.end('served')),
  );
  const accepted: Socket[] = [];
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    accepted.push(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const caller = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  t.teardown(() => caller.destroy());
  await once(server, 'connection');
  const [socket] = accepted;
  if (socket === undefined) return t.fail();
  for (let calls = 0; calls < 100; calls++) connections.pace(socket);
  caller.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  const closed = connections.close(server, 60_000);
  t.regex(await text(caller), /served/);
  t.is(await closed, 0);
});

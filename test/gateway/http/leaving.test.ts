import { once } from 'node:events';
import { type AddressInfo, connect, createServer, Socket } from 'node:net';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import test from 'ava';
import { createLeaving } from '../../../gateway/http/leaving.ts';

const socketsOf = (count: number): Socket[] => Array.from({ length: count }, () => new Socket());
const closedOf = (sockets: readonly Socket[]): number => sockets.filter(({ destroyed }) => destroyed).length;

test('leaving: connections are closed once no turn accepts one, four in each', async (t) => {
  const leaving = createLeaving(10);
  const sockets = socketsOf(6);
  for (const socket of sockets) leaving.add(socket);
  for (let turn = 0; turn < 5; turn++) {
    leaving.noteAccepted();
    await endOfTurn();
    t.is(closedOf(sockets), 0);
  }
  await endOfTurn();
  t.is(closedOf(sockets), 4);
  await endOfTurn();
  t.is(closedOf(sockets), 6);
});

test('leaving: what comes on a connection that is to be closed isn’t read', async (t) => {
  const leaving = createLeaving(1);
  const server = createServer((socket) => {
    leaving.add(socket.on('data', () => t.fail()));
    leaving.noteAccepted();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const caller = connect((server.address() as AddressInfo).port, '127.0.0.1');
  caller.on('error', () => {}); // a reset, as bytes weren't read
  caller.write('GET / HTTP/1.1\r\n\r\n');
  await once(caller, 'close');
  server.close();
  await once(server, 'close');
  t.pass();
});

test('leaving: where as many wait as may, one more has the first closed at once', async (t) => {
  const leaving = createLeaving(3);
  const sockets = socketsOf(4);
  leaving.noteAccepted();
  for (const socket of sockets.slice(0, 3)) leaving.add(socket);
  t.is(closedOf(sockets), 0);
  leaving.add(sockets[3] as Socket);
  t.deepEqual(
    sockets.map(({ destroyed }) => destroyed),
    [true, false, false, false],
  );
  await endOfTurn(); // which accepted one
  await endOfTurn();
  t.is(closedOf(sockets), 4);
});

import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { LimitStore } from '../../../gateway/admission/limit-store.ts';

/** Starts a store that answers INFO correctly if `isReady`, and every other command with `answer`. */
async function open(t: ExecutionContext, isReady: boolean, answer: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (asked) => {
      if (isReady && /info/i.test(String(asked))) socket.write('$0\r\n\r\n');
      else if (isReady && /client/i.test(String(asked))) socket.write('+OK\r\n');
      else answer(socket);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const changes: string[] = [];
  const { port } = server.address() as AddressInfo;
  const store = await LimitStore.open({
    url: `redis://127.0.0.1:${port}`,
    timeoutMs: 60_000,
    onChange: (isAway, code) => changes.push(isAway ? code : 'back'),
  });
  t.teardown(() => {
    store.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { store, changes };
}

const nested = '*1\r\n'.repeat(3_000);
const endless = (socket: Socket) => socket.write(`$2000000000\r\n${'x'.repeat(1_048_577)}`);

for (const [what, answer] of [
  ['arrays that are nested 3,000 deep', (socket: Socket) => socket.write(nested)],
  ['an array that is too long', (socket: Socket) => socket.write('*99999999999\r\n')],
  ['a reply of more than 1 MiB', endless],
] as const) {
  test(`a store that sends ${what} at start counts as failed`, async (t) => {
    const { store, changes } = await open(t, false, answer);
    t.true(store.isAway);
    t.is(changes.length, 1);
  });

  test(`a store that sends ${what} while serving counts as failed`, async (t) => {
    const { store, changes } = await open(t, true, answer);
    t.false(store.isAway);
    t.is(await store.query(2_000, () => store.client.get('a')), undefined);
    t.true(store.isAway);
    t.is(store.missed, 1);
    t.is(changes.length, 1);
  });
}

test('a store may send 1 MiB per reply, and more in several', async (t) => {
  const text = 'x'.repeat(1_048_576 - 100);
  const { store, changes } = await open(t, true, (socket) => socket.write(`$${text.length}\r\n${text}\r\n`));
  for (let time = 0; time < 3; time++)
    t.true((await store.query(2_000, () => store.client.get('a'))) === text);
  t.deepEqual(changes, []);
});

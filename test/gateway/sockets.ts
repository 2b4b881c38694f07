import { createServer, type Socket } from 'node:net';
import type { ExecutionContext } from 'ava';

/** Starts an upstream that handles raw sockets with a function. */
export async function startSockets(t: ExecutionContext, onRequest: (socket: Socket, count: number) => void) {
  let count = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    socket.on('data', () => {
      count++;
      onRequest(socket, count);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('expected a TCP address');
  return {
    url: `http://127.0.0.1:${address.port}`,
    count: () => count,
    open: () => sockets.size,
    close: () => server.close(),
  };
}

import { createServer, type Socket } from 'node:net';
import { startProcess } from '../process.ts';
import { emptyReply } from './load.ts';

const writes = 10_000;
const atOnce = 32;

const writeCall = (number: number): string => `{"request":{"subUserName":"${number}"}}`;
const headers = { 'X-Api-User': 'u', 'X-Api-Key': 'key', 'Content-Type': 'application/json' };

/** Ways in which the upstream ends a connection after the whole request has arrived, in rotation. */
const ends: readonly ((socket: Socket) => void)[] = [
  (socket) => socket.resetAndDestroy(),
  (socket) => socket.end(),
  (socket) =>
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"data"', () => socket.resetAndDestroy()),
  // kept open, so that the next write on it is reset
  (socket) => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${emptyReply.length}\r\n\r\n${emptyReply}`),
];

/** Sends 10,000 writes to an upstream that breaks its connections, and counts how often each write arrives. */
export async function resets(): Promise<void> {
  const came = new Map<string, number>();
  let requests = 0;
  const upstream = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      const [, name] = /"subUserName":"(\d+)"/.exec(chunk.toString('latin1')) ?? [];
      if (name === undefined) return;
      came.set(name, (came.get(name) ?? 0) + 1);
      ends[requests++ % ends.length]?.(socket);
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const address = upstream.address();
  if (address === null || typeof address === 'string') throw new Error('expected a TCP address');
  const served = await startProcess({
    SOAPBRIDGE_UPSTREAM_URL: `http://127.0.0.1:${address.port}`,
    SOAPBRIDGE_LIMITS: 'breakerCalls=1000000', // keeps the circuit breaker closed
  });
  const statuses = new Map<number, number>();
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < writes) {
      const reply = await fetch(`http://127.0.0.1:${served.port}/v2/json/reply/UpdateSubUser`, {
        method: 'POST',
        headers,
        body: writeCall(next++),
      });
      await reply.arrayBuffer();
      statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
  const repeated = [...came.values()].filter((times) => times > 1).length;
  console.log(
    `resets: ${writes} writes, ${requests} of them at an upstream that breaks three connections of four: ${repeated} came twice; statuses ${JSON.stringify(Object.fromEntries(statuses))}`,
  );
  served.child.kill('SIGKILL');
  await served.ended;
  upstream.close();
}

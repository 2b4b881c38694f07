import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import { sendReply, textReply } from '../../../gateway/http/reply.ts';

/** A reply larger than the system buffers for a client that does not read, in pieces that are not released. */
const pieces: readonly Buffer[] = Array(48).fill(Buffer.alloc(500_000, 'a large reply '));
const length = 48 * 500_000;
const callers = 24;

async function lengthOf(reply: IncomingMessage): Promise<number> {
  let bytes = 0;
  for await (const piece of reply) bytes += piece.length;
  return bytes;
}

test('eight large replies continue in one event-loop iteration, the others in the next', async (t) => {
  let writes = 0;
  let most = 0;
  const server = createServer((_request, response) => {
    const write = response.write.bind(response);
    response.write = ((piece: Buffer) => {
      writes++;
      return write(piece);
    }) as typeof response.write;
    sendReply(response, { ...textReply(200, '', 'id'), body: pieces }, 'id', {
      close: false,
      more: undefined,
      whenWaiting: undefined,
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const replies = await Promise.all(
    Array.from({ length: callers }, async () => {
      const [reply]: [IncomingMessage] = (await once(get({ port, agent: false }), 'response')) as [
        IncomingMessage,
      ];
      return reply;
    }),
  );
  // all replies have begun, and each waits for its client to read
  writes = 0;
  let isOver = false;
  const watch = async (): Promise<void> => {
    while (!isOver) {
      most = Math.max(most, writes);
      writes = 0;
      await turn();
    }
  };
  const watched = watch();
  const taken = await Promise.all(replies.map((reply) => lengthOf(reply)));
  isOver = true;
  await watched;
  t.true(taken.every((bytes) => bytes === length));
  // an iteration as counted here may contain the end of one iteration and the start of the next
  t.true(most > 1 && most <= 16, `${most}`);
});

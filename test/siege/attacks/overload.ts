import type { Socket } from 'node:net';
import type { Attack, Target } from '../attack.ts';
import { keep, post, screening } from '../wire.ts';

/** Repeats a call on a connection as soon as the reply to the one before has arrived. */
export function callInLoop(socket: Socket, { count, signal }: Target, message: Buffer): void {
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
    const end = received.indexOf('\r\n\r\n');
    const length = Number(/^content-length: *(\d+)/im.exec(received)?.[1] ?? 0);
    if (end === -1 || received.length < end + 4 + length) return;
    count(received.slice(9, 12));
    received = '';
    if (!signal.aborted) socket.write(message);
  });
  socket.write(message);
}

/** No more than one of twenty calls may be rejected. */
export const overload: Attack = {
  name: 'overload',
  says: '400 callers, each with the next call as soon as it has its reply, of an upstream that takes 25 ms',
  isOfMany: true,
  run: async (target) => {
    const counts = { good: 0, bad: 0 };
    const counting: Target = {
      ...target,
      count: (what) => {
        target.count(what);
        if (what === '200') counts.good++;
        else if (what !== 'connected') counts.bad++;
      },
    };
    const message = post('/v2/soap11', screening('GetSearch', 'slow 25'));
    await keep(400, target, (socket) => callInLoop(socket, counting, message));
    const isHeld = counts.bad <= counts.good / 20;
    return isHeld ? [] : [`${counts.bad} of ${counts.bad + counts.good} calls were rejected`];
  },
};

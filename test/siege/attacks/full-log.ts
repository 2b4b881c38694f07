import type { Attack } from '../attack.ts';
import { countStatus, keep, post, screening } from '../wire.ts';

const message = post('/v2/soap11', screening('GetSearch', 'echo 1'), 'Connection: close\r\n');

export const fullLog: Attack = {
  name: 'full-log',
  says: 'a hundred calls a second, each with a line in the log, whose disk is full',
  isLogFull: true,
  run: async (target) => {
    await keep(10, target, (socket) => {
      countStatus(socket, target).write(message);
    });
    return [];
  },
};

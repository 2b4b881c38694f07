import type { Attack } from '../attack.ts';
import { countStatus, keep, post, screening } from '../wire.ts';

const message = post('/v2/soap11', screening('UpdateSubUser', 'slow 6000'), 'Connection: close\r\n');

export const slowWrites: Attack = {
  name: 'slow-writes',
  says: '500 connections, each asking for writes that keep the upstream for 6 s',
  run: async (target) => {
    await keep(500, target, (socket) => {
      countStatus(socket, target).write(message);
    });
    return [];
  },
};

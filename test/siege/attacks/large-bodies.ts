import type { Attack } from '../attack.ts';
import { countStatus, files, keep, post } from '../wire.ts';

const content = 'ZmlsZQ=='.repeat(1_900_000);
const body = `<wish>slow 20000</wish><Body><content>${content}</content></Body>`;
const message = post('/files/soap11', files('read', body), 'Connection: close\r\n');

export const largeBodies: Attack = {
  name: 'large-bodies',
  says: '20 connections, each sending bodies of 15 MB to calls that keep the upstream for 20 s',
  run: async (target) => {
    await keep(20, target, (socket) => {
      countStatus(socket, target).write(message);
    });
    return [];
  },
};

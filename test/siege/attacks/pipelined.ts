import type { Attack } from '../attack.ts';
import { countStatus, files, keep, post, screening } from '../wire.ts';

const slow = post('/v2/soap11', screening('GetSearch', 'slow 3000'));
const small = Buffer.concat(Array(900).fill(slow));
const largeOne = post(
  '/files/soap11',
  files('read', `<wish>slow 3000</wish><Body><content>${'ZmlsZQ=='.repeat(625_000)}</content></Body>`),
);

export const pipelined: Attack = {
  name: 'pipelined',
  says: '900 requests on one connection that keep the upstream for 3 s each',
  run: async (target) => {
    await keep(1, target, (socket) => {
      countStatus(socket, target).write(small);
    });
    return [];
  },
};

export const pipelinedBodies: Attack = {
  name: 'pipelined-bodies',
  says: '60 requests of 5 MB on one connection that keep the upstream for 3 s each',
  run: async (target) => {
    await keep(1, target, (socket) => {
      countStatus(socket, target);
      for (let count = 0; count < 60; count++) socket.write(largeOne);
    });
    return [];
  },
};

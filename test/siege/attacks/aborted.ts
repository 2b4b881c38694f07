import type { Attack } from '../attack.ts';
import { every, open, post, screening } from '../wire.ts';

const message = post('/v2/soap11', screening('GetSearch', 'slow 50'));

export const aborted: Attack = {
  name: 'aborted',
  says: 'five hundred reads a second whose callers are gone before their replies',
  run: async (target) => {
    await every(10, target, () => {
      for (let count = 0; count < 5; count++) {
        const socket = open(target);
        socket.write(message);
        setTimeout(() => socket.resetAndDestroy(), 20).unref();
      }
    });
    return [];
  },
};

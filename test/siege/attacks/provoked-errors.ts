import type { Attack } from '../attack.ts';
import { countStatus, every, open, post, screening } from '../wire.ts';

export const provokedErrors: Attack = {
  name: 'provoked-errors',
  says: 'fifty times a second a read and a write that make the upstream say 500, each by another caller’s name',
  run: async (target) => {
    await every(20, target, (round) => {
      for (const operation of ['GetSearch', 'UpdateSubUser'] as const) {
        const body = screening(operation, 'fail 1', `attacker-${round}`);
        countStatus(open(target), target).write(post('/v2/soap11', body, 'Connection: close\r\n'));
      }
    });
    return [];
  },
};

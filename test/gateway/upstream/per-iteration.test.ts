import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import { perIteration } from '../../../gateway/upstream/per-iteration.ts';

test('a limited number runs per event-loop iteration, the others in the next ones, in order', async (t) => {
  const run = perIteration(3);
  const ran: number[] = [];
  for (let number = 0; number < 8; number++) run(() => ran.push(number));
  const seen = [[...ran]];
  for (let count = 0; count < 3; count++) {
    await turn();
    seen.push([...ran]);
  }
  t.deepEqual(seen, [
    [0, 1, 2],
    [0, 1, 2, 3, 4, 5],
    [0, 1, 2, 3, 4, 5, 6, 7],
    [0, 1, 2, 3, 4, 5, 6, 7],
  ]);
});

test('work that arrives while other work waits runs after it', async (t) => {
  const run = perIteration(1);
  const ran: string[] = [];
  run(() => ran.push('first'));
  run(() => {
    ran.push('second');
    run(() => ran.push('of the second'));
  });
  run(() => ran.push('third'));
  while (ran.length < 4) await turn();
  t.deepEqual(ran, ['first', 'second', 'third', 'of the second']);
});

import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { createWorkQueue } from '../../console/server/work-queue.ts';

function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test('pagesWaiting: that many requests wait while one is rendered; one more is refused', async (t) => {
  const turns = createWorkQueue(2);
  const done: number[] = [];
  const taken = [1, 2, 3].map((number) => turns.run(() => done.push(number)));
  await t.throwsAsync(
    turns.run(() => done.push(4)),
    { message: 'expected fewer visitors at a time; try again in some seconds' },
  );
  await Promise.all(taken);
  t.deepEqual(done, [1, 2, 3]);
  t.is(await turns.run(() => 5), 5);
});

test('the pause between two pieces of work is three times as long as the first took', async (t) => {
  const turns = createWorkQueue(10);
  const times: number[] = [];
  const piece = (): void => {
    times.push(performance.now());
    work(20);
    times.push(performance.now());
  };
  await Promise.all([turns.run(piece), turns.run(piece)]);
  const [, ended = 0, began = 0] = times;
  t.true(began - ended >= 59, `${began - ended}`);
});

test('slow asynchronous work counts by the clock, and failed work blocks nobody', async (t) => {
  const turns = createWorkQueue(10);
  let ended = Number.POSITIVE_INFINITY;
  const failed = turns.run(async () => {
    await pause(20);
    ended = performance.now();
    throw new Error('no page');
  });
  const next = turns.run(() => performance.now());
  await t.throwsAsync(failed, { message: 'no page' });
  t.true((await next) - ended >= 55);
});

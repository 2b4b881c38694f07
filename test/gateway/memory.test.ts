import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import test from 'ava';

const memory = new URL('../../gateway/memory.ts', import.meta.url).href;

/** What a process tells in JSON that is given back its memory in pauses of 1.5 s. */
async function run(program: string): Promise<unknown> {
  const whole = `
    import { PerformanceObserver, constants } from 'node:perf_hooks';
    import { setTimeout as pause } from 'node:timers/promises';
    import { giveBackInPauses } from '${memory}';
    let collected = 0;
    new PerformanceObserver((list) => {
      for (const { detail } of list.getEntries())
        if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) collected++;
    }).observe({ entryTypes: ['gc'] });
    const work = (ms) => { for (const until = performance.now() + ms; performance.now() < until; ); };
    giveBackInPauses(1_500);
    const keep = setInterval(() => {}, 60_000);
    ${program}
    clearInterval(keep);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', whole]);
  return JSON.parse(stdout);
}

test('memory is given back once in a pause, and again in the next one', async (t) => {
  const told = await run(`
    const counts = [];
    for (let round = 0; round < 2; round++) {
      work(200);
      await pause(3_600);
      counts.push(collected);
      await pause(3_000);
      counts.push(collected);
    }
    console.log(JSON.stringify(counts));`);
  const [first = 0, same, second = 0, still] = told as number[];
  t.true(first > 0);
  t.is(same, first);
  t.true(second > first);
  t.is(still, second);
});

test('a process that is never idle for long keeps what it has', async (t) => {
  t.is(
    await run(`
      for (let round = 0; round < 8; round++) {
        work(100);
        await pause(500);
      }
      console.log(collected);`),
    0,
  );
});

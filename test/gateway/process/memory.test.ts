import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import test from 'ava';

const memory = new URL('../../../gateway/process/memory.ts', import.meta.url).href;

/** Runs a program that uses `giveBackWhenIdle` in a process, and returns its JSON output. */
async function run(startedMs: number, pauseMs: number, program: string): Promise<unknown> {
  const whole = `
    import { PerformanceObserver, constants } from 'node:perf_hooks';
    import { setTimeout as pause } from 'node:timers/promises';
    import { giveBackWhenIdle } from '${memory}';
    let collected = 0;
    new PerformanceObserver((list) => {
      for (const { detail } of list.getEntries())
        if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) collected++;
    }).observe({ entryTypes: ['gc'] });
    const spent = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
    // of its own time: what else the machine does would leave it less in as many ms
    const work = (ms) => { for (const until = spent() + ms; spent() < until; ); };
    giveBackWhenIdle(${startedMs}, ${pauseMs});
    const keep = setInterval(() => {}, 60_000);
    ${program}
    clearInterval(keep);`;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '-e',
    whole,
  ]);
  if (stderr !== '') throw new Error(stderr);
  return JSON.parse(stdout);
}

const never = 60_000;

test('memory used at start is freed when the process becomes idle, and not before', async (t) => {
  const told = await run(
    500,
    never,
    `
    const counts = [];
    for (let round = 0; round < 4; round++) {
      work(100);
      await pause(200);
    }
    counts.push(collected);
    for (let times = 0; times < 2; times++) {
      await pause(1_200);
      counts.push(collected);
    }
    console.log(JSON.stringify(counts));`,
  );
  const [before, after = 0, later] = told as number[];
  t.is(before, 0);
  t.true(after > 0);
  t.is(later, after);
});

test('a process that is busy after its start keeps its memory in the first short pause', async (t) => {
  t.is(
    await run(
      300,
      never,
      `
      for (let round = 0; round < 20; round++) {
        work(50);
        await pause(50);
      }
      await pause(1_000);
      console.log(collected);`,
    ),
    0,
  );
});

test('memory is freed once per pause, and again in the next one', async (t) => {
  const told = await run(
    never,
    3_000,
    `
    const counts = [];
    for (let round = 0; round < 2; round++) {
      work(200);
      const before = collected;
      // on a machine with other work a pause can look busy
      const idle = [];
      for (let looks = 0; looks < 40 && collected === before; looks++) {
        const began = spent();
        await pause(1_000);
        idle.push(Math.round(spent() - began));
      }
      if (collected === before) console.error('nothing was given back; ms of CPU in each second:', String(idle));
      counts.push(collected);
      await pause(6_500);
      counts.push(collected);
    }
    console.log(JSON.stringify(counts));`,
  );
  const [first = 0, same, second = 0, still] = told as number[];
  t.true(first > 0);
  t.is(same, first);
  t.true(second > first);
  t.is(still, second);
});

test('a process that is never idle for long keeps its memory', async (t) => {
  t.is(
    await run(
      1_000,
      1_500,
      `
      for (let round = 0; round < 8; round++) {
        work(100);
        await pause(500);
      }
      console.log(collected);`,
    ),
    0,
  );
});

test('V8 collects less often during large messages, whose memory is freed without it', async (t) => {
  const program = (less: string): string => `
    import { countBuffersAsMemory, collectLessForLarge } from '${memory}';
    countBuffersAsMemory();
    ${less}
    const used = [];
    for (let count = 0; count < 300_000; count++) used.push({ count, list: [count] });
    const message = async () => {
      const pieces = Array.from({ length: 6 }, () => new ArrayBuffer(24_000_000));
      await pause(20);
      for (const piece of pieces) piece.transfer(0);
    };
    for (let times = 0; times < 4; times++) await message();
    const before = collected;
    for (let times = 0; times < 20; times++) await message();
    console.log(JSON.stringify([collected - before, used.length]));`;
  const [often = 0] = (await run(never, never, program(''))) as number[];
  const [seldom = 0] = (await run(never, never, program('collectLessForLarge(5);'))) as number[];
  t.true(often >= 4 && seldom <= often / 4, `${often} ${seldom}`);
});

import { readdirSync, readFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import test from 'ava';
import { until } from '../../until.ts';
import { start } from '../commands/run.ts';

const { PRIORITY_BELOW_NORMAL: lower, PRIORITY_LOW: lowest } = constants.priority;

for (const [started, less] of [
  ['', 0],
  [', also in a process started with a lower priority', 5],
] as const)
  (process.platform === 'linux' ? test.serial : test.skip)(
    `the event loop goes before the threads of V8 and libuv${started} (Linux has a priority for each thread)`,
    async (t) => {
      // the gateway starts with the priority of this process
      const own = Math.min(lowest, getPriority() + less);
      setPriority(own);
      const { child } = await start(t);
      const { pid = 0 } = child;
      const nameOf = (thread: number): string =>
        readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8').trim();
      const priorities = (): (readonly [string, number])[] =>
        readdirSync(`/proc/${pid}/task`)
          .map(Number)
          .filter((thread) => thread !== pid)
          .map((thread) => [nameOf(thread), getPriority(thread)]);
      const expected = Math.min(lowest, own + lower);
      // the start line is printed before the last step of the start
      await until(() => priorities().every(([, priority]) => priority >= expected));
      t.is(getPriority(pid), own);
      t.true(priorities().some(([name]) => name === 'libuv-worker'));
    },
  );

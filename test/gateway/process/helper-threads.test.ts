import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { start } from '../commands/run.ts';

(process.platform === 'linux' ? test : test.skip)(
  'the event loop goes before the threads of V8 and libuv (Linux has a priority for each thread)',
  async (t) => {
    const { child } = await start(t);
    const { pid = 0 } = child;
    const nameOf = (thread: number): string =>
      readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8').trim();
    const priorities = (): (readonly [string, number])[] =>
      readdirSync(`/proc/${pid}/task`)
        .map(Number)
        .filter((thread) => thread !== pid)
        .map((thread) => [nameOf(thread), getPriority(thread)]);
    // the start line is printed before the last step of the start
    while (priorities().some(([, priority]) => priority === 0)) await pause(10);
    t.is(getPriority(pid), 0);
    t.true(priorities().some(([name]) => name === 'libuv-worker'));
  },
);

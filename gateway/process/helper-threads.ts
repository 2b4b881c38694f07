import { readdir } from 'node:fs/promises';
import { yieldToOthers } from '../workers/priority.ts';

/**
 * Lets the event loop go before the threads that help it, where the system has a priority for each thread: V8's, which mark,
 * sweep and compile, and libuv's, which unpack and read files. There are more of them than cores, and each keeps its core for
 * some 4 ms at a time: while V8 collected what large messages had left, calls waited 18 ms for a core.
 */
export async function helpersYield(): Promise<void> {
  let threads: number[];
  try {
    threads = (await readdir('/proc/self/task')).map(Number); // which has libuv start its own
  } catch {
    return; // not Linux, or without /proc: they go on like the others
  }
  if (!threads.includes(process.pid)) return; // the numbers are another namespace's
  for (const thread of threads) if (thread !== process.pid) yieldToOthers(thread);
}

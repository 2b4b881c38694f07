import { readdir } from 'node:fs/promises';
import { yieldToOthers } from '../workers/priority.ts';

/**
 * Lowers the priority of all threads except the event loop's, on systems with a priority per thread. V8's helper
 * threads mark, sweep and compile. libuv's helper threads decompress and read files. Otherwise calls wait for a core
 * while a helper thread uses it.
 */
export async function helpersYield(): Promise<void> {
  let threads: number[];
  try {
    threads = (await readdir('/proc/self/task')).map(Number); // this also starts libuv's threads
  } catch {
    return; // not Linux, or no /proc: all threads keep their priority
  }
  if (!threads.includes(process.pid)) return; // the numbers belong to another PID namespace
  for (const thread of threads) if (thread !== process.pid) yieldToOthers(thread);
}

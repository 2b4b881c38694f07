import { readdir } from 'node:fs/promises';
import { constants, getPriority, setPriority } from 'node:os';

const { PRIORITY_BELOW_NORMAL: lower, PRIORITY_LOW: lowest } = constants.priority;

/**
 * Lowers the priority of a thread below the event loop's, so that threads that answer calls run first. A process that
 * was started with a lower priority keeps this order. Only on Linux, where each thread has a priority.
 *
 * @param thread the thread id of the operating system; 0 for the calling thread
 */
export function yieldToOthers(thread: number = 0): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(thread, Math.min(lowest, getPriority(process.pid) + lower));
  } catch {
    // not permitted: the thread keeps its priority
  }
}

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

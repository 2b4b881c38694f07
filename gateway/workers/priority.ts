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

import { constants, setPriority } from 'node:os';

/**
 * Lowers the priority of a thread, so that threads that answer calls run first. Only on Linux, where each thread has a
 * priority.
 *
 * @param thread the thread id of the operating system; 0 for the calling thread
 */
export function yieldToOthers(thread: number = 0): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // not permitted: the thread keeps its priority
  }
}

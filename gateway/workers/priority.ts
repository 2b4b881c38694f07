import { constants, setPriority } from 'node:os';

/**
 * Lets the threads that answer calls go before a thread, where the system has a priority for each.
 *
 * @param thread by the system's number; 0 for the one that says so
 */
export function yieldToOthers(thread: number = 0): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // not allowed here: it goes on like the others
  }
}

import { constants, setPriority } from 'node:os';
import type { Worker } from 'node:worker_threads';

/** A thread gave no answer. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

/**
 * The one message that a thread has to give; with it, or without it in time, the thread is ended. Throws NoAnswer, and
 * what the thread threw.
 */
export async function answerOf<T>(thread: Worker, withinMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      // a timer takes no longer times
      timer = setTimeout(
        () => reject(new NoAnswer(`expected an end within ${withinMs} ms, got none`)),
        Math.min(withinMs, 2 ** 31 - 1),
      );
      thread.once('message', resolve);
      thread.once('error', reject);
      thread.once('exit', () => reject(new NoAnswer('expected an answer of its thread, got none')));
    });
  } finally {
    clearTimeout(timer);
    await thread.terminate();
  }
}

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

import { setTimeout as pause } from 'node:timers/promises';

/** Maximum wait in ms. It is long because machines may be busy. */
const limitMs = 100_000;

/**
 * Waits until a condition is true. Checks it every 5 ms.
 *
 * @throws {Error} after 100 s; the message contains the source of the condition
 */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (const limit = performance.now() + limitMs; !(await condition()); await pause(5)) {
    if (performance.now() > limit) throw new Error(`expected within ${limitMs} ms: ${condition}`);
  }
}

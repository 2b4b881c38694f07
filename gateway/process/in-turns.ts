import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Steps } from '../../mappings/steps.ts';

/** So much of the work, in ms, is done in a turn of the event loop. */
const turnMs = 5;

/** Does work beside what else the event loop has to do, some steps in each of its turns. */
export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  let began = performance.now();
  let step = steps.next();
  while (step.done !== true) {
    if (performance.now() - began >= turnMs) {
      await nextTurn();
      began = performance.now();
    }
    step = steps.next();
  }
  return step.value;
}

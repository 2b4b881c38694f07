import { setImmediate as nextIteration } from 'node:timers/promises';
import type { Steps } from '../../mappings/steps.ts';

/** Maximum time for the work in one event-loop iteration, in ms. */
const sliceMs = 5;

/** Runs work in several event-loop iterations, so that it does not block other work. */
export async function runInSlices<Result>(steps: Steps<Result>): Promise<Result> {
  let began = performance.now();
  let step = steps.next();
  while (step.done !== true) {
    if (performance.now() - began >= sliceMs) {
      await nextIteration();
      began = performance.now();
    }
    step = steps.next();
  }
  return step.value;
}

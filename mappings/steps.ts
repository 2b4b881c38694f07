/** Work that can be interrupted between its steps. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Executes all steps without interruption. */
export function doAll<Result>(steps: Steps<Result>): Result {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

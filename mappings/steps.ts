/** Work that can be interrupted: between its steps others may have their turn. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Does all of it at once. */
export function doAll<Result>(steps: Steps<Result>): Result {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

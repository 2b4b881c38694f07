import { CallError, type ErrorCode } from './error.ts';

/** Waits for a result until a deadline in ms of `performance.now()`. After it, the wait ends with a CallError. */
export function withinDeadline<Result>(
  work: Promise<Result>,
  deadline: number,
  code: ErrorCode,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new CallError(code));
    const timer = setTimeout(late, Math.max(0, deadline - performance.now()));
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

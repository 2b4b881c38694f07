import { type InFlight, InFlightSet } from '../admission/in-flight-set.ts';
import { CallError, type ErrorCode } from '../call/error.ts';

/** An object with a time limit. */
export interface Watched extends InFlight {
  /** Returns the current deadline in ms of `performance.now()`. `now` is the time of the check. */
  readonly due: (now: number) => number;
  /** Called after the deadline, when the object is no longer watched. */
  readonly onDue: () => void;
}

/** Interval between checks, in ms. A deadline is detected at most two intervals late and never early. */
const everyMs = 25;

/** Ends objects after their deadlines. One timer serves all calls, so that each call does not set and clear its own. */
export class Watch {
  readonly #watched = new InFlightSet<Watched>();
  #timer: NodeJS.Timeout | undefined;

  add(watched: Watched): void {
    this.#watched.add(watched);
    this.#timer ??= setInterval(() => this.#look(), everyMs);
  }

  delete(watched: Watched): void {
    this.#watched.delete(watched);
  }

  #look(): void {
    const now = performance.now();
    for (const watched of this.#watched.filter((one) => one.due(now) <= now)) {
      this.delete(watched);
      watched.onDue();
    }
    if (this.#watched.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

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

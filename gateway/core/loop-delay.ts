const sampleMs = 50;

/** Delay of timers, in ms. */
export interface Lateness {
  /** The longest delay since the last call of `take`. */
  readonly mostMs: number;
  /**
   * The second longest delay since the call before that. A single pause, for example of the machine, does not affect
   * it.
   */
  readonly repeatedMs: number;
}

/**
 * Measures how late the event loop runs its timers. Node's own monitor ignores the first delay after a reset. It
 * therefore measures nothing if each iteration takes longer than the time between two resets.
 */
export class LoopDelay {
  readonly #now: () => number;
  #due: number;
  /** The two longest delays since the last call of `take`, and in the interval before it. */
  #last: readonly number[] = [0, 0];
  #before: readonly number[] = [0, 0];
  readonly #timer = setInterval(() => this.#sample(), sampleMs).unref();

  /** @param now monotonic clock, in ms */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#due = now() + sampleMs;
  }

  /** Returns the delays and starts a new interval. Call this about every second. */
  take(): Lateness {
    this.#sample();
    const [mostMs = 0] = this.#last;
    const [, repeatedMs = 0] = longestTwo([...this.#last, ...this.#before]);
    this.#before = this.#last;
    this.#last = [0, 0];
    return { mostMs, repeatedMs };
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Counts each delay once, whichever timer runs first after it. */
  #sample(): void {
    const now = this.#now();
    if (now > this.#due) this.#last = longestTwo([...this.#last, now - this.#due]);
    this.#due = now + sampleMs;
  }
}

function longestTwo(delays: readonly number[]): readonly number[] {
  return delays.toSorted((one, other) => other - one).slice(0, 2);
}

const sampleMs = 50;

/** How late timers came, in ms. */
export interface Lateness {
  /** The most since the last look. */
  readonly mostMs: number;
  /** The most but one since the look before that: one stop alone, of the machine's say, doesn't make it. */
  readonly repeatedMs: number;
}

/**
 * How late the event loop's timers come. Node's own monitor, once reset, counts from its second look on, and so sees
 * nothing of a loop whose every turn takes longer than it is asked for.
 */
export class LoopDelay {
  #due = performance.now() + sampleMs;
  /** The two longest, of the time since the last look and of that before. */
  #now: readonly number[] = [0, 0];
  #before: readonly number[] = [0, 0];
  readonly #timer = setInterval(() => this.#sample(), sampleMs).unref();

  /** To be called every second or so. */
  take(): Lateness {
    this.#sample();
    const [mostMs = 0] = this.#now;
    const [, repeatedMs = 0] = longestTwo([...this.#now, ...this.#before]);
    this.#before = this.#now;
    this.#now = [0, 0];
    return { mostMs, repeatedMs };
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Counts each delay once, whichever timer comes first after it. */
  #sample(): void {
    const now = performance.now();
    if (now > this.#due) this.#now = longestTwo([...this.#now, now - this.#due]);
    this.#due = now + sampleMs;
  }
}

function longestTwo(delays: readonly number[]): readonly number[] {
  return delays.toSorted((one, other) => other - one).slice(0, 2);
}

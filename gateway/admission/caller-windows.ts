/** Maximum number of calls per time window. */
export interface CallLimit {
  /** Name of the limit in reply headers and metrics, for example `rate`, `quota` or `Lend-rate`. */
  readonly name: string;
  /** Maximum number of calls. */
  readonly calls: number;
  /** Length of the window in seconds, from a caller's first call; undefined means until midnight UTC. */
  readonly seconds: number | undefined;
}

/** The count of a caller after a call. */
export interface CallCount {
  /** Number of calls in the window, including this one. */
  readonly used: number;
  /** Time until the window ends, in ms. */
  readonly resetMs: number;
}

/** Counts calls of callers. Never fails: if the store is unavailable, calls are counted elsewhere. */
export interface CallCounters {
  /** Counts one call. `now` is in ms since 1970. */
  readonly add: (key: string, limit: CallLimit, now: number) => CallCount | Promise<CallCount>;
}

const dayMs = 86_400_000;

/** Returns the length in ms of a window that starts now. */
export function windowMs({ seconds }: CallLimit, now: number): number {
  return seconds === undefined ? dayMs - (now % dayMs) : seconds * 1000;
}

interface Window {
  used: number;
  /** In ms since 1970. */
  readonly until: number;
}

/**
 * Counts calls in this process. When the maximum number of windows is reached, the oldest one is evicted. Many
 * untrusted clients therefore make the limits inexact, but never block calls.
 */
export class CallerWindows implements CallCounters {
  /** Ordered by start time. */
  readonly #windows = new Map<string, Window>();
  readonly #most: number;

  /** @param most maximum number of windows */
  constructor(most: number) {
    this.#most = most;
  }

  /** Number of windows. */
  get size(): number {
    return this.#windows.size;
  }

  add(key: string, limit: CallLimit, now: number): CallCount {
    const resetMs = windowMs(limit, now);
    const known = this.#windows.get(key);
    // a longer remaining time means that the clock was set back or the rule had a longer window
    if (known !== undefined && known.until > now && known.until - now <= resetMs) {
      known.used++;
      return { used: known.used, resetMs: known.until - now };
    }
    this.#windows.delete(key);
    const [oldest] = this.#windows.keys();
    if (oldest !== undefined && this.#windows.size >= this.#most) this.#windows.delete(oldest);
    this.#windows.set(key, { used: 1, until: now + resetMs });
    return { used: 1, resetMs };
  }

  /** Removes windows that have ended. Call this regularly. */
  sweep(now: number): void {
    for (const [key, { until }] of this.#windows) if (until <= now) this.#windows.delete(key);
  }
}

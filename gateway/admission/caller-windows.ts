/** What is counted for each caller: so many calls in so long a time. */
export interface CallLimit {
  /** What the headers of replies and the metrics call it, such as `rate`, `quota` or `Lend-rate`. */
  readonly name: string;
  /** How many calls. */
  readonly calls: number;
  /** In seconds, from a caller's first call on; undefined: until midnight, UTC. */
  readonly seconds: number | undefined;
}

/** How far a caller is. */
export interface CallCount {
  /** Calls so far, this one too. */
  readonly used: number;
  /** Until they are forgotten, in ms. */
  readonly resetMs: number;
}

/** Counts calls of callers. Never fails: what can't be counted where it should be is counted elsewhere. */
export interface CallCounters {
  /** Counts one call, at a time in ms since 1970. */
  readonly add: (key: string, limit: CallLimit, now: number) => CallCount | Promise<CallCount>;
}

const dayMs = 86_400_000;

/** From now until a limit's calls are forgotten that began to be counted now, in ms. */
export function windowMs({ seconds }: CallLimit, now: number): number {
  return seconds === undefined ? dayMs - (now % dayMs) : seconds * 1000;
}

interface Window {
  used: number;
  /** In ms since 1970. */
  readonly until: number;
}

/**
 * Counts in this process. When there are as many callers as are remembered, the one whose window began first is forgotten:
 * many strangers make limits loose and never take calls down.
 */
export class CallerWindows implements CallCounters {
  /** In the order in which they began. */
  readonly #windows = new Map<string, Window>();
  readonly #most: number;

  /** @param most how many windows are remembered */
  constructor(most: number) {
    this.#most = most;
  }

  /** How many windows are remembered. */
  get size(): number {
    return this.#windows.size;
  }

  add(key: string, limit: CallLimit, now: number): CallCount {
    const resetMs = windowMs(limit, now);
    const known = this.#windows.get(key);
    // one that would last longer began by a clock that was ahead, or by a rule with a longer time
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

  /** Forgets windows that are over: to be called now and then. */
  sweep(now: number): void {
    for (const [key, { until }] of this.#windows) if (until <= now) this.#windows.delete(key);
  }
}

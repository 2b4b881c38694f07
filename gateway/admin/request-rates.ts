import { networkOf } from '../http/networks.ts';

/** Maximum number of requests of one network per second. */
export const maxRequestsPerSecond = 100;

/** Maximum number of networks counted separately. All others count as one network. */
export const maxNetworks = 1_000;

/** Maximum number of refused requests without credentials of one network per minute that are in the audit. */
export const maxAnonymousPerMinute = 10;

/** Counts the requests of networks in windows of a fixed duration. */
export class RequestRates {
  readonly #now: () => number;
  readonly #most: number;
  readonly #windowMs: number;
  readonly #counts = new Map<string, number>();
  #windowAt = 0;

  /**
   * @param now in ms of a monotonic clock
   * @param most requests of a network in a window
   */
  constructor(now: () => number, most = maxRequestsPerSecond, windowMs = 1_000) {
    this.#now = now;
    this.#most = most;
    this.#windowMs = windowMs;
  }

  /** Counts a request. Returns false if its network has reached the limit. */
  take(address: string): boolean {
    const now = this.#now();
    if (now - this.#windowAt >= this.#windowMs) {
      this.#counts.clear();
      this.#windowAt = now;
    }
    const own = networkOf(address);
    const network = this.#counts.has(own) || this.#counts.size < maxNetworks ? own : '';
    const count = (this.#counts.get(network) ?? 0) + 1;
    this.#counts.set(network, count);
    return count <= this.#most;
  }
}

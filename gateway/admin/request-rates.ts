import { networkOf } from '../http/connections.ts';

/** Maximum number of requests of one network per second. */
export const maxRequestsPerSecond = 100;

/** Maximum number of networks counted separately. All others count as one network. */
export const maxNetworks = 1_000;

/** Counts the requests of networks in windows of one second. */
export class RequestRates {
  readonly #now: () => number;
  readonly #counts = new Map<string, number>();
  #windowAt = 0;

  /** @param now in ms of a monotonic clock */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Counts a request. Returns false if its network has reached the limit. */
  take(address: string): boolean {
    const now = this.#now();
    if (now - this.#windowAt >= 1_000) {
      this.#counts.clear();
      this.#windowAt = now;
    }
    const own = networkOf(address);
    const network = this.#counts.has(own) || this.#counts.size < maxNetworks ? own : '';
    const count = (this.#counts.get(network) ?? 0) + 1;
    this.#counts.set(network, count);
    return count <= maxRequestsPerSecond;
  }
}

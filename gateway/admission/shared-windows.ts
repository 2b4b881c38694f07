import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { type CallCount, type CallCounters, type CallLimit, windowMs } from './caller-windows.ts';
import { type LimitStore, OtherAnswer } from './limit-store.ts';

/** Counts calls of all replicas in Valkey or Redis, or in this process while the store is unavailable. */
export class SharedWindows implements CallCounters {
  readonly #store: LimitStore;
  readonly #local: CallCounters;
  readonly #limiters = new WeakMap<CallLimit, RateLimiterRedis>();

  /** @param local counts while the store is unavailable */
  constructor(store: LimitStore, local: CallCounters) {
    this.#store = store;
    this.#local = local;
  }

  async add(key: string, limit: CallLimit, now: number): Promise<CallCount> {
    const count = await this.#store.query(now, () => this.#consume(key, limit, now));
    return count ?? this.#local.add(key, limit, now);
  }

  async #consume(key: string, limit: CallLimit, now: number): Promise<CallCount> {
    // rounded up: a window that ends slightly later is still the same for all replicas
    const seconds = Math.ceil(windowMs(limit, now) / 1000);
    const isDay = limit.seconds === undefined;
    // a rule with another window length starts a new count
    const place = `${key} ${isDay ? new Date(now).toISOString().slice(0, 10) : limit.seconds}`;
    let result: RateLimiterRes;
    try {
      result = await this.#limiterOf(limit).consume(place, 1, isDay ? { customDuration: seconds } : {});
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      result = refusal;
    }
    const { consumedPoints: used, msBeforeNext: resetMs } = result;
    // a count that never ends would lock its caller out
    if (!Number.isSafeInteger(used) || used < 1 || !Number.isSafeInteger(resetMs) || resetMs < 0)
      throw new OtherAnswer('store: expected a count and its time, got another reply');
    return { used, resetMs: Math.min(resetMs, seconds * 1000) };
  }

  #limiterOf(limit: CallLimit): RateLimiterRedis {
    let limiter = this.#limiters.get(limit);
    if (limiter === undefined) {
      // its script runs in Valkey and Redis; the script of the library's RateLimiterValkey does not run in Redis
      limiter = new RateLimiterRedis({
        storeClient: this.#store.client,
        keyPrefix: 'soapbridge',
        points: limit.calls,
        duration: limit.seconds ?? 86_400,
      });
      this.#limiters.set(limit, limiter);
    }
    return limiter;
  }
}

import { Redis } from 'iovalkey';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { type CallCount, type CallCounters, type CallLimit, windowMs } from './caller-windows.ts';

/** How calls are counted in a store that replicas share. */
export interface SharedWindowsOptions {
  /** `redis://` or `rediss://`, which may hold a password: it is never told. */
  readonly url: string;
  /** How long a call waits for the store, in ms. */
  readonly timeoutMs: number;
  /** Counts while the store is away. */
  readonly local: CallCounters;
  /** Told when the store goes away, with the system's word for why, and when it is back. */
  readonly onChange: (isAway: boolean, code: string) => void;
}

/** For how long the store isn't asked again that didn't answer, in ms. */
const pauseMs = 1_000;

/** Counts calls in Valkey or Redis, for all replicas; in this process while that is away. */
export class SharedWindows implements CallCounters {
  readonly #client: Redis;
  readonly #options: SharedWindowsOptions;
  readonly #limiters = new WeakMap<CallLimit, RateLimiterRedis>();
  #isAway = false;
  #lastError: unknown;
  /** In ms since 1970. */
  #pausedUntil = 0;
  #missed = 0;

  private constructor(options: SharedWindowsOptions) {
    this.#options = options;
    this.#client = new Redis(options.url, {
      lazyConnect: true,
      // what can't go out now is counted here: nothing waits for a store that is away
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 2_000,
      commandTimeout: options.timeoutMs,
      enableAutoPipelining: true,
      retryStrategy: (tries) => Math.min(100 * tries, pauseMs),
    });
    // told where a call misses it
    this.#client.on('error', (error) => {
      this.#lastError = error;
    });
  }

  /** Connects; a store that is away is told and asked again, and is no error. */
  static async open(options: SharedWindowsOptions): Promise<SharedWindows> {
    const windows = new SharedWindows(options);
    try {
      await windows.#client.connect();
    } catch (error) {
      windows.#miss(error);
    }
    return windows;
  }

  /** Whether calls are counted in this process, as the store is away. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** Calls that were counted in this process, as the store was away. */
  get missed(): number {
    return this.#missed;
  }

  async add(key: string, limit: CallLimit, now: number): Promise<CallCount> {
    const { local } = this.#options;
    if (this.#client.status !== 'ready') this.#miss(undefined);
    else if (now >= this.#pausedUntil) {
      try {
        const count = await this.#consume(key, limit, now);
        if (this.#isAway) {
          this.#isAway = false;
          this.#options.onChange(false, '');
        }
        return count;
      } catch (error) {
        this.#pausedUntil = now + pauseMs;
        this.#miss(error);
      }
    }
    this.#missed++;
    return local.add(key, limit, now);
  }

  /** Ends the connection. */
  close(): void {
    this.#client.disconnect();
  }

  async #consume(key: string, limit: CallLimit, now: number): Promise<CallCount> {
    // rounded up: a window that ends a little later is still the same for all replicas
    const seconds = Math.ceil(windowMs(limit, now) / 1000);
    const isDay = limit.seconds === undefined;
    const place = isDay ? `${key} ${new Date(now).toISOString().slice(0, 10)}` : key;
    let result: RateLimiterRes;
    try {
      result = await this.#limiterOf(limit).consume(place, 1, isDay ? { customDuration: seconds } : {});
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      result = refusal;
    }
    return { used: result.consumedPoints, resetMs: result.msBeforeNext };
  }

  #limiterOf(limit: CallLimit): RateLimiterRedis {
    let limiter = this.#limiters.get(limit);
    if (limiter === undefined) {
      // its script runs in both; that of the library's RateLimiterValkey doesn't in Redis
      limiter = new RateLimiterRedis({
        storeClient: this.#client,
        keyPrefix: 'soapbridge',
        points: limit.calls,
        duration: limit.seconds ?? 86_400,
      });
      this.#limiters.set(limit, limiter);
    }
    return limiter;
  }

  #miss(error: unknown): void {
    if (this.#isAway) return;
    this.#isAway = true;
    this.#options.onChange(true, codeOf(error) ?? codeOf(this.#lastError) ?? this.#client.status);
  }
}

/** The system's word for an error, or the store's, such as `ECONNREFUSED` or `NOAUTH`; undefined where there is none. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error) return String(error.code);
  if (error.message === 'Command timed out') return 'timeout';
  return /^([A-Z]{2,}) /.exec(error.message)?.[1];
}

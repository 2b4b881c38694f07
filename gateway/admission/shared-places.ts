import { randomBytes } from 'node:crypto';
import type { CallPlaces, Leave } from './caller-places.ts';
import { type LimitStore, OtherAnswer } from './limit-store.ts';

/**
 * Takes a place where there is one: KEYS[1] has the places of a caller, each with the time until which it is kept, by the store's
 * own clock. ARGV: how many there are, for how many ms one is kept, what this one is called. Gives 1, or 0 where all are taken.
 */
const takeScript = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`;

/** Keeps a place that is still there for longer. ARGV: for how many ms more, what it is called. */
const keepScript = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if redis.call('ZADD', KEYS[1], 'XX', 'CH', now + ARGV[1], ARGV[2]) == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return 1`;

/**
 * Counts calls under way in Valkey or Redis, for all replicas; in this process while that is away. A place is kept for a while
 * and that is made longer as long as its call is under way: those of a replica that was killed are free again after it.
 */
export class SharedPlaces implements CallPlaces {
  readonly #store: LimitStore;
  readonly #local: CallPlaces;
  readonly #keptMs: number;
  /** Of this process: what a place is called, and whose it is. */
  readonly #held = new Map<string, string>();
  readonly #process = randomBytes(9).toString('base64url');
  readonly #timer: NodeJS.Timeout;
  #count = 0;

  /**
   * @param local counts while the store is away
   * @param keptMs for how long a place is kept whose replica doesn't say that its call is under way
   */
  constructor(store: LimitStore, local: CallPlaces, keptMs: number) {
    this.#store = store;
    this.#local = local;
    this.#keptMs = keptMs;
    this.#timer = setInterval(() => void this.#keep(), keptMs / 3).unref();
  }

  async take(key: string, most: number, now: number): Promise<Leave | undefined> {
    const place = `${this.#process} ${this.#count++}`;
    const kept = keyOf(key);
    const answer = await this.#store.ask(now, async () => {
      const taken = await this.#store.client.eval(takeScript, 1, kept, most, this.#keptMs, place);
      if (taken === 0 || taken === 1) return taken;
      throw new OtherAnswer('store: expected 0 or 1, got something else');
    });
    if (answer === undefined) return this.#local.take(key, most, now);
    if (answer === 0) return undefined;
    this.#held.set(place, kept);
    return () => {
      this.#held.delete(place);
      // where it doesn't come to the store, the place is free after a while
      void this.#store.tell(Date.now(), () => this.#store.client.zrem(kept, place));
    };
  }

  /** Keeps no place for longer. */
  close(): void {
    clearInterval(this.#timer);
  }

  async #keep(): Promise<void> {
    const { client } = this.#store;
    await Promise.all(
      [...this.#held].map(([place, kept]) =>
        this.#store.tell(Date.now(), () => client.eval(keepScript, 1, kept, this.#keptMs, place)),
      ),
    );
  }
}

/** Where the places of a caller are. */
function keyOf(key: string): string {
  return `soapbridge:places:${key}`;
}

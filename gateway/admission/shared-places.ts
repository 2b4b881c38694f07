import { randomBytes } from 'node:crypto';
import type { CallPlaces, Release } from './caller-places.ts';
import { type LimitStore, OtherAnswer } from './limit-store.ts';

/**
 * Lua script that takes a slot. KEYS[1] is a sorted set of a caller's slots by expiry time, on the store's clock. ARGV:
 * number of slots, lifetime of a slot in ms, name of this slot. Returns 1, or 0 if all slots are taken.
 */
const takeScript = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`;

/**
 * Lua script that extends the lifetime of a slot if it still exists. ARGV: lifetime from now in ms, name of the slot.
 */
const keepScript = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if redis.call('ZADD', KEYS[1], 'XX', 'CH', now + ARGV[1], ARGV[2]) == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return 1`;

/**
 * Counts concurrent calls of all replicas in Valkey or Redis, or in this process while the store is unavailable. Slots
 * expire, and are extended while their calls run. The slots of a killed replica are therefore released.
 */
export class SharedPlaces implements CallPlaces {
  readonly #store: LimitStore;
  readonly #local: CallPlaces;
  readonly #keptMs: number;
  /** The slots of this process: store keys by slot name. */
  readonly #held = new Map<string, string>();
  readonly #process = randomBytes(9).toString('base64url');
  readonly #timer: NodeJS.Timeout;
  #count = 0;

  /**
   * @param local counts while the store is unavailable
   * @param keptMs lifetime in ms of a slot that its replica does not extend
   */
  constructor(store: LimitStore, local: CallPlaces, keptMs: number) {
    this.#store = store;
    this.#local = local;
    this.#keptMs = keptMs;
    this.#timer = setInterval(() => void this.#keep(), keptMs / 3).unref();
  }

  async take(key: string, most: number, now: number): Promise<Release | undefined> {
    const place = `${this.#process} ${this.#count++}`;
    const kept = keyOf(key);
    const answer = await this.#store.query(now, async () => {
      const taken = await this.#store.client.eval(takeScript, 1, kept, most, this.#keptMs, place);
      if (taken === 0 || taken === 1) return taken;
      throw new OtherAnswer('store: expected 0 or 1, got another reply');
    });
    if (answer === undefined) return this.#local.take(key, most, now);
    if (answer === 0) return undefined;
    this.#held.set(place, kept);
    return () => {
      this.#held.delete(place);
      // if the store does not receive this, the slot expires
      void this.#store.queryUncounted(Date.now(), () => this.#store.client.zrem(kept, place));
    };
  }

  /** Stops extending slots. */
  close(): void {
    clearInterval(this.#timer);
  }

  async #keep(): Promise<void> {
    const { client } = this.#store;
    await Promise.all(
      [...this.#held].map(([place, kept]) =>
        this.#store.queryUncounted(Date.now(), () => client.eval(keepScript, 1, kept, this.#keptMs, place)),
      ),
    );
  }
}

/** Returns the store key of a caller's slots. */
function keyOf(key: string): string {
  return `soapbridge:places:${key}`;
}

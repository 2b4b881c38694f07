import { hash } from 'node:crypto';
import { type LimitStore, OtherAnswer } from './limit-store.ts';

/** An entry: a key of 32 bytes (one character each), the time until which it is kept, and whose share it uses. */
interface Entry {
  readonly key: string;
  readonly until: number;
  readonly caller: string;
}

/** Maximum number of entries of one caller, as a multiple of the free entries (W49, X17). */
const callerShare = 4;

/** Time in ms for which the store keeps an entry longer than needed, because clocks differ. */
const spareMs = 60_000;

/**
 * Lua script that keeps all entries or none. KEYS[1] is a sorted set of all entries by the end of their time, and the other
 * KEYS are those of callers. ARGV: time in ms, maximum number of entries, share of a caller, time for which the sets are
 * kept; then for each entry the key, the end of its time and the number of its caller's set. Returns 0, 1 for a known key,
 * 2 if there is no capacity. An entry is removed only when it has ended for the store and for the gateway.
 */
const keepScript = `local time = redis.call('TIME')
local now = math.min(tonumber(ARGV[1]), time[1] * 1000 + math.floor(time[2] / 1000))
for _, set in ipairs(KEYS) do redis.call('ZREMRANGEBYSCORE', set, '-inf', string.format('(%.0f', now)) end
local taken = redis.call('ZCARD', KEYS[1])
local seen, own = {}, {}
for at = 5, #ARGV, 3 do
  local key, set = ARGV[at], KEYS[tonumber(ARGV[at + 2])]
  if redis.call('ZSCORE', KEYS[1], key) then return 1 end
  if not seen[key] then
    own[set] = own[set] or redis.call('ZCARD', set)
    if own[set] >= (tonumber(ARGV[2]) - taken) * tonumber(ARGV[3]) then return 2 end
    seen[key], own[set], taken = true, own[set] + 1, taken + 1
  end
end
for at = 5, #ARGV, 3 do
  redis.call('ZADD', KEYS[1], ARGV[at + 1], ARGV[at])
  redis.call('ZADD', KEYS[tonumber(ARGV[at + 2])], ARGV[at + 1], ARGV[at])
end
for _, set in ipairs(KEYS) do
  if redis.call('PTTL', set) < tonumber(ARGV[4]) then redis.call('PEXPIRE', set, ARGV[4]) end
end
return 0`;

const answers = ['new', 'used', 'full'] as const;

/**
 * Keys of messages that all replicas remember in Valkey or Redis (W49, X17). While the store is unavailable, no key is
 * accepted.
 */
export class SharedEntries {
  readonly #store: LimitStore;
  readonly #list: string;
  readonly #most: number;

  /**
   * @param list name of the list in the store
   * @param most maximum number of entries
   */
  constructor(store: LimitStore, list: string, most: number) {
    this.#store = store;
    this.#list = list;
    this.#most = most;
  }

  keep(key: string, until: number, now: number, caller: string): Promise<'new' | 'used' | 'full' | 'away'> {
    return this.keepAll([{ key, until, caller }], now);
  }

  async keepAll(entries: readonly Entry[], now: number): Promise<'new' | 'used' | 'full' | 'away'> {
    if (entries.some(({ until }) => until < now)) return 'used';
    const callers = [...new Set(entries.map(({ caller }) => caller))];
    const sets = [
      this.#keyOf('all'),
      ...callers.map((caller) => this.#keyOf(hash('sha256', caller, 'base64url'))),
    ];
    const keptMs = Math.max(...entries.map(({ until }) => until)) - now + spareMs;
    const given = entries.flatMap(({ key, until, caller }) => [
      nameOf(key),
      until,
      callers.indexOf(caller) + 2,
    ]);
    const answer = await this.#store.queryUncounted(now, async () => {
      const { client } = this.#store;
      const settings = [now, this.#most, callerShare, Math.ceil(keptMs)];
      const number = await client.eval(keepScript, sets.length, ...sets, ...settings, ...given);
      if (number === 0 || number === 1 || number === 2) return number;
      throw new OtherAnswer('store: expected 0, 1 or 2, got another reply');
    });
    return answer === undefined ? 'away' : answers[answer];
  }

  /** Returns true if a key is kept; false also while the store is unavailable. */
  async holds(key: string, now: number): Promise<boolean> {
    const answer = await this.#store.queryUncounted(now, async () => {
      const until = await this.#store.client.zscore(this.#keyOf('all'), nameOf(key));
      return until !== null && Number(until) >= now;
    });
    return answer === true;
  }

  /** Removes keys before their time. If the store is unavailable, they stay until then. */
  async remove(entries: readonly Pick<Entry, 'key' | 'caller'>[], now: number): Promise<void> {
    await this.#store.queryUncounted(now, async () => {
      const { client } = this.#store;
      for (const { key, caller } of entries) {
        await client.zrem(this.#keyOf('all'), nameOf(key));
        await client.zrem(this.#keyOf(hash('sha256', caller, 'base64url')), nameOf(key));
      }
      return true;
    });
  }

  /** Returns the store key of a set. The braces put all sets of a list on one node of a cluster. */
  #keyOf(set: string): string {
    return `soapbridge:{${this.#list}}:${set}`;
  }
}

function nameOf(key: string): string {
  return Buffer.from(key, 'latin1').toString('base64url');
}

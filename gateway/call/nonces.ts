import { CallError } from './error.ts';

/**
 * Result of storing a nonce: it is new, it was used before, there is no capacity to remember it, or the store that
 * replicas share is unavailable.
 */
export type NonceAnswer = 'new' | 'used' | 'full' | 'away';

/** A key of 32 bytes (one character each), the time until which it is remembered, and its caller. */
export interface NonceEntry {
  readonly key: string;
  readonly until: number;
  readonly caller: string;
}

/** A store of nonces, either in this process or shared by several processes. Times are in ms since 1970. */
export interface NonceStore {
  /**
   * Remembers a key of 32 bytes (one character each) until a time, atomically: if two callers store a key at the same
   * time, only one gets `new`. An expired nonce counts as used, because it may have been forgotten. One caller has at
   * most four times as many slots as are free.
   */
  readonly keep: (
    key: string,
    until: number,
    now: number,
    caller: string,
  ) => NonceAnswer | Promise<NonceAnswer>;
  /**
   * Remembers all keys, or none: an answer other than `new` is that of one key. A key that is given twice counts once.
   * Otherwise each is remembered as by `keep`, in one step.
   */
  readonly keepAll: (entries: readonly NonceEntry[], now: number) => NonceAnswer | Promise<NonceAnswer>;
  /** Returns true if a key is remembered. */
  readonly holds: (key: string, now: number) => boolean | Promise<boolean>;
}

/** Minimum time between two removals of expired nonces from a full store, in ms. */
const sweepMs = 1_000;
/**
 * Words of 32 bits of a key that are stored: half of a SHA-256 is enough to tell keys apart, and a smaller table is
 * faster. In a slot, two words follow them: the end of its time (in s, 0 if the slot is free) and the caller's number.
 */
const keyWords = 4;
const slotWords = keyWords + 2;
const fewestSlots = 1_024;
/** Maximum number of slots of one caller, as a multiple of the free slots. */
const callerShare = 4;

/**
 * Nonces in memory, up to a maximum number. A live nonce is never replaced by another (W49). The store is a table of
 * numbers, because the garbage collector visits every text of a Map, which costs more than checking a digest.
 */
export class Nonces implements NonceStore {
  readonly #most: number;
  readonly #bytes = Buffer.alloc(keyWords * 4);
  readonly #key = new Uint32Array(this.#bytes.buffer, this.#bytes.byteOffset, keyWords);
  #table = new Uint32Array(fewestSlots * slotWords);
  /** Number of slots in use, including expired nonces. */
  #taken = 0;
  #swept = Number.NEGATIVE_INFINITY;
  /** Numbers of callers with slots. There are at most as many as slots. */
  readonly #callers = new Map<string, number>();
  /** Slots in use by a caller's number. */
  #takenBy: number[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Number of callers that are remembered. */
  get callers(): number {
    return this.#callers.size;
  }

  keep(key: string, until: number, now: number, caller: string): NonceAnswer {
    if (until < now) return 'used';
    const slots = this.#table.length / slotWords;
    if (this.#isFull(caller) && Math.abs(now - this.#swept) >= sweepMs) {
      this.#swept = now;
      this.#renew(now);
    } else if (this.#taken * 2 >= slots || this.#callers.size >= slots) this.#renew(now);
    this.#bytes.write(key, 'latin1');
    const at = this.#slotOf(now);
    const table = this.#table;
    const end = table[at + keyWords] ?? 0;
    if (end * 1_000 >= now && this.#holdsKey(at)) return 'used';
    if (this.#isFull(caller)) return 'full';
    const number = this.#numberOf(caller);
    if (end !== 0) this.#count(table[at + keyWords + 1] ?? 0, -1);
    this.#count(number, 1);
    table.set(this.#key, at);
    table[at + keyWords] = Math.ceil(until / 1_000);
    table[at + keyWords + 1] = number;
    return 'new';
  }

  keepAll(entries: readonly NonceEntry[], now: number): NonceAnswer {
    const kept = new Set<string>();
    for (const { key, until, caller } of entries) {
      const answer = kept.has(key) ? 'new' : this.keep(key, until, now, caller);
      if (answer !== 'new') {
        for (const one of kept) this.#forget(one, now);
        return answer;
      }
      kept.add(key);
    }
    return 'new';
  }

  holds(key: string, now: number): boolean {
    this.#bytes.write(key, 'latin1');
    const at = this.#slotOf(now);
    return (this.#table[at + keyWords] ?? 0) * 1_000 >= now && this.#holdsKey(at);
  }

  /** Marks a key as expired. Its slot is used again like that of any expired nonce. */
  #forget(key: string, now: number): void {
    this.#bytes.write(key, 'latin1');
    this.#table[this.#slotOf(now) + keyWords] = 1;
  }

  #numberOf(caller: string): number {
    const known = this.#callers.get(caller);
    if (known !== undefined) return known;
    this.#callers.set(caller, this.#takenBy.length);
    return this.#takenBy.push(0) - 1;
  }

  #isFull(caller: string): boolean {
    const number = this.#callers.get(caller);
    const own = number === undefined ? 0 : (this.#takenBy[number] ?? 0);
    return own >= (this.#most - this.#taken) * callerShare;
  }

  /**
   * Returns the offset of the key's slot, or of a free or expired slot for it. The search starts at the slot that the
   * key's first word selects.
   */
  #slotOf(now: number): number {
    const table = this.#table;
    let free = -1;
    let at = ((this.#key[0] ?? 0) % (table.length / slotWords)) * slotWords;
    for (; ; at = (at + slotWords) % table.length) {
      const end = table[at + keyWords] ?? 0;
      if (end === 0) return free < 0 ? at : free;
      if (this.#holdsKey(at)) return at;
      if (free < 0 && end * 1_000 < now) free = at;
    }
  }

  #holdsKey(at: number): boolean {
    for (let word = 0; word < keyWords; word++) if (this.#table[at + word] !== this.#key[word]) return false;
    return true;
  }

  #count(caller: number, slots: 1 | -1): void {
    this.#taken += slots;
    this.#takenBy[caller] = (this.#takenBy[caller] ?? 0) + slots;
  }

  /** Drops the callers without slots. Returns the new numbers of the others by their old ones. */
  #renumber(): readonly number[] {
    const numbers: number[] = [];
    const takenBy: number[] = [];
    for (const [caller, number] of this.#callers) {
      const taken = this.#takenBy[number] ?? 0;
      if (taken === 0) {
        this.#callers.delete(caller);
        continue;
      }
      numbers[number] = takenBy.push(taken) - 1;
      this.#callers.set(caller, takenBy.length - 1);
    }
    this.#takenBy = takenBy;
    return numbers;
  }

  /** Copies the live nonces to a new table with four slots per nonce. */
  #renew(now: number): void {
    const old = this.#table;
    const isLive = (at: number): boolean => {
      const end = old[at + keyWords] ?? 0;
      return end > 0 && end * 1_000 >= now;
    };
    this.#taken = 0;
    this.#takenBy.fill(0);
    for (let at = 0; at < old.length; at += slotWords)
      if (isLive(at)) this.#count(old[at + keyWords + 1] ?? 0, 1);
    const numbers = this.#renumber();
    const slots = Math.max(fewestSlots, 4 * this.#taken);
    const table = new Uint32Array(slots * slotWords);
    for (let at = 0; at < old.length; at += slotWords) {
      if (!isLive(at)) continue;
      // All keys are different, so each takes the first free slot.
      let to = ((old[at] ?? 0) % slots) * slotWords;
      while (table[to + keyWords] !== 0) to = (to + slotWords) % table.length;
      for (let word = 0; word < slotWords; word++) table[to + word] = old[at + word] ?? 0;
      table[to + keyWords + 1] = numbers[old[at + keyWords + 1] ?? 0] ?? 0;
    }
    this.#table = table;
  }
}

/** Credentials that are accepted once (W49, X17). */
interface UsedOnce {
  /** The nonce of a digest. */
  readonly nonce: NonceEntry | undefined;
  readonly signatures: readonly NonceEntry[] | undefined;
}

/** Throws CallError FailedAuthentication or ReplayedMessage for credentials that were accepted before. */
export async function refuseUsed(nonces: NonceStore, values: UsedOnce | undefined): Promise<void> {
  if (values?.nonce !== undefined && (await nonces.holds(values.nonce.key, Date.now())))
    throw new CallError('FailedAuthentication');
  for (const { key } of values?.signatures ?? [])
    if (await nonces.holds(key, Date.now())) throw new CallError('ReplayedMessage');
}

/**
 * Stores the nonce of a correct digest and the signatures of a message, after all other checks of its call passed. They
 * are stored in one step. Throws CallError, or rejects with it (W49, X17).
 */
export function keepOnce(nonces: NonceStore, { nonce, signatures }: UsedOnce): Promise<void> | undefined {
  if (signatures !== undefined) {
    const entries = nonce === undefined ? signatures : [...signatures, nonce];
    const answer = nonces.keepAll(entries, Date.now());
    if (answer instanceof Promise) return answer.then(refuseRepeated);
    refuseRepeated(answer);
  } else if (nonce !== undefined) {
    const answer = nonces.keep(nonce.key, nonce.until, Date.now(), nonce.caller);
    if (answer instanceof Promise) return answer.then(refuseNonce);
    refuseNonce(answer);
  }
  return undefined;
}

function refuseRepeated(answer: NonceAnswer): void {
  if (answer === 'used') throw new CallError('ReplayedMessage');
  refuseNonce(answer);
}

function refuseNonce(answer: NonceAnswer): void {
  if (answer === 'used') throw new CallError('FailedAuthentication');
  if (answer === 'full' || answer === 'away')
    throw new CallError('Overloaded', {
      detail: `the store of valid digests is ${answer === 'full' ? 'full' : 'unavailable'}. Try again later`,
      retryAfter: '1',
    });
}

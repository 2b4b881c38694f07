/** What came of keeping a nonce: it is new, it was used before, or there is no room to remember it. */
export type NonceAnswer = 'new' | 'used' | 'full';

/** Where nonces are remembered: in this process, or in a store that several share. */
export interface NonceStore {
  /**
   * Remembers a key of 32 bytes, a character for each, until a time, both at once: of two that ask at the same time one alone is
   * told that it is new. One whose time is over is used: it may have been forgotten. Of all places one caller has at most four
   * times as many as are free. Times in ms since 1970.
   */
  readonly keep: (
    key: string,
    until: number,
    now: number,
    caller: string,
  ) => NonceAnswer | Promise<NonceAnswer>;
  /** Whether a key is remembered. */
  readonly holds: (key: string, now: number) => boolean | Promise<boolean>;
}

/** At most this often, in ms, a full store is looked through for what has ended. */
const sweepMs = 1_000;
/** In words of 32 bits: a key, behind it until when it is remembered, in s, 0 where there is none, and the number of its caller. */
const keyWords = 8;
const placeWords = keyWords + 2;
const fewestPlaces = 1_024;
/** How many times as many as are free one caller may have. */
const callerShare = 4;

/**
 * Nonces in memory, at most so many; what is live is never forgotten for another (W49). A table of numbers, since a
 * Map of as many texts costs more than checking a digest: each would be looked at whenever memory is collected.
 */
export function createNonces(most: number): NonceStore & {
  readonly keep: (...given: Parameters<NonceStore['keep']>) => NonceAnswer;
  readonly holds: (...given: Parameters<NonceStore['holds']>) => boolean;
} {
  const bytes = Buffer.alloc(keyWords * 4);
  const key = new Uint32Array(bytes.buffer, bytes.byteOffset, keyWords);
  let table = new Uint32Array(fewestPlaces * placeWords);
  /** Places that are taken, by what has ended too. */
  let taken = 0;
  let swept = Number.NEGATIVE_INFINITY;
  /** Callers whose digest was right, which are no more than there are secrets, and how many places each has. */
  const callers = new Map<string, number>();
  const takenBy: number[] = [];

  function numberOf(caller: string): number {
    const known = callers.get(caller);
    if (known !== undefined) return known;
    callers.set(caller, takenBy.length);
    return takenBy.push(0) - 1;
  }

  /** Whether there is no place left for a caller. */
  const isFull = (caller: number): boolean => (takenBy[caller] ?? 0) >= (most - taken) * callerShare;

  /** The place of the key; where it has none, one that it may have. Places are looked at from the key's own on. */
  function placeOf(now: number): number {
    const places = table.length / placeWords;
    let free = -1;
    for (let place = (key[0] ?? 0) % places; ; place = (place + 1) % places) {
      const at = place * placeWords;
      const end = table[at + keyWords] ?? 0;
      if (end === 0) return free < 0 ? at : free;
      if (holdsKey(at)) return at;
      if (free < 0 && end * 1_000 < now) free = at;
    }
  }

  function holdsKey(at: number): boolean {
    for (let word = 0; word < keyWords; word++) if (table[at + word] !== key[word]) return false;
    return true;
  }

  function count(caller: number, places: 1 | -1): void {
    taken += places;
    takenBy[caller] = (takenBy[caller] ?? 0) + places;
  }

  /** Drops what has ended, in a table with three places for each that is left. */
  function renew(now: number): void {
    const old = table;
    const isLive = (at: number): boolean => {
      const end = old[at + keyWords] ?? 0;
      return end > 0 && end * 1_000 >= now;
    };
    taken = 0;
    takenBy.fill(0);
    for (let at = 0; at < old.length; at += placeWords) if (isLive(at)) count(old[at + keyWords + 1] ?? 0, 1);
    const places = Math.max(fewestPlaces, 3 * taken);
    table = new Uint32Array(places * placeWords);
    for (let at = 0; at < old.length; at += placeWords) {
      if (!isLive(at)) continue;
      // keys that were told apart are so still: the first free place will do
      let to = ((old[at] ?? 0) % places) * placeWords;
      while (table[to + keyWords] !== 0) to = (to + placeWords) % table.length;
      for (let word = 0; word < placeWords; word++) table[to + word] = old[at + word] ?? 0;
    }
  }

  return {
    keep: (text, until, now, name) => {
      if (until < now) return 'used';
      const caller = numberOf(name);
      if (isFull(caller) && Math.abs(now - swept) >= sweepMs) {
        swept = now;
        renew(now);
      } else if (taken * 2 * placeWords >= table.length) renew(now);
      bytes.write(text, 'latin1');
      const at = placeOf(now);
      const end = table[at + keyWords] ?? 0;
      if (end * 1_000 >= now && holdsKey(at)) return 'used';
      if (isFull(caller)) return 'full';
      if (end !== 0) count(table[at + keyWords + 1] ?? 0, -1);
      count(caller, 1);
      table.set(key, at);
      table[at + keyWords] = Math.ceil(until / 1_000);
      table[at + keyWords + 1] = caller;
      return 'new';
    },
    holds: (text, now) => {
      bytes.write(text, 'latin1');
      const at = placeOf(now);
      return (table[at + keyWords] ?? 0) * 1_000 >= now && holdsKey(at);
    },
  };
}

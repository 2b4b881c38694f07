/** Releases a slot. */
export type Release = () => void;

/** Counts concurrent calls of callers. Never fails: if the store is unavailable, calls are counted elsewhere. */
export interface CallPlaces {
  /**
   * Takes one of a caller's slots; undefined if all are taken.
   *
   * @param most number of slots
   * @param now time in ms since 1970
   */
  readonly take: (
    key: string,
    most: number,
    now: number,
  ) => Release | undefined | Promise<Release | undefined>;
}

/** Counts concurrent calls in this process. Only callers with calls in progress use memory. */
export class CallerPlaces implements CallPlaces {
  readonly #taken = new Map<string, number>();

  take(key: string, most: number): Release | undefined {
    const taken = this.#taken.get(key) ?? 0;
    if (taken >= most) return undefined;
    this.#taken.set(key, taken + 1);
    return () => {
      const left = (this.#taken.get(key) ?? 1) - 1;
      if (left === 0) this.#taken.delete(key);
      else this.#taken.set(key, left);
    };
  }
}

/** Maximum ratio of the slots of one network to the free slots. */
const networkShare = 4;

/** A fixed number of slots, shared so that no network takes all: with 20 slots, one network gets at most 16. */
export class NetworkPlaces {
  readonly #taken = new CallerPlaces();
  #free: number;

  constructor(total: number) {
    this.#free = total;
  }

  /** Takes a slot for a network. Returns undefined if no slot is free or the network has its share. */
  take(network: string): Release | undefined {
    const release = this.#taken.take(network, this.#free * networkShare);
    if (release === undefined) return undefined;
    this.#free--;
    return () => {
      release();
      this.#free++;
    };
  }
}

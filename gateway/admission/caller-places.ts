/** Gives a place back. */
export type Leave = () => void;

/** Places of calls that are under way. Never fails: what can't be counted where it should be is counted elsewhere. */
export interface CallPlaces {
  /**
   * Takes one of a caller's places; undefined: all are taken.
   *
   * @param most how many there are
   * @param now in ms since 1970
   */
  readonly take: (key: string, most: number, now: number) => Leave | undefined | Promise<Leave | undefined>;
}

/** Counts in this process. It remembers callers with calls under way alone. */
export class CallerPlaces implements CallPlaces {
  readonly #taken = new Map<string, number>();

  take(key: string, most: number): Leave | undefined {
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

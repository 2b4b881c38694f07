/** A deterministic random number generator (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** Returns an integer from 0 up to, but not including, `bound`. */
  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  }

  /** Returns true once in `times` calls on average. */
  once(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<Item>(...items: readonly [Item, ...Item[]]): Item {
    return items[this.below(items.length)] ?? items[0];
  }

  /** Calls `make` up to `most` times and joins the texts. */
  many(most: number, make: () => string, separator = ''): string {
    return Array.from({ length: this.below(most + 1) }, make).join(separator);
  }

  /** Returns one to `most` digits. */
  digits(most: number): string {
    return this.many(most - 1, () => String(this.below(10))) + this.below(10);
  }
}

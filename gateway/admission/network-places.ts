/** How many times as many as are free one network may have. */
const networkShare = 4;

/** So many places, of which something is left for others than who has most: of 20 one network has 16. */
export class NetworkPlaces {
  readonly #taken = new Map<string, number>();
  #free: number;

  constructor(total: number) {
    this.#free = total;
  }

  /** Takes a place for a network; false where there is none, or it has its share. */
  take(network: string): boolean {
    const taken = this.#taken.get(network) ?? 0;
    if (taken >= this.#free * networkShare) return false;
    this.#taken.set(network, taken + 1);
    this.#free--;
    return true;
  }

  /** Gives a place of a network back. */
  give(network: string): void {
    const taken = this.#taken.get(network) ?? 0;
    if (taken > 1) this.#taken.set(network, taken - 1);
    else this.#taken.delete(network);
    this.#free++;
  }
}

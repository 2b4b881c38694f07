import { CallerPlaces, type Leave } from './caller-places.ts';

/** How many times as many as are free one network may have. */
const networkShare = 4;

/** So many places, of which something is left for others than who has most: of 20 one network has 16. */
export class NetworkPlaces {
  readonly #taken = new CallerPlaces();
  #free: number;

  constructor(total: number) {
    this.#free = total;
  }

  /** Takes a place for a network; undefined where there is none, or it has its share. */
  take(network: string): Leave | undefined {
    const leave = this.#taken.take(network, this.#free * networkShare);
    if (leave === undefined) return undefined;
    this.#free--;
    return () => {
      leave();
      this.#free++;
    };
  }
}

import { CallerPlaces, type Release } from './caller-places.ts';

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

import { type InFlight, InFlightSet } from './in-flight-set.ts';

/** A request body or a reply in transit on a client's connection. */
export interface Transfer extends InFlight {
  /** Number of its bytes in memory. */
  heldBytes: number;
  /** The complete body of the reply, if other transfers may send the same one. Its memory is counted once. */
  readonly shared?: object | undefined;
  /** Start time, in ms of `performance.now()`. */
  readonly began: number;
  /** Returns the number of bytes transferred. */
  readonly moved: () => number;
  /** Ends the transfer early, and removes it from its set. */
  readonly cut: () => void;
}

/** Bytes and time that are added to every transfer for its speed, so that a new transfer is not among the slowest. */
const ahead = { bytes: 16 * 1024, ms: 1_000 } as const;

/** All transfers in one direction. The slowest can be cut to free memory. */
export class Transfers {
  #heldBytes = 0;
  readonly #inFlight = new InFlightSet<Transfer>();

  get heldBytes(): number {
    return this.#heldBytes;
  }

  get size(): number {
    return this.#inFlight.size;
  }

  add(transfer: Transfer): void {
    this.#inFlight.add(transfer);
    this.#heldBytes += transfer.heldBytes;
  }

  /** Adds bytes that the transfer holds in memory. */
  hold(transfer: Transfer, bytes: number): void {
    transfer.heldBytes += bytes;
    this.#heldBytes += bytes;
  }

  delete(transfer: Transfer): void {
    this.#inFlight.delete(transfer);
    this.#heldBytes -= transfer.heldBytes;
    transfer.heldBytes = 0;
  }

  /** Returns a transfer of a shared body; undefined if there is none. */
  ofShared(shared: object): Transfer | undefined {
    return this.#inFlight.filter((transfer) => transfer.shared === shared)[0];
  }

  /** Returns the transfers that match a predicate. */
  filter(holds: (transfer: Transfer) => boolean): readonly Transfer[] {
    return this.#inFlight.filter(holds);
  }

  /** Cuts the slowest transfer that may be cut. Returns false if there is none. */
  cutSlowest(mayBeCut: (transfer: Transfer) => boolean): boolean {
    const now = performance.now();
    let slowest: Transfer | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const transfer of this.filter(mayBeCut)) {
      const speed = (transfer.moved() + ahead.bytes) / (now - transfer.began + ahead.ms);
      if (speed >= least) continue;
      least = speed;
      slowest = transfer;
    }
    slowest?.cut();
    return slowest !== undefined;
  }
}

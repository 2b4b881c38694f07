import { type InFlight, InFlightSet } from './in-flight-set.ts';

/** A body or a reply that is on its way through a caller's connection, for as long as the caller takes. */
export interface Transfer extends InFlight {
  /** Bytes that it keeps in memory. */
  heldBytes: number;
  /** What it is all of, where others on their way may be of the same; it is counted once. */
  readonly shared?: object | undefined;
  /** When it began, in ms of `performance.now()`. */
  readonly began: number;
  /** Bytes that have come or gone so far. */
  readonly moved: () => number;
  /** Ends it where it is; it is over afterwards. */
  readonly cut: () => void;
}

/** What every transfer is taken to have moved, and for how long, before it began: a new one is none of the slowest. */
const ahead = { bytes: 16 * 1024, ms: 1_000 } as const;

/** All transfers in one direction. Where others need room, the slowest gives way. */
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

  /** Counts bytes that it has in memory from now on. */
  hold(transfer: Transfer, bytes: number): void {
    transfer.heldBytes += bytes;
    this.#heldBytes += bytes;
  }

  delete(transfer: Transfer): void {
    this.#inFlight.delete(transfer);
    this.#heldBytes -= transfer.heldBytes;
    transfer.heldBytes = 0;
  }

  /** One of those that share it. */
  ofShared(shared: object): Transfer | undefined {
    return this.#inFlight.filter((transfer) => transfer.shared === shared)[0];
  }

  /** Those that a test holds for, as of now. */
  filter(holds: (transfer: Transfer) => boolean): readonly Transfer[] {
    return this.#inFlight.filter(holds);
  }

  /** Cuts the slowest of those that may be cut; false where there is none. */
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

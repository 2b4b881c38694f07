import { Crowd, type Standing } from '../upstream/in-flight-set.ts';

/** A body or a reply that is on its way through a caller's connection, for as long as the caller takes. */
export interface Passage extends Standing {
  /** Bytes that it keeps in memory. */
  heldBytes: number;
  /** What it is all of, where others on their way may be of the same; it is counted once. */
  readonly shared?: object | undefined;
  /** When it began, in ms of `performance.now()`. */
  readonly began: number;
  /** Bytes that have come or gone so far. */
  readonly moved: () => number;
  /** Ends it where it is; it is no passage any more afterwards. */
  readonly cut: () => void;
}

/** What every passage is taken to have moved, and for how long, before it began: a new one is none of the slowest. */
const ahead = { bytes: 16 * 1024, ms: 1_000 } as const;

/** All that is on its way in one direction. Where others need room, the slowest gives way. */
export class Passages {
  #heldBytes = 0;
  readonly #crowd = new Crowd<Passage>();

  get heldBytes(): number {
    return this.#heldBytes;
  }

  get size(): number {
    return this.#crowd.size;
  }

  add(passage: Passage): void {
    this.#crowd.add(passage);
    this.#heldBytes += passage.heldBytes;
  }

  /** Counts bytes that it has in memory from now on. */
  hold(passage: Passage, bytes: number): void {
    passage.heldBytes += bytes;
    this.#heldBytes += bytes;
  }

  delete(passage: Passage): void {
    this.#crowd.delete(passage);
    this.#heldBytes -= passage.heldBytes;
    passage.heldBytes = 0;
  }

  /** One of those that share it. */
  ofShared(shared: object): Passage | undefined {
    return this.#crowd.filter((passage) => passage.shared === shared)[0];
  }

  /** Those that a test holds for, as of now. */
  filter(holds: (passage: Passage) => boolean): readonly Passage[] {
    return this.#crowd.filter(holds);
  }

  /** Cuts the slowest of those that may be cut; false where there is none. */
  cutSlowest(mayBeCut: (passage: Passage) => boolean): boolean {
    const now = performance.now();
    let slowest: Passage | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const passage of this.filter(mayBeCut)) {
      const speed = (passage.moved() + ahead.bytes) / (now - passage.began + ahead.ms);
      if (speed >= least) continue;
      least = speed;
      slowest = passage;
    }
    slowest?.cut();
    return slowest !== undefined;
  }
}

import { createHash, type Hash } from 'node:crypto';

/** A body as it is recorded. Above `recordBytes` it has no bytes, but their SHA-256 (G56). */
export interface RecordedBody {
  readonly size: number;
  readonly bytes?: Uint8Array<ArrayBuffer>;
  readonly sha256?: string;
}

/** Copies a body that is streamed elsewhere, up to `recordBytes`. */
export class BodyRecorder {
  readonly #most: number;
  readonly #hold: (bytes: number) => void;
  #pieces: Buffer[] = [];
  #size = 0;
  #hash: Hash | undefined;

  /**
   * @param most maximum size of a copy in bytes
   * @param hold called with the change of the memory that the copy takes
   */
  constructor(most: number, hold: (bytes: number) => void) {
    this.#most = most;
    this.#hold = hold;
  }

  /** Adds a piece. It is copied, because its owner may release it. */
  add(piece: Uint8Array): void {
    this.#size += piece.length;
    if (this.#hash === undefined && this.#size <= this.#most) {
      this.#pieces.push(Buffer.from(piece));
      this.#hold(piece.length); // may abandon the copy
      return;
    }
    if (this.#hash === undefined) {
      this.#hash = createHash('sha256');
      for (const one of this.#pieces) this.#hash.update(one);
      this.drop();
    }
    this.#hash.update(piece);
  }

  /** Releases the copy. */
  drop(): void {
    this.#hold(-this.#pieces.reduce((sum, { length }) => sum + length, 0));
    this.#pieces = [];
  }

  /** Releases the copy, whose memory is not counted any more. */
  abandon(): void {
    this.#pieces = [];
    this.#size = 0;
  }

  take(): RecordedBody {
    const size = this.#size;
    if (this.#hash !== undefined) return { size, sha256: this.#hash.digest('hex') };
    const bytes = new Uint8Array(size);
    let at = 0;
    for (const piece of this.#pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
    this.#pieces = [];
    return { size, bytes };
  }
}

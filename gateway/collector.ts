import { padding } from '../mappings/bytes.ts';
import { LetterRuns } from '../mappings/reply/letter-runs.ts';

/** From here on a body gets memory of its own, where it can be read without another copy. */
const largeBytes = 1024 * 1024;

/** A body, whole. */
export interface Collected {
  readonly body: Buffer;
  /** Of a large one, what was found while it arrived. */
  readonly runs: LetterRuns | undefined;
}

/**
 * Gathers a body piece by piece. What is to be done with a large one is done as it comes, so that its end is not one
 * long hold of the event loop.
 */
export class Collector {
  /** The Content-Length, where there is one. */
  announced = 0;
  size = 0;
  readonly #pieces: Buffer[] = [];
  #large: Buffer | undefined;
  #runs: LetterRuns | undefined;

  add(piece: Buffer): void {
    const before = this.size;
    this.size += piece.length;
    if (this.#large === undefined && this.size <= largeBytes) {
      this.#pieces.push(piece);
      return;
    }
    const large = this.#room(before);
    piece.copy(large, before);
    this.#runs?.add(piece);
  }

  take(): Collected {
    if (this.#large !== undefined) return { body: this.#large.subarray(0, this.size), runs: this.#runs };
    const [only] = this.#pieces;
    const isOne = only !== undefined && this.#pieces.length === 1;
    return { body: isOne ? only : Buffer.concat(this.#pieces, this.size), runs: undefined };
  }

  /** The memory of a large body, with room for what came last and zeros behind it; `before` bytes are in it. */
  #room(before: number): Buffer {
    const known = this.#large;
    if (known !== undefined && this.size + padding <= known.length) return known;
    const room = Buffer.from(new ArrayBuffer(Math.max(this.announced, this.size * 2) + padding));
    if (known === undefined) {
      this.#runs = new LetterRuns();
      Buffer.concat(this.#pieces, before).copy(room);
      for (const piece of this.#pieces.splice(0)) this.#runs.add(piece);
    } else known.copy(room, 0, 0, before);
    this.#large = room;
    return room;
  }
}

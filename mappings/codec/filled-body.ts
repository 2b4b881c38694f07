/** Number of bytes per base64 conversion: a multiple of three, so that only the last one has padding. */
const encodedAtOnce = 57 * 1024;

/** Text, and the part that follows it. */
export interface FilledPiece {
  readonly text: Buffer;
  readonly part: Buffer;
}

/** An upstream's body with base64 that is generated in pieces while it is sent, on each attempt. */
export class FilledBody implements Iterable<Buffer> {
  /** Total length in bytes. */
  readonly length: number;
  /** Number of bytes in memory besides those of the message. */
  readonly ownBytes: number;
  readonly #pieces: readonly FilledPiece[];
  readonly #last: Buffer;

  constructor(pieces: readonly FilledPiece[], last: Buffer) {
    this.#pieces = pieces;
    this.#last = last;
    this.ownBytes = pieces.reduce((sum, { text }) => sum + text.length, last.length);
    this.length = pieces.reduce((sum, { part }) => sum + Math.ceil(part.length / 3) * 4, this.ownBytes);
  }

  *[Symbol.iterator](): Iterator<Buffer> {
    for (const { text, part } of this.#pieces) {
      yield text;
      for (let at = 0; at < part.length; at += encodedAtOnce)
        yield Buffer.from(part.toString('base64', at, Math.min(at + encodedAtOnce, part.length)), 'latin1');
    }
    yield this.#last;
  }

  /** Returns the whole body as text. */
  toString(): string {
    return this.toBuffer().toString();
  }

  /** Returns the whole body in a new buffer. */
  toBuffer(): Buffer {
    const all = Buffer.allocUnsafeSlow(this.length);
    let at = 0;
    for (const piece of this) {
      all.set(piece, at);
      at += piece.length;
    }
    return all;
  }
}

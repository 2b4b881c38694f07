/** As many bytes are written as base64 at a time: a multiple of three, so that no padding comes before the end. */
const encodedAtOnce = 57 * 1024;

/** Text and the part behind it. */
export interface FilledPiece {
  readonly text: Buffer;
  readonly part: Buffer;
}

/** An upstream's body whose base64 is made as it is written, piece by piece, as often as it is sent. */
export class FilledBody implements Iterable<Buffer> {
  /** Bytes of all of it. */
  readonly length: number;
  /** Bytes that are kept for it besides the message's own. */
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

  /** All of it as text. */
  toString(): string {
    return this.toBuffer().toString();
  }

  /** All of it in one buffer of its own. */
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

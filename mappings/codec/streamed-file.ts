/**
 * A file that comes and goes on piece by piece, and is never held whole (W64): what an upstream's body is while its caller
 * still sends it. It can be read once.
 */
export class StreamedFile implements AsyncIterable<Buffer> {
  readonly #pieces: AsyncIterable<Buffer>;

  /** @param pieces throw where the file breaks off: who writes them upstream leaves that body unfinished */
  constructor(pieces: AsyncIterable<Buffer>) {
    this.#pieces = pieces;
  }

  [Symbol.asyncIterator](): AsyncIterator<Buffer> {
    return this.#pieces[Symbol.asyncIterator]();
  }
}

/**
 * A file that comes and goes on piece by piece, and is never held whole (W64): what an upstream's body is while its caller
 * still sends it. It can be read once.
 */
export class StreamedFile implements AsyncIterable<Buffer> {
  readonly #pieces: AsyncIterator<Buffer>;
  #failure: { readonly error: unknown } | undefined;

  /** @param pieces throw where the file breaks off: who writes them upstream leaves that body unfinished */
  constructor(pieces: AsyncIterable<Buffer>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  /** The pieces that were not read yet. A reader that stops early leaves the rest to `readToEnd`. */
  [Symbol.asyncIterator](): AsyncIterator<Buffer> {
    return { next: () => this.#next() };
  }

  /** Reads the rest of the message and drops it. Throws what the pieces threw, before or now. */
  async readToEnd(): Promise<void> {
    while ((await this.#next()).done !== true);
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #next(): Promise<IteratorResult<Buffer>> {
    try {
      return await this.#pieces.next();
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }
}

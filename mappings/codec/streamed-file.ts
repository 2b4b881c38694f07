/**
 * A file that is streamed to the upstream while the caller still sends it (W64). It is never held in memory as a whole
 * and can be read once.
 */
export class StreamedFile implements AsyncIterable<Buffer> {
  readonly #pieces: AsyncIterator<Buffer>;
  #failure: { readonly error: unknown } | undefined;

  /** @param pieces throws if the file is incomplete; the upstream's body then remains unfinished */
  constructor(pieces: AsyncIterable<Buffer>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  /** The pieces that are not yet read. A reader that stops early leaves the rest to `readToEnd`. */
  [Symbol.asyncIterator](): AsyncIterator<Buffer> {
    return { next: () => this.#next() };
  }

  /** Reads and discards the rest of the message. Throws the error of the pieces, even if it occurred before. */
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

import { Output } from '../../mappings/xml/output.ts';

/** Where lines go, in UTF-8. */
export interface LineWriter {
  /** Writes them before it returns; what it is given is its own, and may be kept, only where it throws. */
  write(lines: Buffer): unknown;
}

/** Bytes that are worth a write of their own: half of what a pipe holds, so that one finds room while another is read. */
const many = 32 * 1024;
const longestMs = 500;
const newline = 0x0a;

/**
 * Log lines, gathered and handed on many at a time, at the latest after half a second. They are put into one buffer as
 * they come: gathered as strings, they would be put together and encoded when they are in no cache any more.
 */
export class LineBuffer {
  readonly #to: LineWriter;
  readonly #enough: number;
  #lines = new Output();
  #timer: NodeJS.Timeout | undefined;
  #before: () => void = () => {};

  /** @param enough bytes that wait for nothing more; 1 hands on each line by itself */
  constructor(to: LineWriter, enough: number = many) {
    this.#to = to;
    this.#enough = enough;
  }

  /** Has lines added by `tell` whenever lines are about to be handed on. */
  beforeHandingOn(write: () => void): void {
    this.#before = write;
  }

  /** Hands on as soon as a line by itself would be. */
  handOnSoon(): void {
    if (this.#enough === 1) this.#handOn();
    else this.#timer ??= setTimeout(() => this.#handOn(), longestMs).unref();
  }

  /** Adds a line of JSON with these members; one that is undefined has no place in it. */
  tell(members: object): void {
    this.#lines.text(JSON.stringify(members));
    this.end();
  }

  /** Adds a line that ends with a newline. */
  write(line: string): void {
    this.#lines.text(line.slice(0, -1));
    this.end();
  }

  /** Where a line is written to, without its newline, before anything else is; `end` ends it. */
  begin(): Output {
    return this.#lines;
  }

  end(): void {
    const lines = this.#lines;
    lines.reserve(1);
    lines.bytes[lines.length++] = newline;
    if (lines.length >= this.#enough) this.#handOn();
    else this.handOnSoon();
  }

  /** Hands on what is waiting. */
  flush(): void {
    this.#handOn();
  }

  #handOn(): void {
    this.#before(); // lines that are many go out from within
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { bytes, length } = this.#lines;
    if (length === 0) return;
    this.#lines.start(0);
    try {
      this.#to.write(bytes.subarray(0, length));
    } catch (error) {
      this.#lines = new Output();
      throw error;
    }
  }
}

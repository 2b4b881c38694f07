import { Output } from '../../mappings/xml/output.ts';

/** Destination of lines, in UTF-8. */
export interface LineWriter {
  /** Writes the lines before it returns. It may only keep the buffer if it throws. */
  write(lines: Buffer): unknown;
}

/**
 * Number of bytes after which lines are written at once: half the capacity of a pipe, so that a second batch fits while
 * the first is read.
 */
const many = 32 * 1024;
const longestMs = 500;
const newline = 0x0a;

/**
 * Buffers log lines and writes them in batches, at the latest after half a second. Lines are encoded into one buffer as
 * they arrive. Encoding them later would be slower, because they would no longer be in the CPU cache.
 */
export class LineBuffer {
  readonly #to: LineWriter;
  readonly #enough: number;
  #lines = new Output();
  #timer: NodeJS.Timeout | undefined;
  #before: () => void = () => {};

  /** @param enough number of bytes that are written at once; 1 writes each line separately */
  constructor(to: LineWriter, enough: number = many) {
    this.#to = to;
    this.#enough = enough;
  }

  /** Sets a function that may add lines with `addJson` before each batch is written. */
  beforeHandingOn(write: () => void): void {
    this.#before = write;
  }

  /** Schedules a write as if a line had been added. */
  handOnSoon(): void {
    if (this.#enough === 1) this.#handOn();
    else this.#timer ??= setTimeout(() => this.#handOn(), longestMs).unref();
  }

  /** Adds a JSON line with these members. Undefined members are omitted. */
  addJson(members: object): void {
    this.#lines.text(JSON.stringify(members));
    this.end();
  }

  /** Adds a line that ends with a newline. */
  write(line: string): void {
    this.#lines.text(line.slice(0, -1));
    this.end();
  }

  /** Returns the output for one line without its newline. Call `end` after it, before any other method. */
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

  /** Writes the buffered lines. */
  flush(): void {
    this.#handOn();
  }

  #handOn(): void {
    this.#before(); // this writes a batch itself if it adds many lines
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

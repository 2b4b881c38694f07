/** Where lines go, in UTF-8. */
export interface LineWriter {
  /** Writes them before it returns; what it is given is its own, and may be kept, only where it throws. */
  write(lines: Buffer): unknown;
}

const size = 64 * 1024;
/** Bytes that are worth a write of their own: half of what a pipe holds, so that one finds room while another is read. */
const many = size / 2;
const longestMs = 500;
const newline = 0x0a;

/**
 * Log lines, gathered and handed on many at a time, at the latest after half a second. They are copied into one buffer
 * as they come: gathered as strings, they would be put together and encoded when they are in no cache any more.
 */
export class LineBuffer {
  readonly #to: LineWriter;
  readonly #enough: number;
  #bytes = Buffer.allocUnsafeSlow(size);
  #used = 0;
  #timer: NodeJS.Timeout | undefined;
  #before: () => void = () => {};

  /** @param enough bytes that wait for nothing more; 1 hands on each line by itself */
  constructor(to: LineWriter, enough: number = many) {
    this.#to = to;
    this.#enough = enough;
  }

  /** Has lines added by `tell` whenever lines are about to be handed on. */
  beforeHandingOn(tell: () => void): void {
    this.#before = tell;
  }

  /** Hands on as soon as a line by itself would be. */
  handOnSoon(): void {
    if (this.#enough === 1) this.#handOn();
    else this.#timer ??= setTimeout(() => this.#handOn(), longestMs).unref();
  }

  /** Adds a line of JSON with these members; one that is undefined has no place in it. */
  tell(members: object): void {
    this.#add(JSON.stringify(members));
  }

  /** Adds a line that has its newline, as pino's have. */
  write(line: string): void {
    this.#add(line.slice(0, -1));
  }

  /** Hands on what is waiting; `done` is what pino calls when it flushes. */
  flush(done?: () => void): void {
    this.#handOn();
    done?.();
  }

  /** @param line without its newline: joined to a text it would have that laid out anew */
  #add(line: string): void {
    const most = line.length * 3 + 1; // a UTF-16 unit is at most three bytes of UTF-8
    if (this.#used + most > size) this.#handOn();
    if (most > size) {
      this.#to.write(Buffer.from(`${line}\n`));
      return;
    }
    this.#used += this.#bytes.write(line, this.#used);
    this.#bytes[this.#used++] = newline;
    if (this.#used >= this.#enough) this.#handOn();
    else this.handOnSoon();
  }

  #handOn(): void {
    this.#before(); // lines too many for the room that is left go out from within
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#used === 0) return;
    const lines = this.#bytes.subarray(0, this.#used);
    this.#used = 0;
    try {
      this.#to.write(lines);
    } catch (error) {
      this.#bytes = Buffer.allocUnsafeSlow(size);
      throw error;
    }
  }
}

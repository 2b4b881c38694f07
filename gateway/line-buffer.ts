/** Where log lines go, whole ones, one or many at a time. */
export interface LineWriter {
  write(lines: string): unknown;
}

const size = 32 * 1024;
/** Bytes that are worth a write of their own. */
const enough = 16_000;
const longestMs = 500;

/**
 * Log lines, gathered and handed on many at a time, at the latest after half a second. They are copied into one buffer
 * as they come: gathered as strings, all that is waiting would be measured again at each line.
 */
export class LineBuffer {
  readonly #to: LineWriter;
  readonly #bytes = Buffer.allocUnsafeSlow(size);
  #used = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(to: LineWriter) {
    this.#to = to;
  }

  write(line: string): void {
    // a UTF-16 unit is at most three bytes of UTF-8
    if (this.#used + line.length * 3 > size) this.#handOn();
    if (line.length * 3 > size) {
      this.#to.write(line);
      return;
    }
    this.#used += this.#bytes.write(line, this.#used);
    if (this.#used >= enough) this.#handOn();
    else this.#timer ??= setTimeout(() => this.#handOn(), longestMs).unref();
  }

  /** Hands on what is waiting; `done` is what pino calls when it flushes. */
  flush(done?: () => void): void {
    this.#handOn();
    done?.();
  }

  #handOn(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#used === 0) return;
    const lines = this.#bytes.toString('utf8', 0, this.#used);
    this.#used = 0;
    this.#to.write(lines);
  }
}

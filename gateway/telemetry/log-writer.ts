import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { LineBuffer, type LineWriter } from './line-buffer.ts';

const newline = 0x0a;
/** Pause before the next attempt, in ms: for a slow reader, and after a failed write, for example on a full disk. */
const nextTry = { late: 50, refused: 1_000 } as const;
/**
 * Maximum number of bytes that a pipe accepts atomically (`PIPE_BUF` of Linux), for a pipe shared by several workers.
 * Larger writes could be interleaved with lines of other workers. A single process writes everything at once, because
 * each write wakes the reader.
 */
const wholeWhereShared = 4_096;
/** Maximum time that a terminating process waits for a slow reader of its last lines, in ms. */
const longestEnd = 1_000;

/**
 * Writes log lines and never blocks the process. If a pipe has a slow reader (`EAGAIN`), lines wait up to a limit.
 * Otherwise, for example on a full disk or without a reader, lines are dropped. Dropped lines are counted and reported
 * in one line once writing succeeds again.
 */
export class LogWriter implements LineWriter {
  readonly #fd: number;
  readonly #most: number;
  readonly #piece: number;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** True if the last write failed only because of a slow reader. */
  #isLate = false;
  #dropped = 0;
  #reported = 0;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param fd non-blocking if it is a pipe
   * @param most maximum number of bytes of lines that wait for a slow reader
   * @param isShared true if other processes write to it, too
   */
  constructor(fd: number, most: number, isShared: boolean) {
    this.#fd = fd;
    this.#most = most;
    this.#piece = isShared ? wholeWhereShared : Number.POSITIVE_INFINITY;
  }

  /** Number of lines dropped since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Never throws. The caller may reuse the buffer afterwards. */
  write(lines: Buffer): void {
    if (!this.#isOpen) this.#catchUp();
    const written = this.#isOpen ? this.#put(lines) : 0;
    if (written < lines.length) this.#refuse(lines, written);
    if (!this.#isOpen) this.#tryLater();
  }

  /** Waits briefly for a slow reader when the process ends. */
  end(): void {
    const end = performance.now() + longestEnd;
    this.#catchUp();
    while (!this.#isOpen && this.#isLate && performance.now() < end) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      this.#catchUp();
    }
  }

  /** True if nothing waits to be written first. */
  get #isOpen(): boolean {
    return this.#waiting.length === 0 && this.#reported === this.#dropped;
  }

  /** Returns the number of bytes written. */
  #put(bytes: Buffer): number {
    let written = 0;
    try {
      while (written < bytes.length)
        written += writeSync(this.#fd, bytes, written, endOfPiece(bytes, written, this.#piece) - written);
    } catch (error) {
      this.#isLate = error instanceof Error && 'code' in error && error.code === 'EAGAIN';
    }
    return written;
  }

  /** Keeps the rest of a line that was started, and complete lines up to the limit. Drops the others. */
  #refuse(lines: Buffer, written: number): void {
    const isBegun = written > 0 && lines[written - 1] !== newline;
    const whole = isBegun ? lines.indexOf(newline, written) + 1 : written;
    if (isBegun) this.#keep(lines.subarray(written, whole));
    const freeBytes = this.#isLate ? Math.max(0, this.#most - this.#waitingBytes) : 0;
    const fits = freeBytes === 0 ? 0 : lines.subarray(whole, whole + freeBytes).lastIndexOf(newline) + 1;
    if (fits > 0) this.#keep(lines.subarray(whole, whole + fits));
    for (let at = whole + fits; at < lines.length; this.#dropped++) at = lines.indexOf(newline, at) + 1;
  }

  #keep(bytes: Buffer): void {
    this.#waiting.push(Buffer.from(bytes));
    this.#waitingBytes += bytes.length;
  }

  /** Writes the waiting lines, then a line with the number of dropped lines, as far as possible. */
  #catchUp(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const written = this.#put(first);
      this.#waitingBytes -= written;
      if (written < first.length) {
        this.#waiting[0] = first.subarray(written);
        return;
      }
      this.#waiting.shift();
    }
    const dropped = this.#dropped - this.#reported;
    if (dropped === 0) return;
    const members = { level: 40, time: Date.now(), dropped, msg: 'log lines dropped' };
    const line = Buffer.from(`${JSON.stringify(members)}\n`);
    const written = this.#put(line);
    if (written === 0) return;
    this.#reported = this.#dropped;
    if (written < line.length) this.#keep(line.subarray(written));
  }

  #tryLater(): void {
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined;
        this.#catchUp();
        if (!this.#isOpen) this.#tryLater();
      },
      this.#isLate ? nextTry.late : nextTry.refused,
    ).unref();
  }
}

/** Returns the end of the next piece: as many complete lines as fit, or one longer line. */
function endOfPiece(bytes: Buffer, start: number, most: number): number {
  if (bytes.length - start <= most) return bytes.length;
  const end = start + bytes.subarray(start, start + most).lastIndexOf(newline) + 1;
  return end > start ? end : bytes.indexOf(newline, start) + 1 || bytes.length;
}

/** Standard output as a log. */
export interface StandardOutput {
  readonly lines: LineBuffer;
  /** Returns the number of lines dropped since the start. */
  readonly dropped: () => number;
}

/**
 * Maximum number of bytes of log lines that wait for a slow reader of standard output. Further lines are dropped and
 * counted.
 */
export const maxLogBytes = 1024 * 1024;

/**
 * Opens standard output as a log. Waiting lines are written when the process ends.
 *
 * @param most maximum number of bytes of lines that wait for a slow reader
 * @param isShared true if other processes of this gateway write to it, too
 * @param enough number of bytes that are written at once; 1 writes each line at once
 */
export function standardOutput(most: number, isShared: boolean, enough?: number): StandardOutput {
  const writer = new LogWriter(openStandardOutput(), most, isShared);
  const lines = new LineBuffer(writer, enough);
  process.once('exit', () => {
    lines.flush();
    writer.end();
  });
  return { lines, dropped: () => writer.dropped };
}

/**
 * Returns a non-blocking descriptor of standard output. A pipe or terminal is opened again, because other processes
 * share the inherited descriptor and may make it blocking.
 */
function openStandardOutput(): number {
  const stat = fstatSync(1);
  if (stat.isFile()) return 1;
  const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
  try {
    if (!stat.isSocket()) return openSync('/proc/self/fd/1', O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {} // for example another user's pipe, or a system without /proc
  process.stdout; // the first access makes Node set it to non-blocking
  return 1;
}

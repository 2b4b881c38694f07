import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { LineBuffer, type LineWriter } from './line-buffer.ts';

const newline = 0x0a;
/** In ms: when what waits is tried again, for a reader that is late and for a disk that is full. */
const nextTry = { late: 50, refused: 1_000 } as const;
/**
 * So many bytes at most go into a pipe whole or not at all (`PIPE_BUF` of Linux), also where it has less room than that: of
 * several workers, whose pipe is one, another's lines would come between the parts of a line. A process by itself writes all
 * at once: in pieces it is 0.5 µs of a small call, as each wakes the reader.
 */
const wholeWhereShared = 4_096;
/** In ms: how long a process that ends waits for a late reader of its last lines. */
const longestEnd = 1_000;

/**
 * Writes the lines of a log and never stops the process for it: of what can't be written some waits, the rest is dropped,
 * counted, and reported in one line once there is room again. Lines wait only where the reader of a pipe is late (`EAGAIN`),
 * not on a full disk or behind a reader that is gone.
 */
export class LogWriter implements LineWriter {
  readonly #fd: number;
  readonly #most: number;
  readonly #piece: number;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** Whether the last write failed for a late reader alone. */
  #isLate = false;
  #dropped = 0;
  #told = 0;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param fd one that doesn't block, where it is a pipe
   * @param most maximum number of bytes of lines that wait for a slow reader
   * @param isShared whether other processes write to it too
   */
  constructor(fd: number, most: number, isShared: boolean) {
    this.#fd = fd;
    this.#most = most;
    this.#piece = isShared ? wholeWhereShared : Number.POSITIVE_INFINITY;
  }

  /** Lines that were dropped since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Never throws; what it is given is used again by its owner. */
  write(lines: Buffer): void {
    if (!this.#isOpen) this.#catchUp();
    const written = this.#isOpen ? this.#put(lines) : 0;
    if (written < lines.length) this.#refuse(lines, written);
    if (!this.#isOpen) this.#tryLater();
  }

  /** Waits a moment for a reader that is late: for the end of the process. */
  end(): void {
    const end = performance.now() + longestEnd;
    this.#catchUp();
    while (!this.#isOpen && this.#isLate && performance.now() < end) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      this.#catchUp();
    }
  }

  /** Whether nothing is to be written first. */
  get #isOpen(): boolean {
    return this.#waiting.length === 0 && this.#told === this.#dropped;
  }

  /** Gives how many bytes went out. */
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

  /** Keeps the rest of a line that was begun, and of whole lines what may wait. */
  #refuse(lines: Buffer, written: number): void {
    const isBegun = written > 0 && lines[written - 1] !== newline;
    const whole = isBegun ? lines.indexOf(newline, written) + 1 : written;
    if (isBegun) this.#keep(lines.subarray(written, whole));
    const room = this.#isLate ? Math.max(0, this.#most - this.#waitingBytes) : 0;
    const fits = room === 0 ? 0 : lines.subarray(whole, whole + room).lastIndexOf(newline) + 1;
    if (fits > 0) this.#keep(lines.subarray(whole, whole + fits));
    for (let at = whole + fits; at < lines.length; this.#dropped++) at = lines.indexOf(newline, at) + 1;
  }

  #keep(bytes: Buffer): void {
    this.#waiting.push(Buffer.from(bytes));
    this.#waitingBytes += bytes.length;
  }

  /** Writes what waits, then how many lines were dropped, as far as there is room. */
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
    const dropped = this.#dropped - this.#told;
    if (dropped === 0) return;
    const members = { level: 40, time: Date.now(), dropped, msg: 'lines of the log were dropped' };
    const line = Buffer.from(`${JSON.stringify(members)}\n`);
    const written = this.#put(line);
    if (written === 0) return;
    this.#told = this.#dropped;
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

/** Where what is written next ends: as many lines as go at once, or a longer one. */
function endOfPiece(bytes: Buffer, start: number, most: number): number {
  if (bytes.length - start <= most) return bytes.length;
  const end = start + bytes.subarray(start, start + most).lastIndexOf(newline) + 1;
  return end > start ? end : bytes.indexOf(newline, start) + 1 || bytes.length;
}

/** Standard output as a log. */
export interface StandardOutput {
  readonly lines: LineBuffer;
  /** How many lines were dropped since the start. */
  readonly dropped: () => number;
}

/** Bytes of log lines that wait for a slow reader of standard output. Further lines are dropped and counted. */
export const maxLogBytes = 1024 * 1024;

/**
 * Standard output as a log; what still waits when the process ends goes out then.
 *
 * @param most maximum number of bytes of lines that wait for a slow reader
 * @param isShared whether other processes of this gateway write to it too
 * @param enough bytes that wait for no others; 1 writes each line at once
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
 * A descriptor of standard output on which no write waits for a reader. A pipe or terminal is opened once more for it: the
 * descriptor that this process was given is shared with others, any of which may have it block again.
 */
function openStandardOutput(): number {
  const stat = fstatSync(1);
  if (stat.isFile()) return 1;
  const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
  try {
    if (!stat.isSocket()) return openSync('/proc/self/fd/1', O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {} // another user's, say, or a system without /proc
  process.stdout; // which Node makes non-blocking when it is first asked for
  return 1;
}

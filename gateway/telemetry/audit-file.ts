import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import type { LineWriter } from './line-buffer.ts';

const { O_RDONLY, O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
const newline = Buffer.from('\n');

/**
 * A file that lines are appended to, each one there when `write` returns and never if it throws: of a line that a full
 * disk took the beginning of, the rest isn't written later, and the next line begins on a line of its own.
 */
export class AuditFile implements LineWriter {
  readonly #path: string;
  #fd: number;
  /** Whether the file ends amid a line. */
  #isTorn: boolean;

  /** Throws the system's error when the file can't be opened. */
  constructor(path: string) {
    this.#path = path;
    this.#fd = open(path);
    this.#isTorn = endsTorn(path, this.#fd);
  }

  /** Throws the system's error when a line could not be written whole. */
  write(line: Buffer): void {
    if (this.#isTorn) {
      writeSync(this.#fd, newline);
      this.#isTorn = false;
    }
    let written = 0;
    try {
      while (written < line.length) written += writeSync(this.#fd, line, written);
    } finally {
      this.#isTorn = written > 0 && written < line.length;
    }
  }

  /** Opens the file anew; throws the system's error, and then goes on with the one it had. */
  reopen(): void {
    const former = this.#fd;
    this.#fd = open(this.#path);
    this.#isTorn = endsTorn(this.#path, this.#fd);
    closeSync(former);
  }
}

/** A pipe with a late reader refuses a line rather than to wait for room. */
function open(path: string): number {
  return openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o666);
}

/** Whether a file that is opened anew ends amid a line, as a full disk leaves it, and whoever wrote it then ended. */
function endsTorn(path: string, fd: number): boolean {
  const stats = fstatSync(fd);
  if (!stats.isFile() || stats.size === 0) return false;
  try {
    const file = openSync(path, O_RDONLY | O_NONBLOCK);
    try {
      const last = Buffer.alloc(1);
      return readSync(file, last, 0, 1, stats.size - 1) === 1 && !last.equals(newline);
    } finally {
      closeSync(file);
    }
  } catch {
    return false; // it may be written and not read
  }
}

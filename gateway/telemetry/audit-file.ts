import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import type { LineWriter } from './line-buffer.ts';

const { O_RDWR, O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
const newline = Buffer.from('\n');
const last = Buffer.alloc(1);

/**
 * A file to which lines are appended. A line is in the file when `write` returns, and never if `write` throws. If a
 * full disk truncates a line, its rest is not written later, and the next line starts on a new line. This also holds if
 * several processes share the file.
 */
export class AuditFile implements LineWriter {
  readonly #path: string;
  readonly #isShared: boolean;
  #opened: Opened;
  /** True if the last line of the file is incomplete. */
  #isTorn = false;

  /**
   * Throws the system's error if the file cannot be opened.
   *
   * @param isShared true if other processes write to it, too
   */
  constructor(path: string, isShared = false) {
    this.#path = path;
    this.#isShared = isShared;
    this.#opened = open(path);
    this.#lookAtEnd();
  }

  /** Throws the system's error if the whole line could not be written. */
  write(line: Buffer): void {
    if (this.#isShared) this.#lookAtEnd();
    const bytes = this.#isTorn ? Buffer.concat([newline, line]) : line;
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(this.#opened.fd, bytes, written);
    } finally {
      if (written > 0) this.#isTorn = bytes[written - 1] !== newline[0];
    }
  }

  /** Reopens the file by its path. If that fails, it throws the system's error and keeps the old file. */
  reopen(): void {
    const former = this.#opened;
    this.#opened = open(this.#path);
    closeSync(former.fd);
    this.#isTorn = false;
    this.#lookAtEnd();
  }

  /** Checks whether the last line is incomplete. A full disk truncates lines, possibly those of another process. */
  #lookAtEnd(): void {
    const { fd, canRead } = this.#opened;
    if (!canRead) return;
    const { size } = fstatSync(fd);
    this.#isTorn = size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && !last.equals(newline);
  }
}

interface Opened {
  readonly fd: number;
  /** False for example for a pipe, or without permission to read. */
  readonly canRead: boolean;
}

/** Opens the file. If it is a pipe with a slow reader, writes fail instead of blocking. */
function open(path: string): Opened {
  const fd = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o600);
  if (!fstatSync(fd).isFile()) return { fd, canRead: false };
  try {
    const both = openSync(path, O_RDWR | O_APPEND | O_NONBLOCK);
    closeSync(fd);
    return { fd: both, canRead: true };
  } catch {
    return { fd, canRead: false };
  }
}

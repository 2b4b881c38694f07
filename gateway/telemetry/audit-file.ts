import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import type { LineWriter } from './line-buffer.ts';

const { O_RDWR, O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
const newline = Buffer.from('\n');
const last = Buffer.alloc(1);

/**
 * A file that lines are appended to, each one there when `write` returns and never if it throws: of a line that a full
 * disk took the beginning of, the rest isn't written later, and the next line begins on a line of its own, whichever of the
 * processes that share the file writes it.
 */
export class AuditFile implements LineWriter {
  readonly #path: string;
  readonly #isShared: boolean;
  #opened: Opened;
  /** Whether the file ends amid a line. */
  #isTorn = false;

  /**
   * Throws the system's error when the file can't be opened.
   *
   * @param isShared whether other processes write to it too
   */
  constructor(path: string, isShared = false) {
    this.#path = path;
    this.#isShared = isShared;
    this.#opened = open(path);
    this.#lookAtEnd();
  }

  /** Throws the system's error when a line could not be written whole. */
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

  /** Opens the file anew; throws the system's error, and then goes on with the one it had. */
  reopen(): void {
    const former = this.#opened;
    this.#opened = open(this.#path);
    closeSync(former.fd);
    this.#isTorn = false;
    this.#lookAtEnd();
  }

  /** Whether the file ends amid a line, as a full disk leaves it, and whoever wrote it then has ended or wrote no more. */
  #lookAtEnd(): void {
    const { fd, canRead } = this.#opened;
    if (!canRead) return;
    const { size } = fstatSync(fd);
    this.#isTorn = size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && !last.equals(newline);
  }
}

interface Opened {
  readonly fd: number;
  /** False for a pipe, say, and for a file that may be written alone. */
  readonly canRead: boolean;
}

/** A pipe with a late reader refuses a line rather than to wait for room. */
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

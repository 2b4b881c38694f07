import { ownMemory } from '../protocols/read-task.ts';
import { Collector } from '../upstream/collector.ts';
import type { CopyMemory } from './copy-memory.ts';
import type { Skipped } from './skipped.ts';

/** A copy of a body that is streamed elsewhere. It is dropped if there is not enough memory for it (G15). */
export class BodyCopy {
  readonly #memory: CopyMemory;
  readonly #collector = new Collector(false);
  #dropped: Skipped | undefined;
  /** True if the copy has another owner. */
  #isTaken = false;

  constructor(memory: CopyMemory) {
    this.#memory = memory;
  }

  /** Why there is no copy; undefined while there is one. */
  get dropped(): Skipped | undefined {
    return this.#dropped;
  }

  /**
   * Copies a piece, because its owner may release it.
   *
   * @param isCounted false for a piece that does not count against the maximum size of the message
   */
  add(piece: Buffer, isCounted = true): void {
    if (this.#dropped !== undefined || piece.length === 0) return;
    const { length } = piece;
    // the collector keeps its first piece and copies the others
    if (isCounted ? this.#memory.hold(length) : this.#memory.holdBeside(length))
      this.#collector.add(this.#collector.size === 0 ? Buffer.from(piece) : piece);
    else this.drop(this.#memory.refusal());
  }

  /** Releases the copy. */
  drop(why: Skipped): void {
    this.#dropped ??= why;
    if (!this.#isTaken) this.#collector.drop();
    this.#memory.release();
  }

  /** Returns the copy. Throws Skipped if it was dropped. */
  take(): Buffer {
    if (this.#dropped !== undefined) throw this.#dropped;
    this.#isTaken = true;
    return this.#collector.take().body;
  }
}

/** Returns bytes with memory that can be transferred to a thread. All empty buffers may share theirs, so it is kept. */
export function transferable(bytes: Buffer): Uint8Array<ArrayBuffer> {
  return bytes.length === 0 ? new Uint8Array(0) : ownMemory(bytes);
}

import type { Admission } from '../admission/admission.ts';
import { Permit } from '../admission/permit.ts';
import { Skipped } from './skipped.ts';

/** Counts the memory of one message that is compared: against `shadowBytes`, and against the size of a message (G27). */
export class CopyMemory extends Permit {
  #most: number;

  /** @param most maximum size of the message in bytes */
  constructor(admission: Admission, most: number) {
    super(admission, { queueMs: 0 });
    this.#most = most;
  }

  override hold(bytes: number): boolean {
    const isFree = super.hold(bytes);
    return isFree && !this.isTooLarge;
  }

  /** Counts bytes of the message that do not count against its maximum size. */
  holdBeside(bytes: number): boolean {
    this.#most += bytes;
    return this.hold(bytes);
  }

  /** Counts the message as `bytes` bytes. Throws Skipped if that is too much. */
  keep(bytes: number): void {
    this.shrink(bytes);
    if (!this.hold(bytes - this.heldBytes)) throw this.refusal();
  }

  /** True if the message is larger than its maximum size. */
  get isTooLarge(): boolean {
    return this.heldBytes > this.#most;
  }

  /** Returns why `hold` returned false. */
  refusal(): Skipped {
    return new Skipped(this.isTooLarge ? 'size' : 'busy');
  }
}

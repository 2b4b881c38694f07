import { type Admission, smallBytes } from './admission.ts';
import type { Slot } from './permits.ts';
import type { Transfer } from './transfers.ts';

/** The capacity that one call holds: a permit and bytes in memory. */
export class Permit implements Slot {
  admitted = false;
  enteredAfter = 0;
  heldBytes = 0;
  readonly stats: Slot['stats'];
  readonly #admission: Admission;

  constructor(admission: Admission, stats: Slot['stats']) {
    this.#admission = admission;
    this.stats = stats;
  }

  /** Admits the call: at once, or as a promise. Throws or rejects with CallError Overloaded. */
  enter(): Promise<void> | undefined {
    return this.#admission.enter(this);
  }

  /** Adds bytes that the call holds. Returns false if there is no memory for them; they are still counted. */
  hold(bytes: number): boolean {
    return this.#admission.hold(this, bytes);
  }

  /** Adds bytes that the call holds. Throws CallError Overloaded if there is no memory for more than `smallBytes`. */
  require(bytes: number): void {
    if (!this.hold(bytes) && bytes > smallBytes) throw this.#admission.shed();
  }

  /** Takes over the bytes of a body that has arrived. */
  receive(transfer: Transfer): void {
    this.heldBytes += this.#admission.arrived(transfer);
  }

  /** Returns how many more bytes the call may hold; undefined if none. See `Admission.spare`. */
  spare(): number | undefined {
    return this.#admission.spare(this);
  }

  /** Reduces the bytes that the call holds to a maximum. */
  shrink(bytes: number): void {
    this.#admission.shrink(this, bytes);
  }

  /** Calls `go` when there is memory for the bytes, which the call holds from then on. See `ReplyMemory.wait`. */
  whenFree(bytes: number, go: () => void): void {
    this.#admission.replyQueue.wait(this, bytes, go);
  }

  /** Ends the call: releases its permit and its bytes. */
  release(): void {
    this.#admission.release(this);
  }
}

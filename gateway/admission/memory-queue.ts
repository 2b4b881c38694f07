import type { Slot } from './permits.ts';

/** Queue for calls that wait for memory and must not be rejected. */
export interface ReplyQueue {
  /**
   * Calls `go` when there is memory for the bytes, which the call holds from then on. If there is no memory, one call
   * at a time continues anyway. This prevents a deadlock between waiting calls.
   */
  readonly wait: (slot: Slot, bytes: number, go: () => void) => void;
  /** Number of waiting calls. */
  readonly size: number;
}

/** State of memory that the queue needs. */
interface Memory {
  readonly fits: (bytes: number) => boolean;
  /** Returns true if the replies in transit use no more than their share of memory. */
  readonly isDrained: () => boolean;
  readonly hold: (slot: Slot, bytes: number) => void;
}

interface Waiter {
  readonly slot: Slot;
  readonly bytes: number;
  readonly go: () => void;
}

/** First-in, first-out queue of calls that wait for memory. */
export class MemoryQueue implements ReplyQueue {
  readonly #memory: Memory;
  #waiters: Waiter[] = [];
  /** The call that continued without free memory, until its reply is in transit. */
  #through: Slot | undefined;
  #looks = false;

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  get size(): number {
    return this.#waiters.length;
  }

  isThrough(slot: Slot): boolean {
    return slot === this.#through;
  }

  wait(slot: Slot, bytes: number, go: () => void): void {
    this.#waiters.push({ slot, bytes, go });
    this.look();
  }

  /** Removes a call that has ended. */
  remove(slot: Slot): void {
    if (this.#through === slot) this.#through = undefined;
    if (this.#waiters.length === 0) return;
    this.#waiters = this.#waiters.filter((waiter) => waiter.slot !== slot);
    this.look();
  }

  /** Checks the queue in the next event-loop iteration, because the caller may be in the middle of an operation. */
  look(): void {
    if (this.#looks || this.#waiters.length === 0) return;
    this.#looks = true;
    setImmediate(() => {
      this.#looks = false;
      this.#letThrough();
    });
  }

  /** Lets the first call continue. The next call is checked later, when the memory of this one has been counted. */
  #letThrough(): void {
    const [first] = this.#waiters;
    if (first === undefined) return;
    if (!this.#memory.fits(first.bytes)) {
      if (this.#through !== undefined || !this.#memory.isDrained()) return;
      this.#through = first.slot;
    }
    this.#waiters.shift();
    this.#memory.hold(first.slot, first.bytes);
    first.go();
    this.look();
  }
}

/** Time in ms after a large reply during which more large replies of the operation are expected. */
const keptMs = 60_000;

/** Records which operations recently had large replies, as far as the process has seen the replies' bytes. */
export class LargeReplies {
  /** Time of an operation's last chunk of a large reply, in ms of `performance.now()`. */
  readonly #metAt = new WeakMap<object, number>();

  /** Records a chunk of a large reply. */
  note(operation: object): void {
    this.#metAt.set(operation, performance.now());
  }

  isLikelyOf(operation: object): boolean {
    const metAt = this.#metAt.get(operation);
    return metAt !== undefined && performance.now() - metAt < keptMs;
  }
}

import type { Slot } from './permits.ts';

/** Where calls wait for memory that can't be refused for want of it. */
export interface Room {
  /**
   * Has a call go on once there is room for so many bytes, which it holds from then on. Where there is none one call at a
   * time goes on all the same, so that none waits for the others for ever.
   */
  readonly wait: (slot: Slot, bytes: number, go: () => void) => void;
  /** How many wait. */
  readonly size: number;
}

/** What the line knows of memory. */
interface Memory {
  readonly fits: (bytes: number) => boolean;
  /** Whether the replies on their way out take no more than their share. */
  readonly isDrained: () => boolean;
  readonly hold: (slot: Slot, bytes: number) => void;
}

interface Waiter {
  readonly slot: Slot;
  readonly bytes: number;
  readonly go: () => void;
}

/** Calls in line for memory, the first one first. */
export class MemoryQueue implements Room {
  readonly #memory: Memory;
  #waiters: Waiter[] = [];
  /** The one that went on though there was no room, until its reply is on its way out. */
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

  /** A call has ended. */
  leave(slot: Slot): void {
    if (this.#through === slot) this.#through = undefined;
    if (this.#waiters.length === 0) return;
    this.#waiters = this.#waiters.filter((waiter) => waiter.slot !== slot);
    this.look();
  }

  /** There may be room again: in a turn of its own, as who goes on may be amid something. */
  look(): void {
    if (this.#looks || this.#waiters.length === 0) return;
    this.#looks = true;
    setImmediate(() => {
      this.#looks = false;
      this.#letThrough();
    });
  }

  /** Lets one go on: what it takes is known before the next one is looked at. */
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

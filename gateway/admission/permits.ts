import type { CallError } from '../call/error.ts';

/** What one call holds of what there is for all. */
export interface Slot {
  /** Whether it has its permit. */
  admitted: boolean;
  /** The look at the event loop's delay before it was let in, counted from the start. */
  enteredAfter: number;
  /** Bytes of bodies that it keeps in memory. */
  heldBytes: number;
  readonly stats: {
    /** How long it waited for its permit, and for connections, in ms. */
    queueMs: number;
  };
}

/** A semaphore: so many permits; who finds none waits for one for a moment, as long as not too many do. */
export class Permits {
  readonly #most: number;
  readonly #mostWaiting: number;
  readonly #waitMs: number;
  readonly #refuse: () => CallError;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  /**
   * @param waitMs how long one waits for a permit at most
   * @param refuse makes the refusal of who finds none
   */
  constructor(most: number, mostWaiting: number, waitMs: number, refuse: () => CallError) {
    this.#most = most;
    this.#mostWaiting = mostWaiting;
    this.#waitMs = waitMs;
    this.#refuse = refuse;
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Whether neither a permit nor room to wait for one is left. */
  get isFull(): boolean {
    return this.#taken >= this.#most && this.#waiting.length >= this.#mostWaiting;
  }

  /** Takes a permit where one is free. */
  take(): boolean {
    if (this.#taken >= this.#most) return false;
    this.#taken++;
    return true;
  }

  /** Waits for a permit. Throws the refusal, at once or after the longest wait. */
  wait(): Promise<void> {
    if (this.#waiting.length >= this.#mostWaiting) throw this.#refuse();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1);
        reject(this.#refuse());
      }, this.#waitMs);
      const go = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.#waiting.push(go);
    });
  }

  /** Gives a permit to who waited longest, or back. */
  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken--;
    else next();
  }
}

import type { CallError } from '../call/error.ts';

/** So many places; who finds none waits for one for a moment, as long as not too many do. */
export class Places {
  readonly #most: number;
  readonly #mostWaiting: number;
  readonly #waitMs: number;
  readonly #refuse: () => CallError;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  /**
   * @param waitMs how long one waits for a place at most
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

  /** Whether neither a place nor room to wait for one is left. */
  get isFull(): boolean {
    return this.#taken >= this.#most && this.#waiting.length >= this.#mostWaiting;
  }

  /** Takes a place where one is free. */
  take(): boolean {
    if (this.#taken >= this.#most) return false;
    this.#taken++;
    return true;
  }

  /** Waits for a place. Throws the refusal, at once or after the longest wait. */
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

  /** Gives a place to who waited longest, or back. */
  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken--;
    else next();
  }
}

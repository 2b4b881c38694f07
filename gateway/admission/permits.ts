import type { CallError } from '../call/error.ts';
import type { RequestStats } from '../telemetry/request-stats.ts';

/** The capacity that one call holds. */
export interface Slot {
  /** True if it has its permit. */
  admitted: boolean;
  /** Number of event-loop delay observations before its admission, since the start. */
  enteredAfter: number;
  /** Number of bytes of bodies that it keeps in memory. */
  heldBytes: number;
  /** Its waits for a permit and for connections. */
  readonly stats: Pick<RequestStats, 'queueMs' | 'waits'>;
}

/** A semaphore with a maximum number of permits, and a limited queue with a limited waiting time. */
export class Permits {
  readonly #most: number;
  readonly #mostWaiting: number;
  readonly #waitMs: number;
  readonly #refuse: () => CallError;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;
  #parked = 0;

  /**
   * @param waitMs maximum waiting time for a permit, in ms
   * @param refuse returns the error for a caller that gets no permit
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

  /** Number of callers that wait for a permit, or are parked without one. */
  get waiting(): number {
    return this.#waiting.length + this.#parked;
  }

  /** True if all permits are taken and the queue is full. */
  get isFull(): boolean {
    return this.#taken >= this.#most && this.waiting >= this.#mostWaiting;
  }

  /** Takes a permit. Returns false if none is free. */
  take(): boolean {
    if (this.#taken >= this.#most) return false;
    this.#taken++;
    return true;
  }

  /** Waits for a permit. Throws the error at once if the queue is full, or rejects with it after `waitMs`. */
  wait(): Promise<void> {
    if (this.waiting >= this.#mostWaiting) throw this.#refuse();
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

  /** Returns a permit. The longest waiting caller gets it. */
  give(): void {
    const next = this.#taken > this.#most ? undefined : this.#waiting.shift();
    if (next === undefined) this.#taken--;
    else next();
  }

  /**
   * Returns a permit while its caller waits in the queue for something else. Returns false if the queue is full and no
   * waiting caller leaves it for this permit.
   */
  park(): boolean {
    const isPassedOn = this.#waiting.length > 0 && this.#taken <= this.#most;
    if (this.waiting >= this.#mostWaiting && !isPassedOn) return false;
    this.#parked++;
    this.give();
    return true;
  }

  /** Gives a parked caller its permit back, even if all are taken. */
  unpark(): void {
    this.#parked--;
    this.#taken++;
  }
}

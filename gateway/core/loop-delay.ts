const sampleMs = 50;

/**
 * How late the event loop's timers come. Node's own monitor, once reset, counts from its second look on, and so sees
 * nothing of a loop whose every turn takes longer than it is asked for.
 */
export class LoopDelay {
  #due = performance.now() + sampleMs;
  #most = 0;
  readonly #timer = setInterval(() => this.#sample(), sampleMs).unref();

  /** In ms: the most since it was asked last. */
  take(): number {
    const most = Math.max(this.#most, performance.now() - this.#due);
    this.#most = 0;
    return most;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    const now = performance.now();
    this.#most = Math.max(this.#most, now - this.#due);
    this.#due = now + sampleMs;
  }
}

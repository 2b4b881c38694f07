import { StoreError } from './store.ts';

/** Work with the store that a process repeats. A failure of the store, which it logs itself, ends only one run. */
export class Repeated {
  readonly #run: () => Promise<void>;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;

  /** @param onError called with any other error */
  constructor(run: () => Promise<void>, pauseMs: number, onError: (error: unknown) => void) {
    this.#run = () =>
      run().catch((error: unknown) => {
        if (!(error instanceof StoreError)) onError(error);
      });
    this.#timer = setInterval(this.now, pauseMs).unref();
  }

  /** Runs now, unless a run is in progress. Resolves at the end of the run. */
  readonly now = (): Promise<void> => {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  };

  /** Runs after the run in progress. */
  async again(): Promise<void> {
    await this.#running;
    await this.now();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }
}

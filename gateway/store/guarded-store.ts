import { counter, type Snapshot } from '../telemetry/metrics.ts';
import type { Connection } from './connection.ts';
import { type Statement, type Store, StoreError, type StoreReason, type StoreRow } from './store.ts';

/** Maximum number of calls that wait for the store. */
const maxWaiting = 1_000;

/** Time without calls after a failure, in ms (G54). */
export const usualRetryMs = 60_000;

/** Reasons of a failed call that do not concern other calls. */
const lockReasons: ReadonlySet<StoreReason> = new Set(['busy', 'conflict']);

/** Options of a guarded store. */
export interface GuardOptions {
  readonly retryMs: number;
  /** Called when the store fails. It then gets no call for `retryMs`. */
  readonly onDown: (error: StoreError) => void;
  /** Called when a call fails because of a lock, at most once in `retryMs`. The store works. */
  readonly onBusy: (error: StoreError) => void;
  /** Called when the store answers for the first time, and again after a failure. */
  readonly onUp: () => void;
}

/** A store that calls its connection one call after another, and not while it is known to fail (G54). */
export class GuardedStore implements Store {
  readonly #connection: Connection;
  readonly #options: GuardOptions;
  readonly #failures = new Map<StoreReason, number>();
  #isUp = false;
  #isClosed = false;
  #retry: NodeJS.Timeout | undefined;
  #waiting = 0;
  #busyAt = Number.NEGATIVE_INFINITY;
  #failure: StoreError | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(connection: Connection, options: GuardOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** The last failure; undefined while the store works. */
  get failure(): StoreError | undefined {
    return this.#isUp ? undefined : this.#failure;
  }

  readonly all = (statement: Statement): Promise<readonly StoreRow[]> =>
    this.#enqueue(() => this.#connection.all(statement));

  readonly write = (statements: readonly Statement[]): Promise<readonly number[]> =>
    this.#enqueue(() => this.#connection.write(statements));

  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
    await this.#last;
    clearTimeout(this.#retry);
    await this.#connection.close();
  };

  /** Calls the store, even if it failed shortly before. Rejects with StoreError. */
  readonly probe = async (): Promise<void> => {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    await this.all({ sql: 'SELECT 1' });
  };

  /** Returns the metrics of the store (G54). */
  read(): Snapshot {
    const failures = [...this.#failures].map(([reason, count]) => [`reason="${reason}"`, count] as const);
    return [counter('store_failed_total', 'Failed calls to the store, by reason.', failures)];
  }

  #enqueue<Result>(call: () => Promise<Result>): Promise<Result> {
    if (this.#isClosed)
      return Promise.reject(new StoreError('expected an open store, got a closed one', 'closed'));
    if (this.#waiting >= maxWaiting) return Promise.reject(this.#count(queueFull()));
    this.#waiting++;
    const result = this.#last.then(() => this.#attempt(call)).finally(() => this.#waiting--);
    this.#last = result.catch(() => {}); // the caller gets the error
    return result;
  }

  async #attempt<Result>(call: () => Promise<Result>): Promise<Result> {
    if (this.#retry !== undefined)
      throw new StoreError('expected a working store, got one that failed less than a minute ago', 'paused');
    try {
      const result = await twice(call);
      if (!this.#isUp) this.#options.onUp();
      this.#isUp = true;
      return result;
    } catch (error) {
      const failure = error instanceof StoreError ? error : new StoreError(String(error));
      this.#count(failure);
      // without a pause, nothing would try again to open a store
      if (this.#isUp && lockReasons.has(failure.reason)) this.#reportBusy(failure);
      else if (failure.reason !== 'constraint') this.#pause(failure);
      throw failure;
    }
  }

  #reportBusy(failure: StoreError): void {
    if (performance.now() - this.#busyAt < this.#options.retryMs) return;
    this.#busyAt = performance.now();
    this.#options.onBusy(failure);
  }

  #pause(failure: StoreError): void {
    this.#isUp = false;
    this.#failure = failure;
    this.#connection.reset();
    this.#retry = setTimeout(() => this.probe().catch(() => {}), this.#options.retryMs).unref(); // `onDown` reports it
    this.#options.onDown(failure);
  }

  #count(error: StoreError): StoreError {
    this.#failures.set(error.reason, (this.#failures.get(error.reason) ?? 0) + 1);
    return error;
  }
}

/** Repeats a call once after a conflict, which has undone it. */
async function twice<Result>(call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof StoreError && error.reason === 'conflict') return call();
    throw error;
  }
}

function queueFull(): StoreError {
  return new StoreError(
    `expected at most ${maxWaiting} calls that wait for the store, got another one`,
    'queue',
  );
}

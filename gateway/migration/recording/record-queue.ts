import { type Statement, type Store, StoreError } from '../../store/store.ts';
import { bytesOf, insertExchange, type StoredExchange } from '../../store/tables/record.ts';
import { counter, type Snapshot } from '../../telemetry/metrics.ts';

/** Maximum number of recordings that wait for redaction or for the store (G56). */
export const maxQueuedRecordings = 10_000;

/** Maximum number and size of the recordings that are written in one transaction. */
const [batchEntries, batchBytes] = [100, 4 * 2 ** 20];

/** Maximum time that a recording waits for others of its transaction, in ms. */
const batchMs = 100;

/** Time between two looks at a store that fails, in ms. */
const lookMs = 1_000;

/**
 * Why an exchange is not recorded. `queue`: too many recordings wait, or their memory is used up. `aborted`: the caller
 * disconnected. `store`: the store refused it. `error`: an internal error.
 */
export type DropReason = 'queue' | 'aborted' | 'store' | 'error';

/** Recordings of a process that wait for the store. Neither fails nor delays a call. */
export class RecordQueue {
  readonly #store: Store;
  readonly #mostBytes: number;
  readonly #most: number;
  readonly #waiting: { readonly statement: Statement; readonly bytes: number; readonly contract: string }[] =
    [];
  readonly #kept = new Map<string, number>();
  readonly #dropped = new Map<string, number>();
  readonly #onError: (error: unknown) => void;
  #bytes = 0;
  #open = 0;
  #written: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /**
   * @param mostBytes maximum memory of all recordings
   * @param most maximum number of recordings
   */
  constructor(
    store: Store,
    mostBytes: number,
    onError: (error: unknown) => void,
    most: number = maxQueuedRecordings,
  ) {
    this.#store = store;
    this.#most = most;
    this.#mostBytes = mostBytes;
    this.#onError = onError;
  }

  /** Takes a place in the queue for an exchange that begins. Returns false if the queue is full. */
  enter(): boolean {
    if (this.#isClosed || this.#open + this.#waiting.length >= this.#most || this.#bytes >= this.#mostBytes)
      return false;
    this.#open++;
    return true;
  }

  /** Changes the counted memory. */
  hold(bytes: number): void {
    this.#bytes += bytes;
  }

  /** True if the recordings need more memory than `recordQueueBytes`. */
  get isTooLarge(): boolean {
    return this.#bytes > this.#mostBytes;
  }

  /** Counts an exchange that found no place. */
  refuse(contract: string): void {
    this.#countDropped(contract, 'queue', 1);
  }

  /** Gives a place back, and counts why the exchange is not recorded. */
  drop(contract: string, reason: DropReason): void {
    this.#open--;
    this.#countDropped(contract, reason, 1);
  }

  /** Adds an exchange that has a place. */
  add(exchange: StoredExchange): void {
    this.#open--;
    const bytes = bytesOf(exchange);
    this.#bytes += bytes;
    this.#waiting.push({ statement: insertExchange(exchange), bytes, contract: exchange.contract });
    this.#begin();
  }

  /** Starts the next transaction: at once for a full batch, otherwise soon, or later if the store fails. */
  #begin(): void {
    if (this.#isClosed || this.#written !== undefined || this.#waiting.length === 0) return;
    const isUp = this.#store.isUp;
    if (!isUp || this.#waiting.length < batchEntries) {
      this.#timer ??= setTimeout(() => this.#start(), isUp ? batchMs : lookMs).unref();
      return;
    }
    this.#start();
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#written !== undefined) return;
    if (!this.#store.isUp) {
      this.#begin();
      return;
    }
    this.#written = this.#write()
      .catch(this.#onError)
      .finally(() => {
        this.#written = undefined;
        this.#begin();
      });
  }

  /** Writes the oldest recordings. They stay in the queue if the store fails, unless it refuses them. */
  async #write(): Promise<void> {
    let [count, bytes] = [0, 0];
    for (const one of this.#waiting) {
      if (count > 0 && (count >= batchEntries || bytes + one.bytes > batchBytes)) break;
      count++;
      bytes += one.bytes;
    }
    const batch = this.#waiting.slice(0, count);
    let isRefused = false;
    try {
      await this.#store.write(batch.map(({ statement }) => statement));
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      isRefused = error.reason === 'constraint' || error.reason === 'statement';
      if (!isRefused) return;
    }
    this.#waiting.splice(0, count);
    this.#bytes -= bytes;
    for (const { contract } of batch)
      if (isRefused) this.#countDropped(contract, 'store', 1);
      else this.#kept.set(contract, (this.#kept.get(contract) ?? 0) + 1);
  }

  #countDropped(contract: string, reason: DropReason, count: number): void {
    const labels = `contract="${contract}",reason="${reason}"`;
    this.#dropped.set(labels, (this.#dropped.get(labels) ?? 0) + count);
  }

  /** Returns the metrics of recordings (G74). */
  read(): Snapshot {
    const kept = [...this.#kept].map(([contract, count]) => [`contract="${contract}"`, count] as const);
    return [
      counter('record_kept_total', 'Exchanges that were recorded.', kept),
      counter('record_dropped_total', 'Exchanges that were not recorded, by reason.', [...this.#dropped]),
    ];
  }

  /** Writes the waiting recordings as far as the store accepts them, and drops the others. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#written;
    while (this.#waiting.length > 0) {
      const before = this.#waiting.length;
      await this.#write();
      if (this.#waiting.length === before) break;
    }
    for (const { contract } of this.#waiting) this.#countDropped(contract, 'store', 1);
    this.#waiting.length = 0;
  }
}

import { dayMs } from '../../../mappings/contract/times.ts';
import { type Statement, type Store, StoreError } from '../../store/store.ts';
import {
  bytesOf,
  deleteExchanges,
  insertExchange,
  type StoredExchange,
  selectOldestBytes,
  selectRecordedBytes,
  selectRecordedContracts,
} from '../../store/tables/record.ts';
import { counter, type Snapshot } from '../../telemetry/metrics.ts';
import type { RecordPlan } from './record-settings.ts';

/** Maximum number of recordings that wait for redaction or for the store (G56). */
export const maxQueuedRecordings = 10_000;

/** Maximum number and size of the recordings that are written in one transaction. */
const [batchEntries, batchBytes] = [100, 4 * 2 ** 20];

/** Maximum time that a recording waits for others of its transaction, in ms. */
const batchMs = 100;

/** Time between two looks at a store that fails, and between two deletions of old recordings, in ms. */
const [lookMs, sweepMs] = [1_000, 60_000];

/** Maximum time of the deletion of a batch, in ms (G55), and the largest batch. */
const [deletionMs, mostDeleted] = [50, 1_000];

/** The part of a plan that limits what is kept. */
type Kept = Pick<RecordPlan, 'keepMs' | 'bytes'>;

/** Limits of recordings without a plan: the defaults of `migration.record`. */
const unplanned: Kept = { keepMs: 30 * dayMs, bytes: 5 * 2 ** 30 };

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
  #sweeper: NodeJS.Timeout | undefined;
  #batch = mostDeleted / 10;
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

  /**
   * Deletes old recordings every minute, in place of the last call's plans (G55). Recordings of contracts that are not
   * recorded any more are kept for the default time.
   */
  sweepFor(plans: ReadonlyMap<string, Kept>): void {
    clearInterval(this.#sweeper);
    let isRunning = false;
    const sweep = async (): Promise<void> => {
      if (isRunning || !this.#store.isUp) return;
      isRunning = true;
      try {
        for (const { contract } of await this.#store.all(selectRecordedContracts()))
          await this.#sweep(String(contract), plans.get(String(contract)) ?? unplanned);
      } catch (error) {
        if (!(error instanceof StoreError)) this.#onError(error);
      } finally {
        isRunning = false;
      }
    };
    void sweep();
    this.#sweeper = setInterval(sweep, sweepMs).unref();
  }

  async #sweep(contract: string, { keepMs, bytes: most }: Kept): Promise<void> {
    const before = Date.now() - keepMs;
    while ((await this.#delete(contract, before, mostDeleted)) > 0);
    const [row] = await this.#store.all(selectRecordedBytes(contract));
    for (let excess = Number(row?.bytes ?? 0) - most; excess > 0; ) {
      const oldest = await this.#store.all(selectOldestBytes(contract, this.#batch));
      let count = 0;
      for (const { bytes } of oldest) {
        if (excess <= 0) break;
        excess -= Number(bytes);
        count++;
      }
      if ((await this.#delete(contract, Number.MAX_SAFE_INTEGER, count)) === 0) return;
    }
  }

  /** Deletes a batch of the oldest recordings. Its size depends on the time of the last batch. */
  async #delete(contract: string, before: number, most: number): Promise<number> {
    const began = performance.now();
    const count = Math.min(most, this.#batch);
    const [deleted = 0] = await this.#store.write([deleteExchanges(contract, before, count)]);
    const isSlow = performance.now() - began > deletionMs / 2;
    this.#batch = Math.min(
      Math.max(Math.floor(isSlow ? this.#batch / 2 : this.#batch * 1.2), 5),
      mostDeleted,
    );
    return deleted;
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
    clearInterval(this.#sweeper);
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

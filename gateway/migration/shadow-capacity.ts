import { extname } from 'node:path';
import type { Comparison } from '../../mappings/compare/comparison.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import { Admission } from '../admission/admission.ts';
import type { Permit } from '../admission/permit.ts';
import { CallError } from '../call/error.ts';
import { WorkerReader } from '../protocols/read-in-worker.ts';
import { type Order, WorkerThread } from '../workers/worker-thread.ts';
import type { CompareTask, ThreadResult } from './compare-task.ts';
import type { RecordTask, RedactedExchange } from './recording/record-task.ts';
import { Skipped } from './skipped.ts';

/** Maximum number of shadow requests that wait for their start (G27). */
export const maxWaitingShadows = 256;

/** Time between two checks whether a shadow request may start while the gateway is busy, in ms. */
const busyLookMs = 100;

/** Maximum time for the comparison of two replies, in ms. */
const maxCompareMs = 20_000;

/** Maximum number of pairs of replies that wait for the thread. `shadowBytes` limits their memory. */
const maxWaitingPairs = 1_000;

const mebibyte = 1024 * 1024;

/**
 * Maximum sizes of the thread's old and young generation in bytes, without the bodies. Together with `shadowBytes` they
 * are below 128 MiB (G27). A comparison that needs more is skipped.
 */
const heap = { heapBytes: 64 * mebibyte, youngBytes: 16 * mebibyte } as const;

/** The module that the thread runs. It is not imported here, because few processes start the thread. */
const threadModule = new URL(`./compare-thread${extname(import.meta.url)}`, import.meta.url);

/** A comparison in progress, which can be cancelled. */
export interface Cancellable {
  readonly cancel: () => void;
  readonly ended: Promise<void>;
}

/** Capacity of a process for shadow requests and comparisons, separate from the capacity for callers (G27). */
export class ShadowCapacity {
  readonly limits: Limits;
  /** Counts shadow requests and the memory of compared messages. */
  readonly admission: Admission;
  /** Reads large requests in a worker thread. */
  readonly reader: WorkerReader;
  readonly #isBusy: () => boolean;
  readonly #compareMs: number;
  readonly #comparer: WorkerThread<CompareTask, ThreadResult>;
  readonly #open = new Set<Cancellable>();

  /**
   * @param isBusy returns true while no shadow request may start
   * @param onLost called with the reason when a worker thread has ended unexpectedly
   * @param compareMs maximum duration of a comparison in ms, which tests replace
   */
  constructor(
    limits: Limits,
    isBusy: () => boolean,
    onLost: (error: unknown) => void,
    compareMs = maxCompareMs,
  ) {
    this.#compareMs = compareMs;
    const { shadowCalls: inFlight, shadowBytes: heldBytes, shadowMs: queueMs } = limits;
    this.limits = limits;
    this.admission = new Admission({ ...limits, inFlight, queue: maxWaitingShadows, queueMs, heldBytes });
    this.reader = new WorkerReader(limits, onLost);
    this.#isBusy = isBusy;
    this.#comparer = new WorkerThread({
      module: threadModule,
      title: 'the comparison thread',
      mostWaiting: maxWaitingPairs,
      ...heap,
      onLost,
    });
  }

  /** True if no more shadow requests may wait. */
  get isFull(): boolean {
    return this.admission.load().queued >= maxWaitingShadows;
  }

  /** Waits until a shadow request may start. Throws Skipped. */
  async enter(slot: Permit, isCancelled: () => boolean): Promise<void> {
    const latest = performance.now() + this.limits.shadowMs;
    try {
      await slot.enter();
    } catch (error) {
      throw error instanceof CallError ? new Skipped('busy') : error;
    }
    while (!isCancelled() && this.#isBusy()) {
      if (performance.now() >= latest) throw new Skipped('busy');
      await new Promise((resolve) => setTimeout(resolve, busyLookMs));
    }
    if (isCancelled()) throw new Skipped('aborted');
  }

  /** Performs a comparison in the worker thread. Throws Skipped. */
  async compare(
    order: Pick<Order<CompareTask>, 'taskOf' | 'watch' | 'bytes' | 'memory'>,
  ): Promise<Comparison> {
    const result = await this.#comparer.run({
      ...order,
      withinMs: this.#compareMs,
      refuse: (why) => new Skipped(why === 'memory' ? 'size' : 'busy'),
    });
    if (result === undefined) throw new Error('the comparison thread skipped a task');
    if (result === 'size') throw new Skipped('size');
    return result as Comparison;
  }

  /**
   * Redacts an exchange in the worker thread. Throws Skipped.
   *
   * @param taskOf creates the task; `known` has the contracts that the thread knows
   * @param bytes size of its messages
   */
  async redact(taskOf: (known: Set<number>) => RecordTask, bytes: number): Promise<RedactedExchange> {
    const result = await this.#comparer.run({
      taskOf,
      bytes,
      memory: [],
      isBound: true, // the queue of recordings has its own limits
      withinMs: maxCompareMs,
      refuse: () => new Skipped('busy'),
    });
    if (result === undefined) throw new Error('the comparison thread skipped a task');
    return result as RedactedExchange;
  }

  /** Registers a comparison until its end, so that `close` can cancel it. */
  register(comparison: Cancellable): void {
    this.#open.add(comparison);
    void comparison.ended.then(() => this.#open.delete(comparison));
  }

  /** Uses new threads for the next tasks, because the contracts were reloaded. */
  renew(): void {
    this.#comparer.renew();
    this.reader.renew();
  }

  /** Cancels all comparisons and ends the threads. */
  async close(): Promise<void> {
    const open = [...this.#open];
    for (const comparison of open) comparison.cancel();
    await Promise.all(open.map(({ ended }) => ended));
    await Promise.all([this.#comparer.close(), this.reader.close()]);
  }
}

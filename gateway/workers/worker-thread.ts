import type { ServerResponse } from 'node:http';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { yieldToOthers } from './priority.ts';

// This folder runs tasks in worker threads. It knows nothing about the content of tasks and results.

/**
 * Why a task has no result: the queue is full, its deadline passed, it takes too long, or the thread's heap is full.
 */
export type Refusal = 'full' | 'late' | 'slow' | 'memory';

/** A task with its limits and callbacks. */
export interface Order<Task> {
  /**
   * Creates the task when the thread is free; undefined to skip it. `known` lives as long as the thread. A task records
   * the ids of data that it sent there, so that later tasks need not send the data again.
   */
  readonly taskOf: (known: Set<number>) => Task | undefined;
  /** Size of the task. The oldest and the smallest waiting task are started alternately. */
  readonly bytes: number;
  /** Memory that is transferred to the thread. */
  readonly memory: readonly ArrayBuffer[];
  /** Maximum running time in ms. The start of the thread does not count. */
  readonly withinMs: number;
  /** Time after which the result is not needed, in ms of `performance.now()`. */
  readonly deadline?: number;
  /** True for a task that may wait even if the queue is full. It does not count as waiting. */
  readonly isBound?: boolean;
  /** Returns the error of a task without a result; undefined for the error of the thread. */
  readonly refuse: (why: Refusal) => Error | undefined;
  /** Ends the wait with an error when the client disconnects. Returns a function that stops watching. */
  readonly watch?: (fail: (error: Error) => void) => () => void;
}

/** Records the id of data that a task has. Returns true if the thread does not have the data yet. */
export function isFirstSent(known: Set<number>, id: number): boolean {
  const isFirst = !known.has(id);
  known.add(id);
  return isFirst;
}

/** Returns the `watch` of a task that is not needed after a response was closed. */
export function failOnClose(
  response: Pick<ServerResponse, 'on' | 'off'>,
  error: () => Error,
): NonNullable<Order<unknown>['watch']> {
  return (fail) => {
    const onClose = (): void => fail(error());
    response.on('close', onClose);
    return () => response.off('close', onClose);
  };
}

/** Options of a worker thread. */
export interface WorkerThreadOptions<Result> {
  /** The module that the thread runs. It calls `performTasks`. */
  readonly module: URL;
  /** Name of the thread in errors, for example `the worker thread`. */
  readonly title: string;
  /** Maximum number of waiting tasks, in addition to the running one. */
  readonly mostWaiting: number;
  /** Maximum size of the thread's old generation, in bytes; undefined for V8's default. */
  readonly heapBytes?: number;
  /** Maximum size of the thread's young generation, in bytes; undefined for V8's default, 96 MiB. */
  readonly youngBytes?: number;
  /** True for a thread with the priority of the event loop that is kept while idle. */
  readonly isUrgent?: boolean;
  /** Called with the reason when a thread has ended unexpectedly. */
  readonly onLost?: (error: unknown) => void;
  /** Releases the memory of a result that is not needed any more. */
  readonly drop?: (result: Result) => void;
}

/** Message of a thread: after its start, or after a task. */
type Answer<Result> = { readonly isReady: true } | { readonly result: Result } | { readonly error: unknown };

interface Waiting<Task, Result> extends Order<Task> {
  /** Receives the result; undefined if the task was skipped. Only the first call has an effect. */
  readonly settle: (outcome: { readonly result: Result } | Error | undefined) => void;
}

/** A thread did not answer in time. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

const mebibyte = 1024 * 1024;

/** Time in ms after which an idle thread is terminated, to release its memory. */
const idleMs = 30_000;

/** A worker thread that performs one task at a time. It is started for the first task, and again after it ended. */
export class WorkerThread<Task, Result> {
  readonly #options: WorkerThreadOptions<Result>;
  readonly #waiting: Waiting<Task, Result>[] = [];
  #current: Waiting<Task, Result> | undefined;
  #thread: Worker | undefined;
  /** True after the thread has started. */
  #isReady = false;
  readonly #known = new Set<number>();
  #picks = 0;
  #isOutdated = false;
  /** Timeout of the running task, or time until an idle thread is terminated. */
  #timer: NodeJS.Timeout | undefined;

  constructor(options: WorkerThreadOptions<Result>) {
    this.#options = options;
  }

  /**
   * Performs a task; resolves to undefined if it was skipped. Rejects with the error of `refuse`, or with the error
   * that the task threw.
   */
  run(order: Order<Task>): Promise<Result | undefined> {
    const { mostWaiting } = this.#options;
    const isFull =
      this.#current !== undefined &&
      this.#waiting.length >= mostWaiting &&
      this.#waiting.filter(({ isBound }) => isBound !== true).length >= mostWaiting;
    if (isFull && order.isBound !== true) return Promise.reject(this.#refusalOf(order, 'full'));
    return new Promise((resolve, reject) => {
      let isSettled = false;
      const settle: Waiting<Task, Result>['settle'] = (outcome) => {
        if (isSettled) {
          if (outcome !== undefined && !(outcome instanceof Error)) this.#options.drop?.(outcome.result);
          return;
        }
        isSettled = true;
        clearTimeout(late);
        unwatch?.();
        const place = this.#waiting.indexOf(waiting);
        if (place >= 0) this.#waiting.splice(place, 1);
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome?.result);
      };
      const { deadline } = order;
      const late =
        deadline === undefined
          ? undefined
          : setTimeout(
              () => settle(this.#refusalOf(order, 'late')),
              Math.max(0, deadline - performance.now()),
            );
      const unwatch = order.watch?.(settle);
      const waiting: Waiting<Task, Result> = { ...order, settle };
      this.#waiting.push(waiting);
      this.#begin();
    });
  }

  /** Uses a new thread for the next task. */
  renew(): void {
    this.#isOutdated = true;
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    const left = this.#thread;
    this.#thread = undefined;
    left?.ref(); // the process waits for the thread to end
    await left?.terminate();
  }

  #refusalOf(order: Order<Task>, why: Refusal): Error {
    return order.refuse(why) ?? new Error(`${this.#options.title}: ${why}`);
  }

  /** Starts the next task if the thread is free. */
  #begin(): void {
    if (this.#current !== undefined) return;
    clearTimeout(this.#timer);
    const next = this.#takeNext();
    if (next === undefined) {
      if (this.#options.isUrgent !== true) this.#timer = setTimeout(() => this.#terminate(), idleMs).unref();
      return;
    }
    this.#current = next;
    try {
      if (this.#isOutdated) this.#terminate();
      const worker = this.#thread ?? this.#start();
      const task = next.taskOf(this.#known);
      if (task === undefined) {
        this.#current = undefined;
        next.settle(undefined);
        this.#begin();
        return;
      }
      if (this.#isReady) this.#limitTime(worker, next);
      worker.ref(); // keeps the process alive until there is a result
      worker.postMessage(task, next.memory);
    } catch (error) {
      this.#terminate(); // the thread may lack data that is recorded in `known`
      this.#finish(
        error instanceof Error ? error : new Error(`${this.#options.title} did not accept a task`),
      );
    }
  }

  /** Ends the thread if its task takes too long. */
  #limitTime(worker: Worker, task: Waiting<Task, Result>): void {
    const withinMs = Math.min(task.withinMs, 2 ** 31 - 1); // the maximum delay of a timer
    this.#timer = setTimeout(() => this.#lose(worker, this.#refusalOf(task, 'slow')), withinMs);
  }

  /**
   * Takes the oldest and the smallest task alternately, so that a task of 200 KB does not wait for all tasks of 16 MiB.
   */
  #takeNext(): Waiting<Task, Result> | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    const smallest = this.#waiting.reduce((least, one) => (one.bytes < least.bytes ? one : least), first);
    const next = this.#picks++ % 2 === 0 ? first : smallest;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    return next;
  }

  #start(): Worker {
    const { module, heapBytes, youngBytes, isUrgent, title } = this.#options;
    const data: ThreadData = { module: module.href, isUrgent: isUrgent === true };
    const resourceLimits = {
      ...(heapBytes === undefined ? {} : { maxOldGenerationSizeMb: Math.ceil(heapBytes / mebibyte) }),
      ...(youngBytes === undefined ? {} : { maxYoungGenerationSizeMb: Math.ceil(youngBytes / mebibyte) }),
    };
    const worker = new Worker(module, { workerData: data, resourceLimits });
    worker.unref();
    worker.on('message', (answer: Answer<Result>) => {
      if (worker !== this.#thread) return;
      if ('isReady' in answer) {
        this.#isReady = true;
        if (this.#current !== undefined) this.#limitTime(worker, this.#current);
      } else if ('result' in answer) this.#finish(answer);
      else this.#finish(answer.error instanceof Error ? answer.error : new Error(`${title} failed`));
    });
    worker.on('error', (error) => this.#lose(worker, error));
    worker.on('exit', () => this.#lose(worker, new Error(`${title} ended`)));
    this.#thread = worker;
    return worker;
  }

  /** Passes the outcome of the running task to its caller. */
  #finish(outcome: { readonly result: Result } | Error): void {
    const current = this.#current;
    this.#current = undefined;
    this.#thread?.unref();
    current?.settle(outcome);
    // the memory of the result must be counted before the next task is started
    setImmediate(() => this.#begin());
  }

  /** Terminates an idle or failed thread. */
  #terminate(): void {
    this.#isOutdated = false;
    this.#isReady = false;
    this.#known.clear();
    const left = this.#thread;
    this.#thread = undefined;
    left?.terminate();
  }

  /** Terminates a failed thread, and fails its task. */
  #lose(worker: Worker, reason: unknown): void {
    if (worker !== this.#thread) return;
    const { onLost, title } = this.#options;
    const refusal = isOutOfMemory(reason) ? this.#current?.refuse('memory') : undefined;
    this.#terminate();
    onLost?.(reason);
    this.#finish(refusal ?? (reason instanceof Error ? reason : new Error(`${title} failed`)));
  }
}

/** Returns true if a thread ended because its heap was full. */
function isOutOfMemory(reason: unknown): boolean {
  return reason instanceof Error && 'code' in reason && reason.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

/** Start parameters of a thread. */
interface ThreadData {
  /**
   * URL of the module that performs the tasks. Other modules that it imports may call `performTasks` too, without
   * effect.
   */
  readonly module: string;
  readonly isUrgent: boolean;
}

/**
 * Performs the tasks of the `WorkerThread` that started this thread. Does nothing in any other thread.
 *
 * @param module `import.meta.url` of the module
 * @param memoryOf returns the memory to transfer with a result
 * @param drop releases the memory of a finished task
 */
export function performTasks<Task, Result>(
  module: string,
  perform: (task: Task) => Result | Promise<Result>,
  memoryOf: (result: Result) => ArrayBuffer[] = () => [],
  drop: (task: Task) => void = () => {},
): void {
  const port = parentPort;
  if (isMainThread || port === null || !isThreadData(workerData) || workerData.module !== module) return;
  if (!workerData.isUrgent) yieldToOthers();
  port.postMessage({ isReady: true });
  // the next task arrives only after this one is answered
  port.on('message', async (task: Task) => {
    try {
      const result = await perform(task);
      port.postMessage({ result }, memoryOf(result));
    } catch (error) {
      port.postMessage({ error });
    }
    drop(task);
  });
}

function isThreadData(data: unknown): data is ThreadData {
  return typeof data === 'object' && data !== null && 'module' in data;
}

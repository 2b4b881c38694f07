import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { yieldToOthers } from './priority.ts';

// What lives here: the way to threads beside the event loop. It knows tasks and results, and nothing of what they are about.

/** Why a task has no result: the queue is full, its deadline passed, it takes too long, or the thread's heap is full. */
export type Refusal = 'full' | 'late' | 'slow' | 'memory';

/** A task, and the terms that it is performed on. */
export interface Order<Task> {
  /**
   * Makes the task when its turn comes; undefined: it is not begun. `known` lives as long as the thread: a task notes there
   * what the thread has, and need not be sent again.
   */
  readonly taskOf: (known: Set<number>) => Task | undefined;
  /** Of two tasks that wait, the first and the smaller have their turn alternately. */
  readonly bytes: number;
  /** Memory that goes over to the thread. */
  readonly memory: readonly ArrayBuffer[];
  /** In ms: how long the thread may take. */
  readonly withinMs: number;
  /** In ms of `performance.now()`: when nobody waits for the result any more. */
  readonly deadline?: number;
  /** True for a task that waits however many do. */
  readonly isBound?: boolean;
  /** The error of a task without a result; undefined: the error of the thread. */
  readonly refuse: (why: Refusal) => Error | undefined;
  /** Ends the wait with an error when the caller leaves; gives what ends the watch. */
  readonly watch?: (leave: (error: Error) => void) => () => void;
}

/** The thread of a lane. */
export interface LaneOptions<Result> {
  /** The module that the thread runs, which calls `performTasks`. */
  readonly module: URL;
  /** What the thread is called in errors, such as `the thread that reads large messages`. */
  readonly title: string;
  /** So many tasks wait at most, besides the one that is performed. */
  readonly mostWaiting: number;
  /** The most memory of the thread's heap; undefined: as V8 has it. */
  readonly heapBytes?: number;
  /** True for a thread that has the priority of the event loop, and stays while it is idle. */
  readonly isUrgent?: boolean;
  /** Told why a thread died. */
  readonly onLost?: (error: unknown) => void;
  /** Gives back the memory of a result that nobody waits for. */
  readonly drop?: (result: Result) => void;
}

/** What a thread answers a task with. */
type Answer<Result> = { readonly result: Result } | { readonly error: unknown };

interface Waiting<Task, Result> extends Order<Task> {
  /** Undefined where the task was not begun. Nobody waits after the first time. */
  readonly settle: (outcome: { readonly result: Result } | Error | undefined) => void;
}

/** A thread gave no answer in time. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

/** In ms: a thread that had nothing to do for so long ends, and its memory with it. */
const idleMs = 30_000;

/** A thread beside the event loop, which performs one task at a time: started for the first one, and again where it died. */
export class Lane<Task, Result> {
  readonly #options: LaneOptions<Result>;
  readonly #waiting: Waiting<Task, Result>[] = [];
  #current: Waiting<Task, Result> | undefined;
  #thread: Worker | undefined;
  readonly #known = new Set<number>();
  #turns = 0;
  #isOutdated = false;
  /** Of a thread at work when it takes too long, of another when it ends. */
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LaneOptions<Result>) {
    this.#options = options;
  }

  /** Performs a task; undefined where it was not begun. Rejects with its refusal, and with what it threw. */
  run(order: Order<Task>): Promise<Result | undefined> {
    const isFull = this.#current !== undefined && this.#waiting.length >= this.#options.mostWaiting;
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

  /** The next task is performed by a new thread, which knows nothing yet. */
  renew(): void {
    this.#isOutdated = true;
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    const left = this.#thread;
    this.#thread = undefined;
    left?.ref(); // who closes waits for the end
    await left?.terminate();
  }

  #refusalOf(order: Order<Task>, why: Refusal): Error {
    return order.refuse(why) ?? new Error(`${this.#options.title}: ${why}`);
  }

  /** Gives the thread its next task, once it has nothing to do. */
  #begin(): void {
    if (this.#current !== undefined) return;
    clearTimeout(this.#timer);
    const next = this.#takeNext();
    if (next === undefined) {
      if (this.#options.isUrgent !== true) this.#timer = setTimeout(() => this.#leave(), idleMs).unref();
      return;
    }
    this.#current = next;
    try {
      if (this.#isOutdated) this.#leave();
      const worker = this.#thread ?? this.#start();
      const task = next.taskOf(this.#known);
      if (task === undefined) {
        this.#current = undefined;
        next.settle(undefined);
        this.#begin();
        return;
      }
      // a timer takes no longer times
      const withinMs = Math.min(next.withinMs, 2 ** 31 - 1);
      this.#timer = setTimeout(() => this.#lose(worker, this.#refusalOf(next, 'slow')), withinMs);
      worker.ref(); // who waits for a result keeps the process alive
      worker.postMessage(task, next.memory);
    } catch (error) {
      this.#leave(); // it may lack what is noted as known
      this.#finish(error instanceof Error ? error : new Error(`${this.#options.title} took no task`));
    }
  }

  /** The one that came first and the smallest in turn: one of 200 KB doesn't wait for all those of 16 MiB. */
  #takeNext(): Waiting<Task, Result> | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    const smallest = this.#waiting.reduce((least, one) => (one.bytes < least.bytes ? one : least), first);
    const next = this.#turns++ % 2 === 0 ? first : smallest;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    return next;
  }

  #start(): Worker {
    const { module, heapBytes, isUrgent, title } = this.#options;
    const data: LaneData = { lane: module.href, isUrgent: isUrgent === true };
    const resourceLimits =
      heapBytes === undefined ? {} : { maxOldGenerationSizeMb: Math.ceil(heapBytes / 1024 / 1024) };
    const worker = new Worker(module, { workerData: data, resourceLimits });
    worker.unref();
    worker.on('message', (answer: Answer<Result>) => {
      if (worker !== this.#thread) return;
      if ('result' in answer) this.#finish(answer);
      else this.#finish(answer.error instanceof Error ? answer.error : new Error(`${title} failed`));
    });
    worker.on('error', (error) => this.#lose(worker, error));
    worker.on('exit', () => this.#lose(worker, new Error(`${title} ended`)));
    this.#thread = worker;
    return worker;
  }

  /** Gives what came of a task to who waits for it. */
  #finish(outcome: { readonly result: Result } | Error): void {
    const current = this.#current;
    this.#current = undefined;
    this.#thread?.unref();
    current?.settle(outcome);
    // what it takes is counted before the next one is asked whether there is room
    setImmediate(() => this.#begin());
  }

  /** Lets a thread end that has nothing to do, or is given up. */
  #leave(): void {
    this.#isOutdated = false;
    this.#known.clear();
    const left = this.#thread;
    this.#thread = undefined;
    left?.terminate();
  }

  /** Gives a thread up with its task. */
  #lose(worker: Worker, reason: unknown): void {
    if (worker !== this.#thread) return;
    const { onLost, title } = this.#options;
    const refusal = isOutOfMemory(reason) ? this.#current?.refuse('memory') : undefined;
    this.#leave();
    onLost?.(reason);
    this.#finish(refusal ?? (reason instanceof Error ? reason : new Error(`${title} failed`)));
  }
}

/** True for the end of a thread whose heap was full. */
function isOutOfMemory(reason: unknown): boolean {
  return reason instanceof Error && 'code' in reason && reason.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

/** What a thread is started with. */
interface LaneData {
  /** The module that it runs; other modules that it loads have no part in its tasks. */
  readonly lane: string;
  readonly isUrgent: boolean;
}

/**
 * Performs the tasks of the lane that started this thread; does nothing in any other thread.
 *
 * @param module `import.meta.url` of the module
 * @param memoryOf memory that goes over with a result
 * @param drop gives back the memory of a task that is done
 */
export function performTasks<Task, Result>(
  module: string,
  perform: (task: Task) => Result | Promise<Result>,
  memoryOf: (result: Result) => ArrayBuffer[] = () => [],
  drop: (task: Task) => void = () => {},
): void {
  const port = parentPort;
  if (isMainThread || port === null || !isLane(workerData) || workerData.lane !== module) return;
  if (!workerData.isUrgent) yieldToOthers();
  // the next task comes once this one is answered
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

function isLane(data: unknown): data is LaneData {
  return typeof data === 'object' && data !== null && 'lane' in data;
}

import cluster, { type Worker } from 'node:cluster';
import { type AddressInfo, createServer } from 'node:net';
import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';
import { describeError } from '../telemetry/log.ts';
import { maxLogBytes, standardOutput } from '../telemetry/log-writer.ts';
import { AdminMemory } from './admin-memory.ts';
import { openEvidence } from './evidence-keeper.ts';
import type { FirstRows } from './first-rows.ts';
import { createProcessLog, type LogLevel, type ProcessLog } from './process-log.ts';
import type { ProcessStore } from './process-store.ts';
import { answerCalls, callOver, ownChannel, unlessClosed } from './worker-calls.ts';
import { WorkerEvidence } from './worker-evidence.ts';
import { WorkerMetrics } from './worker-metrics.ts';

/** The report of a worker to the primary after it accepts requests and signals. */
export interface Serving {
  /** Address that it listens on, the same for all workers. */
  readonly url: string;
  /** Public address of each contract, as in its WSDL. */
  readonly addresses: readonly string[];
  /** Public addresses of the SOAP endpoints of each contract. */
  readonly endpoints: readonly (readonly string[])[];
}

/** Number of workers and their shared settings. */
export interface WorkersOptions {
  readonly count: number;
  readonly host: string;
  /** 0 selects a free port, which all workers share. */
  readonly port: number;
  readonly logLevel: LogLevel;
  /** Configuration file, which may name a store. */
  readonly config?: string | undefined;
  /** File with the key of pseudonyms, which a store requires. */
  readonly callerKey?: string | undefined;
  readonly limits?: Limits | undefined;
}

/** Worker processes that share one port. */
export interface Workers extends Serving {
  /** Sends the signal to every worker and waits for all to end. Returns true if no worker aborted a request. */
  readonly stop: (signal: NodeJS.Signals) => Promise<boolean>;
  /** Makes every worker load its files again. A worker that fails keeps its old contents. */
  readonly reload: () => void;
  /** Makes every worker reopen its audit log. */
  readonly reopen: () => void;
  /** Kills the workers at once, even if requests are in progress. */
  readonly kill: () => void;
}

/** A worker ended before it served. It has logged the reason itself, unless a signal ended it. */
export class WorkerError extends Error {
  override readonly name = 'WorkerError';
  readonly exitCode: number;
  readonly signal: string | null;

  constructor(exitCode: number, signal: string | null) {
    super(`worker: expected a running worker, got ${signal ?? `exit code ${exitCode}`}`);
    this.exitCode = exitCode;
    this.signal = signal;
  }
}

/** First pause before a dead worker is replaced, in ms. It doubles each time a worker dies soon after its start. */
const firstPause = 100;
const longestPause = 5_000;
/** Minimum lifetime of a worker, in ms, after which its death is not attributed to its start. */
const settled = 10_000;

/** Returns true in the worker that was started first. */
export function isFirstWorker(): boolean {
  return cluster.worker?.id === 1;
}

/**
 * Starts workers with this process's arguments and replaces those that die. Resolves when all of them serve. Throws the
 * error of listening if the address is unavailable, WorkerError if a worker ends before it serves.
 */
export async function startWorkers({
  count,
  host,
  port,
  logLevel,
  ...ofStore
}: WorkersOptions): Promise<Workers> {
  const log = createProcessLog(logLevel, standardOutput(maxLogBytes, true, 1).lines);
  const taken = await tryAddress(host, port);
  // Each worker accepts connections itself. If the primary distributed them, each connection would pass through two
  // processes and could hang on a dying worker. The request limit per socket evens out an uneven distribution.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  // The last occurrence of a flag counts. All workers, including replacements, get the same port and count.
  cluster.setupPrimary({
    args: [...process.argv.slice(2), '--port', String(taken), '--workers', String(count)],
  });
  const pool = new WorkerPool(log, await openStoreOf(ofStore, log));
  try {
    // Start one worker first: a common problem is then reported once, and only one worker creates a new database.
    const first = await pool.start(1, firstPause);
    await Promise.all(Array.from({ length: count - 1 }, (_, index) => pool.start(index + 2, firstPause)));
    pool.hasStarted = true;
    return {
      ...first,
      stop: (signal) => pool.stop(signal),
      kill: () => pool.kill(),
      reload: () => pool.signalAll('SIGHUP'),
      reopen: () => pool.signalAll('SIGUSR1'),
    };
  } catch (error) {
    pool.kill();
    throw error;
  }
}

/** The store of the primary, with the rows that it keeps for workers. Both are undefined without the setting `store`. */
interface OpenedStore {
  readonly store?: ProcessStore | undefined;
  readonly firstRows?: FirstRows;
}

/** Opens the store of the primary. Throws ContractError. */
async function openStoreOf(
  { config, callerKey, limits = defaultLimits }: Pick<WorkersOptions, 'config' | 'callerKey' | 'limits'>,
  log: ProcessLog,
): Promise<OpenedStore> {
  if (config === undefined) return {};
  const { openProcessStore } = await import('./process-store.ts');
  const store = await openProcessStore({ config, callerFiles: { callerKey }, limits, log });
  if (store === undefined) return {};
  const { FirstRows } = await import('./first-rows.ts');
  const firstRows = new FirstRows(store.store, (error) => {
    log.error(describeError(error), 'rows for workers not read');
  });
  return { store, firstRows };
}

/** The workers of this process. */
class WorkerPool {
  readonly #log: ProcessLog;
  readonly #store: ProcessStore | undefined;
  /** Undefined without a store. */
  readonly #firstRows: FirstRows | undefined;
  readonly #evidence: WorkerEvidence;
  readonly #adminMemory = new AdminMemory();
  readonly #metrics: WorkerMetrics;
  /** Living workers, with the promise of whether they end without aborted requests. */
  readonly #living = new Map<Worker, Promise<boolean>>();
  readonly #serving = new Set<Worker>();
  /**
   * Signals to send to starting workers once they serve. A signal before that would kill them, although they may have
   * read their files already.
   */
  readonly #starting = new Map<Worker, Set<NodeJS.Signals>>();
  #isStopping = false;
  /** True when all first workers serve. */
  hasStarted = false;

  constructor(log: ProcessLog, { store, firstRows }: OpenedStore) {
    this.#log = log;
    this.#store = store;
    this.#firstRows = firstRows;
    this.#evidence = new WorkerEvidence(() => openEvidence(store?.store, log));
    this.#metrics = new WorkerMetrics(() => [
      ...this.#evidence.read(),
      ...(store?.readFailures() ?? []), // `store_up` has a value per worker
    ]);
  }

  /** Starts a worker. `place` is the worker's number. Its replacement gets the same number. */
  start(place: number, pause: number, isSuccessor = false): Promise<Serving> {
    return new Promise((resolve, reject) => {
      const worker = cluster.fork();
      const { pid } = worker.process;
      const born = performance.now();
      const due = new Set<NodeJS.Signals>();
      let serves = false;
      answerCalls(worker, 'admin', this.#adminMemory.run);
      answerCalls(worker, 'reload', () => this.signalAll('SIGHUP'));
      answerCalls(worker, 'reports', this.#metrics.gather);
      answerCalls(worker, 'firstRows', (sql: string) => this.#firstRows?.of(sql));
      this.#evidence.add(worker);
      answerCalls(worker, 'serving', (serving: Serving) => {
        serves = true;
        this.#serving.add(worker);
        this.#starting.delete(worker);
        this.#metrics.add(worker, String(place));
        this.#log.info({ worker: pid }, 'a worker serves');
        for (const signal of due) worker.process.kill(signal);
        resolve(serving);
      });
      const ended = new Promise<boolean>((resolveEnded) => {
        const end = (code: number | null, reason: string | null): void => {
          this.#living.delete(worker);
          this.#serving.delete(worker);
          this.#starting.delete(worker);
          resolveEnded(code === 0 || !serves); // a worker that did not serve had no requests to abort
          if (this.#isStopping) return;
          if (!this.hasStarted && !serves && !isSuccessor) reject(new WorkerError(code ?? 1, reason));
          else {
            const restartMs = performance.now() - born < settled ? pause : firstPause;
            this.#log.error({ worker: pid, code, reason, restartMs }, 'worker restarted');
            this.#replace(place, restartMs);
          }
        };
        worker.once('exit', end);
        // A worker that could not be spawned emits no exit event. A living worker ends on its own when its channel
        // fails.
        worker.on('error', (error: NodeJS.ErrnoException) => {
          if (pid === undefined) end(null, error.code ?? error.name);
        });
      });
      this.#living.set(worker, ended);
      this.#starting.set(worker, due);
    });
  }

  #replace(place: number, restartMs: number): void {
    setTimeout(() => {
      if (!this.#isStopping) this.start(place, Math.min(restartMs * 2, longestPause), true);
    }, restartMs);
  }

  signalAll(signal: NodeJS.Signals): void {
    for (const due of this.#starting.values()) due.add(signal);
    for (const worker of this.#serving) worker.process.kill(signal);
  }

  kill(): void {
    this.#isStopping = true;
    for (const worker of this.#living.keys()) worker.process.kill('SIGKILL');
  }

  async stop(signal: NodeJS.Signals): Promise<boolean> {
    this.#isStopping = true;
    const ends = [...this.#living.values()];
    for (const worker of this.#living.keys()) worker.process.kill(signal);
    const isClean = (await Promise.all(ends)).every((clean) => clean);
    await this.#evidence.close();
    await this.#firstRows?.close();
    await this.#store?.close();
    return isClean;
  }
}

/** Connects a worker to its primary: reports that it serves, and calls `stop` when the primary is gone. */
export function joinPrimary(serving: Serving, stop: () => void): void {
  const channel = ownChannel();
  channel.once('disconnect', () => {
    channel.exitedAfterDisconnect = true; // otherwise Node exits at once, with calls in progress
    stop();
  });
  const { url, addresses, endpoints } = serving;
  void unlessClosed(callOver<Serving, undefined>(channel, 'serving')({ url, addresses, endpoints }));
}

/** Listens briefly to detect an unavailable address before workers are forked. Returns the port, which replaces 0. */
function tryAddress(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, host, () => {
      const { port: taken } = server.address() as AddressInfo;
      server.close(() => resolve(taken));
    });
  });
}

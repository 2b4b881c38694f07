import cluster, { type Worker } from 'node:cluster';
import { type AddressInfo, createServer } from 'node:net';
import { maxLogBytes, standardOutput } from '../telemetry/log-writer.ts';
import { gatherSnapshots } from '../telemetry/worker-metrics.ts';
import { createProcessLog, type LogLevel } from './process-log.ts';

/** What a worker tells the primary once it takes requests and signals. */
export interface Serving {
  /** The address it listens on, the same for all. */
  readonly url: string;
  /** Where each contract's endpoints are, as the WSDL says. */
  readonly addresses: readonly string[];
  /** The public addresses of the SOAP endpoints of each contract. */
  readonly endpoints: readonly (readonly string[])[];
}

/** How many workers there are to be, and what they share. */
export interface WorkersOptions {
  readonly count: number;
  readonly host: string;
  /** 0 takes a free one, which all workers share. */
  readonly port: number;
  readonly logLevel: LogLevel;
}

/** Workers that serve, each a process, behind one port. */
export interface Workers extends Serving {
  /** Passes the signal on and waits for every worker to end; true when none of them cut anything. */
  readonly stop: (signal: NodeJS.Signals) => Promise<boolean>;
  /** Has every worker load its files again, one that fails going on with what it has. */
  readonly reload: () => void;
  /** Has every worker open its file of audit lines anew. */
  readonly reopen: () => void;
  /** Ends them at once, whatever is in flight. */
  readonly kill: () => void;
}

/** A worker that ended before it served; it has said why itself, unless a signal ended it. */
export class WorkerError extends Error {
  override readonly name = 'WorkerError';
  readonly exitCode: number;
  readonly signal: string | null;

  constructor(exitCode: number, signal: string | null) {
    super(`worker: expected it to serve, got ${signal ?? `exit code ${exitCode}`}`);
    this.exitCode = exitCode;
    this.signal = signal;
  }
}

/** In ms: the first pause before a dead worker's successor, doubled with each that dies young. */
const firstPause = 100;
const longestPause = 5_000;
/** A worker that lived so long, in ms, didn't die of its start. */
const settled = 10_000;

/** Whether this process is the one that starts the workers. */
export const isPrimary: boolean = cluster.isPrimary;

/** Whether this process is the worker that was started before all others. */
export function isFirstWorker(): boolean {
  return cluster.worker?.id === 1;
}

/**
 * Starts workers with this process's own arguments and keeps them going; resolves once all of them serve.
 * Throws the error of listening when the address can't be had, WorkerError when a worker ends before it serves. One
 * function, as its parts share which workers live and serve.
 */
export async function startWorkers({ count, host, port, logLevel }: WorkersOptions): Promise<Workers> {
  const log = createProcessLog(logLevel, standardOutput(maxLogBytes, true, 1).lines);
  const taken = await tryAddress(host, port);
  // Workers accept by themselves: handed round by the primary, every connection goes through two processes, and one on
  // its way to a worker that dies hangs. What this spreads unevenly, the limit of requests per socket evens out.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  // the last one of a flag counts: a port and a number that are the same for every worker, first or later
  cluster.setupPrimary({
    args: [...process.argv.slice(2), '--port', String(taken), '--workers', String(count)],
  });
  /** Each worker that lives, and whether it will have ended clean. */
  const living = new Map<Worker, Promise<boolean>>();
  let started = false;
  let stopping = false;

  const kill = (): void => {
    stopping = true;
    for (const worker of living.keys()) worker.process.kill('SIGKILL');
  };

  const serving = new Set<Worker>();
  /** Of those that start, what is due once they serve: each may have read its files before, and would die of a signal. */
  const starting = new Map<Worker, Set<NodeJS.Signals>>();
  const signalAll = (signal: NodeJS.Signals): void => {
    for (const due of starting.values()) due.add(signal);
    for (const worker of serving) worker.process.kill(signal);
  };

  const shareMetrics = gatherSnapshots();

  /** `place` is a worker's and then its successor's. */
  const start = (place: number, pause: number, isSuccessor = false): Promise<Serving> =>
    new Promise((resolve, reject) => {
      const worker = cluster.fork();
      const { pid } = worker.process;
      const born = performance.now();
      const due = new Set<NodeJS.Signals>();
      let serves = false;
      worker.once('message', (told: Serving) => {
        serves = true;
        serving.add(worker);
        starting.delete(worker);
        shareMetrics(worker, String(place));
        log.info({ worker: pid }, 'a worker serves');
        for (const signal of due) worker.process.kill(signal);
        resolve(told);
      });
      const ended = new Promise<boolean>((resolveEnded) => {
        const end = (code: number | null, reason: string | null): void => {
          living.delete(worker);
          serving.delete(worker);
          starting.delete(worker);
          resolveEnded(code === 0 || !serves); // one that wasn't yet serving had nothing to cut
          if (stopping) return;
          if (!started && !serves && !isSuccessor) {
            reject(new WorkerError(code ?? 1, reason));
            return;
          }
          const restartMs = performance.now() - born < settled ? pause : firstPause;
          log.error({ worker: pid, code, reason, restartMs }, 'a worker ended: another one is started');
          setTimeout(() => {
            if (!stopping) start(place, Math.min(restartMs * 2, longestPause), true);
          }, restartMs);
        };
        worker.once('exit', end);
        // one that couldn't even be spawned has no exit; one that lives ends by itself when its channel fails
        worker.on('error', (error: NodeJS.ErrnoException) => {
          if (pid === undefined) end(null, error.code ?? error.name);
        });
      });
      living.set(worker, ended);
      starting.set(worker, due);
    });

  try {
    // alone: what is wrong for all is said once, and a new database is made by one
    const first = await start(1, firstPause);
    await Promise.all(Array.from({ length: count - 1 }, (_, index) => start(index + 2, firstPause)));
    started = true;
    return {
      ...first,
      stop,
      kill,
      reload: () => signalAll('SIGHUP'),
      reopen: () => signalAll('SIGUSR1'),
    };
  } catch (error) {
    kill();
    throw error;
  }

  async function stop(signal: NodeJS.Signals): Promise<boolean> {
    stopping = true;
    const ends = [...living.values()];
    for (const worker of living.keys()) worker.process.kill(signal);
    return (await Promise.all(ends)).every((clean) => clean);
  }
}

/** A worker's part: tells the primary that it serves, and stops what it has begun when the primary is no more. */
export function joinPrimary(serving: Serving, stop: () => void): void {
  const { worker } = cluster;
  if (worker === undefined) throw new Error('worker: expected a primary, got none');
  worker.once('disconnect', () => {
    worker.exitedAfterDisconnect = true; // else Node exits here and now, with calls in flight
    stop();
  });
  const { url, addresses, endpoints } = serving;
  worker.send({ url, addresses, endpoints });
}

/** Listens for a moment: an address that can't be had is found before anything is forked, and 0 becomes a port. */
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

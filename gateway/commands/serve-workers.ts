import cluster from 'node:cluster';
import type { LoadedContract } from '../../mappings/loader/build-contract.ts';
import { readContract } from '../../mappings/loader/load.ts';
import type { AdminOptions } from '../process/admin.ts';
import type { Running } from '../process/running.ts';
import type { ServeOptions } from '../process/serve-options.ts';
import { callOver, ownChannel } from '../process/worker-calls.ts';
import { shareEvidence } from '../process/worker-evidence.ts';
import { sharedReports, shareReports } from '../process/worker-metrics.ts';
import { isFirstWorker, joinPrimary, startWorkers, WorkerError } from '../process/workers.ts';
import { fail } from './failure.ts';
import { plansOf } from './options.ts';
import { printError, printLine } from './output.ts';
import type { ServeFlags } from './serve-flags.ts';
import { delayOf, keepEarlySignal, type ListenForFiles, stopOnSignals, stopSignals } from './signals.ts';
import { startLine } from './start-line.ts';

// `soapbridge serve` with several workers: the primary process, and each worker.

/**
 * Primary process: starts the workers, which run this program again. Worker process: serves, and joins its primary.
 *
 * @param serve serves in this process
 */
export async function serveWithWorkers(
  flags: ServeFlags,
  listenForFiles: ListenForFiles,
  serve: (options: WorkerOptions) => Promise<Running>,
): Promise<void> {
  if (cluster.isPrimary) await runPrimary(flags, listenForFiles);
  else joinAsWorker(await serve(workerOptions(flags)), flags, listenForFiles);
}

/** Starts the workers, and stops them at a signal. Problems are reported before workers are forked. */
async function runPrimary(flags: ServeFlags, listenForFiles: ListenForFiles): Promise<void> {
  checkShared(flags);
  if (flags.limitStore === undefined)
    for (const { contract, wsse } of plansOf(flags)) checkDigest(readContract(contract, flags.limits, wsse));
  const passEarlySignal = keepEarlySignal();
  const workers = await startWorkers({ ...flags, count: flags.workers }).catch((error: unknown) => {
    if (!(error instanceof WorkerError)) throw error;
    if (error.signal !== null) printError(error.message); // otherwise the worker has reported the problem
    process.exit(error.exitCode);
  });
  listenForFiles(workers);
  printLine(startLine(workers, flags, process.stdout.isTTY));
  stopOnSignals(workers.stop, workers.kill);
  passEarlySignal();
}

/** Options that a worker sets, and a gateway with one process does not. */
export type WorkerOptions = Pick<
  ServeOptions,
  'wsseSecrets' | 'metricsOfAll' | 'upstreamsOfAll' | 'reloadOthers' | 'askFirstRows' | 'onLoaded'
> &
  Pick<AdminOptions, 'memory'>;

/** Returns the options of this worker. Only the first worker reports loaded contracts, because all load the same. */
function workerOptions({ limitStore, wsseSecrets }: ServeFlags): WorkerOptions {
  const channel = ownChannel();
  const reloadOthers = callOver<object, unknown>(channel, 'reload');
  return {
    ...sharedReports(),
    // without a limit store, nonces are stored in the memory of one process
    wsseSecrets: limitStore === undefined ? undefined : wsseSecrets,
    reloadOthers: () => reloadOthers({}),
    askFirstRows: callOver(channel, 'firstRows'),
    memory: callOver(channel, 'admin'),
    onLoaded: isFirstWorker() ? undefined : () => {},
  };
}

/** Connects a serving worker to its primary. */
function joinAsWorker(running: Running, flags: ServeFlags, listenForFiles: ListenForFiles): void {
  const sendEvidence = shareEvidence(running.takeEvidence);
  const stop = (delayMs: number): void => {
    running
      .stop(delayMs)
      .then((clean) => sendEvidence().then(() => process.exit(clean ? 0 : 1)))
      .catch(fail);
  };
  // A signal to the process group arrives twice, directly and from the primary. The second one must not stop the
  // process at once.
  for (const signal of stopSignals) process.on(signal, () => stop(delayOf(signal, flags)));
  listenForFiles(running);
  shareReports(() => ({ snapshot: running.metrics(), upstreams: running.upstreams() }));
  joinPrimary(running, () => stop(0));
}

/**
 * Rejects several workers for digests and for replay detection. A message that one worker has stored is unknown to the
 * others (W49, X17).
 */
function checkDigest({ contract: { wsse } }: LoadedContract): void {
  const settings = {
    'x509: replay: refuse': wsse?.x509?.replay === 'refuse',
    'decrypt: cbc: true': wsse?.decrypt?.cbc === true,
    'digest: secrets': wsse?.digest === 'secrets',
  };
  for (const [setting, isUsed] of Object.entries(settings))
    if (isUsed)
      throw new RangeError(
        `--workers: expected 1 for a contract with wsse: ${setting}, or SOAPBRIDGE_LIMIT_STORE, got several workers`,
      );
}

/** Rejects several workers with a reference upstream in memory, because each worker would have its own. */
function checkShared({ config, upstream, upstreamDb, workers }: ServeFlags): void {
  if (config !== undefined || upstream !== undefined) return;
  if (upstreamDb !== undefined && upstreamDb !== '' && upstreamDb !== ':memory:') return;
  throw new RangeError(
    `--workers: expected --upstream or --upstream-db, got ${workers} workers and a reference upstream in memory`,
  );
}

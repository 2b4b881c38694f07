import { createRequire } from 'node:module';
import { extname } from 'node:path';
import type { CompiledContract } from '../../mappings/compile.ts';
import { shownPath } from '../../mappings/http-mapping/paths.ts';
import type { LoadedMapping } from '../../mappings/mapping/load.ts';
import { Admission } from '../admission/admission.ts';
import { Nonces } from '../call/nonces.ts';
import { callerAddress, callerNetwork } from '../http/forwarded.ts';
import type { AppOptions } from '../http/request-context.ts';
import { WorkerReader } from '../protocols/read-in-worker.ts';
import type { createReservations, Reservations } from '../protocols/soap/reserved-keys.ts';
import { createCallers } from '../telemetry/callers.ts';
import { describeError } from '../telemetry/log.ts';
import { ofProcess, type Snapshot } from '../telemetry/metrics.ts';
import { createMetrics, type Gauges, type Metrics } from '../telemetry/request-metrics.ts';
import type { RequestRecord } from '../telemetry/request-stats.ts';
import { sentenceOf } from '../upstream/cause.ts';
import type { UpstreamOptions } from '../upstream/http-upstream.ts';
import { idleUpstream, type Upstream, type UpstreamStates } from '../upstream/upstream.ts';
import { type CoreCallerLimits, createCoreCallerLimits } from './caller-limits.ts';
import { createContractApp, createRecorder, type Shared } from './contract-app.ts';
import type { CoreOptions } from './core-options.ts';
import { LoopDelay } from './loop-delay.ts';

// A gateway without a listening server, used by the gateway process and by embedding programs. core.ts holds the parts
// that contracts share; contract-app.ts serves one contract. Nothing here reads flags, signals or the environment.

/** The parts of a contract that depend on `migration` in `soapbridge.yaml`. */
interface OpenedParts {
  readonly migration?: ((app: AppOptions) => NonNullable<AppOptions['migration']>) | undefined;
  readonly deprecations?: AppOptions['deprecated'];
}

/** Few contracts accept AES-CBC, so the module is loaded on use. */
function loadReservations(): typeof createReservations {
  const module: typeof import('../protocols/soap/reserved-keys.ts') = createRequire(import.meta.url)(
    `../protocols/soap/reserved-keys${extname(import.meta.url)}`,
  );
  return module.createReservations;
}

/**
 * State that all contracts of a gateway share: admission, metrics, worker threads. It does not keep a process alive.
 */
export class Core {
  readonly admission: Admission;
  /** Options for clients of upstreams. */
  readonly upstreamOptions: UpstreamOptions;
  readonly #options: CoreOptions;
  readonly #metrics: Metrics;
  readonly #callerLimits: CoreCallerLimits | undefined;
  /** Keys are the paths of the contracts. */
  readonly #upstreams = new Map<string, Upstream>();
  readonly #shared: Shared;
  /** Undefined until a contract with AES-CBC is loaded. */
  #reservations: Reservations | undefined;
  #loopDelayMs = 0;
  #stopClock = (): void => {};

  constructor(options: CoreOptions) {
    const { limits, log, trustedProxies } = options;
    const ownCallers = createCallers();
    const callers = () => options.callers?.() ?? ownCallers;
    const networkOf: Shared['networkOf'] = (request) => callerNetwork(request, trustedProxies);
    this.#options = options;
    this.admission = new Admission(limits);
    this.#metrics = createMetrics(limits, callers);
    this.#callerLimits =
      options.callerLimits === undefined ? undefined : createCoreCallerLimits(options.callerLimits);
    this.#shared = {
      options,
      admission: this.admission,
      metrics: this.#metrics,
      workerReader: new WorkerReader(limits, (error) =>
        log.error(describeError(error), 'reading thread restarted'),
      ),
      functions: new WorkerReader(
        limits,
        (error) => log.error(describeError(error), 'mapping thread ended; the next call starts it again'),
        true,
      ),
      nonces: options.sharedNonces ?? new Nonces(limits.wsseNonces),
      reservations: () => {
        this.#reservations ??= loadReservations()(limits.wsseBurntKeys, options.sharedBurntKeys);
        return this.#reservations;
      },
      callers,
      callerLimitsOf: (path) => this.#callerLimits?.of(path),
      networkOf,
      addressOf: (request) => callerAddress(request, trustedProxies),
    };
    this.upstreamOptions = {
      limits,
      admission: this.admission,
      networkOf,
      onBreaker: (upstream, open, operation) =>
        log.warn({ upstream, operation, breaker: open ? 'open' : 'closed' }, breakerMessage(open, operation)),
      onHealth: (upstream, failure) =>
        failure === undefined
          ? log.info({ upstream, health: 'passed' }, 'health check passed again')
          : log.warn(
              { upstream, health: 'failed', ...failure },
              `health check failed: ${sentenceOf(failure)}`,
            ),
    };
  }

  /**
   * Returns the application of a contract.
   *
   * @param mapping translates between the contract's JSON and the upstream's
   * @param opened the deprecated operations, and a function that opens the routing to a legacy service
   */
  appOf(
    compiled: CompiledContract,
    upstream: Upstream,
    mapping?: LoadedMapping,
    { migration, deprecations }: OpenedParts = {},
  ): AppOptions {
    this.#upstreams.set(shownPath(compiled.contract.basePath), upstream);
    const options = { ...this.#options, limits: compiled.limits };
    const app = createContractApp({ ...this.#shared, options }, compiled, upstream, mapping, deprecations);
    return migration === undefined ? app : { ...app, migration: migration(app) };
  }

  /** Counts a reply that broke off, of the contract at a path. */
  countCut(path: string): void {
    this.#metrics.countCut(path);
  }

  /** Returns a function that counts and logs requests that no contract handled, under the contract at a path. */
  recorderOf(path: string): (record: RequestRecord) => void {
    return createRecorder(this.#shared, path, 'info');
  }

  /** Returns counters and gauges of the contracts with these paths. */
  readMetrics(paths: readonly string[], own: Pick<Gauges, 'connections' | 'droppedLines'>): Snapshot {
    const upstreamStates = new Map(this.upstreamStates(paths));
    const loopDelayMs = this.#loopDelayMs;
    const read = this.#metrics.read({ ...this.admission.load(), ...own, upstreamStates, loopDelayMs });
    const burnt = this.#reservations?.sizeAt(Date.now());
    const keys =
      burnt === undefined
        ? []
        : [
            ofProcess(
              'wsse_burnt_keys',
              'Encrypted keys that are refused, because their call failed.',
              burnt,
            ),
          ];
    const others = [...(this.#callerLimits?.read() ?? []), ...(this.#options.traces?.read() ?? [])];
    return [...read, ...keys, ...others];
  }

  /** Returns the states of the upstreams of the contracts with these paths. */
  upstreamStates(paths: readonly string[]): UpstreamStates {
    return paths.map((path) => [path, this.#upstreams.get(path)?.state() ?? idleUpstream]);
  }

  /** Returns the names of a contract's operations that were called since the start, by the contract's path. */
  calledOperations(path: string): readonly string[] {
    return this.#metrics.calledOperations(path);
  }

  /** Prepares the worker threads for reloaded contracts. */
  renew(): void {
    this.#shared.workerReader.renew();
    this.#shared.functions.renew();
  }

  /**
   * Starts the checks that run every second. Call it after all contracts are loaded, because loading delays the event
   * loop.
   */
  start(): void {
    const loopDelay = new LoopDelay();
    const everySecond = setInterval(() => {
      this.admission.sweep();
      this.#callerLimits?.sweep();
      const { mostMs, repeatedMs } = loopDelay.take();
      this.#loopDelayMs = mostMs;
      this.admission.observeDelay(repeatedMs);
    }, 1_000).unref();
    this.#stopClock = () => {
      clearInterval(everySecond);
      loopDelay.stop();
    };
  }

  /** Ends timers and threads. Upstreams are closed by their owners. */
  async close(): Promise<void> {
    this.#stopClock();
    await Promise.all([this.#shared.workerReader.close(), this.#shared.functions.close()]);
  }
}

/** Returns the log message for a change of a circuit breaker. */
function breakerMessage(open: boolean, operation: string | undefined): string {
  if (operation !== undefined)
    return open
      ? 'circuit breaker open: all calls of this operation failed'
      : 'circuit breaker of the operation closed';
  return open ? 'circuit breaker open: no connection to the upstream' : 'circuit breaker closed';
}

import type { CompiledContract } from '../../mappings/compile.ts';
import type { LoadedMapping } from '../../mappings/mapping/load.ts';
import { type Admission, createAdmission } from '../admission/admission.ts';
import { Nonces } from '../call/nonces.ts';
import { callerAddress, callerNetwork } from '../http/forwarded.ts';
import type { AppOptions } from '../http/request-context.ts';
import { AsideReader } from '../protocols/read-aside.ts';
import { createCallers } from '../telemetry/callers.ts';
import { describeError } from '../telemetry/log.ts';
import { createMetrics, type Gauges, type Snapshot } from '../telemetry/metrics.ts';
import type { RequestRecord } from '../telemetry/request-stats.ts';
import type { UpstreamOptions } from '../upstream/http-upstream.ts';
import { idleUpstream, type Upstream } from '../upstream/upstream.ts';
import { createCoreCallerLimits } from './caller-limits.ts';
import { createContractApp, createRecorder, type Shared, shownPath } from './contract-app.ts';
import type { CoreOptions } from './core-options.ts';
import { LoopDelay } from './loop-delay.ts';

// What lives here: a gateway without anything that listens, which a process and other programs have in common: what its
// contracts share (core.ts), what answers for one of them (contract-app.ts). No flags, no signals, no environment.

/** What all contracts of a gateway share: room for calls, counts, the thread beside the event loop. */
export interface Core {
  readonly admission: Admission;
  /** What serves a contract, in front of an upstream, by the mapping that stands between them. */
  readonly appOf: (compiled: CompiledContract, upstream: Upstream, mapping?: LoadedMapping) => AppOptions;
  /** For clients of upstreams. */
  readonly upstreamOptions: UpstreamOptions;
  /** Counts and logs a request to no contract as one to the contract under a path. */
  readonly recorderOf: (path: string) => (record: RequestRecord) => void;
  /** What was counted, and how it is, of the contracts under these paths. */
  readonly readMetrics: (
    paths: readonly string[],
    own: Pick<Gauges, 'connections' | 'droppedLines'>,
  ) => Snapshot;
  /** Other contracts are served from now on. */
  readonly renew: () => void;
  /** Looks at the event loop, and at what is under way, each second from now on: once all is loaded, which takes long. */
  readonly start: () => void;
  /** Ends timers and threads; the upstreams are whose they are. */
  readonly close: () => Promise<void>;
}

/** Creates what all contracts of a gateway share; nothing of it keeps a process alive. */
export function createCore(options: CoreOptions): Core {
  const { limits, log, trustedProxies } = options;
  const admission = createAdmission(limits);
  const ownCallers = createCallers();
  const metrics = createMetrics(limits, () => options.callers?.() ?? ownCallers);
  const callerLimits =
    options.callerLimits === undefined ? undefined : createCoreCallerLimits(options.callerLimits);
  /** By the path that the contract is under. */
  const upstreams = new Map<string, Upstream>();
  const aside = new AsideReader(limits, (error) =>
    log.error(
      describeError(error),
      'the thread that reads large messages was lost; another one takes its place',
    ),
  );
  const functions = new AsideReader(
    limits,
    (error) => log.error(describeError(error), 'thread of mapping functions ended; the next call starts it'),
    true,
  );
  const shared: Shared = {
    options,
    admission,
    metrics,
    aside,
    functions,
    nonces: new Nonces(limits.wsseNonces),
    callers: () => options.callers?.() ?? ownCallers,
    callerLimitsOf: (path) => callerLimits?.of(path),
    networkOf: (request) => callerNetwork(request, trustedProxies),
    addressOf: (request) => callerAddress(request, trustedProxies),
  };
  let loopDelayMs = 0;
  let stopClock = (): void => {};

  return {
    admission,
    upstreamOptions: {
      limits,
      admission,
      networkOf: shared.networkOf,
      onBreaker: (upstream, open, operation) =>
        log.warn({ upstream, operation, breaker: open ? 'open' : 'closed' }, breakerMessage(open, operation)),
    },
    appOf: (compiled, upstream, mapping) => {
      upstreams.set(shownPath(compiled.contract.basePath), upstream);
      const own = { ...options, limits: compiled.limits };
      return createContractApp({ ...shared, options: own }, compiled, upstream, mapping);
    },
    recorderOf: (path) => createRecorder(shared, path, options.logsRequests, 'info'),
    readMetrics: (paths, own) => {
      const upstreamStates = new Map(
        paths.map((path) => [path, upstreams.get(path)?.state() ?? idleUpstream]),
      );
      const read = metrics.read({ ...admission.load(), ...own, upstreamStates, loopDelayMs });
      return [...read, ...(callerLimits?.read() ?? []), ...(options.traces?.read() ?? [])];
    },
    renew: () => {
      aside.renew();
      functions.renew();
    },
    start: () => {
      const loopDelay = new LoopDelay();
      const everySecond = setInterval(() => {
        admission.sweep();
        callerLimits?.sweep();
        const { mostMs, repeatedMs } = loopDelay.take();
        loopDelayMs = mostMs;
        admission.observeDelay(repeatedMs);
      }, 1_000).unref();
      stopClock = () => {
        clearInterval(everySecond);
        loopDelay.stop();
      };
    },
    close: async () => {
      stopClock();
      await Promise.all([aside.close(), functions.close()]);
    },
  };
}

/** What the log says of a breaker's change. */
function breakerMessage(open: boolean, operation: string | undefined): string {
  if (operation !== undefined)
    return open ? 'an operation is left alone: all its calls failed' : 'an operation is called again';
  return open ? 'the upstream is left alone: no connection was had' : 'the upstream is called again';
}

import type { ServerResponse } from 'node:http';
import type { BlockList } from 'node:net';
import { compileContract } from '../mappings/compile.ts';
import type { Limits } from '../mappings/contract/limits.ts';
import type { Contract } from '../mappings/contract/model.ts';
import type { CredentialValues } from '../mappings/http-mapping/call.ts';
import type { Service } from './call/call.ts';
import { type Admission, createAdmission } from './http/admission.ts';
import { callerNetwork } from './http/caller-network.ts';
import { createDocuments } from './http/documents.ts';
import { compileRefuseForeign } from './http/foreign.ts';
import type { Passage } from './http/passages.ts';
import type { WhenWaiting } from './http/reply.ts';
import type { AppOptions, RequestRecord } from './http/request-context.ts';
import { LoopDelay } from './process/loop-delay.ts';
import { AsideReader } from './protocols/read-aside.ts';
import { compileReaders } from './protocols/read-call.ts';
import type { Audit } from './telemetry/audit.ts';
import type { LineBuffer } from './telemetry/line-buffer.ts';
import { compileRequestLine, createPseudonyms, describeError } from './telemetry/log.ts';
import { createMessageLog } from './telemetry/messages.ts';
import { createMetrics, type Gauges, type Sheet } from './telemetry/metrics.ts';
import type { UpstreamOptions } from './upstream/http-upstream.ts';
import { idleUpstream, type Upstream } from './upstream/upstream.ts';

/** Where messages of the gateway go, besides the lines of requests: fields first, as pino has it. */
export interface Log {
  readonly info: (fields: object, message: string) => void;
  readonly warn: (fields: object, message: string) => void;
  readonly error: (fields: object, message: string) => void;
}

/** What the gateway of a process and one that is embedded are made of. */
export interface CoreOptions {
  readonly limits: Limits;
  readonly log: Log;
  /** Where lines of requests, of messages and of writes go. */
  readonly lines: LineBuffer;
  readonly logsRequests: boolean;
  /** Whether requests that watch the process, `/healthz` say, are logged too. */
  readonly logsProbes: boolean;
  readonly logMessages: boolean;
  /** Told of each write; undefined: nobody is. */
  readonly audit: Audit | undefined;
  readonly trustedProxies: BlockList | undefined;
  /** Whether a Host header names this gateway; undefined where any does. */
  readonly isOwnHost: AppOptions['isOwnHost'];
  /** Where callers reach the gateway, without a base path; asked for once it serves. */
  readonly publicUrl: () => string;
  /** Whether someone said so; a trusted proxy may better it otherwise (W34). */
  readonly isPublicUrlSet: boolean;
  readonly isReady: () => boolean;
  /** The page of /metrics, for `createApp`. */
  readonly metricsPage: AppOptions['metrics'];
}

/** What all contracts of a gateway share: room for calls, counts, the thread beside the event loop. */
export interface Core {
  readonly admission: Admission;
  /** What serves a contract, in front of an upstream. */
  readonly appOf: (contract: Contract, upstream: Upstream) => AppOptions;
  /** For clients of upstreams. */
  readonly upstreamOptions: UpstreamOptions;
  /** Counts and logs a request to no contract as one to the contract under a path. */
  readonly tellOf: (path: string) => (record: RequestRecord) => void;
  /** What was counted, and how it is, of the contracts under these paths. */
  readonly readMetrics: (
    paths: readonly string[],
    own: Pick<Gauges, 'connections' | 'droppedLines'>,
  ) => Sheet;
  /** Other contracts are served from now on. */
  readonly renew: () => void;
  /** Looks at the event loop, and at what is under way, each second from now on: once all is loaded, which takes long. */
  readonly start: () => void;
  /** Ends timers and threads; the upstreams are whose they are. */
  readonly close: () => Promise<void>;
}

/** Creates what all contracts of a gateway share; nothing of it keeps a process alive. */
export function createCore(options: CoreOptions): Core {
  const { limits, log, lines, trustedProxies } = options;
  const admission = createAdmission(limits);
  const metrics = createMetrics();
  const pseudonyms = createPseudonyms();
  /** By the path that the contract is under. */
  const upstreams = new Map<string, Upstream>();
  const aside = new AsideReader(limits, (error) =>
    log.error(
      describeError(error),
      'the thread that reads large messages was lost; another one takes its place',
    ),
  );
  let loopDelayMs = 0;
  let stopClock = (): void => {};

  return {
    admission,
    upstreamOptions: {
      limits,
      admission,
      networkOf: (request) => callerNetwork(request, trustedProxies),
      onBreaker: (upstream, open, operation) =>
        log.warn({ upstream, operation, breaker: open ? 'open' : 'closed' }, sayBreaker(open, operation)),
    },
    appOf: (contract, upstream) => {
      const path = shownPath(contract.basePath);
      upstreams.set(path, upstream);
      return {
        service: serviceOf(contract, upstream, path),
        documents: createDocuments(contract, {
          publicUrl: options.publicUrl,
          configured: options.isPublicUrlSet,
          trustedProxies,
          limits,
        }),
        isOwnHost: options.isOwnHost,
        isReady: options.isReady,
        metrics: options.metricsPage,
        onRequest: tellOf(path, options.logsRequests, 'info'),
        onProbe: tellOf(path, options.logsProbes, 'debug'),
        whenWaiting: watchReplies(admission, (requestId) => {
          metrics.countCut(path);
          log.info({ requestId, contract: path, cut: true }, 'the reply was not sent whole');
        }),
      };
    },
    tellOf: (path) => tellOf(path, options.logsRequests, 'info'),
    readMetrics: (paths, own) => {
      const upstreamStates = new Map(
        paths.map((path) => [path, upstreams.get(path)?.state() ?? idleUpstream]),
      );
      return metrics.read({ ...admission.load(), ...own, upstreamStates, loopDelayMs });
    },
    renew: () => aside.renew(),
    start: () => {
      const loopDelay = new LoopDelay();
      const everySecond = setInterval(() => {
        admission.sweep();
        loopDelayMs = loopDelay.take();
        admission.observeDelay(loopDelayMs);
      }, 1_000).unref();
      stopClock = () => {
        clearInterval(everySecond);
        loopDelay.stop();
      };
    },
    close: async () => {
      stopClock();
      await aside.close();
    },
  };

  function tellOf(path: string, logs: boolean, level: 'info' | 'debug'): (record: RequestRecord) => void {
    const count = metrics.counterOf(path);
    if (!logs) return count;
    const writeLine = compileRequestLine(path, level);
    return (record) => {
      count(record);
      writeLine(record, lines);
    };
  }

  function serviceOf(contract: Contract, upstream: Upstream, path: string): Service {
    const { logMessages, audit } = options;
    const compiled = compileContract(contract, limits);
    const binary = contract.operations.some((operation) => operation.binaryInput);
    return {
      ...compileReaders(compiled, limits.loopSteps),
      readAside: aside.readerOf(compiled, logMessages),
      refuseForeign: compileRefuseForeign(contract),
      upstream,
      admission,
      audit,
      messages: logMessages ? createMessageLog(lines, compiled, path) : undefined,
      pseudonymOf: callerPseudonyms(contract, pseudonyms),
      bodyLimit: binary ? limits.bodyBytesWithBinary : limits.bodyBytes,
      onError: (error, requestId) => log.error({ requestId, ...describeError(error) }, 'internal error'),
    };
  }
}

/** A contract's base path as log and metrics show it. */
export function shownPath(basePath: string): string {
  return basePath === '' ? '/' : basePath;
}

/** What watches replies that wait for room in their connection: counts their bytes, and tells of those that are never sent whole. */
function watchReplies(admission: Admission, tellCut: (requestId: string) => void): WhenWaiting {
  return (response, requestId, bytes) => {
    if (response.destroyed) {
      tellCut(requestId);
      return;
    }
    const passage = passageOf(response, bytes, admission);
    admission.depart(passage);
    response.once('close', () => {
      admission.departed(passage);
      if (!response.writableFinished) tellCut(requestId);
    });
  };
}

/** A reply on its way out through its connection. */
function passageOf(response: ServerResponse, bytes: number | Buffer, admission: Admission): Passage {
  const { socket } = response.req;
  const taken = (): number => socket.bytesWritten - socket.writableLength;
  const takenBefore = taken();
  const passage: Passage = {
    place: -1,
    heldBytes: typeof bytes === 'number' ? bytes : bytes.length,
    shared: typeof bytes === 'number' ? undefined : bytes,
    began: performance.now(),
    moved: () => taken() - takenBefore,
    cut: () => {
      admission.departed(passage);
      socket.destroy();
    },
  };
  return passage;
}

/** What the log says of a breaker's change. */
function sayBreaker(open: boolean, operation: string | undefined): string {
  if (operation !== undefined)
    return open ? 'an operation is left alone: all its calls failed' : 'an operation is called again';
  return open ? 'the upstream is left alone: no connection was had' : 'the upstream is called again';
}

/** Callers are told apart by the first of their credentials that isn't secret. */
function callerPseudonyms(
  { credentials }: Contract,
  pseudonymOf: (id: string) => string,
): (values: CredentialValues) => string | undefined {
  const name = credentials?.parts.find(({ secret }) => !secret)?.name;
  return ({ all }) => {
    const id = name === undefined ? undefined : all.get(name);
    return id === undefined ? undefined : pseudonymOf(id);
  };
}

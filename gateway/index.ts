import { type CompiledContract, compileContract, compileInSteps } from '../mappings/compile.ts';
import { type Limits, limitsWith, type SettableLimits } from '../mappings/contract/limits.ts';
import type { Contract } from '../mappings/contract/model.ts';
import { shownPath, withoutEndSlashes } from '../mappings/http-mapping/paths.ts';
import type { Load } from './admission/admission.ts';
import { checkContract, checkNames, checkTexts, checkType, described, wrongArgument } from './arguments.ts';
import { Core } from './core/core.ts';
import type { CoreOptions } from './core/core-options.ts';
import { createEmbedded, type Middleware, type NodeHandler } from './http/app.ts';
import { proxyList } from './http/forwarded.ts';
import { hostList } from './http/framing.ts';
import { loadInWorker } from './process/load-in-worker.ts';
import { type MappedContract, placeOf, rememberPlace } from './process/load-place.ts';
import { runInSlices } from './process/run-in-slices.ts';
import { auditInLog } from './telemetry/audit.ts';
import { callHook, type OnCall, type OnError, observeCalls } from './telemetry/hooks.ts';
import { describeError, levels } from './telemetry/log.ts';
import { type Logger, linesToLogger, silentLogger } from './telemetry/logger.ts';
import { writeSnapshot } from './telemetry/metrics.ts';
import type { FetchError, FetchUpstream } from './upstream/fetch-dispatcher.ts';
import { createFetchServers, createServers } from './upstream/http-upstream.ts';
import type { Upstream } from './upstream/upstream.ts';

// `soapbridge`: a gateway embedded in another program. Nothing here reads the environment, sets flags or handles
// signals.

export * from './codec.ts';
export type { MiddlewareContext } from './http/app.ts';
export type { CallOutcome, CallReport } from './telemetry/hooks.ts';
export type { FetchUpstream, Logger, Middleware, NodeHandler, OnCall, OnError };

/** Options of `createGateway`. */
export interface GatewayOptions {
  /** The contract of `loadContract`. */
  readonly contract: Contract;
  /** The mapping of `loadContract`. Required for a folder whose WSDL is mapped onto another document. */
  readonly mapping?: MappedContract['mapping'];
  /**
   * The JSON service: an http or https URL without query, or a function that answers requests as `fetch` does. If the
   * function throws, the caller gets UpstreamInvalidResponse.
   */
  readonly upstream: string | FetchUpstream;
  /**
   * The URL that callers use, without the base path, for example `https://api.example.com`. The WSDL contains it (W34).
   */
  readonly publicUrl: string;
  /** The base path of all paths, which replaces the contract's own; `/` for none. */
  readonly basePath?: string;
  /** Limits that differ from the defaults, in the units of their names. RangeError for a wrong name or value. */
  readonly limits?: Partial<SettableLimits>;
  /** Gets a line for each request, and the messages of the gateway. Without it nothing is logged. */
  readonly logger?: Logger;
  /** For development: messages are logged too, without credentials and personal members. */
  readonly logMessages?: boolean;
  /** Called after each call with operation, caller, status, duration and outcome, without values. */
  readonly onCall?: OnCall;
  /** Called with each error of the gateway itself, of `onCall`, and of an `upstream` that is a function. */
  readonly onError?: OnError;
  /** Addresses or ranges of proxies with trusted `X-Forwarded-*` headers. */
  readonly trustedProxies?: readonly string[];
  /** Names that a request's Host may have, without ports. Without it any name is served. */
  readonly allowedHosts?: readonly string[];
}

/** A new contract to serve: the one that `loadContract` returns, with its mapping. */
export type ReloadOptions = Pick<GatewayOptions, 'contract' | 'mapping'>;

/** A gateway embedded in another program, as Koa middleware or as a handler of `node:http`. */
export interface Gateway {
  /** Answers requests under the contract's base path, and passes on all others. */
  readonly middleware: Middleware;
  /** The same for `createServer` and for frameworks with `next`. Without `next`, other requests get 404. */
  readonly handler: NodeHandler;
  /** Returns counters and gauges in Prometheus' text format. */
  readonly metrics: () => string;
  /**
   * Serves another contract: the given one, or the current one loaded again from its files. All new requests use it,
   * and calls in progress finish with the old one. Rejects with ContractError or RangeError and keeps the old contract.
   * Concurrent reloads run one after the other.
   */
  readonly reload: (next?: ReloadOptions) => Promise<void>;
  /**
   * Rejects new calls with 503, waits at most `limits.drainMs` for calls in progress, and closes the upstream
   * connections. Resolves to true if no call was cut. Close the server of the program first. Later calls return the
   * same promise.
   */
  readonly close: () => Promise<boolean>;
}

/**
 * Returns a gateway of one contract in front of one JSON service. Limits, counts and connections are its own, so a
 * process can have several. Throws RangeError for invalid options.
 */
export function createGateway(options: GatewayOptions): Gateway {
  checkOptions(options);
  return new EmbeddedGateway(options);
}

/** The contract that a gateway serves now. */
interface Served extends Pick<Gateway, 'middleware' | 'handler'> {
  readonly contract: Contract;
  readonly path: string;
}

/** See `Gateway`. Its functions work without the object. */
class EmbeddedGateway implements Gateway {
  readonly #options: GatewayOptions;
  readonly #limits: Limits;
  readonly #core: Core;
  readonly #upstream: Upstream;
  #served: Served;
  #reloading: Promise<void> = Promise.resolve();
  #closed: Promise<boolean> | undefined;

  constructor(options: GatewayOptions) {
    const { logger = silentLogger, upstream } = options;
    const publicUrl = httpUrl('publicUrl', options.publicUrl);
    const onError = compileOnError(options, logger);
    this.#options = options;
    this.#limits = limitsWith(options.limits ?? {});
    this.#core = new Core({
      ...coreOptionsOf(options, this.#limits, logger, onError),
      publicUrl: () => publicUrl,
      isPublicUrlSet: true,
      isReady: () => this.#closed === undefined,
      metricsPage: async () => this.metrics(),
    });
    const { upstreamOptions } = this.#core;
    this.#upstream =
      typeof upstream === 'function'
        ? createFetchServers(upstream, upstreamOptions, onError)
        : createServers(httpUrl('upstream', upstream), upstreamOptions);
    this.#served = this.#serve(options, compileContract(servedContract(options, options), this.#limits));
    this.#core.start();
  }

  readonly middleware: Middleware = (context, next) => this.#served.middleware(context, next);

  readonly handler: NodeHandler = (request, response, next) => this.#served.handler(request, response, next);

  readonly metrics = (): string =>
    writeSnapshot(this.#core.readMetrics([this.#served.path], { connections: 0, droppedLines: 0 }));

  readonly reload = (next?: ReloadOptions): Promise<void> => {
    const reloaded = this.#reloading.then(() => this.#reloadNow(next));
    this.#reloading = reloaded.catch(() => {}); // the caller of `reload` gets the error
    return reloaded;
  };

  readonly close = (): Promise<boolean> => {
    this.#closed ??= this.#closeNow();
    return this.#closed;
  };

  #serve({ contract, mapping }: ReloadOptions, compiled: CompiledContract): Served {
    const app = this.#core.appOf(compiled, this.#upstream, mapping);
    return { ...createEmbedded(app), contract, path: shownPath(compiled.contract.basePath) };
  }

  async #reloadNow(next: ReloadOptions | undefined): Promise<void> {
    if (next !== undefined && typeof next.contract !== 'object')
      throw wrongArgument('reload', 'the result of loadContract', described(next));
    const loaded = next ?? (await loadAgain(this.#served.contract, this.#limits));
    const compiled = await runInSlices(compileInSteps(servedContract(loaded, this.#options), this.#limits));
    if (this.#closed !== undefined) throw wrongArgument('reload', 'an open gateway', 'a closed one');
    this.#served = this.#serve(loaded, compiled);
    this.#core.renew();
  }

  async #closeNow(): Promise<boolean> {
    this.#core.admission.close();
    const isDrained = await drained(() => this.#core.admission.load(), this.#limits.drainMs);
    await this.#core.close();
    await this.#upstream.close();
    return isDrained;
  }
}

/**
 * Loads the files of a contract again, in a worker thread. Throws RangeError for a contract that `loadContract` did not
 * return.
 */
async function loadAgain(contract: Contract, limits: Limits): Promise<ReloadOptions> {
  const place = placeOf(contract);
  if (place === undefined)
    throw wrongArgument(
      'reload',
      'a contract that loadContract returned',
      'another contract. Pass the new contract',
    );
  const [loaded] = await loadInWorker([{ place, keepsUnmapped: false }], limits);
  if (loaded === undefined) throw new Error('reload: expected a contract, got none');
  rememberPlace(loaded.contract, place);
  return loaded;
}

function coreOptionsOf(
  options: GatewayOptions,
  limits: Limits,
  logger: Logger,
  onError: FetchError,
): Omit<CoreOptions, 'publicUrl' | 'isPublicUrlSet' | 'isReady' | 'metricsPage'> {
  const isLogged = options.logger !== undefined;
  const lines = linesToLogger(logger);
  return {
    limits,
    log: logger,
    lines,
    lowestLevel: isLogged ? levels.info : Number.POSITIVE_INFINITY,
    logMessages: options.logMessages === true && isLogged,
    audit: isLogged ? auditInLog(lines) : undefined,
    observer: options.onCall === undefined ? undefined : observeCalls(options.onCall, onError),
    onError,
    trustedProxies: proxyList(options.trustedProxies ?? []),
    isOwnHost: options.allowedHosts === undefined ? undefined : hostList(options.allowedHosts),
  };
}

/** Returns the function that is called with errors. The id `-` means that there is no request. */
function compileOnError({ onError }: GatewayOptions, logger: Logger): FetchError {
  if (onError === undefined) return () => {};
  return (error, id) =>
    callHook(
      () => onError(error, { requestId: id === '-' ? undefined : id }),
      (thrown) => logger.error(describeError(thrown), 'onError threw an error'),
    );
}

/** Returns the contract with the base path that is served. Throws RangeError. */
function servedContract({ contract, mapping }: ReloadOptions, { basePath }: GatewayOptions): Contract {
  if (contract.isMapped === true && mapping === undefined)
    throw wrongArgument('mapping', 'the member mapping of the result of loadContract', 'none');
  return { ...contract, basePath: basePathOf(contract, basePath) };
}

/** All options of `createGateway`. The compiler checks that the list is complete. */
const optionNames: Readonly<Record<keyof GatewayOptions, true>> = {
  contract: true,
  mapping: true,
  upstream: true,
  publicUrl: true,
  basePath: true,
  limits: true,
  logger: true,
  logMessages: true,
  onCall: true,
  onError: true,
  trustedProxies: true,
  allowedHosts: true,
};

/** Throws RangeError for an unknown option, and for a value of another type. */
function checkOptions(options: GatewayOptions): void {
  checkType('options', options, 'object', 'the options of createGateway');
  checkNames('createGateway', options, Object.keys(optionNames));
  checkContract(options.contract);
  const { mapping, basePath, limits, logger, logMessages, trustedProxies, allowedHosts } = options;
  if (mapping !== undefined) checkType('mapping', mapping, 'object', 'the mapping of loadContract');
  if (basePath !== undefined) checkType('basePath', basePath, 'string');
  if (limits !== undefined) checkType('limits', limits, 'object', 'an object of limits');
  if (logger !== undefined) checkLogger(logger);
  if (logMessages !== undefined) checkType('logMessages', logMessages, 'boolean');
  if (trustedProxies !== undefined) checkTexts('trustedProxies', trustedProxies);
  if (allowedHosts !== undefined) checkTexts('allowedHosts', allowedHosts);
  for (const name of ['onCall', 'onError'] as const)
    if (options[name] !== undefined) checkType(name, options[name], 'function');
}

function checkLogger(logger: Logger): void {
  checkType('logger', logger, 'object', 'an object with the functions info, warn and error');
  for (const name of ['info', 'warn', 'error'] as const)
    checkType(`logger.${name}`, logger[name], 'function');
}

/** Interval in ms at which a closing gateway checks for calls in progress. */
const lookMs = 20;

/** Waits until no call is in progress, but at most `withinMs`. Returns true if none is left. */
async function drained(load: () => Load, withinMs: number): Promise<boolean> {
  const end = performance.now() + withinMs;
  for (;;) {
    const { inFlight, queued, arriving, leaving } = load();
    if (inFlight + queued + arriving + leaving === 0) return true;
    if (performance.now() >= end) return false;
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}

/** Checks a URL to which paths are appended. Throws RangeError. */
function httpUrl(name: string, text: string): string {
  const url = typeof text === 'string' ? URL.parse(text) : null;
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (isHttp && `${url.search}${url.hash}${url.username}${url.password}` === '') return text;
  throw wrongArgument(name, 'an http or https URL without credentials and query', described(text));
}

/** Returns the base path without a slash at the end. Throws RangeError for an invalid one. */
function basePathOf(contract: Contract, basePath: string | undefined): string {
  if (basePath === undefined) return contract.basePath;
  if (/^(?:\/|(?:\/[A-Za-z0-9._~-]+)+)$/.test(basePath)) return withoutEndSlashes(basePath);
  throw wrongArgument('basePath', '"/" or a path such as "/edge/v2"', JSON.stringify(basePath));
}

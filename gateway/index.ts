import { compileContract } from '../mappings/compile.ts';
import { limitsWith, type SettableLimits } from '../mappings/contract/limits.ts';
import type { Contract } from '../mappings/contract/model.ts';
import { withoutEndSlashes } from '../mappings/http-mapping/paths.ts';
import type { Load } from './admission/admission.ts';
import { checkContract, checkNames, checkTexts, checkType, described } from './arguments.ts';
import { shownPath } from './core/contract-app.ts';
import { Core } from './core/core.ts';
import { createEmbedded, type Middleware, type NodeHandler } from './http/app.ts';
import { proxyList } from './http/forwarded.ts';
import { hostList } from './http/framing.ts';
import type { MappedContract } from './process/load-place.ts';
import { auditInLog } from './telemetry/audit.ts';
import { type Logger, linesToLogger, silentLogger } from './telemetry/logger.ts';
import { writeSnapshot } from './telemetry/metrics.ts';
import { createServers } from './upstream/http-upstream.ts';

// `soapbridge`: a gateway inside another program. Nothing here reads the environment, sets flags or listens to signals.

export * from './codec.ts';
export type { MiddlewareContext } from './http/app.ts';
export type { Logger, Middleware, NodeHandler };

/** What an embedded gateway serves, and how. */
export interface GatewayOptions {
  /** As `loadContract` gives it. */
  readonly contract: Contract;
  /** The same, for a folder whose WSDL is mapped onto another document; RangeError where that is left out. */
  readonly mapping?: MappedContract['mapping'];
  /** The JSON service behind: an http or https URL without query. */
  readonly upstream: string;
  /** Where callers reach the program, without the base path, such as `https://api.example.com`: the WSDL says so (W34). */
  readonly publicUrl: string;
  /** The path that all of the contract's are below, in place of the contract's own; `/` for none. */
  readonly basePath?: string;
  /** Some of the limits, in the units of their names. The others have their defaults. RangeError for a wrong name or value. */
  readonly limits?: Partial<SettableLimits>;
  /** Gets a line for each request, and what else there is to say; silent without one. */
  readonly logger?: Logger;
  /** For development: whether messages are logged too, without credentials and personal members. */
  readonly logMessages?: boolean;
  /** Addresses or ranges of proxies whose word on a caller's address is taken. */
  readonly trustedProxies?: readonly string[];
  /** Names that a request's Host may say, without ports; any where there are none. */
  readonly allowedHosts?: readonly string[];
}

/** A gateway inside another program, as middleware of Koa or as a handler of `node:http`. */
export interface Gateway {
  /** Answers requests under the contract's base path, and passes on all others. */
  readonly middleware: Middleware;
  /** The same for `createServer` and for frames with `next`; without a `next`, others are answered 404. */
  readonly handler: NodeHandler;
  /** What was counted so far, in Prometheus' text format. */
  readonly metrics: () => string;
  /**
   * Refuses calls from now on with 503, waits for those under way, `limits.drainMs` at most, and closes the connections
   * upstream; true when nothing was cut. The program closes its server first. Once is enough.
   */
  readonly close: () => Promise<boolean>;
}

/**
 * A gateway of one contract in front of one JSON service, with room, counts and connections of its own: any number of
 * them get on in a process. Throws RangeError for options that can't be.
 */
export function createGateway(options: GatewayOptions): Gateway {
  checkOptions(options);
  const { logger = silentLogger, logMessages = false } = options;
  const limits = limitsWith(options.limits ?? {});
  const upstreamUrl = httpUrl('upstream', options.upstream);
  const publicUrl = httpUrl('publicUrl', options.publicUrl);
  const contract = { ...options.contract, basePath: basePathOf(options) };
  if (contract.adopted?.isMapped === true && options.mapping === undefined)
    throw new RangeError('mapping: expected what loadContract gives beside the contract, got none');
  const isLogged = options.logger !== undefined;
  const lines = linesToLogger(logger);
  const core = new Core({
    limits,
    log: logger,
    lines,
    logsRequests: isLogged,
    logsProbes: false,
    logMessages: logMessages && isLogged,
    audit: isLogged ? auditInLog(lines) : undefined,
    trustedProxies: proxyList(options.trustedProxies ?? []),
    isOwnHost: options.allowedHosts === undefined ? undefined : hostList(options.allowedHosts),
    publicUrl: () => publicUrl,
    isPublicUrlSet: true,
    isReady: () => closed === undefined,
    metricsPage: async () => metrics(),
  });
  const upstream = createServers(upstreamUrl, core.upstreamOptions);
  const app = core.appOf(compileContract(contract, limits), upstream, options.mapping);
  let closed: Promise<boolean> | undefined;
  core.start();
  return {
    ...createEmbedded(app),
    metrics,
    close: () => {
      closed ??= close();
      return closed;
    },
  };

  function metrics(): string {
    return writeSnapshot(
      core.readMetrics([shownPath(contract.basePath)], { connections: 0, droppedLines: 0 }),
    );
  }

  async function close(): Promise<boolean> {
    core.admission.close();
    const isDrained = await drained(() => core.admission.load(), limits.drainMs);
    await core.close();
    await upstream.close();
    return isDrained;
  }
}

/** Every option of `createGateway`; the compiler checks that none is missing. */
const optionNames: Readonly<Record<keyof GatewayOptions, true>> = {
  contract: true,
  mapping: true,
  upstream: true,
  publicUrl: true,
  basePath: true,
  limits: true,
  logger: true,
  logMessages: true,
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
}

function checkLogger(logger: Logger): void {
  checkType('logger', logger, 'object', 'an object with the functions info, warn and error');
  for (const name of ['info', 'warn', 'error'] as const)
    checkType(`logger.${name}`, logger[name], 'function');
}

/** How often, in ms, a gateway that closes looks whether calls are under way. */
const lookMs = 20;

/** Waits until nothing is under way, for so long at most; whether nothing is. */
async function drained(load: () => Load, withinMs: number): Promise<boolean> {
  const end = performance.now() + withinMs;
  for (;;) {
    const { inFlight, queued, arriving, leaving } = load();
    if (inFlight + queued + arriving + leaving === 0) return true;
    if (performance.now() >= end) return false;
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}

/** An address that paths are put behind. Throws RangeError. */
function httpUrl(name: string, text: string): string {
  const url = typeof text === 'string' ? URL.parse(text) : null;
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (isHttp && `${url.search}${url.hash}${url.username}${url.password}` === '') return text;
  throw new RangeError(
    `${name}: expected an http or https URL without credentials and query, got ${described(text)}`,
  );
}

/** A base path as a contract has it, without a slash at the end. Throws RangeError. */
function basePathOf({ contract, basePath }: GatewayOptions): string {
  if (basePath === undefined) return contract.basePath;
  if (/^(?:\/|(?:\/[A-Za-z0-9._~-]+)+)$/.test(basePath)) return withoutEndSlashes(basePath);
  throw new RangeError(
    `basePath: expected "/" or a path such as "/edge/v2", got ${JSON.stringify(basePath)}`,
  );
}

import type { Logger } from 'pino';
import { defaultLimits } from '../../mappings/contract/limits.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import { withoutEndSlashes } from '../../mappings/http-mapping/paths.ts';
import { ContractError } from '../../mappings/loader/document/error.ts';
import type { Load } from '../admission/admission.ts';
import { shownPath } from '../core/contract-app.ts';
import { Core } from '../core/core.ts';
import { createApp } from '../http/app.ts';
import { proxyList } from '../http/forwarded.ts';
import { hostList, loopbackHosts } from '../http/framing.ts';
import { describeError } from '../telemetry/log.ts';
import { type Snapshot, writeSnapshot } from '../telemetry/metrics.ts';
import { openCallerLimits } from './caller-limits.ts';
import { readCallers } from './callers-file.ts';
import { readConfig } from './config.ts';
import { isAnyAddress, isLocalHost, startListener } from './listener.ts';
import { openTls } from './listener-tls.ts';
import { reportOf } from './load-report.ts';
import { logLoaded } from './loaded-log.ts';
import { openOutputs } from './outputs.ts';
import type { ServeOptions } from './serve-options.ts';
import { openSites, type SitePlan } from './sites.ts';
import { openTraces } from './traces.ts';
import { createUpstreams } from './upstreams.ts';
import { readSecrets } from './wsse-secrets.ts';

// What lives here: a process as it serves, put together of core/ (what all contracts share), outputs.ts (log and audit),
// upstreams.ts, sites.ts (all contracts) and listener.ts. How one request is answered is not decided here.

/** A process that serves. */
export interface Running {
  /** The address it listens on, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Where the first contract's endpoints are, as the WSDL says: public URL and base path. */
  readonly address: string;
  /** The same of all contracts. */
  readonly addresses: readonly string[];
  /** The public addresses of the SOAP endpoints of each contract; `?wsdl` at the first one gives the WSDL. */
  readonly endpoints: readonly (readonly string[])[];
  readonly log: Logger;
  readonly load: () => Load;
  /** What this process counted, and how it is. */
  readonly metrics: () => Snapshot;
  /**
   * Loads all files again and serves what they say; when that can't be, logs why and goes on as before. While one load is
   * under way at most one more waits. The file of audit lines is opened anew too.
   */
  readonly reload: () => Promise<void>;
  /** Opens the file of audit lines anew, for who moved it away. */
  readonly reopen: () => void;
  /** Stops taking requests and ends when what is in flight has ended; true when nothing was cut. Once is enough. */
  readonly stop: (delayMs: number) => Promise<boolean>;
}

/**
 * Loads the contract, compiles it, listens. Throws ContractError or RangeError before anything listens. One function, as
 * it is a process's story from its options to its end.
 */
export async function serve(options: ServeOptions): Promise<Running> {
  const limits = options.limits ?? defaultLimits;
  const trustedProxies = proxyList(options.trustedProxies);
  const isOwnHost = hostsOf(options);
  const { log, lines, dropped, audit, reopenAudit } = openOutputs(options, limits.logBytes);
  const listenerTls = openTls(options, trustedProxies);
  let isStopping = false;
  let stopped: Promise<boolean> | undefined;
  let publicUrl = options.publicUrl ?? '';
  const { wsseSecrets } = options;
  let secrets = wsseSecrets === undefined ? undefined : readSecrets(wsseSecrets);
  let callers = readCallers(options.callerFiles ?? {});
  const callerLimits = await openCallerLimits(options, limits, callers, log);
  const traces = options.traces === true ? await openTraces(log) : undefined;
  const core = new Core({
    limits,
    log,
    lines,
    logsRequests: log.isLevelEnabled('info'),
    logsProbes: log.isLevelEnabled('debug'),
    logMessages: options.logMessages === true,
    secrets: () => secrets,
    certified: listenerTls.certified,
    callers: () => callers,
    callerLimits: callerLimits?.now,
    traces,
    audit,
    trustedProxies,
    isOwnHost,
    publicUrl: () => publicUrl,
    isPublicUrlSet: options.publicUrl !== undefined,
    isReady: () => !isStopping,
    pages: options.pages,
    tryIt: options.tryIt ?? (isLocalHost(options.host) ? 'on' : 'off'),
    services: () => sites.services(),
    metricsPage: async () => {
      const snapshot = await (options.metricsOfAll ?? readMetrics)();
      return snapshot === undefined ? undefined : writeSnapshot(snapshot);
    },
  });
  const tellLoaded = options.tellLoaded ?? ((report) => logLoaded(report, log));
  const upstreams = createUpstreams(options, core.upstreamOptions);
  const sites = await openSites(() => plansOf(options), {
    limits,
    check: (contracts) => callerLimits?.check(contracts),
    onLoad: (loaded, site) => {
      tellLoaded(reportOf(loaded, site));
      warnOfHttp(loaded.contract, options.publicUrl, log);
    },
    upstreamAt: upstreams.at,
    handlerOf: (compiled, upstream, mapping) => createApp(core.appOf(compiled, upstream, mapping)),
  });
  core.start();
  const { host, port } = options;
  const { tls, identify } = listenerTls;
  const listener = await startListener(core, sites, {
    host,
    port,
    limits,
    trustedProxies,
    log,
    tls,
    identify,
  });
  const endWatch = listenerTls.watch(listener, log);
  const everySecond = setInterval(listener.connections.sweep, 1_000).unref();
  publicUrl = options.publicUrl ?? listener.url;
  warnOfOptions(options, log);
  if (options.probesUpstream === true) void upstreams.probe(log);
  const endpoints = sites
    .endpoints()
    .map((paths) => paths.map((path) => withoutEndSlashes(publicUrl) + path));
  const addresses = sites.basePaths().map((basePath) => withoutEndSlashes(publicUrl) + basePath);
  let reloading = Promise.resolve();
  let waiting: Promise<void> | undefined;

  return {
    url: listener.url,
    address: addresses[0] ?? publicUrl,
    addresses,
    endpoints,
    log,
    load: core.admission.load,
    metrics: readMetrics,
    reload: () => {
      reopenAudit();
      // one that has not begun reads what is there when it does: it is every later caller's too
      waiting ??= reloading.then(() => {
        waiting = undefined;
        reloading = reload();
        return reloading;
      });
      return waiting;
    },
    reopen: reopenAudit,
    stop: (delayMs) => {
      stopped ??= stop(delayMs);
      return stopped;
    },
  };

  /** Serves what the files say now; where that can't be, says why, and what was served before goes on. */
  async function reload(): Promise<void> {
    const before = { secrets, callers };
    let undo: (() => void) | undefined;
    try {
      callers = options.callerFiles === undefined ? callers : readCallers(options.callerFiles);
      if (wsseSecrets !== undefined) secrets = readSecrets(wsseSecrets);
      undo = callerLimits?.reload();
      const renewed = listenerTls.reload();
      await sites.reload();
      if (renewed !== undefined) listener.renewTls(renewed);
    } catch (error) {
      ({ secrets, callers } = before);
      undo?.();
      const why = error instanceof ContractError ? { problems: error.problems } : describeError(error);
      log.error(why, 'not reloaded: what was served before goes on');
      return;
    }
    core.renew();
    log.info({ basePaths: sites.basePaths().map(shownPath) }, 'reloaded');
  }

  function readMetrics(): Snapshot {
    const own = { connections: listener.connections.count(), droppedLines: dropped() };
    const read = core.readMetrics(sites.basePaths().map(shownPath), own);
    return [...read, ...(listener.failedHandshakes?.read() ?? [])];
  }

  async function stop(delayMs: number): Promise<boolean> {
    isStopping = true;
    log.info({ delayMs, ...core.admission.load() }, 'stopping: what is under way is finished');
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    const cut = await listener.connections.close(listener.server, limits.drainMs);
    if (cut > 0) log.error({ connections: cut }, 'stopped with requests or replies under way: they were cut');
    clearInterval(everySecond);
    endWatch();
    await core.close();
    await upstreams.close();
    callerLimits?.close();
    await traces?.close();
    log.info(cut === 0 ? {} : { cut }, cut === 0 ? 'stopped, and nothing was cut' : 'stopped');
    await new Promise<void>((resolve) => log.flush(() => resolve()));
    return cut === 0;
  }
}

/** Returns the predicate for Host headers; undefined serves any. */
function hostsOf({
  allowedHosts,
  publicUrl,
}: ServeOptions): ((host: string | undefined) => boolean) | undefined {
  if (allowedHosts === undefined) return undefined;
  return allowedHosts === 'loopback' ? loopbackHosts(publicUrl) : hostList(allowedHosts);
}

function warnOfOptions({ publicUrl, host, logMessages }: ServeOptions, log: Logger): void {
  if (publicUrl === undefined && isAnyAddress(host))
    log.warn(
      'SOAPBRIDGE_PUBLIC_URL is not set: the WSDL names http://localhost, which callers elsewhere can’t reach',
    );
  if (logMessages === true)
    log.warn(
      'SOAPBRIDGE_LOG_MESSAGES is on: values that the overlay does not call personal stand in the log',
    );
}

/** A UsernameToken and HTTP Basic hold their password as it is: without TLS in front anybody on the way reads it (W54). */
function warnOfHttp(
  { wsse, credentials, basePath }: Contract,
  publicUrl: string | undefined,
  log: Logger,
): void {
  const url = URL.parse(publicUrl ?? '');
  const isBasic = credentials?.basic !== undefined;
  if ((wsse === undefined && !isBasic) || url?.protocol !== 'http:') return;
  if (/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname)) return;
  log.warn(
    { contract: shownPath(basePath) },
    `SOAPBRIDGE_PUBLIC_URL is http: passwords of ${isBasic ? 'HTTP Basic' : 'UsernameTokens'} go unencrypted`,
  );
}

function plansOf({ config, contract, upstreamUrl }: ServeOptions): readonly SitePlan[] {
  return config === undefined ? [{ contract, basePath: undefined, upstreamUrl }] : readConfig(config);
}

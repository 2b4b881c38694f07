import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';
import { ContractError } from '../../mappings/loader/document/error.ts';
import { Core } from '../core/core.ts';
import type { CoreOptions, Log } from '../core/core-options.ts';
import { createApp } from '../http/app.ts';
import { proxyList } from '../http/forwarded.ts';
import { hostList, loopbackHosts } from '../http/framing.ts';
import { type Snapshot, writeSnapshot } from '../telemetry/metrics.ts';
import { type AdminState, ProcessAdmin } from './admin.ts';
import type { AdminPlan } from './admin-plan.ts';
import { openCallerLimits } from './caller-limits.ts';
import { readCallers } from './callers-file.ts';
import { Certificates, certificatesOfPlans } from './certificates.ts';
import { readConfig, readListenerPlan, readShownConfig } from './config.ts';
import { isLocalHost, startListener } from './listener.ts';
import { openTls } from './listener-tls.ts';
import { logLoaded, reportOf } from './load-report.ts';
import { mostOpenFiles, warnOfOpenFiles } from './open-files.ts';
import { openOutputs } from './outputs.ts';
import { ProcessMigrations } from './process-migrations.ts';
import { ProcessSigning } from './process-signing.ts';
import type { ProcessStore } from './process-store.ts';
import type { ProcessUsage } from './process-usage.ts';
import { type Parts, type ReloadProblems, Running, type State } from './running.ts';
import type { ServeOptions } from './serve-options.ts';
import { openSites, type SitePlan, type Sites } from './sites.ts';
import { warnOfHttp, warnOfOptions } from './start-warnings.ts';
import { openTraces } from './traces.ts';
import { createUpstreams, type Upstreams } from './upstreams.ts';
import { readVersion } from './version.ts';
import { FileWatch, reloadedFiles, usualWatchMs } from './watched-files.ts';
import { readSecrets } from './wsse-secrets.ts';

// The start of a process. It combines core/ (the parts shared by all contracts), outputs.ts (log and audit),
// upstreams.ts, sites.ts (all contracts) and listener.ts. running.ts has the process that serves. The handling of single
// requests is elsewhere.

/** Loads and compiles the contracts, and listens. Throws ContractError or RangeError before it listens. */
export async function serve(options: ServeOptions): Promise<Running> {
  const parts = await openParts(options);
  const { limits, trustedProxies, state, outputs, listenerTls, callerLimits, admin } = parts;
  const { log } = outputs;
  const core = new Core({
    ...coreOptionsOf(parts),
    services: () => sites.services(),
    metricsPage: () => metricsPage(parts),
  });
  const upstreams = createUpstreams(options, core.upstreamOptions);
  const sites = await loadSites(parts, core, upstreams).catch((error: unknown) => {
    callerLimits?.close(); // its connection would keep the process alive
    throw error;
  });
  await parts.signing.loadDates();
  core.start();
  await admin.open(options.openAdmin, adminStateOf(parts, sites), log, options.watchMs ?? usualWatchMs);
  const { host, port } = options;
  const { tls, identify } = listenerTls;
  const listenerOptions = { host, port, limits, trustedProxies, log, tls, identify };
  const listener = await startListener(core, sites, listenerOptions).catch(async (error: unknown) => {
    await admin.close();
    throw error;
  });
  state.publicUrl = options.publicUrl ?? listener.url;
  const running = new Running(parts, core, upstreams, sites, listener);
  state.running = running;
  warnOfOptions(options, log);
  const urls = new Set(sites.plans().map(({ upstreamUrl }) => upstreamUrl));
  warnOfOpenFiles(limits, urls.size, mostOpenFiles(), log);
  if (options.probesUpstream === true) void upstreams.probe(log);
  return running;
}

/** Opens the parts of a process, apart from the contracts. Throws ContractError or RangeError. */
async function openParts(options: ServeOptions): Promise<Parts> {
  const limits = options.limits ?? defaultLimits;
  const trustedProxies = proxyList(options.trustedProxies);
  const isOwnHost = hostsOf(options);
  const outputs = openOutputs(options, limits.logBytes);
  const { log } = outputs;
  const certificates = new Certificates();
  const listenerTls = openTls(options, trustedProxies, certificates);
  const files = new FileWatch(options.watchMs ?? usualWatchMs, () => {
    log.info({}, 'secrets, callers or limits changed: reloading');
    void state.running?.reload();
  });
  files.beginReading(reloadedFiles(options, []));
  const state: State = {
    secrets: options.wsseSecrets === undefined ? undefined : readSecrets(options.wsseSecrets),
    callers: readCallers(options.callerFiles ?? {}),
    isStopping: false,
    publicUrl: options.publicUrl ?? '',
    running: undefined,
    fileSettings: [],
  };
  const callerLimits = await openCallerLimits(options, limits, state.callers, log);
  const traces = options.traces === true ? await openTraces(log) : undefined;
  const admin = new ProcessAdmin(() => adminPlanOf(options), certificates);
  const store = await openStoreOf(options, limits, log);
  return {
    options,
    limits,
    trustedProxies,
    isOwnHost,
    state,
    outputs,
    listenerTls,
    callerLimits,
    traces,
    certificates,
    signing: new ProcessSigning(),
    admin,
    files,
    store,
    usage: await usageOf(store, options, limits, state, log),
    migrations: new ProcessMigrations(options, trustedProxies, () => state.callers, log, store),
  };
}

/** Opens the store of the configuration. The module is loaded only for a configuration file. */
async function openStoreOf(
  { config, callerFiles, askFirstRows }: ServeOptions,
  limits: Limits,
  log: Log,
): Promise<ProcessStore | undefined> {
  if (config === undefined) return undefined;
  const { openProcessStore } = await import('./process-store.ts');
  return openProcessStore({ config, callerFiles, limits, log, askFirstRows });
}

/** Counts the calls of a process with a store (G61). The module is loaded only then. */
async function usageOf(
  store: ProcessStore | undefined,
  options: ServeOptions,
  limits: Limits,
  state: State,
  log: Log,
): Promise<ProcessUsage | undefined> {
  if (store === undefined) return undefined;
  const { openUsage } = await import('./process-usage.ts');
  return openUsage(store.store, options, limits, () => state.callers, log);
}

/** Returns the metrics of all workers; undefined while the process starts or stops. */
async function snapshotOfAll({ options, state }: Parts): Promise<Snapshot | undefined> {
  const { running } = state;
  return running === undefined ? undefined : (options.metricsOfAll ?? (async () => running.metrics()))();
}

/** Returns the page of `/metrics`; undefined while the process starts or stops. */
async function metricsPage(parts: Parts): Promise<string | undefined> {
  const snapshot = await snapshotOfAll(parts);
  return snapshot === undefined ? undefined : writeSnapshot(snapshot);
}

/** Reads the plan of the admin listener. Throws ContractError. */
function adminPlanOf({ config, trustedProxies, port }: ServeOptions): AdminPlan | undefined {
  if (config === undefined) return undefined;
  const { admin } = readListenerPlan(config, trustedProxies.length > 0);
  if (admin === undefined || admin.port !== port || port === 0) return admin;
  const message = `expected another port than the public port, got ${port}`;
  throw new ContractError([{ file: config, pointer: '/admin/listen', message }]);
}

/** Returns the state that the admin listener shows. */
function adminStateOf(parts: Parts, sites: Sites): AdminState {
  const { options, state, store } = parts;
  return {
    version: readVersion(),
    isReady: () => state.running !== undefined && !state.isStopping,
    unreadyReason: store?.unreadyReason,
    store: store?.store,
    forget: store?.forget,
    metrics: () => metricsPage(parts),
    snapshot: () => snapshotOfAll(parts),
    settings: () => [...(options.settings ?? []), ...state.fileSettings],
    contracts: () => sites.contracts(),
    migrations: parts.migrations.inUse,
    routeSync: parts.migrations.routeSync,
    callers: () => state.callers,
    limits: parts.limits,
    reload: () => reloadForAdmin(parts),
    upstreams: async () => {
      if (state.running === undefined) return undefined;
      const own = state.running.upstreams;
      return options.upstreamsOfAll === undefined ? [[undefined, own()]] : options.upstreamsOfAll();
    },
  };
}

/** Reloads this process, and then the other workers. Returns the problems of a failed reload. */
async function reloadForAdmin({ options, state }: Parts): Promise<ReloadProblems> {
  await state.running?.reload();
  const problems = state.running?.reloadProblems ?? [];
  if (problems.length === 0) await options.reloadOthers?.();
  return problems;
}

function coreOptionsOf({
  options,
  limits,
  state,
  outputs,
  listenerTls,
  callerLimits,
  traces,
  store,
  usage,
  trustedProxies,
  isOwnHost,
}: Parts): Omit<CoreOptions, 'services' | 'metricsPage'> {
  const { log, lines, audit } = outputs;
  return {
    limits,
    trustedProxies,
    isOwnHost,
    log,
    lines,
    lowestLevel: log.lowest,
    logMessages: options.logMessages === true,
    hasOtherWorkers: options.metricsOfAll !== undefined,
    secrets: () => state.secrets,
    certified: listenerTls.certified,
    callers: () => state.callers,
    callerLimits: callerLimits?.now,
    sharedNonces: callerLimits?.nonces,
    sharedBurntKeys: callerLimits?.burntKeys,
    traces,
    audit,
    observersOf: usage === undefined ? undefined : (path) => [usage.observerOf(path)],
    publicUrl: () => state.publicUrl,
    isPublicUrlSet: options.publicUrl !== undefined,
    isReady: () => !state.isStopping,
    unreadyReason: store?.unreadyReason,
    pages: options.pages,
    tryIt: options.tryIt ?? (isLocalHost(options.host) ? 'on' : 'off'),
  };
}

function loadSites(parts: Parts, core: Core, upstreams: Upstreams): Promise<Sites> {
  const { options, limits, outputs, callerLimits, certificates, signing, migrations, usage, files } = parts;
  const { log } = outputs;
  const onLoaded = options.onLoaded ?? ((report) => logLoaded(report, log));
  const plans = (): readonly SitePlan[] => {
    const read = plansOf(options);
    if (options.config !== undefined) files.addRead(reloadedFiles(options, readShownConfig(options.config)));
    certificates.check('upstreams', certificatesOfPlans(options.config ?? '', read));
    return read;
  };
  return openSites(plans, {
    limits,
    check: (contracts) => callerLimits?.check(contracts),
    onLoad: (loaded, site) => {
      onLoaded(reportOf(loaded, site));
      files.addRead(signing.set(site.basePath, loaded.contract.wsse));
      warnOfHttp(loaded.contract, options.publicUrl, log);
    },
    upstreamAt: upstreams.at,
    openMigrations: (contracts) => {
      usage?.use(contracts);
      return migrations.open(contracts, core);
    },
    handlerOf: (compiled, upstream, mapping, opened) =>
      createApp(core.appOf(compiled, upstream, mapping, opened)),
  });
}

/** Returns the predicate for Host headers; undefined allows any. */
function hostsOf({
  allowedHosts,
  publicUrl,
}: ServeOptions): ((host: string | undefined) => boolean) | undefined {
  if (allowedHosts === undefined) return undefined;
  return allowedHosts === 'loopback' ? loopbackHosts(publicUrl) : hostList(allowedHosts);
}

function plansOf({ config, contract, upstreamUrl }: ServeOptions): readonly SitePlan[] {
  return config === undefined ? [{ contract, basePath: undefined, upstreamUrl }] : readConfig(config);
}

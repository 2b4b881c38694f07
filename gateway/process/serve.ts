import type { Wsse } from '../../mappings/contract/credentials.ts';
import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';
import { dayMs } from '../../mappings/contract/times.ts';
import { withoutEndSlashes } from '../../mappings/http-mapping/paths.ts';
import { ContractError, type ContractProblem } from '../../mappings/loader/document/error.ts';
import type { Load } from '../admission/admission.ts';
import type { Secrets } from '../call/digest.ts';
import { SettingError, shownPath } from '../core/contract-app.ts';
import { Core } from '../core/core.ts';
import type { CoreOptions, Log } from '../core/core-options.ts';
import { createApp } from '../http/app.ts';
import { proxyList } from '../http/forwarded.ts';
import { hostList, loopbackHosts } from '../http/framing.ts';
import type { EvidencePart } from '../migration/evidence-store.ts';
import type { Callers } from '../telemetry/callers.ts';
import { describeError } from '../telemetry/log.ts';
import { type Snapshot, writeSnapshot } from '../telemetry/metrics.ts';
import type { Traces } from '../telemetry/traces.ts';
import type { UpstreamStates } from '../upstream/upstream.ts';
import { type AdminState, ProcessAdmin } from './admin.ts';
import type { AdminPlan } from './admin-plan.ts';
import { openCallerLimits, type ProcessCallerLimits } from './caller-limits.ts';
import { readCallers } from './callers-file.ts';
import { Certificates, certificatesOfPlans } from './certificates.ts';
import { readConfig, readListenerPlan, readShownConfig } from './config.ts';
import { isLocalHost, type Listener, startListener } from './listener.ts';
import { type ListenerTls, openTls } from './listener-tls.ts';
import { reportOf } from './load-report.ts';
import { logLoaded } from './loaded-log.ts';
import { mostOpenFiles, openFileMetrics, warnOfOpenFiles } from './open-files.ts';
import { type Outputs, openOutputs } from './outputs.ts';
import type { ProcessLog } from './process-log.ts';
import { ProcessMigrations } from './process-migrations.ts';
import type { ProcessStore } from './process-store.ts';
import type { ProcessUsage } from './process-usage.ts';
import type { ServeOptions } from './serve-options.ts';
import type { ShownSetting } from './shown-settings.ts';
import { openSites, type SitePlan, type Sites } from './sites.ts';
import { warnOfHttp, warnOfOptions } from './start-warnings.ts';
import { type LastReload, stateMetrics, warnOfRemoved } from './state-metrics.ts';
import { openTraces } from './traces.ts';
import { createUpstreams, type Upstreams } from './upstreams.ts';
import { readVersion } from './version.ts';
import { FileWatch, reloadedFiles, usualWatchMs } from './watched-files.ts';
import { readSecrets } from './wsse-secrets.ts';

// A serving process. It combines core/ (the parts shared by all contracts), outputs.ts (log and audit), upstreams.ts,
// sites.ts (all contracts) and listener.ts. The handling of single requests is elsewhere.

/** Parts of a process that change while it serves. The core reads them through functions. */
interface State {
  secrets: Secrets | undefined;
  callers: Callers;
  isStopping: boolean;
  publicUrl: string;
  /** Undefined until the process accepts calls. */
  running: Running | undefined;
  /** Values of the configuration file in use, without secrets. */
  fileSettings: readonly ShownSetting[];
  /** Settings for verifying signatures, by the base paths of the contracts (X3). */
  readonly signing: Map<string, Wsse>;
  /** Functions for the dates of their files; undefined until a contract has some. */
  dates: typeof import('./signing-dates.ts') | undefined;
}

/** Parts that a process opens before it serves. */
interface Parts {
  readonly options: ServeOptions;
  readonly limits: Limits;
  readonly state: State;
  readonly outputs: Outputs;
  readonly listenerTls: ListenerTls;
  readonly callerLimits: ProcessCallerLimits | undefined;
  readonly traces: Traces | undefined;
  readonly certificates: Certificates;
  readonly admin: ProcessAdmin;
  readonly migrations: ProcessMigrations;
  readonly store: ProcessStore | undefined;
  readonly usage: ProcessUsage | undefined;
  readonly files: FileWatch;
}

/** Loads and compiles the contracts, and listens. Throws ContractError or RangeError before it listens. */
export async function serve(options: ServeOptions): Promise<Running> {
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
    signing: new Map(),
    dates: undefined,
  };
  const callerLimits = await openCallerLimits(options, limits, state.callers, log);
  const traces = options.traces === true ? await openTraces(log) : undefined;
  const admin = new ProcessAdmin(() => adminPlanOf(options), certificates);
  const store =
    options.config === undefined
      ? undefined
      : await (await import('./process-store.ts')).openProcessStore(options.config, options, limits, log);
  const usage = await usageOf(store, options, limits, state, log);
  const parts: Parts = {
    options,
    limits,
    state,
    outputs,
    listenerTls,
    callerLimits,
    traces,
    certificates,
    admin,
    files,
    store,
    usage,
    migrations: new ProcessMigrations(options, trustedProxies, () => state.callers, log, store?.store),
  };
  const core = new Core({
    ...coreOptionsOf(parts),
    trustedProxies,
    isOwnHost,
    services: () => sites.services(),
    metricsPage: () => metricsPage(parts),
  });
  const upstreams = createUpstreams(options, core.upstreamOptions);
  const sites = await loadSites(parts, core, upstreams).catch((error: unknown) => {
    callerLimits?.close(); // its connection would keep the process alive
    throw error;
  });
  await loadDates(parts);
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

type ReloadProblems = readonly Pick<ContractProblem, 'pointer' | 'message'>[];

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
}: Parts): Omit<CoreOptions, 'trustedProxies' | 'isOwnHost' | 'services' | 'metricsPage'> {
  const { log, lines, audit } = outputs;
  return {
    limits,
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
  const { options, limits, outputs, callerLimits, certificates, migrations, usage, files } = parts;
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
      const { wsse } = loaded.contract;
      if (wsse?.x509 === undefined) parts.state.signing.delete(site.basePath);
      else {
        files.addRead(filesOf(wsse));
        parts.state.signing.set(site.basePath, wsse);
      }
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

/** Loads the module for dates of files that verify signatures. Few contracts have such files (X3). */
async function loadDates({ state }: Parts): Promise<void> {
  if (state.signing.size > 0) state.dates ??= await import('./signing-dates.ts');
}

/** Returns the files that are loaded again when they change. */
function watchedFiles(options: ServeOptions, { fileSettings, signing }: State): readonly string[] {
  return [...new Set([...reloadedFiles(options, fileSettings), ...[...signing.values()].flatMap(filesOf)])];
}

/** Returns the files of certificates and keys of a contract. */
function filesOf({ x509, sign, decrypt, saml }: Wsse): readonly string[] {
  return [x509, sign, saml, ...(decrypt?.keys ?? [])].flatMap((one) => one?.files ?? []);
}

const hourMs = 60 * 60 * 1_000;

/** A serving process. Its functions are bound, because they are passed to signal handlers. */
export class Running {
  /** Address that it listens on, for example `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Public URLs of the contracts with their base paths, as in the WSDL. */
  readonly addresses: readonly string[];
  /** Public URLs of the SOAP endpoints of each contract. The first one with `?wsdl` returns the WSDL. */
  readonly endpoints: readonly (readonly string[])[];
  readonly log: ProcessLog;
  readonly #parts: Parts;
  readonly #core: Core;
  readonly #upstreams: Upstreams;
  readonly #sites: Sites;
  readonly #listener: Listener;
  readonly #endWatch: () => void;
  readonly #everySecond: NodeJS.Timeout;
  readonly #everyHour: NodeJS.Timeout;
  readonly #everyDay: NodeJS.Timeout;
  readonly #lastReload: LastReload = { isSuccessful: true, loadedAt: Date.now() };
  /** Problems of the last reload; none if it was successful. */
  reloadProblems: ReloadProblems = [];
  #reloading = Promise.resolve();
  /** A reload that has not begun. */
  #waiting: Promise<void> | undefined;
  #stopped: Promise<boolean> | undefined;

  constructor(parts: Parts, core: Core, upstreams: Upstreams, sites: Sites, listener: Listener) {
    const publicUrl = withoutEndSlashes(parts.state.publicUrl);
    this.#parts = parts;
    this.#core = core;
    this.#upstreams = upstreams;
    this.#sites = sites;
    this.#listener = listener;
    this.log = parts.outputs.log;
    this.#endWatch = parts.listenerTls.watch(listener, this.log);
    this.#everySecond = setInterval(() => listener.connections.sweep(), 1_000).unref();
    const { state } = parts;
    this.#everyHour = setInterval(() => state.dates?.warnOfCrls(state.signing, this.log), hourMs).unref();
    this.#everyDay = setInterval(() => {
      parts.certificates.warn(this.log);
      state.dates?.warnOfSigners(state.signing, this.log);
    }, dayMs).unref();
    this.#settle();
    this.url = listener.url;
    this.addresses = sites.basePaths().map((basePath) => publicUrl + basePath);
    this.endpoints = sites.endpoints().map((paths) => paths.map((path) => publicUrl + path));
  }

  /** Public URL of the first contract. */
  get address(): string {
    return this.addresses[0] ?? this.#parts.state.publicUrl;
  }

  /** Address of the admin listener; undefined if there is none. */
  get adminUrl(): string | undefined {
    return this.#parts.admin.url;
  }

  /** Returns the states of the upstreams of this process. */
  readonly upstreams = (): UpstreamStates =>
    this.#core.upstreamStates(this.#sites.basePaths().map(shownPath));

  readonly load = (): Load => this.#core.admission.load();

  /** Returns the evidence of comparisons since the last call (G48). */
  readonly takeEvidence = (): readonly EvidencePart[] => this.#parts.migrations.takeEvidence();

  /** Returns the counters and gauges of this process. */
  readonly metrics = (): Snapshot => {
    const own = {
      connections: this.#listener.connections.count(),
      droppedLines: this.#parts.outputs.dropped(),
    };
    const read = this.#core.readMetrics(this.#sites.basePaths().map(shownPath), own);
    return [
      ...read,
      ...(this.#listener.failedHandshakes?.read() ?? []),
      ...stateMetrics(this.#sites.contracts(), this.#lastReload),
      ...this.#parts.certificates.read(),
      ...(this.#parts.state.dates?.signingMetrics(this.#parts.state.signing) ?? []),
      ...this.#parts.admin.read(),
      ...(this.#parts.store?.read() ?? []),
      ...this.#parts.migrations.read(this.#sites.basePaths().map(shownPath)),
      ...openFileMetrics(),
    ];
  };

  /**
   * Loads all files again and serves the new contents. If that fails, it logs why and continues with the old contents. At
   * most one reload waits while another is in progress. It also reopens the file of audit lines.
   */
  readonly reload = (): Promise<void> => {
    this.reopen();
    // a waiting reload reads the files later, so it serves this caller too
    this.#waiting ??= this.#reloading.then(() => {
      this.#waiting = undefined;
      this.#reloading = this.#reloadNow();
      return this.#reloading;
    });
    return this.#waiting;
  };

  /** Reopens the file of audit lines, after it was moved away. */
  readonly reopen = (): void => this.#parts.outputs.reopenAudit();

  /**
   * Stops accepting requests and ends when those in progress have ended. Returns true if no request was aborted. Later
   * calls have no effect.
   */
  readonly stop = (delayMs: number): Promise<boolean> => {
    this.#stopped ??= this.#stopNow(delayMs);
    return this.#stopped;
  };

  async #reloadNow(): Promise<void> {
    const { options, state, callerLimits, listenerTls, admin, files, store } = this.#parts;
    const { secrets, callers } = state;
    files.beginReading(watchedFiles(options, state));
    const before = this.#sites.contracts();
    let undo: (() => void) | undefined;
    try {
      if (options.callerFiles !== undefined) state.callers = readCallers(options.callerFiles);
      if (options.wsseSecrets !== undefined) state.secrets = readSecrets(options.wsseSecrets);
      undo = callerLimits?.reload();
      const renewed = listenerTls.reload();
      const renewAdmin = admin.reload();
      if (options.config !== undefined)
        (await import('./process-store.ts')).checkSameStore(options.config, options, store);
      await this.#sites.reload();
      if (renewed !== undefined) listenerTls.renew(this.#listener, renewed);
      renewAdmin();
    } catch (error) {
      Object.assign(state, { secrets, callers });
      undo?.();
      const problems = problemsOf(error);
      this.#lastReload.isSuccessful = false;
      this.reloadProblems = problems ?? [{ pointer: '', message: 'internal error' }];
      this.log.error(
        problems === undefined ? describeError(error) : { problems },
        'not reloaded: serving the previous contracts',
      );
      return;
    }
    await loadDates(this.#parts);
    this.#upstreams.keepOnly(this.#sites.plans());
    this.#parts.migrations.keepOpened();
    this.#core.renew();
    this.#lastReload.isSuccessful = true;
    this.reloadProblems = [];
    this.#lastReload.loadedAt = Date.now();
    this.#settle();
    const contracts = this.#sites.contracts();
    warnOfRemoved(before, contracts, (path) => this.#core.calledOperations(path), this.log);
    const hashes = Object.fromEntries(contracts.map(({ path, hash }) => [path, hash]));
    this.log.info({ basePaths: contracts.map(({ path }) => path), hashes }, 'reloaded');
  }

  /** Records the files and certificates in use after a load, and logs certificates that expire soon. */
  #settle(): void {
    const { options, state, certificates, files } = this.#parts;
    if (options.config !== undefined) state.fileSettings = readShownConfig(options.config);
    files.watch(watchedFiles(options, state));
    certificates.use('upstreams', certificatesOfPlans(options.config ?? '', this.#sites.plans()));
    certificates.warn(this.log);
    const paths = new Set(this.#sites.basePaths());
    for (const path of state.signing.keys()) if (!paths.has(path)) state.signing.delete(path);
    state.dates?.warnOfSigners(state.signing, this.log);
    state.dates?.warnOfCrls(state.signing, this.log);
  }

  async #stopNow(delayMs: number): Promise<boolean> {
    const { limits, state, callerLimits, traces } = this.#parts;
    const { log } = this;
    state.isStopping = true;
    log.info({ delayMs, ...this.load() }, 'draining');
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    const { connections, server } = this.#listener;
    const cut = await connections.close(server, limits.drainMs);
    if (cut > 0) log.error({ connections: cut }, 'stopped: open requests or replies were aborted');
    clearInterval(this.#everySecond);
    clearInterval(this.#everyHour);
    clearInterval(this.#everyDay);
    this.#endWatch();
    this.#parts.files.close();
    await this.#core.close();
    await this.#upstreams.close();
    await this.#parts.migrations.close();
    await this.#parts.admin.close();
    await this.#parts.usage?.close();
    await this.#parts.store?.close();
    callerLimits?.close();
    await traces?.close();
    log.info(cut === 0 ? {} : { cut }, cut === 0 ? 'stopped: all calls finished' : 'stopped');
    log.flush();
    return cut === 0;
  }
}

/** Returns the problems of files and settings; undefined for another error. */
function problemsOf(error: unknown): ReloadProblems | undefined {
  if (error instanceof ContractError) return error.problems;
  return error instanceof SettingError ? [{ pointer: '', message: error.message }] : undefined;
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

import type { BlockList } from 'node:net';
import type { Limits } from '../../mappings/contract/limits.ts';
import { dayMs } from '../../mappings/contract/times.ts';
import { shownPath, withoutEndSlashes } from '../../mappings/http-mapping/paths.ts';
import { ContractError, type ContractProblem } from '../../mappings/loader/document/error.ts';
import type { Load } from '../admission/admission.ts';
import type { Secrets } from '../call/digest.ts';
import { SettingError } from '../core/contract-app.ts';
import type { Core } from '../core/core.ts';
import type { CoreOptions } from '../core/core-options.ts';
import type { EvidencePart } from '../migration/evidence-store.ts';
import type { Callers } from '../telemetry/callers.ts';
import { describeError } from '../telemetry/log.ts';
import type { Snapshot } from '../telemetry/metrics.ts';
import type { Traces } from '../telemetry/traces.ts';
import type { UpstreamStates } from '../upstream/upstream.ts';
import type { ProcessAdmin } from './admin.ts';
import type { ProcessCallerLimits } from './caller-limits.ts';
import { readCallers } from './callers-file.ts';
import { type Certificates, certificatesOfPlans } from './certificates.ts';
import { readShownConfig } from './config.ts';
import type { Listener } from './listener.ts';
import type { ListenerTls } from './listener-tls.ts';
import { openFileMetrics } from './open-files.ts';
import type { Outputs } from './outputs.ts';
import type { ProcessLog } from './process-log.ts';
import type { ProcessMigrations } from './process-migrations.ts';
import type { ProcessSigning } from './process-signing.ts';
import type { ProcessStore } from './process-store.ts';
import type { ProcessUsage } from './process-usage.ts';
import type { ServeOptions } from './serve-options.ts';
import type { ShownSetting } from './shown-settings.ts';
import type { Sites } from './sites.ts';
import { type LastReload, stateMetrics, warnOfRemoved } from './state-metrics.ts';
import type { Upstreams } from './upstreams.ts';
import { type FileWatch, reloadedFiles } from './watched-files.ts';
import { readSecrets } from './wsse-secrets.ts';

/** Parts of a process that change while it serves. The core reads them through functions. */
export interface State {
  secrets: Secrets | undefined;
  callers: Callers;
  isStopping: boolean;
  publicUrl: string;
  /** Undefined until the process accepts calls. */
  running: Running | undefined;
  /** Values of the configuration file in use, without secrets. */
  fileSettings: readonly ShownSetting[];
}

/** Parts that a process opens before it serves. */
export interface Parts {
  readonly options: ServeOptions;
  readonly limits: Limits;
  readonly trustedProxies: BlockList | undefined;
  /** Returns true if a Host header names this process; undefined if any host is accepted. */
  readonly isOwnHost: CoreOptions['isOwnHost'];
  readonly state: State;
  readonly outputs: Outputs;
  readonly listenerTls: ListenerTls;
  readonly callerLimits: ProcessCallerLimits | undefined;
  readonly traces: Traces | undefined;
  readonly certificates: Certificates;
  readonly signing: ProcessSigning;
  readonly admin: ProcessAdmin;
  readonly migrations: ProcessMigrations;
  readonly store: ProcessStore | undefined;
  readonly usage: ProcessUsage | undefined;
  readonly files: FileWatch;
}

/** Problems of a failed reload. */
export type ReloadProblems = readonly Pick<ContractProblem, 'pointer' | 'message'>[];

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
  readonly #timers: readonly NodeJS.Timeout[];
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
    const { signing, certificates } = parts;
    this.#timers = [
      setInterval(() => listener.connections.sweep(), 1_000).unref(),
      setInterval(() => signing.warnOfCrls(this.log), hourMs).unref(),
      setInterval(() => {
        certificates.warn(this.log);
        signing.warnOfSigners(this.log);
      }, dayMs).unref(),
    ];
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
      ...this.#parts.signing.read(),
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
    const { options, state, callerLimits, listenerTls, admin, files, store, signing } = this.#parts;
    const { secrets, callers } = state;
    files.beginReading(watchedFiles(this.#parts));
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
    await signing.loadDates();
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
    const { options, state, certificates, files, signing } = this.#parts;
    if (options.config !== undefined) state.fileSettings = readShownConfig(options.config);
    files.watch(watchedFiles(this.#parts));
    certificates.use('upstreams', certificatesOfPlans(options.config ?? '', this.#sites.plans()));
    certificates.warn(this.log);
    signing.keepOnly(this.#sites.basePaths());
    signing.warnOfSigners(this.log);
    signing.warnOfCrls(this.log);
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
    for (const timer of this.#timers) clearInterval(timer);
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

/** Returns the files that are loaded again when they change. */
function watchedFiles({ options, state, signing }: Parts): readonly string[] {
  return [...new Set([...reloadedFiles(options, state.fileSettings), ...signing.files()])];
}

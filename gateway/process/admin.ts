import type { TlsOptions } from 'node:tls';
import type { Limits } from '../../mappings/contract/limits.ts';
import { ContractError, type ContractProblem } from '../../mappings/loader/document/error.ts';
import type { Log } from '../core/core-options.ts';
import type { CheckedMigration } from '../migration/migrations.ts';
import type { RouteSync } from '../migration/route-sync.ts';
import type { Store } from '../store/store.ts';
import type { Callers } from '../telemetry/callers.ts';
import type { Snapshot } from '../telemetry/metrics.ts';
import type { UpstreamStates } from '../upstream/upstream.ts';
import type { AskMemory } from './admin-memory.ts';
import type { AdminPlan } from './admin-plan.ts';
import type { Certificates } from './certificates.ts';
import type { ShownSetting } from './shown-settings.ts';
import type { ServedContract } from './sites.ts';
import { TlsFiles } from './tls-files.ts';

/** State of the process that the admin listener shows. */
export interface AdminState {
  readonly version: string;
  /** Returns true while the process accepts calls. */
  readonly isReady: () => boolean;
  /** Returns the reason why a process that accepts calls is not ready (G54); undefined if it is ready. */
  readonly unreadyReason?: (() => string | undefined) | undefined;
  /** The store that replicas share (G53); undefined without the setting `store`. */
  readonly store?: Store | undefined;
  /** Deletes the data of a caller in the store (G55). Returns the number of rows by table. */
  readonly forget?: ((names: readonly string[]) => Promise<ReadonlyMap<string, number>>) | undefined;
  /** Returns the page of `/metrics`; undefined while the process starts or stops. */
  readonly metrics: () => Promise<string | undefined>;
  /** Returns the metrics as data; undefined while the process starts or stops. */
  readonly snapshot: () => Promise<Snapshot | undefined>;
  /** Returns the effective settings without secrets. */
  readonly settings: () => readonly ShownSetting[];
  readonly contracts: () => readonly ServedContract[];
  /** Returns the contracts with a legacy service. */
  readonly migrations: () => readonly CheckedMigration[];
  /** Returns the route changes; undefined without a store, and without a contract that has a legacy service. */
  readonly routeSync: () => RouteSync | undefined;
  readonly callers: () => Callers;
  readonly limits: Limits;
  /** Loads all files again, in all workers. Returns the problems that keep the old contents in use. */
  readonly reload: () => Promise<readonly Pick<ContractProblem, 'pointer' | 'message'>[]>;
  /** Returns the states of the upstreams in each worker; undefined while the process starts or stops. */
  readonly upstreams: () => Promise<WorkerUpstreams | undefined>;
}

/** States of upstreams by worker. The worker is undefined if there is only one process. */
export type WorkerUpstreams = readonly (readonly [worker: string | undefined, states: UpstreamStates])[];

/** Options of the admin listener. */
export interface AdminOptions {
  readonly plan: AdminPlan;
  /** Undefined for plain HTTP. */
  readonly tls: TlsOptions | undefined;
  readonly state: AdminState;
  readonly log: Log;
  /** Sessions and failures that workers share. Undefined: the listener has its own. */
  readonly memory?: AskMemory | undefined;
}

/** An open admin listener. */
export interface AdminListener {
  /** For example `http://127.0.0.1:9090`. */
  readonly url: string;
  /** Reads the token file. Throws ContractError. The returned function starts to use it and the TLS options. */
  readonly prepare: (plan: AdminPlan, tls: TlsOptions | undefined) => () => void;
  readonly read: () => Snapshot;
  readonly close: () => Promise<void>;
}

/** Opens the admin listener. Throws ContractError for a wrong token file, and the error of listening. */
export type OpenAdmin = (options: AdminOptions) => Promise<AdminListener>;

/** The admin listener of a process, with the files that it reads again. Does nothing if the plan is undefined. */
export class ProcessAdmin {
  readonly #plan: AdminPlan | undefined;
  readonly #readPlan: () => AdminPlan | undefined;
  readonly #certificates: Certificates;
  #files: TlsFiles | undefined;
  #listener: AdminListener | undefined;
  #endWatch = (): void => {};

  /** Reads the plan. Throws ContractError. */
  constructor(readPlan: () => AdminPlan | undefined, certificates: Certificates) {
    this.#readPlan = readPlan;
    this.#plan = readPlan();
    this.#certificates = certificates;
  }

  /** Address of the listener; undefined if there is none. */
  get url(): string | undefined {
    return this.#listener?.url;
  }

  /** Opens the listener. Throws the errors of `OpenAdmin`. */
  async open(open: OpenAdmin | undefined, state: AdminState, log: Log, watchMs: number): Promise<void> {
    const plan = this.#plan;
    if (plan === undefined) return;
    if (open === undefined)
      throw new RangeError('admin: expected a process that can open a listener, got another process');
    if (plan.tls !== undefined)
      this.#files = new TlsFiles(plan.tls, ['admin', 'admin_ca'], this.#certificates);
    this.#listener = await open({ plan, tls: this.#files?.options, state, log });
    log.info({ url: this.#listener.url }, 'admin listener opened');
    const messages = {
      renewed: 'certificates of the admin listener reloaded',
      failed: 'certificates of the admin listener not reloaded',
    };
    this.#endWatch = this.#files?.watch(watchMs, () => this.reload()(), log, messages) ?? this.#endWatch;
  }

  /** Reads the files again. Throws ContractError. The returned function starts to use them. */
  reload(): () => void {
    const former = this.#plan;
    const plan = this.#readPlan();
    if (keyOf(plan) !== keyOf(former)) {
      const message =
        'expected listen, and tls or no tls, as at the start, got other values. Restart the gateway to change them';
      throw new ContractError([{ file: (plan ?? former)?.configFile ?? '', pointer: '/admin', message }]);
    }
    if (plan === undefined) return () => {};
    const tls = plan.tls === undefined ? undefined : this.#files?.read(plan.tls);
    const apply = this.#listener?.prepare(plan, tls);
    return () => {
      apply?.();
      if (plan.tls !== undefined && tls !== undefined) this.#files?.use(plan.tls, tls);
    };
  }

  /** Returns the metrics of the listener. */
  read(): Snapshot {
    return this.#listener?.read() ?? [];
  }

  async close(): Promise<void> {
    this.#endWatch();
    await this.#listener?.close();
  }
}

/** Returns the part of a plan that a reload cannot change. */
function keyOf(plan: AdminPlan | undefined): string {
  return plan === undefined
    ? ''
    : JSON.stringify([plan.host, plan.port, plan.tls !== undefined, plan.tls?.clientCertificates]);
}

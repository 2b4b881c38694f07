import type { BlockList } from 'node:net';
import { ContractError, type ContractProblem } from '../../mappings/loader/document/error.ts';
import { withLines } from '../../mappings/loader/document/yaml.ts';
import type { Core } from '../core/core.ts';
import type { Log } from '../core/core-options.ts';
import type { EvidenceKeeper, EvidencePart } from '../migration/evidence-store.ts';
import type {
  CheckedMigration,
  MigratedContract,
  Migrations,
  OpenMigration,
  OpenRecords,
  OpenShadow,
} from '../migration/migrations.ts';
import type { RecordQueue } from '../migration/recording/record-queue.ts';
import type { RouteSync } from '../migration/route-sync.ts';
import type { ShadowCapacity } from '../migration/shadow-capacity.ts';
import type { KeptRecordings } from '../store/deletion.ts';
import type { Store } from '../store/store.ts';
import type { Callers } from '../telemetry/callers.ts';
import { describeError } from '../telemetry/log.ts';
import type { Snapshot } from '../telemetry/metrics.ts';
import type { LegacyPlan } from './legacy-plan.ts';
import type { ProcessDeprecations } from './process-deprecations.ts';
import type { ProcessStore } from './process-store.ts';
import type { ServeOptions } from './serve-options.ts';
import type { OpenedContract, PlannedContract, SitePlan } from './sites.ts';
import { createUpstreams, type Upstreams, wayTo } from './upstreams.ts';

/** Returns the contracts with a legacy service, with their base paths. */
export function migratedOf(contracts: readonly PlannedContract[]): readonly (MigratedContract | undefined)[] {
  return contracts.map(({ plan, loaded: { contract, mapping } }) => {
    if (plan.legacy === undefined) return undefined;
    const basePath = plan.basePath ?? contract.basePath;
    return { contract: { ...contract, basePath }, plan: plan.legacy, unmapped: mapping?.unmapped ?? [] };
  });
}

/** Plans of a configuration without a legacy service. */
const noPlans = { all: [], compared: [] };

const unusedState =
  'migration.state: expected no file with store, got one. The store keeps findings and counts, and the file is not used';

/** Time between two writes of the state files, in ms (G48). */
const evidencePause = 10_000;

/** The routing to legacy services of a process. Its code is loaded only for a contract with a legacy service (G1). */
export class ProcessMigrations {
  readonly #options: ServeOptions;
  readonly #trustedProxies: BlockList | undefined;
  readonly #callers: () => Callers;
  readonly #log: Log;
  readonly #processStore: ProcessStore | undefined;
  /** The store that replicas share (G53); undefined without the setting `store`. */
  readonly store: Store | undefined;
  /** Undefined until a contract has deprecated operations. */
  #deprecations: ProcessDeprecations | undefined;
  #migrations: Migrations | undefined;
  /** Undefined in a worker, whose primary has the evidence. */
  #evidence: EvidenceKeeper | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Contracts of the last `open`. */
  #opened: readonly CheckedMigration[] = [];
  /** Undefined until a reload. */
  #inUse: readonly CheckedMigration[] | undefined;
  /** Undefined without a store, and without a contract that has a legacy service. */
  #sync: RouteSync | undefined;
  /** Paths of the contracts with a legacy service. */
  #paths: readonly string[] = [];
  /** Contracts by the path of their state file, which was read at the last `open`. */
  readonly #readStates = new Map<string, string>();
  /** The plans of the last `open`: all, and those of contracts whose replies are compared. */
  #plans: { readonly all: readonly LegacyPlan[]; readonly compared: readonly SitePlan[] } = noPlans;
  /** Capacity for shadow requests, and the thread of comparisons and recordings. */
  #capacity: ShadowCapacity | undefined;
  /** Connections for shadow requests; undefined if no contract may compare. */
  #upstreams: Upstreams | undefined;
  #records: RecordQueue | undefined;

  constructor(
    options: ServeOptions,
    trustedProxies: BlockList | undefined,
    callers: () => Callers,
    log: Log,
    store: ProcessStore | undefined,
  ) {
    this.#options = options;
    this.#trustedProxies = trustedProxies;
    this.#callers = callers;
    this.#log = log;
    this.#processStore = store;
    this.store = store?.store;
  }

  /** Checks the routes and deprecations of all contracts and logs warnings. Throws ContractError. */
  async open(contracts: readonly PlannedContract[], core: Core): Promise<readonly OpenedContract[]> {
    const problems: ContractProblem[] = [];
    const { networkOf } = core.upstreamOptions;
    if (contracts.some(({ plan }) => plan.deprecate !== undefined))
      this.#deprecations ??= new (await import('./process-deprecations.ts')).ProcessDeprecations();
    const deprecations =
      (await this.#deprecations?.open(contracts, this.#callers(), networkOf, problems)) ?? [];
    if (this.store !== undefined) await this.#deprecations?.watch(this.store, this.#log);
    const recorded = new Map<string, KeptRecordings>();
    const migrations = await this.#openRoutes(contracts, core, recorded, problems);
    if (problems.length > 0) throw new ContractError(withLines(problems));
    this.#processStore?.keepRows(recorded, this.#callers);
    return contracts.map((_, index) => ({
      deprecations: deprecations[index],
      migration: migrations[index],
    }));
  }

  /**
   * Checks the routes of all contracts, and logs warnings. Throws ContractError, also for the given problems.
   *
   * @param recorded gets the limits of recordings by the path of their contract
   */
  async #openRoutes(
    contracts: readonly PlannedContract[],
    core: Core,
    recorded: Map<string, KeptRecordings>,
    problems: ContractProblem[],
  ): Promise<readonly (OpenMigration | undefined)[]> {
    const migrated = migratedOf(contracts);
    this.#paths = migrated.flatMap((one) => (one === undefined ? [] : [one.contract.basePath || '/']));
    this.#plans = noPlans;
    this.#opened = [];
    if (this.#paths.length === 0) return [];
    const [{ checkMigrations, mayCompare, shadowLimits, Migrations }, { noChanges }] = await Promise.all([
      import('../migration/migrations.ts'),
      import('../migration/route-changes.ts'),
    ]);
    await this.#openSync();
    const { publicUrl, host, port } = this.#options;
    const ownUrls = [publicUrl ?? `http://${host}:${port}`];
    const known = migrated.filter((one) => one !== undefined);
    const checked = new Map<MigratedContract | undefined, CheckedMigration>();
    const all = checkMigrations(known, this.#callers(), ownUrls, this.#readStates, problems);
    this.#opened = all;
    for (const [index, one] of all.entries()) checked.set(known[index], one);
    this.#migrations ??= new Migrations({
      callers: this.#callers,
      trustedProxies: this.#trustedProxies,
      log: this.#log,
      hasStore: this.store !== undefined,
      upstreamOptions: core.upstreamOptions,
      countCut: (path) => core.countCut(path),
      tableOf: (path) => (this.#sync === undefined ? noChanges : this.#sync.tableOf(path)),
      wayTo: (url, { service }) => wayTo(url, service, this.#options),
    });
    const migrations = this.#migrations;
    await this.#openEvidence();
    this.#capacity?.renew();
    const openers: (OpenMigration | undefined)[] = [];
    const compared: SitePlan[] = [];
    for (const [index, one] of migrated.entries()) {
      const found = checked.get(one);
      const plan = contracts[index]?.plan;
      for (const warning of found?.warnings ?? [])
        this.#log.warn({ contract: found?.contract.basePath || '/' }, warning);
      if (this.store !== undefined && found?.evidence.state !== undefined)
        this.#log.warn({ contract: found.contract.basePath || '/' }, unusedState);
      let shadow: OpenShadow | undefined;
      const isCompared = found !== undefined && (mayCompare(found.routing) || this.store !== undefined);
      if (isCompared && plan !== undefined) {
        const place = { ...plan, limits: { ...plan.limits, ...shadowLimits } };
        compared.push(place);
        shadow = await this.#openShadow(place, core);
      }
      const records = found?.record === undefined ? undefined : await this.#openRecords(core);
      if (found?.record !== undefined) recorded.set(found.contract.basePath || '/', found.record);
      openers.push(found === undefined ? undefined : await migrations.openerOf(found, shadow, records));
    }
    this.#plans = { all: known.map(({ plan }) => plan), compared };
    return openers;
  }

  /** Closes the connections that the contracts of the last `open` do not use, after a successful reload. */
  keepOpened(): void {
    this.#inUse = this.#opened;
    const { all, compared } = this.#plans;
    this.#upstreams?.keepOnly(compared);
    const legacy = compared.flatMap((plan) => (plan.legacy === undefined ? [] : [plan.legacy]));
    this.#migrations?.keepOnly(all, legacy);
  }

  /** Opens the capacity for shadow requests, and their connections to the upstream of a contract (G27). */
  async #openShadow(plan: SitePlan, core: Core): Promise<OpenShadow> {
    const capacity = await this.#openCapacity(core);
    if (this.#upstreams === undefined) {
      const { upstreamOptions } = core;
      this.#upstreams = createUpstreams(this.#options, {
        ...upstreamOptions,
        admission: capacity.admission,
        networkOf: () => 'shadow',
        onBreaker: () => {},
        onHealth: () => {},
      });
    }
    return { capacity, upstream: await this.#upstreams.at(plan) };
  }

  async #openCapacity({ admission, upstreamOptions }: Core): Promise<ShadowCapacity> {
    const { ShadowCapacity } = await import('../migration/shadow-capacity.ts');
    this.#capacity ??= new ShadowCapacity(
      upstreamOptions.limits,
      () => admission.isBusy,
      (error) => this.#log.error(describeError(error), 'comparison thread restarted'),
    );
    return this.#capacity;
  }

  /** Opens the queue of recordings, which the thread of comparisons redacts (G56). */
  async #openRecords(core: Core): Promise<OpenRecords | undefined> {
    if (this.store === undefined) return undefined; // an error of the configuration
    const { RecordQueue } = await import('../migration/recording/record-queue.ts');
    this.#records ??= new RecordQueue(this.store, core.upstreamOptions.limits.recordQueueBytes, (error) =>
      this.#log.error(describeError(error), 'recording failed'),
    );
    return { queue: this.#records, capacity: await this.#openCapacity(core) };
  }

  /** Returns the contracts with a legacy service that are in use. */
  readonly inUse = (): readonly CheckedMigration[] => this.#inUse ?? this.#opened;

  /** Returns the route changes; undefined without a store, and without a contract that has a legacy service. */
  readonly routeSync = (): RouteSync | undefined => this.#sync;

  /** Returns the metrics of the contracts with these paths. */
  read(paths: readonly string[]): Snapshot {
    const own = [
      ...(this.#migrations?.read(paths) ?? []),
      ...(this.#records?.read() ?? []),
      ...(this.#deprecations?.read() ?? []),
      ...(this.#sync?.read() ?? []),
    ];
    if (this.#evidence === undefined) return own;
    this.#evidence.add(this.takeEvidence());
    return [...own, ...this.#evidence.read()];
  }

  /** Returns the evidence since the last call, of all contracts whose replies are compared (G48). */
  takeEvidence(): readonly EvidencePart[] {
    return this.#migrations?.takeEvidence(this.#paths) ?? [];
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sync?.close();
    await this.#deprecations?.close();
    await this.#capacity?.close();
    await this.#records?.close();
    await this.#upstreams?.close();
    await this.#migrations?.close();
    await this.#save();
  }

  /** Reads the route changes before the first call, and then every second (G66). */
  async #openSync(): Promise<void> {
    if (this.store === undefined || this.#sync !== undefined) return;
    const { RouteSync } = await import('../migration/route-sync.ts');
    this.#sync = new RouteSync(this.store, this.#log, () => this.#paths);
    await this.#sync.poll();
  }

  /** Keeps the evidence in this process, unless it is a worker. */
  async #openEvidence(): Promise<void> {
    if (this.#evidence !== undefined || this.#options.metricsOfAll !== undefined) return;
    this.#evidence = await (await import('./evidence-keeper.ts')).openEvidence(this.store, this.#log);
    this.#timer = setInterval(() => this.#save(), evidencePause).unref();
  }

  async #save(): Promise<void> {
    this.#evidence?.add(this.takeEvidence());
    await this.#evidence?.save();
  }
}

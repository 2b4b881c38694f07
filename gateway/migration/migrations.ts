import type { BlockList } from 'node:net';
import { compileBlendCodecs } from '../../mappings/compare/blend-codecs.ts';
import { contractKindOf } from '../../mappings/contract/adopted.ts';
import { verifiedCredentialsOf } from '../../mappings/contract/credentials.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import { ContractError, type ContractProblem } from '../../mappings/loader/document/error.ts';
import { withLines } from '../../mappings/loader/document/yaml.ts';
import type { Log } from '../core/core-options.ts';
import { compileCertificateValue } from '../http/client-certificate.ts';
import { isListed } from '../http/forwarded.ts';
import type { AppOptions, Migration } from '../http/request-context.ts';
import type { LegacyPlan } from '../process/legacy-plan.ts';
import type { Callers } from '../telemetry/callers.ts';
import { describeError } from '../telemetry/log.ts';
import type { Snapshot } from '../telemetry/metrics.ts';
import type { Way } from '../upstream/connector.ts';
import type { UpstreamOptions } from '../upstream/http-upstream.ts';
import { ServicesByKey } from '../upstream/services-by-key.ts';
import type { Tokens } from '../upstream/tokens.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { BlendWorker } from './blend-worker.ts';
import { Comparisons, nextContractId } from './comparisons.ts';
import { joinSnapshots, RoutingCounts } from './counts.ts';
import { Evidence } from './evidence.ts';
import { type EvidencePlan, readEvidencePlan } from './evidence-settings.ts';
import type { EvidencePart } from './evidence-store.ts';
import { compileIdentifyCaller, type IdentityOf } from './identity.ts';
import { createLegacyService, type LegacyService } from './legacy-service.ts';
import { compileHeaders, portPaths } from './place.ts';
import { pagingWarnings } from './read-blend.ts';
import { type Checked, readRouting, warningsOf } from './read-routing.ts';
import type { RecordQueue } from './recording/record-queue.ts';
import { type RecordPlan, readRecordPlan } from './recording/record-settings.ts';
import { Recorder } from './recording/recording.ts';
import { LiveRoutes, type RouteTable } from './route-changes.ts';
import { noRouting, type Routing } from './routing.ts';
import type { ShadowCapacity } from './shadow-capacity.ts';
import { shadowLimits } from './shadow-limits.ts';
import { Site } from './site.ts';
import type { EvidenceSettings } from './state-file.ts';

export { shadowLimits };

/** A contract with a legacy service, and the data that its settings are checked against. */
export interface MigratedContract {
  readonly contract: Contract;
  readonly plan: LegacyPlan;
  /** Operations without a rule in `mapping.yaml`. */
  readonly unmapped: readonly string[];
}

/** A contract with valid routes. */
export interface CheckedMigration extends MigratedContract {
  readonly routing: Routing;
  readonly evidence: EvidencePlan;
  /** Undefined if nothing is recorded. */
  readonly record: RecordPlan | undefined;
  /** Sentences about valid routes that are probably mistakes (G4). */
  readonly warnings: readonly string[];
}

/**
 * Checks the settings of contracts with a legacy service. Throws ContractError with the problems of all contracts.
 *
 * @param ownUrls URLs of the gateway
 * @param readStates contracts by the path of their state file. A file in it is not read again. New files are added.
 * @param problems problems of other settings, which are reported together
 */
export function checkMigrations(
  contracts: readonly MigratedContract[],
  callers: Callers,
  ownUrls: readonly string[],
  readStates: Map<string, string> = new Map(),
  problems: ContractProblem[] = [],
): readonly CheckedMigration[] {
  const states = new Set<string>();
  const checked = contracts.map((migrated): CheckedMigration => {
    const { contract, plan } = migrated;
    const { file, at, stated } = plan;
    const report = (pointer: string, message: string): void => {
      problems.push({ file, pointer, message });
    };
    const evidence = readEvidencePlan(plan, contract.basePath || '/', report, readStates);
    if (evidence.state !== undefined) {
      if (states.has(evidence.state))
        report(`${at}/migration/state`, 'expected a file of one contract, got a file of two contracts');
      states.add(evidence.state);
    }
    const names = contract.operations.map(({ name }) => name);
    const record = readRecordPlan(plan, names, report);
    if (contractKindOf(contract) === 'openapi') {
      report(`${at}/legacy`, 'expected an adopted WSDL, got an OpenAPI document');
      return { ...migrated, routing: noRouting(), evidence, record, warnings: [] };
    }
    const paths = new Set(contract.ports.map(({ path }) => path));
    if (new URL(plan.url).pathname !== '/' && paths.size > 1)
      report(`${at}/legacy`, `expected a URL without a path for ports with different paths, got ${plan.url}`);
    const routing = readRouting(stated, `${at}/migration`, factsOf(migrated, callers), report);
    const isOwn = ownUrls.some((url) => URL.parse(url)?.origin === new URL(plan.url).origin);
    const own = isOwn ? [`legacy: expected another service, got the URL of the gateway, ${plan.url}`] : [];
    return {
      ...migrated,
      routing,
      evidence,
      record,
      warnings: [
        ...own,
        ...(record?.redact === 'none' ? [recordsPersonalData] : []),
        ...warningsOf(routing, contract),
        ...pagingWarnings(routing, contract),
      ],
    };
  });
  if (problems.length > 0) throw new ContractError(withLines(problems));
  readStates.clear();
  for (const { contract, evidence } of checked)
    if (evidence.state !== undefined) readStates.set(evidence.state, contract.basePath || '/');
  return checked;
}

/** Returns the data that routes are checked against. */
export function factsOf({ contract, unmapped }: MigratedContract, { names }: Callers): Checked {
  return { contract, callerNames: names, unmapped: new Set(unmapped) };
}
const recordsPersonalData =
  'migration.record: recordings contain personal data, because redact is none. Use pseudonyms';

/** Parts of the process that routing uses. */
export interface MigrationParts {
  readonly callers: () => Callers;
  readonly trustedProxies: BlockList | undefined;
  readonly log: Log;
  readonly upstreamOptions: UpstreamOptions;
  readonly countCut: (path: string) => void;
  /** Returns the route changes of a contract by its path; undefined while they are not known (G66). */
  readonly tableOf: (path: string) => RouteTable | undefined;
  /** True if the evidence is kept in a store. Routes can then be changed, so every contract may compare. */
  readonly hasStore: boolean;
  /** Returns the connection settings of a plan. */
  readonly wayTo: (url: string, plan: LegacyPlan) => Way;
}

const connectionCredentials =
  'a caller sent NTLM or Negotiate credentials, which the gateway does not support. Use credentials of HTTP Basic or a client certificate';

/** The parts for comparisons of a contract whose replies may be compared. */
export interface OpenShadow {
  readonly capacity: ShadowCapacity;
  /** Connections to the upstream for shadow requests. */
  readonly upstream: Upstream;
}

/** Returns true if replies may be compared: in mode `compare`, or the duplicates of a blend (G30). */
export function mayCompare({ rules, override }: Routing): boolean {
  return override !== undefined || rules.some(({ mode }) => mode === 'compare' || mode === 'blend');
}

/** The parts for recordings of a contract. */
export interface OpenRecords {
  readonly capacity: ShadowCapacity;
  readonly queue: RecordQueue;
}

/** Opens the routing of one contract for its application. */
export type OpenMigration = (app: AppOptions) => Migration;

/** The legacy services of a process, and the counts of their contracts. Both continue over a reload. */
export class Migrations {
  readonly #parts: MigrationParts;
  readonly #services = new ServicesByKey<LegacyService>();
  readonly #shadowServices = new ServicesByKey<LegacyService>();
  readonly #tokens = new Map<string, Tokens>();
  readonly #counts = new Map<string, RoutingCounts>();
  /** Evidence of the contracts whose replies are compared. */
  readonly #evidence = new Map<
    string,
    { readonly settings: EvidenceSettings; readonly evidence: Evidence }
  >();
  /** Paths of contracts with a warning about NTLM or Negotiate (G18). */
  readonly #warned = new Set<string>();

  readonly #blendWorker: BlendWorker;

  constructor(parts: MigrationParts) {
    this.#parts = parts;
    this.#blendWorker = new BlendWorker((error) =>
      parts.log.error(describeError(error), 'blend thread restarted'),
    );
  }

  /**
   * Returns the function that opens the routing of a contract.
   *
   * @param shadow undefined for a contract whose replies are not compared
   * @param records undefined for a contract without recordings
   */
  async openerOf(
    checked: CheckedMigration,
    shadow: OpenShadow | undefined,
    records: OpenRecords | undefined,
  ): Promise<OpenMigration> {
    const { plan, routing, unmapped, record } = checked;
    // the module needs an optional package
    const oauthModule = plan.service?.oauth === undefined ? undefined : await import('../upstream/tokens.ts');
    const { callers, trustedProxies, log, countCut, tableOf } = this.#parts;
    return ({ service, deprecated }) => {
      const { contract } = service.compiled;
      const path = contract.basePath === '' ? '/' : contract.basePath;
      const legacy = this.#serviceOf(plan);
      const counts = this.#countsOf(path, legacy);
      const evidence = this.#evidenceOf(path, checked, service.compiled.limits.findings);
      const { clientCertificate } = plan;
      const stated = { compare: plan.stated.compare, replies: plan.stated.replies };
      const { nameOf } = callers();
      const { from } = plan.identity ?? {};
      const mayRefuse = (operation: string): boolean => deprecated?.mayRefuse(operation) === true;
      const live = new LiveRoutes(routing, factsOf(checked, callers()), from, mayRefuse, () => tableOf(path));
      const tokens = this.#tokensOf(plan, legacy, oauthModule);
      const isProxy = (address: string): boolean =>
        trustedProxies !== undefined && isListed(address, trustedProxies);
      const headersOf = compileHeaders({
        legacy,
        headers: plan.service?.headers ?? {},
        tokens,
        identity: identityOf(plan, trustedProxies),
        clientCertificate,
        override: routing.override,
        isProxy,
      });
      // for example a revoked token: the next call requests a new one
      const onUnauthorized = (token: string): void => tokens?.forget(undefined, token);
      return new Site({
        contract,
        routing,
        decide: (operation, facts) => live.now().decide(operation, facts),
        override: routing.override,
        unmapped: new Set(unmapped),
        identify: compileIdentifyCaller(
          contract.credentials,
          clientCertificate?.header,
          nameOf,
          service.networkOf,
          verifiedCredentialsOf(contract.wsse),
        ),
        readsCaller: (operation) => live.now().readsCaller(operation),
        legacy,
        counts,
        blendWorker: this.#blendWorker,
        blendCodecs:
          routing.blends.size === 0 ? new Map() : compileBlendCodecs(contract, service.compiled.limits),
        comparisons:
          shadow === undefined || evidence === undefined
            ? undefined
            : new Comparisons({
                path,
                capacity: shadow.capacity,
                service: service.openShadow({ ...shadow.capacity, upstream: shadow.upstream }),
                legacy: this.#shadowServiceOf(plan, shadow.capacity),
                stated,
                noise: routing.noise,
                headersOf,
                onUnauthorized,
                counts,
                evidence,
                log,
              }),
        recorder:
          record === undefined || records === undefined
            ? undefined
            : new Recorder({
                ...records,
                service,
                plan: record,
                redaction: { path, mode: record.redact, key: callers().key },
                sent: { contractId: nextContractId(), compiled: service.compiled, stated },
              }),
        forwardsOthers: plan.others === 'forward',
        get leadsToLegacy() {
          return live.now().leadsToLegacy;
        },
        ...portPaths(contract, legacy.path, addressPathOf(contract)),
        headersOf,
        onUnauthorized,
        onConnectionCredentials: () => {
          if (this.#warned.has(path)) return;
          this.#warned.add(path);
          log.warn({ contract: path }, connectionCredentials);
        },
        onCut: (requestId) => {
          countCut(path);
          log.info({ requestId, contract: path, cut: true }, 'reply sent only in part');
        },
      });
    };
  }

  /** Returns the metrics of the contracts with these paths (G51). */
  read(paths: readonly string[]): Snapshot {
    const snapshots = paths.map((path) => this.#counts.get(path)?.read());
    const ofEvidence = paths.map((path) => this.#evidence.get(path)?.evidence.read());
    return [snapshots, ofEvidence].flatMap((all) => joinSnapshots(all.filter((one) => one !== undefined)));
  }

  /** Returns the evidence of the contracts with these paths since the last call (G48). */
  takeEvidence(paths: readonly string[]): readonly EvidencePart[] {
    return paths.flatMap((path) => {
      const found = this.#evidence.get(path);
      return found === undefined ? [] : [{ settings: found.settings, data: found.evidence.take() }];
    });
  }

  async close(): Promise<void> {
    await this.#blendWorker.close();
    await this.#services.close();
    await this.#shadowServices.close();
  }

  /**
   * Removes the connections and tokens of other plans, after a reload.
   *
   * @param compared plans of the contracts whose replies are compared
   */
  keepOnly(plans: readonly LegacyPlan[], compared: readonly LegacyPlan[]): void {
    this.#services.keepOnly(new Set(plans.map(keyOf)));
    this.#shadowServices.keepOnly(new Set(compared.map(keyOf)));
    const keys = new Set(plans.map(tokensKeyOf));
    for (const key of this.#tokens.keys()) if (!keys.has(key)) this.#tokens.delete(key);
  }

  /** Returns the evidence of a contract; undefined if no route compares replies (G45). */
  #evidenceOf(
    path: string,
    { contract, routing, evidence: { ready, state } }: CheckedMigration,
    maxFindings: number,
  ): Evidence | undefined {
    if (!mayCompare(routing) && !this.#parts.hasStore && state === undefined) {
      this.#evidence.delete(path);
      return undefined;
    }
    const { pseudonymOf } = this.#parts.callers();
    const { rules } = routing.compare;
    const reasons = rules.map(({ reason }) => reason);
    const { hasStore } = this.#parts;
    const parts = { contract: path, maxFindings, reasons, pseudonymOf, hasHours: hasStore };
    const evidence = this.#evidence.get(path)?.evidence ?? new Evidence(parts);
    evidence.parts = parts;
    const dated = rules.flatMap(({ reason, until }) => (until === undefined ? [] : [{ reason, until }]));
    const reads = contract.operations.filter(({ readOnly }) => readOnly).map(({ name }) => name);
    const settings = { contract: path, ready, state, maxFindings, reads, dated };
    this.#evidence.set(path, { settings, evidence });
    return evidence;
  }

  #countsOf(path: string, { breaker }: LegacyService): RoutingCounts {
    const counts = this.#counts.get(path) ?? new RoutingCounts(path);
    counts.isBreakerOpen = () => breaker.isOpen(performance.now());
    this.#counts.set(path, counts);
    return counts;
  }

  #serviceOf(plan: LegacyPlan): LegacyService {
    const { upstreamOptions } = this.#parts;
    const limits = { ...upstreamOptions.limits, ...plan.limits };
    return this.#openService(this.#services, plan, upstreamOptions, limits);
  }

  /** Returns the connections to a legacy service for shadow requests (G27). */
  #shadowServiceOf(plan: LegacyPlan, { admission }: ShadowCapacity): LegacyService {
    const { upstreamOptions } = this.#parts;
    const limits = { ...upstreamOptions.limits, ...plan.limits, ...shadowLimits };
    const options = { ...upstreamOptions, admission, onBreaker: () => {} };
    return this.#openService(this.#shadowServices, plan, options, limits);
  }

  #openService(
    services: ServicesByKey<LegacyService>,
    plan: LegacyPlan,
    options: Pick<UpstreamOptions, 'networkOf' | 'admission' | 'onBreaker'>,
    limits: Limits,
  ): LegacyService {
    const create = () => createLegacyService(plan.url, options, limits, this.#parts.wayTo(plan.url, plan));
    return services.at(keyOf(plan), create);
  }

  #tokensOf(
    plan: LegacyPlan,
    { limits }: LegacyService,
    oauthModule: typeof import('../upstream/tokens.ts') | undefined,
  ): Tokens | undefined {
    const oauth = plan.service?.oauth;
    if (oauth === undefined || oauthModule === undefined) return undefined;
    const key = tokensKeyOf(plan);
    // the client certificate and the server name are meant for the legacy service only
    const ca = plan.service?.tls?.ca;
    const tls = ca === undefined ? undefined : { ca };
    const way = { ...this.#parts.wayTo(oauth.tokenUrl, plan), tls };
    const known = this.#tokens.get(key) ?? new oauthModule.Tokens(oauth, limits, way);
    this.#tokens.set(key, known);
    return known;
  }
}

function keyOf({ url, service, limits }: LegacyPlan): string {
  return JSON.stringify([url, service?.tls, service?.proxy, limits]);
}

function tokensKeyOf({ service, limits }: LegacyPlan): string {
  return JSON.stringify([service?.oauth, service?.tls, service?.proxy, limits]);
}

/** Returns a function that returns the path of a port's address in the WSDL. */
function addressPathOf({ adopted }: Contract): (port: Contract['ports'][number]) => string {
  const paths = new Map(adopted?.service.ports.map(({ name, path }) => [name, path]));
  return ({ name, path }) => paths.get(name) ?? path;
}

function identityOf(
  { identity, clientCertificate }: LegacyPlan,
  proxies: BlockList | undefined,
): { readonly header: string; readonly of: IdentityOf } | undefined {
  if (identity === undefined) return undefined;
  const { header, from } = identity;
  if (from === 'caller') return { header, of: (_request, caller) => caller };
  return { header, of: compileCertificateValue({ ...clientCertificate, from }, proxies) };
}

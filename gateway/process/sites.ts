import { compileSteps } from '../../mappings/compile-steps.ts';
import type { CompiledContract } from '../../mappings/compiled.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import { shownPath } from '../../mappings/http-mapping/paths.ts';
import type { LoadedContract } from '../../mappings/loader/build-contract.ts';
import { type ContractPlace, isAdopted } from '../../mappings/loader/contract-files.ts';
import type { OwnWsse } from '../../mappings/loader/overlay/own-wsse.ts';
import { readShippedContract } from '../../mappings/loader/shipped-contract.ts';
import type { LoadedMapping } from '../../mappings/mapping/load.ts';
import { checkLimits, checkPlace } from '../arguments.ts';
import type { Handler } from '../http/app.ts';
import { plainPath, targetOf } from '../http/endpoints.ts';
import type { ListedService } from '../http/services-page.ts';
import type { Deprecations } from '../migration/deprecations.ts';
import type { OpenMigration } from '../migration/migrations.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { LegacyPlan } from './legacy-plan.ts';
import type { MappedContract } from './load-place.ts';
import type { LoadSite } from './load-report.ts';
import type { StatedMigration } from './migration-setting.ts';
import { runInSlices } from './run-in-slices.ts';
import type { UpstreamPlan } from './upstream-plan.ts';

/** A contract to serve, and its upstream. */
export interface SitePlan {
  readonly contract: ContractPlace;
  /** Overrides the contract's own base path; undefined keeps it. */
  readonly basePath: string | undefined;
  /** If undefined, the reference upstream in this process is used. */
  readonly upstreamUrl: string | undefined;
  /** Further settings of the upstream; undefined if there are none. */
  readonly upstream?: UpstreamPlan | undefined;
  /** Limits of this contract's upstream. */
  readonly limits?: Partial<Limits> | undefined;
  /** The legacy service and the routes to it; undefined if there is none. */
  readonly legacy?: LegacyPlan | undefined;
  /** The deprecated operations; undefined if there are none. */
  readonly deprecate?: DeprecatePlan | undefined;
  /** The key `wsse`, which replaces that of the overlay; undefined if there is none (X1). */
  readonly wsse?: OwnWsse | undefined;
}

/** `migration.deprecate` of a contract as written in the file. It is checked when the contract is loaded. */
export interface DeprecatePlan {
  /** The configuration file, and the JSON pointer of the key in it. */
  readonly file: string;
  readonly at: string;
  readonly stated: NonNullable<StatedMigration['deprecate']>;
  /** Header with the value of the client certificate; undefined for none. */
  readonly certified: string | undefined;
}

/** The parts of a contract that depend on `migration`. */
export interface OpenedContract {
  /** Undefined for a contract without a legacy service. */
  readonly migration?: OpenMigration | undefined;
  /** Undefined for a contract without deprecated operations. */
  readonly deprecations?: Deprecations | undefined;
}

/** A planned contract after it was loaded. */
export interface PlannedContract {
  readonly plan: SitePlan;
  readonly loaded: MappedContract;
}

/** Functions that turn a contract into a request handler. */
export interface SiteMaker {
  /** Limits for loading a contract. */
  readonly limits: Limits;
  /** Returns the upstream for a plan. An existing one with the same settings is reused. */
  readonly upstreamAt: (plan: SitePlan) => Promise<Upstream>;
  readonly handlerOf: (
    compiled: CompiledContract,
    upstream: Upstream,
    mapping: LoadedMapping | undefined,
    opened: OpenedContract,
  ) => Handler;
  /** Checks the routes and deprecations of contracts, by their position. Throws ContractError. */
  readonly openMigrations: (contracts: readonly PlannedContract[]) => Promise<readonly OpenedContract[]>;
  /** Throws ContractError if other configuration does not match the contracts. */
  readonly check: (contracts: readonly Contract[]) => void;
  /** Called with each loaded contract and its base path, before it is served. */
  readonly onLoad: (loaded: LoadedContract, site: LoadSite) => void;
}

/** A served contract, for metrics and the admin API. */
export interface ServedContract {
  /** Base path as shown in the log. */
  readonly path: string;
  readonly service: string;
  /** Hash of its files. */
  readonly hash: string;
  /** `info.version` of the OpenAPI document; `''` for a legacy WSDL. */
  readonly version: string;
  /** Names, in the order of the document. */
  readonly operations: readonly string[];
  /** Time when its files were read. */
  readonly loadedAt: Date;
}

/** All contracts that a process serves. A reload replaces them while the process serves. */
export interface Sites {
  /** Serves a request by the contract at its path. */
  readonly handle: Handler;
  /** The base paths, in the order of the plans. */
  readonly basePaths: () => readonly string[];
  /** The contracts, in the order of the plans. */
  readonly contracts: () => readonly ServedContract[];
  /** The plans of these contracts. */
  readonly plans: () => readonly SitePlan[];
  /** Paths of each contract's endpoints, in the order of the plans: base path and `/soap11`, or the path of a port. */
  readonly endpoints: () => readonly (readonly string[])[];
  /** Contracts listed at `/`; undefined if there is only one or one is served at `/`. */
  readonly services: () => readonly ListedService[] | undefined;
  /**
   * Loads the plans again and serves them from then on. Calls in progress continue with the old contracts. If it throws
   * ContractError, nothing changes.
   */
  readonly reload: () => Promise<void>;
}

interface Site {
  readonly plan: SitePlan;
  readonly served: ServedContract;
  readonly basePath: string;
  readonly name: string;
  /** Paths of the SOAP endpoints, relative to the base path. */
  readonly endpoints: readonly string[];
  readonly handle: Handler;
}

/** Loads all planned contracts. Throws ContractError. */
export async function openSites(plans: () => readonly SitePlan[], maker: SiteMaker): Promise<Sites> {
  const { limits } = maker;
  const first = plans();
  const loads: MappedContract[] = [];
  for (const plan of first) loads.push(await loadToServe(plan, limits));
  let sites = await open(first, loads, maker);
  let handle = handlerOf(sites);
  return {
    handle: (request, response) => handle(request, response),
    basePaths: () => sites.map(({ basePath }) => basePath),
    contracts: () => sites.map(({ served }) => served),
    plans: () => sites.map(({ plan }) => plan),
    endpoints: () => sites.map(({ basePath, endpoints }) => endpoints.map((path) => basePath + path)),
    services: () => {
      if (sites.length === 1 || sites.some(({ basePath }) => basePath === '')) return undefined;
      return sites.map(({ basePath, name, endpoints: [wsdlPath = ''] }) => ({
        path: basePath,
        name,
        wsdlPath,
      }));
    },
    reload: async () => {
      const next = plans();
      const { loadInWorker } = await import('./load-in-worker.ts');
      const loads = await loadInWorker(
        next.map(({ contract, legacy, wsse }) => ({
          place: contract,
          keepsUnmapped: legacy !== undefined,
          own: wsse,
        })),
        limits,
      );
      sites = await open(next, loads, maker);
      handle = handlerOf(sites);
    },
  };
}

/**
 * Loads a contract, and its mapping. The modules for WSDLs and mappings are loaded only for a contract that has one,
 * because they make up a fifth of all modules. Throws ContractError.
 */
async function loadToServe(
  { contract: place, legacy, wsse }: SitePlan,
  limits: Limits,
): Promise<MappedContract> {
  checkPlace(place);
  checkLimits(limits);
  const shipped = wsse === undefined ? readShippedContract(place, limits) : undefined;
  if (shipped !== undefined) return { ...shipped, mapping: undefined };
  if (typeof place !== 'string' || !isAdopted(place)) {
    const { readOpenapiContract } = await import('../../mappings/loader/openapi-contract.ts');
    return { ...readOpenapiContract(place, limits, wsse), mapping: undefined };
  }
  const { loadContract } = await import('./load-place.ts');
  return loadContract(place, limits, legacy !== undefined, wsse);
}

async function open(
  plans: readonly SitePlan[],
  loads: readonly MappedContract[],
  maker: SiteMaker,
): Promise<readonly Site[]> {
  const all = plans.flatMap((plan, index) => {
    const loaded = loads[index];
    return loaded === undefined ? [] : [{ plan, loaded }];
  });
  maker.check(
    all.map(({ plan, loaded: { contract } }) => ({
      ...contract,
      basePath: plan.basePath ?? contract.basePath,
    })),
  );
  const opened = await maker.openMigrations(all);
  const loadedAt = new Date();
  return Promise.all(
    all.map(async ({ plan, loaded }, index) => {
      const { mapping } = loaded;
      const { deprecations, migration } = opened[index] ?? {};
      const contract = deprecations?.describe(loaded.contract) ?? loaded.contract;
      const basePath = plan.basePath ?? contract.basePath;
      maker.onLoad(loaded, {
        basePath,
        upstreamUrl: plan.upstreamUrl,
        isMapped: mapping !== undefined,
      });
      const upstream = await maker.upstreamAt(plan);
      const limits = { ...maker.limits, ...plan.limits };
      const compiled = await runInSlices(await compileSteps({ ...contract, basePath }, limits));
      return {
        plan,
        served: {
          path: shownPath(basePath),
          service: contract.service,
          hash: loaded.hash,
          version: contract.about?.version ?? '',
          operations: contract.operations.map(({ name }) => name),
          loadedAt,
        },
        basePath,
        handle: maker.handlerOf(compiled, upstream, mapping, { deprecations, migration }),
        name: contract.service,
        endpoints: [...new Set(contract.ports.map(({ path }) => path))],
      };
    }),
  );
}

/**
 * Returns a handler that selects the site with the longest base path that matches, ignoring case (W1). A single site
 * handles all requests.
 */
function handlerOf(sites: readonly Site[]): Handler {
  const [first] = sites;
  if (first === undefined) throw new RangeError('sites: expected at least one, got none');
  if (sites.length === 1) return first.handle;
  const byLength = sites
    .map(({ basePath, handle }) => ({ prefix: basePath.toLowerCase(), handle }))
    .toSorted((a, b) => b.prefix.length - a.prefix.length);
  return (request, response) => {
    const path = plainPath(targetOf(request.url ?? '').path).toLowerCase();
    const site = byLength.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`));
    return (site ?? first).handle(request, response);
  };
}

import { type CompiledContract, compileInSteps } from '../../mappings/compile.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import type { LoadedContract } from '../../mappings/loader/build-contract.ts';
import type { ContractPlace } from '../../mappings/loader/load.ts';
import type { LoadedMapping } from '../../mappings/mapping/load.ts';
import { type Handler, targetOf } from '../http/app.ts';
import { plainPath } from '../http/endpoints.ts';
import type { ListedService } from '../http/services-page.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { inTurns } from './in-turns.ts';
import { loadAside } from './load-aside.ts';
import { loadContract, type MappedContract } from './load-place.ts';
import type { LoadSite } from './load-report.ts';
import type { UpstreamPlan } from './upstream-plan.ts';

/** What is to be served in one place: a contract, and the JSON service behind it. */
export interface SitePlan {
  readonly contract: ContractPlace;
  /** In place of the contract's own base path; undefined keeps that. */
  readonly basePath: string | undefined;
  /** Undefined: the reference upstream, in this process. */
  readonly upstreamUrl: string | undefined;
  /** What is said of it more; undefined: nothing. */
  readonly upstream?: UpstreamPlan | undefined;
  /** Limits of its own, of its upstream. */
  readonly limits?: Partial<Limits> | undefined;
}

/** How a contract becomes something that serves. */
export interface SiteMaker {
  /** What loading a contract may take. */
  readonly limits: Limits;
  /** What the contract is to be served by, as it is now; the one of before where it would be the same. */
  readonly upstreamAt: (plan: SitePlan) => Promise<Upstream>;
  readonly handlerOf: (
    compiled: CompiledContract,
    upstream: Upstream,
    mapping: LoadedMapping | undefined,
  ) => Handler;
  /** Throws ContractError where something else than the contracts doesn't fit to them. */
  readonly check: (contracts: readonly Contract[]) => void;
  /** Told of what was loaded, and where it will be, before it serves. */
  readonly onLoad: (loaded: LoadedContract, site: LoadSite) => void;
}

/** Everything that a process serves, which may be exchanged while it serves. */
export interface Sites {
  /** Serves a request by the contract that its path is under. */
  readonly handle: Handler;
  /** The base paths, in the order of the plans. */
  readonly basePaths: () => readonly string[];
  /** The paths of each contract's endpoints, in the order of the plans: base path and `/soap11`, or that of a port. */
  readonly endpoints: () => readonly (readonly string[])[];
  /** What `/` lists: all contracts, where there are several and none of them is at `/`. */
  readonly services: () => readonly ListedService[] | undefined;
  /**
   * Loads the plans again and serves them from then on; calls that are in flight end where they began. Throws
   * ContractError, and then all stays as it was.
   */
  readonly reload: () => Promise<void>;
}

interface Site {
  readonly basePath: string;
  readonly name: string;
  /** The paths of the endpoints of SOAP, behind the base path. */
  readonly endpoints: readonly string[];
  readonly handle: Handler;
}

/** Loads what the plans say. Throws ContractError. */
export async function openSites(plans: () => readonly SitePlan[], maker: SiteMaker): Promise<Sites> {
  const { limits } = maker;
  const first = plans();
  let sites = await open(
    first,
    first.map(({ contract }) => loadContract(contract, limits)),
    maker,
  );
  let handle = handlerOf(sites);
  return {
    handle: (request, response) => handle(request, response),
    basePaths: () => sites.map(({ basePath }) => basePath),
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
      const loads = await loadAside(
        next.map(({ contract }) => contract),
        limits,
      );
      sites = await open(next, loads, maker);
      handle = handlerOf(sites);
    },
  };
}

function open(
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
  return Promise.all(
    all.map(async ({ plan, loaded }) => {
      const { contract, mapping } = loaded;
      const basePath = plan.basePath ?? contract.basePath;
      maker.onLoad(loaded, {
        basePath,
        upstreamUrl: plan.upstreamUrl,
        isMapped: mapping !== undefined,
      });
      const upstream = await maker.upstreamAt(plan);
      const limits = { ...maker.limits, ...plan.limits };
      const compiled = await inTurns(compileInSteps({ ...contract, basePath }, limits));
      return {
        basePath,
        handle: maker.handlerOf(compiled, upstream, mapping),
        name: contract.service,
        endpoints: contract.adopted?.endpoints.map(({ path }) => path) ?? ['/soap11', '/soap12'],
      };
    }),
  );
}

/** One site answers all; of several the one with the longest base path that the request's is under, in any case (W1). */
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

import type { Limits } from '../../mappings/contract/limits.ts';
import type { Server } from '../../mappings/contract/model.ts';
import { withoutEndSlashes } from '../../mappings/http-mapping/paths.ts';
import { encodeTarget } from '../../mappings/places.ts';
import type { Admission } from '../admission/admission.ts';
import { createAddressPool } from './address-pool.ts';
import { Balancer } from './balancer.ts';
import { Breaker, type ReportBreaker } from './breaker.ts';
import type { Cause } from './cause.ts';
import type { Way } from './connector.ts';
import { Watch } from './deadlines.ts';
import {
  createFetchDispatcher,
  type FetchError,
  type FetchUpstream,
  fetchOrigin,
} from './fetch-dispatcher.ts';
import { HealthCheck, type HealthCheckPlan, maxFailedChecks, type ReportHealth } from './health-check.ts';
import { proxyAuthorization } from './proxy.ts';
import { createRetryBudget } from './retry-budget.ts';
import {
  type AddressState,
  addressOf,
  idleUpstream,
  type NetworkOf,
  type Upstream,
  type UpstreamState,
} from './upstream.ts';
import { callUpstream } from './upstream-call.ts';
import { UpstreamConnections } from './upstream-connections.ts';
import type { Line } from './upstream-state.ts';

/** Options of all upstreams of a gateway. The connection options are those of one upstream. */
export interface UpstreamOptions extends ConnectionOptions {
  readonly limits: Limits;
  readonly admission: Admission;
  readonly networkOf: NetworkOf;
  /** Returns the connection settings of an address. If undefined, Node's defaults apply. */
  readonly wayTo?: ((url: URL) => Way) | undefined;
  /** Called when a circuit breaker changes, with the upstream's address without its path. */
  readonly onBreaker: (address: string, ...change: Parameters<ReportBreaker>) => void;
  /** Called when an address gets no more calls because its health check failed, with the cause, or gets them again. */
  readonly onHealth: (address: string, failure: Cause | undefined) => void;
}

/** An address of an upstream, and the share of calls that it gets. */
export interface WeightedAddress {
  readonly url: string;
  readonly weight: number;
}

/** Settings of the connections to one upstream. */
export interface ConnectionOptions {
  /** Addresses of the contract's upstream; undefined if it has only one. */
  readonly addresses?: readonly WeightedAddress[] | undefined;
  /** Checks of these addresses. */
  readonly healthCheck?: HealthCheckPlan | undefined;
  /** Age in ms after which a connection gets no further calls; undefined for no maximum. */
  readonly maxConnectionAgeMs?: number | undefined;
}

/** Properties of a line that all addresses of an upstream share. */
type SharedLine = Pick<
  Line,
  'balancer' | 'limits' | 'admission' | 'networkOf' | 'connections' | 'retries' | 'watch'
>;

/** One address of an upstream. */
interface Address {
  readonly line: Line;
  readonly weight: number;
  /** Returns the number of calls in progress at this address. */
  readonly active: () => number;
  readonly check: HealthCheck | undefined;
  readonly close: () => Promise<void>;
}

function sharedLine(
  { limits, admission, networkOf }: UpstreamOptions,
  balancer: SharedLine['balancer'],
): SharedLine {
  return {
    balancer,
    limits,
    admission,
    networkOf,
    connections: new UpstreamConnections(limits, admission),
    retries: createRetryBudget(limits),
    watch: new Watch(),
  };
}

/** Creates an upstream over HTTP. Each address has a connection pool and a circuit breaker. */
function createHttpUpstream(given: readonly WeightedAddress[], options: UpstreamOptions): Upstream {
  const balancer =
    given.length > 1 ? new Balancer<Line>((line, now) => line.connections.isStuck(line, now)) : undefined;
  const shared = sharedLine(options, balancer);
  const addresses = given.map((address) => createAddress(address, options, shared));
  for (const { line, weight } of addresses) balancer?.add(line, weight);
  return upstreamOver(addresses, shared);
}

function createAddress({ url: text, weight }: WeightedAddress, options: UpstreamOptions, shared: SharedLine) {
  const { limits, onBreaker, wayTo, maxConnectionAgeMs } = options;
  const url = new URL(text);
  const way = wayTo?.(url) ?? {};
  const breaker = new Breaker(limits, (open, operation) => onBreaker(url.origin, open, operation));
  const { pool, forwarder, prefix, connect } = createAddressPool(
    url,
    way,
    limits,
    breaker,
    maxConnectionAgeMs,
  );
  const headers = forwarder === undefined ? undefined : forwardedHeaders(url, forwarder);
  const path = encodeTarget(withoutEndSlashes(url.pathname));
  const line: Line = {
    ...shared,
    pool,
    address: url.origin,
    prefix: prefix + path,
    headers,
    breaker,
    shed: 0,
  };
  const { healthCheck: plan } = options;
  const check =
    plan === undefined
      ? undefined
      : new HealthCheck(
          connect(),
          { path: prefix + plan.path, headers: headers ?? {} },
          plan.everyMs,
          limits.upstreamConnectMs,
          reportHealth(line, options),
        );
  return {
    line,
    weight,
    active: () => pool.stats.running + pool.stats.pending,
    check,
    close: async () => {
      await check?.close();
      await pool.close();
    },
  };
}

/** Returns a function that applies the results of a health check, and logs each change. */
function reportHealth(line: Line, { onHealth }: UpstreamOptions): ReportHealth {
  let isHealthy = true;
  return (failure, failures) => {
    if (failure === undefined) line.breaker.connected(performance.now());
    if (failure !== undefined && failures < maxFailedChecks) return;
    const was = isHealthy;
    isHealthy = failure === undefined;
    line.balancer?.setHealth(line, isHealthy);
    if (was !== isHealthy) onHealth(line.address, failure);
  };
}

/** Creates an upstream that passes its requests to a function of the program. It has a circuit breaker, too. */
function createFetchUpstream(
  address: string,
  options: UpstreamOptions,
  answer: FetchUpstream,
  onError: FetchError,
): Upstream {
  const url = new URL(address);
  const { limits, onBreaker } = options;
  const shared = sharedLine(options, undefined);
  const line: Line = {
    ...shared,
    pool: createFetchDispatcher(url.origin, answer, onError),
    address: url.origin,
    prefix: encodeTarget(withoutEndSlashes(url.pathname)),
    headers: undefined,
    breaker: new Breaker(limits, (open, operation) => onBreaker(url.origin, open, operation)),
    shed: 0,
  };
  const active = (): number => shared.connections.active;
  return upstreamOver([{ line, weight: 1, active, check: undefined, close: async () => {} }], shared);
}

/** Creates an upstream over its addresses. */
function upstreamOver(
  addresses: readonly Address[],
  { balancer, connections, limits }: SharedLine,
): Upstream {
  const [first] = addresses;
  if (first === undefined) throw new RangeError('upstream: expected an address, got none');
  const checks = addresses.flatMap(({ check }) => (check === undefined ? [] : [check]));
  const { line } = first;
  const call: Upstream['call'] = (request, waiting) => callUpstream(line, request, waiting);
  return {
    call:
      checks.length === 0
        ? call
        : (request, waiting) => {
            for (const check of checks) check.wake();
            return call(request, waiting);
          },
    state: () => {
      const now = performance.now();
      const states = addresses.map(({ line: of, weight, active }) => ({
        address: of.address,
        weight,
        isOpen: of.breaker.isOpen(now),
        openOperations: of.breaker.openOperations(now),
        isHealthy: balancer?.isHealthy(of) ?? true,
        active: active(),
      }));
      const [{ openOperations } = idleUpstream] = states;
      return {
        isOpen: states.every(({ isOpen }) => isOpen),
        openOperations: openOperations.filter((name) =>
          states.every((state) => state.isOpen || state.openOperations.includes(name)),
        ),
        addresses: balancer === undefined ? [] : states,
        active: connections.active,
        connections: limits.upstreamConnections,
        waiting: connections.waiting,
        shed: addresses.reduce((sum, { line: { shed } }) => sum + shed, 0),
      };
    },
    close: async () => {
      for (const { close } of addresses) await close();
    },
  };
}

/**
 * Returns the additional headers of a call through a proxy. A server without TLS is called by its whole URL (RFC 9112,
 * 3.2.2).
 */
function forwardedHeaders({ host }: URL, proxy: URL): Readonly<Record<string, string>> {
  const authorization = proxyAuthorization(proxy);
  return { host, ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }) };
}

/**
 * Creates the upstream at an address, and the other servers that operations name. Each one is created at its first
 * call.
 *
 * @param only if true, the upstream also receives the calls to other servers
 */
export function createServers(address: string, options: UpstreamOptions, only = false): Upstream {
  const { addresses = [{ url: address, weight: 1 }] } = options;
  // The health check is for the addresses of the upstream, not for other servers.
  const elsewhere = { ...options, healthCheck: undefined };
  return byServers(
    address,
    only,
    (url, server) =>
      server.address === undefined
        ? createHttpUpstream(
            addresses.map((one) => ({ ...one, url: addressOf(one.url, server) })),
            options,
          )
        : createHttpUpstream([{ url, weight: 1 }], elsewhere),
    addresses.length > 1,
  );
}

/**
 * Creates an upstream that passes all calls to a function, including calls to other servers.
 *
 * @param onError called with the error that the function throws or rejects with
 */
export function createFetchServers(
  answer: FetchUpstream,
  options: UpstreamOptions,
  onError: FetchError,
): Upstream {
  return byServers(fetchOrigin, false, (url) => createFetchUpstream(url, options, answer, onError));
}

function byServers(
  address: string,
  only: boolean,
  create: (url: string, server: Server) => Upstream,
  hasSeveral = false,
): Upstream {
  const byAddress = new Map<string, Upstream>();
  const byServer = new WeakMap<Server, Upstream>();

  function upstreamOf(server: Server): Upstream {
    const called = only ? { ...server, address: undefined } : server;
    const url = addressOf(address, called);
    // A server at one of several addresses is called only there.
    const key = hasSeveral && called.address === undefined ? `all ${url}` : url;
    const upstream = byAddress.get(key) ?? create(url, called);
    byAddress.set(key, upstream);
    byServer.set(server, upstream);
    return upstream;
  }

  return {
    call: (request, waiting) => {
      const { server } = request.operation.upstream;
      return (byServer.get(server) ?? upstreamOf(server)).call(request, waiting);
    },
    state: () => {
      const states = [...byAddress.values()].map((upstream) => upstream.state());
      const sum = (of: (state: UpstreamState) => number): number =>
        states.reduce((total, state) => total + of(state), 0);
      return {
        isOpen: states.some(({ isOpen }) => isOpen),
        openOperations: states.flatMap(({ openOperations }) => openOperations),
        addresses: byOrigin(states.flatMap(({ addresses }) => addresses)),
        active: sum(({ active }) => active),
        connections: sum(({ connections }) => connections),
        waiting: sum(({ waiting }) => waiting),
        shed: sum(({ shed }) => shed),
      };
    },
    close: async () => {
      for (const upstream of byAddress.values()) await upstream.close();
    },
  };
}

/** Merges the states of addresses that differ only in their paths, so that each address has one metric. */
function byOrigin(states: readonly AddressState[]): readonly AddressState[] {
  const merged = new Map<string, AddressState>();
  for (const state of states) {
    const { address } = state;
    const known = merged.get(address);
    merged.set(
      address,
      known === undefined
        ? state
        : {
            ...known,
            isOpen: known.isOpen || state.isOpen,
            openOperations: [...new Set([...known.openOperations, ...state.openOperations])],
            isHealthy: known.isHealthy && state.isHealthy,
            active: known.active + state.active,
          },
    );
  }
  return [...merged.values()];
}

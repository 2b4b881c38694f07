import { type Client, Pool } from 'undici';
import type { Limits } from '../../mappings/contract/limits.ts';
import type { Server } from '../../mappings/contract/model.ts';
import { withoutEndSlashes } from '../../mappings/http-mapping/paths.ts';
import { encodeTarget } from '../../mappings/places.ts';
import type { Admission } from '../admission/admission.ts';
import { addressOf } from './address.ts';
import { Breaker, type ReportBreaker } from './breaker.ts';
import { Connection, type Way } from './connector.ts';
import { Watch } from './deadlines.ts';
import {
  createFetchDispatcher,
  type FetchError,
  type FetchUpstream,
  fetchOrigin,
} from './fetch-dispatcher.ts';
import { proxyAuthorization } from './proxy.ts';
import { createRetryBudget } from './retry-budget.ts';
import type { NetworkOf, Upstream, UpstreamState } from './upstream.ts';
import { callUpstream } from './upstream-call.ts';
import { UpstreamConnections } from './upstream-connections.ts';
import type { Line } from './upstream-state.ts';

/** Options of all upstreams of a gateway. */
export interface UpstreamOptions {
  readonly limits: Limits;
  readonly admission: Admission;
  readonly networkOf: NetworkOf;
  /** Returns the connection settings of an address. If undefined, Node's defaults apply. */
  readonly wayTo?: ((url: URL) => Way) | undefined;
  /** Called when a circuit breaker changes, with the upstream's address without its path. */
  readonly onBreaker: (address: string, ...change: Parameters<ReportBreaker>) => void;
}

/** Creates an upstream over HTTP with a connection pool and a circuit breaker. */
function createHttpUpstream(address: string, options: UpstreamOptions): Upstream {
  const { limits, onBreaker, wayTo } = options;
  const url = new URL(address);
  const way = wayTo?.(url) ?? {};
  const forwarder = url.protocol === 'http:' ? way.proxy : undefined;
  const breaker = new Breaker(limits, (open, operation) => onBreaker(url.origin, open, operation));
  const pool = new Pool((forwarder ?? url).origin, {
    connections: limits.upstreamConnections,
    pipelining: 1,
    allowH2: false,
    factory: (origin, given) =>
      new Connection(
        origin,
        given as Client.Options,
        limits.upstreamConnectMs,
        () => breaker.connected(performance.now()),
        forwarder === undefined ? way : {},
      ),
    keepAliveTimeout: 4_000,
    headersTimeout: 0,
    bodyTimeout: 0, // undici would set and clear a timer for each call
  });
  return upstreamOver(url, options, breaker, {
    pool,
    prefix: (forwarder === undefined ? '' : url.origin) + encodeTarget(withoutEndSlashes(url.pathname)),
    headers: forwarder === undefined ? undefined : forwardedHeaders(url, forwarder),
    close: () => pool.close(),
  });
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
  const breaker = new Breaker(limits, (open, operation) => onBreaker(url.origin, open, operation));
  return upstreamOver(url, options, breaker, {
    pool: createFetchDispatcher(url.origin, answer, onError),
    prefix: encodeTarget(withoutEndSlashes(url.pathname)),
    headers: undefined,
    close: async () => {},
  });
}

/** Creates an upstream over a connection pool or a function. */
function upstreamOver(
  { origin }: URL,
  { limits, admission, networkOf }: UpstreamOptions,
  breaker: Breaker,
  { close, ...way }: Pick<Line, 'pool' | 'prefix' | 'headers'> & Pick<Upstream, 'close'>,
): Upstream {
  const connections = new UpstreamConnections(limits);
  const line: Line = {
    ...way,
    address: origin,
    limits,
    admission,
    networkOf,
    connections,
    breaker,
    retries: createRetryBudget(limits),
    watch: new Watch(),
    shed: 0,
  };
  return {
    call: (request, waiting) => callUpstream(line, request, waiting),
    state: () => {
      const now = performance.now();
      return {
        isOpen: breaker.isOpen(now),
        openOperations: breaker.openOperations(now),
        active: connections.active,
        connections: limits.upstreamConnections,
        waiting: connections.waiting,
        shed: line.shed,
      };
    },
    close,
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
  return byServers(address, only, (url) => createHttpUpstream(url, options));
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

function byServers(address: string, only: boolean, create: (url: string) => Upstream): Upstream {
  const byAddress = new Map<string, Upstream>();
  const byServer = new WeakMap<Server, Upstream>();

  function upstreamOf(server: Server): Upstream {
    const url = addressOf(address, only ? { ...server, address: undefined } : server);
    const upstream = byAddress.get(url) ?? create(url);
    byAddress.set(url, upstream);
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

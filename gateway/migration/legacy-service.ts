import { type Client, Pool } from 'undici';
import type { Limits } from '../../mappings/contract/limits.ts';
import { withoutEndSlashes } from '../../mappings/http-mapping/paths.ts';
import { encodeTarget } from '../../mappings/places.ts';
import type { Admission } from '../admission/admission.ts';
import { Breaker } from '../upstream/breaker.ts';
import { Connection, type Way } from '../upstream/connector.ts';
import { Watch } from '../upstream/deadlines.ts';
import type { UpstreamOptions } from '../upstream/http-upstream.ts';
import { proxyAuthorization } from '../upstream/proxy.ts';
import { createRetryBudget, type RetryBudget } from '../upstream/retry-budget.ts';
import type { NetworkOf } from '../upstream/upstream.ts';
import { UpstreamConnections } from '../upstream/upstream-connections.ts';

/**
 * Connections to a legacy service, with their own queue, circuit breaker and retry budget (G18). All calls of the
 * process to one address share them.
 */
export interface LegacyService {
  readonly pool: Pool;
  readonly url: URL;
  /** Precedes the path of each request: the origin for a proxy without a tunnel, otherwise `''`. */
  readonly prefix: string;
  /** Path of the URL without a slash at its end; `''` if the ports of the WSDL have the paths. */
  readonly path: string;
  /** `Proxy-Authorization` for a proxy without a tunnel; undefined for none. */
  readonly proxyAuthorization: string | undefined;
  readonly limits: Limits;
  readonly networkOf: NetworkOf;
  readonly admission: Admission;
  readonly connections: UpstreamConnections;
  readonly breaker: Breaker;
  readonly retries: RetryBudget;
  readonly watch: Watch;
  readonly close: () => Promise<void>;
}

/** Creates the connections to a legacy service. They are opened at the first call. */
export function createLegacyService(
  address: string,
  { networkOf, admission, onBreaker }: Pick<UpstreamOptions, 'networkOf' | 'admission' | 'onBreaker'>,
  limits: Limits,
  way: Way,
): LegacyService {
  const url = new URL(address);
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
    headersTimeout: 0, // `LegacyCall` has its own deadlines
    bodyTimeout: 0,
  });
  return {
    pool,
    url,
    prefix: forwarder === undefined ? '' : url.origin,
    path: encodeTarget(withoutEndSlashes(url.pathname)),
    proxyAuthorization: forwarder === undefined ? undefined : proxyAuthorization(forwarder),
    limits,
    networkOf,
    admission,
    connections: new UpstreamConnections(limits),
    breaker,
    retries: createRetryBudget(limits),
    watch: new Watch(),
    close: () => pool.close(),
  };
}

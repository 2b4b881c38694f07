import type { Pool } from 'undici';
import type { Limits } from '../../mappings/contract/limits.ts';
import { withoutEndSlashes } from '../../mappings/http-mapping/paths.ts';
import { encodeTarget } from '../../mappings/places.ts';
import { createAddressPool } from '../upstream/address-pool.ts';
import { Breaker } from '../upstream/breaker.ts';
import type { Way } from '../upstream/connector.ts';
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
  const breaker = new Breaker(limits, (open, operation) => onBreaker(url.origin, open, operation));
  const { pool, forwarder, prefix } = createAddressPool(url, way, limits, breaker);
  return {
    pool,
    url,
    prefix,
    path: encodeTarget(withoutEndSlashes(url.pathname)),
    proxyAuthorization: forwarder === undefined ? undefined : proxyAuthorization(forwarder),
    limits,
    networkOf,
    connections: new UpstreamConnections(limits, admission),
    breaker,
    retries: createRetryBudget(limits),
    watch: new Watch(),
    close: () => pool.close(),
  };
}

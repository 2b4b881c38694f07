import { type Client, Pool } from 'undici';
import type { Limits } from '../../mappings/contract/limits.ts';
import type { Breaker } from './breaker.ts';
import { Connection, type Way } from './connector.ts';

/** Connections to one address, direct or through a proxy. */
export interface AddressPool {
  readonly pool: Pool;
  /** Proxy that forwards requests without a tunnel; undefined for a direct connection or a tunnel. */
  readonly forwarder: URL | undefined;
  /** Precedes the path of each request: the origin for such a proxy, otherwise `''`. */
  readonly prefix: string;
  /** Opens a connection outside the pool, for a health check. */
  readonly connect: () => Connection;
}

/**
 * Creates the connections to an address. They are opened at the first call, and each one is reported to the circuit
 * breaker.
 *
 * @param maxAgeMs age in ms after which a connection gets no further calls; undefined for no maximum
 */
export function createAddressPool(
  url: URL,
  way: Way,
  { upstreamConnections, upstreamConnectMs }: Limits,
  breaker: Breaker,
  maxAgeMs?: number,
): AddressPool {
  const forwarder = url.protocol === 'http:' ? way.proxy : undefined;
  const ownWay = forwarder === undefined ? way : { lookup: way.lookup };
  const { origin } = forwarder ?? url;
  const connect = (to: URL, given: Client.Options, onConnect: () => void): Connection =>
    new Connection(to, given, upstreamConnectMs, onConnect, ownWay);
  const pool = new Pool(origin, {
    connections: upstreamConnections,
    pipelining: 1,
    allowH2: false,
    factory: (to, given) => connect(to, given as Client.Options, () => breaker.connected(performance.now())),
    keepAliveTimeout: 4_000,
    headersTimeout: 0, // calls have their own deadlines
    bodyTimeout: 0, // undici would set and clear a timer for each call
    ...(maxAgeMs !== undefined && { clientTtl: maxAgeMs }),
  });
  return {
    pool,
    forwarder,
    prefix: forwarder === undefined ? '' : url.origin,
    connect: () => connect(new URL(origin), { pipelining: 1 }, () => {}),
  };
}

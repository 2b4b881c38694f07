import type { Limits } from '../../mappings/contract/limits.ts';
import type { Log } from '../core/core-options.ts';
import type { Way } from '../upstream/connector.ts';
import type { UpstreamOptions } from '../upstream/http-upstream.ts';
import { type Proxies, proxyFor } from '../upstream/proxy.ts';
import { type Closable, ServicesByKey } from '../upstream/services-by-key.ts';
import type { Tokens } from '../upstream/tokens.ts';
import { createLocalUpstream, type Upstream } from '../upstream/upstream.ts';
import type { ServeOptions } from './serve-options.ts';
import type { SitePlan } from './sites.ts';
import type { UpstreamPlan } from './upstream-plan.ts';

/** Key of an upstream: its address and call settings. */
type UpstreamPlace = Pick<SitePlan, 'upstreamUrl' | 'upstream' | 'limits'>;

/** Upstreams of a process, one for each address and connection settings. */
export interface Upstreams {
  /** Returns the upstream at a place. The same place returns the same upstream. */
  readonly at: (place: UpstreamPlace) => Promise<Upstream>;
  /** Tries to reach the upstreams in use and logs the results. */
  readonly probe: (log: Log) => Promise<void>;
  /**
   * Removes the upstreams of other places. It closes each one after `totalMs`, because requests that arrived before may
   * still call it.
   */
  readonly keepOnly: (places: readonly UpstreamPlace[]) => void;
  readonly close: () => Promise<void>;
}

/** An upstream and its place. */
interface Entry extends Closable {
  readonly place: UpstreamPlace;
  readonly upstream: Promise<Upstream>;
}

/** Options of a process for its upstreams. */
export type UpstreamsOptions = Pick<ServeOptions, 'way' | 'proxies' | 'upstreamDatabase' | 'upstreamOnly'>;

/** Creates the upstreams of a process. Each one is created at its first use. */
export function createUpstreams(options: UpstreamsOptions, upstreamOptions: UpstreamOptions): Upstreams {
  const entries = new ServicesByKey<Entry>();
  /** Tokens are kept over a reload if the settings of the token request do not change. */
  const tokens = new Map<string, Tokens>();

  async function accessTo(place: UpstreamPlace, upstream: Upstream, limits: Limits): Promise<Upstream> {
    const { upstream: plan } = place;
    if (plan === undefined) return upstream;
    const { headers, query, oauth } = plan;
    if (query === '' && oauth === undefined && Object.keys(headers).length === 0) return upstream;
    const { withAccess } = await import('../upstream/access.ts');
    if (oauth === undefined) return withAccess(upstream, { headers, query, tokens: undefined });
    const { Tokens } = await import('../upstream/tokens.ts'); // loads an OAuth client, which most processes do not need
    const key = tokensKeyOf(place);
    const way = { ...wayTo(oauth.tokenUrl, plan, options), tls: withoutOwnName(plan) };
    const known = tokens.get(key) ?? new Tokens(oauth, limits, way);
    tokens.set(key, known);
    return withAccess(upstream, { headers, query, tokens: known });
  }

  return {
    at: async (place) => {
      const limits = { ...upstreamOptions.limits, ...place.limits };
      const { upstream } = entries.at(keyOf(place), () => {
        const created = createUpstream(place, options, { ...upstreamOptions, limits });
        return { place, limits, upstream: created, close: async () => (await created).close() };
      });
      return accessTo(place, await upstream, limits);
    },
    probe: async (log) => {
      const timeout = upstreamOptions.limits.upstreamConnectMs;
      for (const { place } of entries.all()) {
        for (const url of addressesOf(place)) {
          const { probeUpstream, probeSentence } = await import('../upstream/probe.ts'); // loads undici, which is slow
          const probed = await probeUpstream(url, wayTo(url, place.upstream, options), timeout, false);
          const fields = { upstream: new URL(url).origin, ...probed };
          if (probed.reached) log.info(fields, probeSentence(url, probed));
          else log.warn(fields, probeSentence(url, probed));
        }
      }
    },
    keepOnly: (places) => {
      entries.keepOnly(new Set(places.map(keyOf)));
      const tokenKeys = new Set(places.map(tokensKeyOf));
      for (const key of tokens.keys()) if (!tokenKeys.has(key)) tokens.delete(key);
    },
    close: () => entries.close(),
  };
}

function keyOf({ upstreamUrl, upstream: plan, limits }: UpstreamPlace): string {
  return JSON.stringify([upstreamUrl, plan?.tls, plan?.proxy, plan?.connection, limits]);
}

function tokensKeyOf({ upstream: plan, limits }: UpstreamPlace): string {
  return JSON.stringify([plan?.oauth, plan?.tls, plan?.proxy, limits]);
}

/** Returns the URLs of all addresses of an upstream; an empty array for the reference upstream. */
export function addressesOf({
  upstreamUrl: url,
  upstream: plan,
}: Pick<UpstreamPlace, 'upstreamUrl' | 'upstream'>): readonly string[] {
  return plan?.connection.addresses?.map((address) => address.url) ?? (url === undefined ? [] : [url]);
}

/**
 * Returns the connection settings of an address: from its plan, or from the environment if the plan does not set them.
 */
export function wayTo(
  url: string,
  plan: UpstreamPlan | undefined,
  { way, proxies }: { readonly way?: Way | undefined; readonly proxies?: Proxies | undefined },
): Way {
  if (plan === undefined && proxies === undefined) return way ?? {};
  const ofEnvironment = proxies === undefined ? undefined : proxyFor(new URL(url), proxies);
  const proxy = plan?.proxy === 'none' ? undefined : (plan?.proxy ?? ofEnvironment);
  return { ...way, tls: plan?.tls ?? way?.tls, proxy };
}

/**
 * Returns the TLS settings for the token server. It shares the upstream's CAs, but not the client certificate and
 * server name.
 */
function withoutOwnName({ tls }: UpstreamPlan): Way['tls'] {
  return tls?.ca === undefined ? undefined : { ca: tls.ca };
}

async function createUpstream(
  { upstreamUrl: url, upstream: plan }: UpstreamPlace,
  options: UpstreamsOptions,
  upstreamOptions: UpstreamOptions,
): Promise<Upstream> {
  const { upstreamDatabase: database, upstreamOnly } = options;
  if (url !== undefined) {
    const { createServers } = await import('../upstream/http-upstream.ts'); // loads undici, which is slow
    const own = new Set(addressesOf({ upstreamUrl: url, upstream: plan }).map((one) => new URL(one).origin));
    const ways = (to: URL): Way => wayTo(to.href, own.has(to.origin) ? plan : withoutTls(plan), options);
    return createServers(url, { ...upstreamOptions, ...plan?.connection, wayTo: ways }, upstreamOnly);
  }
  const { createReferenceUpstream } = await import('../../upstream/service.ts');
  return createLocalUpstream(createReferenceUpstream(database === undefined ? {} : { database }));
}

/**
 * Returns the plan for another server that an operation names. The gateway's client certificate is not meant for that
 * server.
 */
function withoutTls(plan: UpstreamPlan | undefined): UpstreamPlan | undefined {
  return plan === undefined ? undefined : { ...plan, tls: undefined };
}

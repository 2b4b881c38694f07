import type { Limits } from '../../mappings/contract/limits.ts';
import type { Log } from '../core/core-options.ts';
import type { Way } from '../upstream/connector.ts';
import type { UpstreamOptions } from '../upstream/http-upstream.ts';
import { type Proxies, proxyFor } from '../upstream/proxy.ts';
import type { Tokens } from '../upstream/tokens.ts';
import { createLocalUpstream, type Upstream } from '../upstream/upstream.ts';
import type { ServeOptions } from './serve-options.ts';
import type { SitePlan } from './sites.ts';
import type { UpstreamPlan } from './upstream-plan.ts';

/** Which upstream is meant, and how it is called. */
type UpstreamPlace = Pick<SitePlan, 'upstreamUrl' | 'upstream' | 'limits'>;

/** The upstreams of a process, one for each address and way to it. */
export interface Upstreams {
  /** The one at a place, the same one where it was asked for before. */
  readonly at: (place: UpstreamPlace) => Promise<Upstream>;
  /** Tries to reach those that were asked for, and logs in words whether that can be. */
  readonly probe: (log: Log) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** An upstream with where it is. */
interface Entry {
  readonly place: UpstreamPlace;
  readonly upstream: Promise<Upstream>;
}

/** The upstreams of a process; none of them is made before it is asked for. */
export function createUpstreams(options: ServeOptions, upstreamOptions: UpstreamOptions): Upstreams {
  // one that no contract needs any more is kept: it holds no connection, and its last calls may still be on their way
  const entries = new Map<string, Entry>();
  /** Tokens outlive a reload that leaves how they are asked for as it is. */
  const tokens = new Map<string, Tokens>();

  async function accessTo(place: UpstreamPlace, upstream: Upstream, limits: Limits): Promise<Upstream> {
    const { upstream: plan } = place;
    if (plan === undefined) return upstream;
    const { headers, query, oauth } = plan;
    if (query === '' && oauth === undefined && Object.keys(headers).length === 0) return upstream;
    const { withAccess } = await import('../upstream/access.ts');
    if (oauth === undefined) return withAccess(upstream, { headers, query, tokens: undefined });
    const { Tokens } = await import('../upstream/tokens.ts'); // an OAuth client, which few need
    const key = JSON.stringify([oauth, plan.tls, plan.proxy, place.limits]);
    const way = { ...wayTo(oauth.tokenUrl, plan, options), tls: withoutOwnName(plan) };
    const known = tokens.get(key) ?? new Tokens(oauth, limits, way);
    tokens.set(key, known);
    return withAccess(upstream, { headers, query, tokens: known });
  }

  return {
    at: async (place) => {
      const { upstreamUrl: url, upstream: plan } = place;
      const limits = { ...upstreamOptions.limits, ...place.limits };
      const key = JSON.stringify([url, plan?.tls, plan?.proxy, place.limits]);
      const entry = entries.get(key) ?? {
        place,
        upstream: createUpstream(place, options, { ...upstreamOptions, limits }),
      };
      entries.set(key, entry);
      return accessTo(place, await entry.upstream, limits);
    },
    probe: async (log) => {
      const { probeUpstream, probeSentence } = await import('../upstream/probe.ts');
      const timeout = upstreamOptions.limits.upstreamConnectMs;
      for (const { place } of entries.values()) {
        const { upstreamUrl: url, upstream: plan } = place;
        if (url === undefined) continue;
        const probed = await probeUpstream(url, wayTo(url, plan, options), timeout, false);
        const fields = { upstream: new URL(url).origin, ...probed };
        if (probed.reached) log.info(fields, probeSentence(url, probed));
        else log.warn(fields, probeSentence(url, probed));
      }
    },
    close: async () => {
      for (const { upstream } of entries.values()) await (await upstream).close();
    },
  };
}

/** How an address is connected to: by what its plan says, and where that says nothing by what the environment does. */
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

/** The CAs of an upstream are good for the server of its tokens; its certificate and name are not. */
function withoutOwnName({ tls }: UpstreamPlan): Way['tls'] {
  return tls?.ca === undefined ? undefined : { ca: tls.ca };
}

async function createUpstream(
  { upstreamUrl: url, upstream: plan }: UpstreamPlace,
  options: ServeOptions,
  upstreamOptions: UpstreamOptions,
): Promise<Upstream> {
  const { upstreamDatabase: database, upstreamOnly } = options;
  if (url !== undefined) {
    const { createServers } = await import('../upstream/http-upstream.ts'); // undici, which takes a while to load
    const { origin } = new URL(url);
    const ways = (to: URL): Way => wayTo(to.href, to.origin === origin ? plan : withoutTls(plan), options);
    return createServers(url, { ...upstreamOptions, wayTo: ways }, upstreamOnly);
  }
  const { createReferenceUpstream } = await import('../../upstream/service.ts');
  return createLocalUpstream(createReferenceUpstream(database === undefined ? {} : { database }));
}

/** For another server that an operation names: our certificate is not for it. */
function withoutTls(plan: UpstreamPlan | undefined): UpstreamPlan | undefined {
  return plan === undefined ? undefined : { ...plan, tls: undefined };
}

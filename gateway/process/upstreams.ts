import type { UpstreamOptions } from '../upstream/http-upstream.ts';
import { createLocalUpstream, type Upstream } from '../upstream/upstream.ts';
import type { ServeOptions } from './serve-options.ts';

/** The upstreams of a process, one for each address. */
export interface Upstreams {
  /** The one at an address; undefined: the reference upstream, in this process. */
  readonly at: (url: string | undefined) => Promise<Upstream>;
  readonly close: () => Promise<void>;
}

/** The upstreams of a process; none of them is made before it is asked for. */
export function createUpstreams(options: ServeOptions, upstreamOptions: UpstreamOptions): Upstreams {
  // one that no contract needs any more is kept: it holds no connection, and its last calls may still be on their way
  const upstreams = new Map<string | undefined, Promise<Upstream>>();
  return {
    at: (url) => {
      const known = upstreams.get(url);
      if (known !== undefined) return known;
      const upstream = createUpstream(url, options, upstreamOptions);
      upstreams.set(url, upstream);
      return upstream;
    },
    close: async () => {
      for (const upstream of upstreams.values()) await (await upstream).close();
    },
  };
}

async function createUpstream(
  url: string | undefined,
  { upstreamDatabase: database, upstreamOnly }: ServeOptions,
  upstreamOptions: UpstreamOptions,
): Promise<Upstream> {
  if (url !== undefined) {
    const { createServers } = await import('../upstream/servers.ts'); // undici, which takes a while to load
    return createServers(url, upstreamOptions, upstreamOnly);
  }
  const { createReferenceUpstream } = await import('../../upstream/service.ts');
  return createLocalUpstream(createReferenceUpstream(database === undefined ? {} : { database }));
}

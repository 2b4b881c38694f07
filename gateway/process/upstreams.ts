import type { Log } from '../core/core-options.ts';
import type { UpstreamOptions } from '../upstream/http-upstream.ts';
import { createLocalUpstream, type Upstream } from '../upstream/upstream.ts';
import type { ServeOptions } from './serve-options.ts';

/** The upstreams of a process, one for each address. */
export interface Upstreams {
  /** The one at an address; undefined: the reference upstream, in this process. */
  readonly at: (url: string | undefined) => Promise<Upstream>;
  /** Tries to reach those that were asked for, and logs in words whether that can be. */
  readonly probe: (log: Log) => Promise<void>;
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
    probe: async (log) => {
      const { probeUpstream, probeSentence } = await import('../upstream/probe.ts');
      const timeout = upstreamOptions.limits.upstreamConnectMs;
      for (const url of upstreams.keys()) {
        if (url === undefined) continue;
        const probed = await probeUpstream(url, options.way ?? {}, timeout, false);
        const fields = { upstream: new URL(url).origin, ...probed };
        if (probed.reached) log.info(fields, probeSentence(url, probed));
        else log.warn(fields, probeSentence(url, probed));
      }
    },
    close: async () => {
      for (const upstream of upstreams.values()) await (await upstream).close();
    },
  };
}

async function createUpstream(
  url: string | undefined,
  { upstreamDatabase: database, upstreamOnly, way }: ServeOptions,
  upstreamOptions: UpstreamOptions,
): Promise<Upstream> {
  if (url !== undefined) {
    const { createServers } = await import('../upstream/servers.ts'); // undici, which takes a while to load
    return createServers(
      url,
      { ...upstreamOptions, ...(way === undefined ? {} : { wayTo: () => way }) },
      upstreamOnly,
    );
  }
  const { createReferenceUpstream } = await import('../../upstream/service.ts');
  return createLocalUpstream(createReferenceUpstream(database === undefined ? {} : { database }));
}

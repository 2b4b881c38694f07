import type { Server } from '../../mappings/contract/model.ts';
import { addressOf } from './address.ts';
import { createHttpUpstream, type UpstreamOptions } from './http-upstream.ts';
import type { Upstream, UpstreamState } from './upstream.ts';

/**
 * The upstream at an address, and the other servers that operations name: each by itself, made when it is first called.
 *
 * @param only the upstream takes the others' calls too
 */
export function createServers(address: string, options: UpstreamOptions, only = false): Upstream {
  const byAddress = new Map<string, Upstream>();
  const byServer = new WeakMap<Server, Upstream>();

  function upstreamOf(server: Server): Upstream {
    const url = addressOf(address, only ? { ...server, address: undefined } : server);
    const upstream = byAddress.get(url) ?? createHttpUpstream(url, options);
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
        openOperations: sum(({ openOperations }) => openOperations),
        waiting: sum(({ waiting }) => waiting),
        shed: sum(({ shed }) => shed),
      };
    },
    close: async () => {
      for (const upstream of byAddress.values()) await upstream.close();
    },
  };
}

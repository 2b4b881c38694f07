import type { AdminState } from '../../process/admin.ts';
import type { AddressState, UpstreamState } from '../../upstream/upstream.ts';
import { pageOf } from '../page.ts';
import { Problem } from '../problem.ts';
import { type AdminRequest, type AdminRoute, listParameters, stateRoute } from '../route.ts';

/** Circuit breakers and connection pools of the upstreams, by contract and worker. */
export const upstreams: readonly AdminRoute[] = [
  upstreamRoute(
    '/api/v1/breakers',
    'Circuit breakers by contract and worker.',
    ({ isOpen, openOperations, addresses }) => ({
      open: isOpen,
      openOperations,
      ...shownAddresses(addresses, (of) => ({
        open: of.isOpen,
        openOperations: of.openOperations,
        healthy: of.isHealthy,
      })),
    }),
  ),
  upstreamRoute(
    '/api/v1/pools',
    'Connection pools by contract and worker.',
    ({ active, connections, waiting, shed, addresses }) => ({
      active,
      connections,
      waiting,
      shed,
      ...shownAddresses(addresses, (of) => ({ weight: of.weight, active: of.active })),
    }),
  ),
];

/** Returns a member for the addresses, if the upstream has several. */
function shownAddresses(addresses: readonly AddressState[], shown: (state: AddressState) => object): object {
  if (addresses.length === 0) return {};
  return { addresses: addresses.map((of) => ({ address: of.address, ...shown(of) })) };
}

function upstreamRoute(path: string, summary: string, shown: (state: UpstreamState) => object): AdminRoute {
  const read = async ({ upstreams }: AdminState, { query }: AdminRequest): Promise<unknown> => {
    const workers = await upstreams();
    if (workers === undefined) throw new Problem(503, 'the process starts or stops', { 'Retry-After': '1' });
    const items = workers.flatMap(([worker, states]) =>
      states.map(([contract, state]) => ({ contract, worker, ...shown(state) })),
    );
    return pageOf(items, query, ({ contract, worker = '' }) => `${contract} ${worker}`);
  };
  return stateRoute(path, summary, read, { parameters: listParameters });
}

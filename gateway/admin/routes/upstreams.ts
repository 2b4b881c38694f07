import type { UpstreamState } from '../../upstream/upstream.ts';
import { pageOf } from '../page.ts';
import { Problem } from '../problem.ts';
import { type AdminRoute, stateRoute } from '../route.ts';

/** Circuit breakers and connection pools of the upstreams, by contract and worker. */
export const upstreams: readonly AdminRoute[] = [
  upstreamRoute('/api/v1/breakers', ({ isOpen, openOperations }) => ({ open: isOpen, openOperations })),
  upstreamRoute('/api/v1/pools', ({ active, connections, waiting, shed }) => {
    return { active, connections, waiting, shed };
  }),
];

function upstreamRoute(path: string, shown: (state: UpstreamState) => object): AdminRoute {
  return stateRoute(path, async ({ upstreams: read }, { query }) => {
    const workers = await read();
    if (workers === undefined) throw new Problem(503, 'the process starts or stops', { 'Retry-After': '1' });
    const items = workers.flatMap(([worker, states]) =>
      states.map(([contract, state]) => ({ contract, worker, ...shown(state) })),
    );
    return pageOf(items, query, ({ contract, worker = '' }) => `${contract} ${worker}`);
  });
}

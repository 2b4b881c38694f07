import { pageOf } from '../page.ts';
import { type AdminRoute, listParameters, stateRoute } from '../route.ts';

/** Contracts with hash, version, operations and time of loading. */
export const contracts: readonly AdminRoute[] = [
  stateRoute(
    '/api/v1/contracts',
    'Served contracts.',
    ({ contracts: served }, { query }) => pageOf(served(), query, ({ path }) => path),
    { parameters: listParameters },
  ),
];

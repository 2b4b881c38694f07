import { type AdminRoute, stateRoute } from '../route.ts';

/** Effective settings with their source, without secrets. */
export const config: readonly AdminRoute[] = [
  stateRoute(
    '/api/v1/config',
    'Effective settings with their sources, without secrets.',
    ({ version, settings }) => ({ version, settings: settings() }),
  ),
];

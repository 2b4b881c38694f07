import { openapiRoute } from './openapi.ts';
import type { AdminRoute } from './route.ts';
import { audit } from './routes/audit.ts';
import { config } from './routes/config.ts';
import { contracts } from './routes/contracts.ts';
import { exchanges } from './routes/exchanges.ts';
import { forget } from './routes/forget.ts';
import { probes } from './routes/probes.ts';
import { reload } from './routes/reload.ts';
import { routeChanges } from './routes/route-changes.ts';
import { session } from './routes/session.ts';
import { upstreams } from './routes/upstreams.ts';
import { usage } from './routes/usage.ts';
import { verdicts } from './routes/verdicts.ts';

const resources: readonly AdminRoute[] = [
  ...probes,
  ...session,
  ...config,
  ...contracts,
  ...upstreams,
  ...routeChanges,
  ...verdicts,
  ...forget,
  ...reload,
  ...exchanges,
  ...usage,
  ...audit,
];

/** All routes of the admin listener. Each file of `routes/` has the routes of one resource. */
export const routes: readonly AdminRoute[] = [...resources, openapiRoute(resources)];

import { readAudit } from '../resources/audit.ts';
import { type AdminRoute, listParameters, stateRoute } from '../route.ts';

/** Entries of the audit. */
export const audit: readonly AdminRoute[] = [
  stateRoute(
    '/api/v1/audit',
    'Changes, refused changes and sign-ins, newest first.',
    (state, { query }) => readAudit(state, query),
    { access: 'change', parameters: listParameters },
  ),
];

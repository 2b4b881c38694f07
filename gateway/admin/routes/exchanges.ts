import { readExchange, readExchanges } from '../resources/exchanges.ts';
import { type AdminRoute, listParameters, stateRoute } from '../route.ts';

const path = '/api/v1/contracts/:c/exchanges';

/** Recorded exchanges (G56). They need the role change, because they are messages of callers. */
export const exchanges: readonly AdminRoute[] = [
  stateRoute(
    path,
    'Recorded exchanges without bodies, newest first.',
    (state, { params, query }) => readExchanges(state, params.c ?? '', query),
    { access: 'change', parameters: [...listParameters, 'operation', 'caller'] },
  ),
  stateRoute(
    `${path}/:id`,
    'A recorded exchange, redacted as stored.',
    (state, { params }) => readExchange(state, params.c ?? '', params.id ?? ''),
    { access: 'change' },
  ),
];

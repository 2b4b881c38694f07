import { isUtf8 } from 'node:buffer';
import type { AdminState } from '../../process/admin.ts';
import type { StoreRow } from '../../store/store.ts';
import { exchangeOf, selectNewestExchanges } from '../../store/tables/record.ts';
import type { ExchangeBody, ExchangeSummary, ExchangeView } from '../api-types.ts';
import { checkContract, storeOf } from '../contract-at.ts';
import { viewOf } from '../members.ts';
import { cursorOf, type Page, readPageQuery } from '../page.ts';
import { invalid, Problem } from '../problem.ts';
import { type AdminRequest, type AdminRoute, listParameters, stateRoute } from '../route.ts';

/**
 * Returns a page of the recorded exchanges of a contract without bodies, newest first (G56). `operation` and `caller` of
 * the query select. Throws Problem 400, 404 and 409. Rejects with StoreError.
 */
export async function readExchanges(
  state: AdminState,
  contract: string,
  query: AdminRequest['query'],
): Promise<Page<ExchangeSummary>> {
  checkContract(state, contract);
  const { most, after } = readPageQuery(query, /^\d{1,15} [\w-]{1,100}$/);
  const [at = '', id = ''] = after?.split(' ') ?? [];
  const selection = {
    contract,
    operation: nameIn(query, 'operation'),
    caller: nameIn(query, 'caller'),
    after: after === undefined ? undefined : { at: Number(at), id },
    limit: most + 1,
  };
  const rows = await storeOf(state).all(selectNewestExchanges(selection));
  const last = rows.length > most ? rows[most - 1] : undefined;
  const items = rows.slice(0, most).map(summaryOf);
  return { items, cursor: cursorOf(last && `${last.at} ${last.id}`) };
}

/** Returns a parameter of the query. Throws Problem 400. */
function nameIn(query: AdminRequest['query'], name: string): string | undefined {
  const value = query[name];
  if (value === undefined || (typeof value === 'string' && !/\p{Cc}/u.test(value))) return value;
  throw invalid(400, [{ pointer: `/${name}`, message: 'expected one name, got another value' }]);
}

/** Returns a recorded exchange, redacted as stored (G57). Throws Problem 404 and 409. Rejects with StoreError. */
async function readExchange(state: AdminState, path: string, id: string): Promise<ExchangeView> {
  checkContract(state, path);
  const sql = 'SELECT * FROM exchanges WHERE contract = $1 AND id = $2';
  const isId = /^[\w-]{1,100}$/.test(id);
  const [row] = isId ? await storeOf(state).all({ sql, values: [path, id] }) : [];
  if (row === undefined) throw new Problem(404, 'expected the id of a recorded exchange, got another id');
  const { request, requestJson = null, legacy, new: fresh } = exchangeOf(row);
  const bodies = { request: bodyOf(request), requestJson, legacy: bodyOf(legacy), new: bodyOf(fresh) };
  return { ...summaryOf(row), bodies };
}

function summaryOf(row: StoreRow): ExchangeSummary {
  const { id, at, operation, caller, mode, rule, redaction, details } = exchangeOf(row);
  return viewOf({ id, at, operation, caller, mode, rule, redaction, details }, 'at');
}

/** Returns a body as text, or in base64 if it is not UTF-8. */
function bodyOf(bytes: Uint8Array | undefined): ExchangeBody | null {
  if (bytes === undefined) return null;
  const encoding = isUtf8(bytes) ? 'utf8' : 'base64';
  return { encoding, content: Buffer.from(bytes).toString(encoding) };
}

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

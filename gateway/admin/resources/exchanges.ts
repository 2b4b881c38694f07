import { isUtf8 } from 'node:buffer';
import type { AdminState } from '../../process/admin.ts';
import type { Store, StoreRow, StoreValue } from '../../store/store.ts';
import { exchangeOf } from '../../store/tables/record.ts';
import type { ExchangeBody, ExchangeSummary, ExchangeView } from '../api-types.ts';
import { checkContract, storeOf } from '../contract-at.ts';
import { timeOf } from '../members.ts';
import { type Page, readPageQuery } from '../page.ts';
import { invalid, Problem } from '../problem.ts';
import type { AdminRequest } from '../route.ts';

/** Columns without bodies, which can be large. */
const columns = 'id, contract, at, operation, caller, mode, rule, redaction, details';

/**
 * Returns a page of the recorded exchanges of a contract without bodies, newest first (G56). `operation` and `caller` of
 * the query select. Throws Problem 400, 404 and 409. Rejects with StoreError.
 */
export async function readExchanges(
  state: AdminState,
  path: string,
  query: AdminRequest['query'],
): Promise<Page<ExchangeSummary>> {
  checkContract(state, path);
  const { most, after } = readPageQuery(query);
  const values: StoreValue[] = [path];
  let where = 'contract = $1';
  for (const name of ['operation', 'caller'] as const) {
    const value = query[name];
    if (value === undefined) continue;
    if (typeof value !== 'string' || /\p{Cc}/u.test(value))
      throw invalid(400, [{ pointer: `/${name}`, message: 'expected one name, got another value' }]);
    where += ` AND ${name} = $${values.push(value)}`;
  }
  if (after !== undefined) {
    const [, at, id] = /^(\d{1,15}) ([\w-]{1,100})$/.exec(after) ?? [];
    if (at === undefined || id === undefined)
      throw invalid(400, [{ pointer: '/cursor', message: 'expected the cursor of the page before' }]);
    const [from, before, last] = [values.push(Number(at)), values.push(Number(at)), values.push(id)];
    where += ` AND at <= $${from} AND (at < $${before} OR id < $${last})`; // the first part limits the index
  }
  const order = `ORDER BY at DESC, id DESC LIMIT $${values.push(most + 1)}`;
  const rows = await storeOf(state).all({
    sql: `SELECT ${columns} FROM exchanges WHERE ${where} ${order}`,
    values,
  });
  const last = rows.length > most ? rows[most - 1] : undefined;
  return {
    items: rows.slice(0, most).map(summaryOf),
    cursor: last === undefined ? null : Buffer.from(`${last.at} ${last.id}`).toString('base64url'),
  };
}

/** Returns a recorded exchange, redacted as stored (G57). Throws Problem 404 and 409. Rejects with StoreError. */
export async function readExchange(state: AdminState, path: string, id: string): Promise<ExchangeView> {
  checkContract(state, path);
  const row = /^[\w-]{1,100}$/.test(id) ? await rowOf(storeOf(state), path, id) : undefined;
  if (row === undefined) throw new Problem(404, 'expected the id of a recorded exchange, got another id');
  const { request, requestJson, legacy, new: fresh } = exchangeOf(row);
  return {
    ...summaryOf(row),
    bodies: {
      request: bodyOf(request),
      requestJson: requestJson ?? null,
      legacy: bodyOf(legacy),
      new: bodyOf(fresh),
    },
  };
}

async function rowOf(store: Store, path: string, id: string): Promise<StoreRow | undefined> {
  const sql = 'SELECT * FROM exchanges WHERE contract = $1 AND id = $2';
  return (await store.all({ sql, values: [path, id] }))[0];
}

function summaryOf(row: StoreRow): ExchangeSummary {
  const { id, at, operation, caller = null, mode, rule, redaction, details } = row;
  return {
    ...{ id: String(id), at: timeOf(Number(at)), operation: String(operation) },
    ...{ caller: caller === null ? null : String(caller), mode: String(mode), rule: String(rule) },
    redaction: redaction === 'none' ? 'none' : 'pseudonyms',
    details: JSON.parse(String(details)),
  };
}

/** Returns a body as text, or in base64 if it is not UTF-8. */
function bodyOf(bytes: Uint8Array | undefined): ExchangeBody | null {
  if (bytes === undefined) return null;
  const encoding = isUtf8(bytes) ? 'utf8' : 'base64';
  return { encoding, content: Buffer.from(bytes).toString(encoding) };
}

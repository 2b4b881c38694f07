import type { Statement, StoreRow, StoreValue } from '../store.ts';
import { tableOf } from '../table.ts';
import type { TableData } from '../table-data.ts';

/** Recorded exchanges (G56). `details` is JSON: headers, sizes and durations of both sides. */
export const recordTables: readonly string[] = [
  `CREATE TABLE exchanges (
    id TEXT PRIMARY KEY, contract TEXT NOT NULL, at BIGINT NOT NULL, operation TEXT NOT NULL, caller TEXT,
    mode TEXT NOT NULL, rule TEXT NOT NULL, redaction TEXT NOT NULL, details TEXT NOT NULL,
    request BYTEA, request_json TEXT, legacy_reply BYTEA, new_reply BYTEA, bytes BIGINT NOT NULL
  )`,
  'CREATE INDEX exchanges_by_time ON exchanges (contract, at, id, bytes)',
  // lists with a selection (G56), and the deletion of a caller
  'CREATE INDEX exchanges_by_operation ON exchanges (contract, operation, at, id)',
  'CREATE INDEX exchanges_by_caller ON exchanges (caller, contract, at, id)',
];

/** Rows that belong to callers. `migration.record` of a contract sets their age (G55). */
export const recordData: TableData = { table: 'exchanges', key: 'id', time: 'at', caller: 'caller' };

/** The headers of a message that are recorded. */
export type RecordedHeaders = Readonly<Record<string, string>>;

/** A recorded message without its body. `sha256` is that of a body that is too large to be recorded. */
export interface RecordedMessage {
  readonly headers: RecordedHeaders;
  /** Size of the body as it was sent, in bytes. */
  readonly size: number;
  readonly sha256?: string;
}

/** The reply of a side. Status 0: the call failed without a reply. */
export interface RecordedReply extends RecordedMessage {
  readonly status: number;
  readonly ms: number;
}

/** A recorded exchange without its bodies. */
export interface ExchangeHead {
  readonly id: string;
  /** In ms since 1970. */
  readonly at: number;
  /** `?` for an unknown operation. */
  readonly operation: string;
  /** Name or pseudonym. */
  readonly caller: string | undefined;
  readonly mode: string;
  readonly rule: string;
  readonly redaction: 'pseudonyms' | 'none';
  readonly details: {
    readonly requestId: string;
    readonly path: string;
    readonly version: '1.1' | '1.2';
    readonly request: RecordedMessage;
    readonly legacy?: RecordedReply;
    readonly new?: RecordedReply;
  };
}

/** A recorded exchange. Bodies are redacted and have no content coding. */
export interface StoredExchange extends ExchangeHead {
  readonly contract: string;
  readonly request: Uint8Array | undefined;
  readonly requestJson: string | undefined;
  readonly legacy: Uint8Array | undefined;
  readonly new: Uint8Array | undefined;
}

/** Returns about the number of bytes that an exchange takes in the store. */
export function bytesOf({ details, request, requestJson, legacy, new: fresh }: StoredExchange): number {
  const bodies = [request, requestJson, legacy, fresh].reduce((sum, one) => sum + (one?.length ?? 0), 0);
  return bodies + JSON.stringify(details).length + 300;
}

const exchanges = tableOf<Omit<StoredExchange, 'details'> & { details: string; bytes: number }>(
  'exchanges',
  [
    ...(['id', 'contract', 'at', 'operation', 'caller', 'mode', 'rule', 'redaction', 'details'] as const),
    ...(['request', 'requestJson', 'legacy', 'new', 'bytes'] as const),
  ],
  { legacy: 'legacy_reply', new: 'new_reply' },
);

/** Returns the statement that adds an exchange. */
export function insertExchange(exchange: StoredExchange): Statement {
  const details = JSON.stringify(exchange.details);
  return exchanges.insert({ ...exchange, details, bytes: bytesOf(exchange) });
}

/** Selects exchanges of a contract. Times are in ms since 1970. */
export interface ExchangeSelection {
  readonly contract: string;
  readonly operation?: string | undefined;
  readonly caller?: string | undefined;
  /** The first time, and the first one that is excluded. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** The last exchange before the selected ones. Exchanges with the same time are sorted by id. */
  readonly after?: Pick<StoredExchange, 'at' | 'id'> | undefined;
  readonly limit: number;
}

/** Returns the query for exchanges, oldest first. `exchangeOf` reads its rows. */
export function selectExchanges(selection: ExchangeSelection): Statement {
  return select('*', selection, '>', 'ASC');
}

/** Returns the query for exchanges without their bodies, which can be large, newest first. */
export function selectNewestExchanges(selection: ExchangeSelection): Statement {
  const columns = 'id, contract, at, operation, caller, mode, rule, redaction, details';
  return select(columns, selection, '<', 'DESC');
}

function select(
  columns: string,
  { contract, operation, caller, since, until, after, limit }: ExchangeSelection,
  isAfter: '<' | '>',
  order: 'ASC' | 'DESC',
): Statement {
  const values: StoreValue[] = [];
  const add = (value: StoreValue): string => `$${values.push(value)}`;
  const conditions = [`contract = ${add(contract)}`];
  if (operation !== undefined) conditions.push(`operation = ${add(operation)}`);
  if (caller !== undefined) conditions.push(`caller = ${add(caller)}`);
  if (since !== undefined) conditions.push(`at >= ${add(since)}`);
  if (until !== undefined) conditions.push(`at < ${add(until)}`);
  if (after !== undefined) conditions.push(`(at, id) ${isAfter} (${add(after.at)}, ${add(after.id)})`);
  const where = conditions.join(' AND ');
  const sql = `SELECT ${columns} FROM exchanges WHERE ${where} ORDER BY at ${order}, id ${order} LIMIT ${add(limit)}`;
  return { sql, values };
}

/** Reads a row of the table. Columns that were not selected are undefined. */
export function exchangeOf(row: StoreRow): StoredExchange {
  const { bytes: _, details, ...exchange } = exchanges.read(row);
  return { ...exchange, details: JSON.parse(details) };
}

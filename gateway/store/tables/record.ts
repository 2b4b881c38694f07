import type { Statement, StoreRow } from '../store.ts';
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
export const recordData: readonly TableData[] = [
  { table: 'exchanges', key: 'id', time: 'at', caller: 'caller' },
];

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

/** A recorded exchange. Bodies are redacted and have no content coding. */
export interface StoredExchange {
  readonly id: string;
  readonly contract: string;
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

/** Returns the statement that adds an exchange. */
export function insertExchange(exchange: StoredExchange): Statement {
  const { id, contract, at, operation, caller, mode, rule, redaction, details } = exchange;
  const { request, requestJson, legacy, new: fresh } = exchange;
  return {
    sql: 'INSERT INTO exchanges (id, contract, at, operation, caller, mode, rule, redaction, details, request, request_json, legacy_reply, new_reply, bytes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)',
    values: [
      ...[id, contract, at, operation, caller ?? null, mode, rule, redaction, JSON.stringify(details)],
      ...[request ?? null, requestJson ?? null, legacy ?? null, fresh ?? null, bytesOf(exchange)],
    ],
  };
}

/** Selects exchanges after one; those of a time have the order of their ids. */
export interface ExchangeSelection {
  readonly contract: string;
  readonly operation?: string | undefined;
  readonly caller?: string | undefined;
  /** Times in ms since 1970: the first, and the first that is excluded. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly after?: { readonly at: number; readonly id: string } | undefined;
  readonly limit: number;
}

/** Returns the query for exchanges in their order. `exchangeOf` reads its rows. */
export function selectExchanges(selection: ExchangeSelection): Statement {
  const { contract, operation, caller, since, until, after, limit } = selection;
  const values: (string | number)[] = [];
  const conditions: string[] = [];
  const add = (condition: string, value: string | number | undefined): void => {
    if (value !== undefined) conditions.push(condition.replace('?', `$${values.push(value)}`));
  };
  add('contract = ?', contract);
  add('operation = ?', operation);
  add('caller = ?', caller);
  add('at >= ?', since);
  add('at < ?', until);
  if (after !== undefined) {
    const [at, same, id] = [values.push(after.at), values.push(after.at), values.push(after.id)];
    conditions.push(`(at > $${at} OR (at = $${same} AND id > $${id}))`);
  }
  return {
    sql: `SELECT * FROM exchanges WHERE ${conditions.join(' AND ')} ORDER BY at, id LIMIT $${values.push(limit)}`,
    values,
  };
}

/** Reads a row of the table. */
export function exchangeOf(row: StoreRow): StoredExchange {
  const bytes = (value: StoreRow[string] | undefined): Uint8Array | undefined =>
    value instanceof Uint8Array ? value : undefined;
  const { caller, request_json: json } = row;
  return {
    id: String(row.id),
    contract: String(row.contract),
    at: Number(row.at),
    operation: String(row.operation),
    caller: typeof caller === 'string' ? caller : undefined,
    mode: String(row.mode),
    rule: String(row.rule),
    redaction: row.redaction === 'none' ? 'none' : 'pseudonyms',
    details: JSON.parse(String(row.details)),
    request: bytes(row.request),
    requestJson: typeof json === 'string' ? json : undefined,
    legacy: bytes(row.legacy_reply),
    new: bytes(row.new_reply),
  };
}

/** Returns the query for the paths of the contracts that have recordings, as `contract`. */
export function selectRecordedContracts(): Statement {
  return { sql: 'SELECT DISTINCT contract FROM exchanges', values: [] };
}

/** Returns the query for the size of a contract's recordings, as `bytes`. */
export function selectRecordedBytes(contract: string): Statement {
  return {
    sql: 'SELECT COALESCE(SUM(bytes), 0) AS bytes FROM exchanges WHERE contract = $1',
    values: [contract],
  };
}

/** Returns the query for the sizes of a contract's oldest recordings, as `bytes`. */
export function selectOldestBytes(contract: string, limit: number): Statement {
  return {
    sql: 'SELECT bytes FROM exchanges WHERE contract = $1 ORDER BY at, id LIMIT $2',
    values: [contract, limit],
  };
}

/** Returns the statement that deletes the oldest exchanges before a time, at most `limit` (G55). */
export function deleteExchanges(contract: string, before: number, limit: number): Statement {
  return {
    sql: 'DELETE FROM exchanges WHERE id IN (SELECT id FROM exchanges WHERE contract = $1 AND at < $2 ORDER BY at, id LIMIT $3)',
    values: [contract, before, limit],
  };
}

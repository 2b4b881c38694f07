import { dayMs } from '../../../mappings/contract/times.ts';
import type { Statement, Store, StoreRow } from '../store.ts';
import { inSnakeCase, tableOf } from '../table.ts';
import { countsKeptMs, type TableData } from '../table-data.ts';

/** Calls by operation and caller (G61, G62), and exemptions of callers (G65). */
export const usageTables: readonly string[] = [
  // `day`: its start. `binding`: soap11, soap12, xml, json, rest or http. `side`: legacy, new, both or none.
  `CREATE TABLE usage_days (
    contract TEXT NOT NULL,
    operation TEXT NOT NULL,
    caller TEXT NOT NULL,
    day BIGINT NOT NULL,
    binding TEXT NOT NULL,
    side TEXT NOT NULL,
    calls BIGINT NOT NULL,
    faults BIGINT NOT NULL,
    reordered BIGINT NOT NULL,
    ignored BIGINT NOT NULL,
    illegal_references BIGINT NOT NULL,
    no_action BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    PRIMARY KEY (contract, operation, caller, day, binding, side)
  )`,
  'CREATE INDEX usage_days_by_day ON usage_days (day)',
  `CREATE TABLE callers (
    contract TEXT NOT NULL,
    caller TEXT NOT NULL,
    network TEXT,
    user_agent TEXT,
    subject TEXT,
    stack TEXT NOT NULL,
    first_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    PRIMARY KEY (contract, caller)
  )`,
  // `operation` is null for all operations.
  `CREATE TABLE exemptions (
    id BIGSERIAL PRIMARY KEY,
    contract TEXT NOT NULL,
    caller TEXT NOT NULL,
    operation TEXT,
    until BIGINT NOT NULL,
    reason TEXT NOT NULL,
    actor TEXT NOT NULL,
    at BIGINT NOT NULL
  )`,
  'CREATE INDEX exemptions_by_contract ON exemptions (contract)',
];

/** Rows that expire or belong to callers (G55). */
export const usageData: readonly TableData[] = [
  {
    table: 'usage_days',
    key: 'contract, operation, caller, day, binding, side',
    time: 'day',
    lastTime: 'last_at',
    caller: 'caller',
    keepMs: countsKeptMs,
  },
  { table: 'callers', key: 'contract, caller', time: 'last_at', caller: 'caller', keepMs: countsKeptMs },
  { table: 'exemptions', key: 'id', time: 'until', caller: 'caller', keepMs: countsKeptMs },
];

/** Calls of one operation by one caller on one day, by binding and answering side. Times are ms since 1970, UTC. */
export interface UsageRow {
  readonly operation: string;
  readonly caller: string;
  readonly day: number;
  readonly binding: string;
  readonly side: string;
  calls: number;
  faults: number;
  /** Calls that were accepted with elements out of order. */
  reordered: number;
  /** Calls that were accepted with ignored elements. */
  ignored: number;
  /** Calls that were accepted with illegal character references. */
  illegalReferences: number;
  /** SOAP 1.1 calls without SOAPAction. */
  noAction: number;
  lastAt: number;
}

/** A caller of a contract (G62). */
export interface CallerRow {
  readonly caller: string;
  readonly network: string | undefined;
  readonly userAgent: string | undefined;
  /** Subject of the client certificate. */
  readonly subject: string | undefined;
  readonly stack: string;
  readonly firstAt: number;
  lastAt: number;
}

const countNames = ['calls', 'faults', 'reordered', 'ignored', 'illegalReferences', 'noAction'] as const;
type Count = (typeof countNames)[number];

/** The columns of the counts. */
const counts = countNames.map(inSnakeCase);
const later = (table: string): string =>
  `last_at = CASE WHEN excluded.last_at > ${table}.last_at THEN excluded.last_at ELSE ${table}.last_at END`;

const days = tableOf<UsageRow & { contract: string }>('usage_days', [
  ...(['contract', 'operation', 'caller', 'day', 'binding', 'side'] as const),
  ...countNames,
  'lastAt',
]);

const addToRow = `ON CONFLICT (contract, operation, caller, day, binding, side) DO UPDATE SET
  ${counts.map((name) => `${name} = usage_days.${name} + excluded.${name}`).join(', ')}, ${later('usage_days')}`;

/** Returns the statement that adds calls to the row of the same key. */
export function addUsage(contract: string, row: UsageRow): Statement {
  return days.insert({ contract, ...row }, addToRow);
}

const callers = tableOf<CallerRow>('callers', [
  ...(['caller', 'network', 'userAgent', 'subject', 'stack', 'firstAt', 'lastAt'] as const),
]);

const callerSql = `INSERT INTO callers (contract, caller, network, user_agent, subject, stack, first_at, last_at)
  SELECT * FROM (SELECT CAST($1 AS TEXT) AS contract, CAST($2 AS TEXT) AS caller, CAST($3 AS TEXT), CAST($4 AS TEXT),
    CAST($5 AS TEXT), CAST($6 AS TEXT), CAST($7 AS BIGINT), CAST($8 AS BIGINT)) AS added
  WHERE EXISTS (SELECT 1 FROM callers WHERE callers.contract = added.contract AND callers.caller = added.caller)
  OR (SELECT COUNT(*) FROM callers WHERE callers.contract = added.contract) < $9
  ON CONFLICT (contract, caller) DO UPDATE SET
  network = excluded.network,
  user_agent = COALESCE(excluded.user_agent, callers.user_agent),
  subject = COALESCE(excluded.subject, callers.subject),
  stack = CASE WHEN excluded.stack = 'unknown' THEN callers.stack ELSE excluded.stack END,
  first_at = CASE WHEN excluded.first_at < callers.first_at THEN excluded.first_at ELSE callers.first_at END,
  ${later('callers')}`;

/**
 * Returns the statement that updates the row of a caller, or adds one. It changes no row if it would have to add one, and
 * the contract has `most` callers.
 */
export function putCaller(contract: string, row: CallerRow, most: number): Statement {
  const { values = [] } = callers.insert(row);
  return { sql: callerSql, values: [contract, ...values, most] };
}

/** Returns the names of the callers of a contract, at most `most`. */
export async function callersOf(store: Store, contract: string, most: number): Promise<readonly string[]> {
  const sql = 'SELECT caller FROM callers WHERE contract = $1 ORDER BY last_at DESC LIMIT $2';
  return (await store.all({ sql, values: [contract, most] })).map(({ caller }) => String(caller));
}

/** Returns the paths of the contracts with calls. */
export async function contractsOf(store: Store): Promise<readonly string[]> {
  const rows = await store.all({ sql: 'SELECT DISTINCT contract FROM usage_days ORDER BY contract' });
  return rows.map(({ contract }) => String(contract));
}

/** Calls of an operation by a caller since a time, of all bindings and sides. */
export interface Usage extends Readonly<Omit<UsageRow, 'day' | 'binding' | 'side'>> {
  /** Calls by binding, and by answering side. */
  readonly bindings: Readonly<Record<string, number>>;
  readonly sides: Readonly<Record<string, number>>;
}

/**
 * Returns the calls of a contract since a time, in ms since 1970, the operations and callers with most calls first
 * (G63). The first day counts as a whole.
 *
 * @param caller name of the only caller that counts; undefined for all callers
 */
export async function usageOf(
  store: Store,
  contract: string,
  since: number,
  caller?: string,
): Promise<readonly Usage[]> {
  const where = caller === undefined ? '' : ' AND caller = $3';
  const rows = await store.all({
    sql: `SELECT operation, caller, binding, side, ${counts.map((name) => `CAST(SUM(${name}) AS BIGINT) AS ${name}`).join(', ')},
      MAX(last_at) AS last_at FROM usage_days WHERE contract = $1 AND day >= $2${where}
      GROUP BY operation, caller, binding, side`,
    values: [contract, startOfDay(since), ...(caller === undefined ? [] : [caller])],
  });
  const found = Map.groupBy(rows.map(days.read), ({ operation, caller }) => `${operation}\n${caller}`);
  return [...found.values()]
    .flatMap(joined)
    .toSorted((a, b) => b.calls - a.calls || (a.operation < b.operation ? -1 : 1));
}

/** Adds up the rows of an operation and a caller. */
function joined(rows: readonly UsageRow[]): readonly Usage[] {
  const [first] = rows;
  if (first === undefined) return [];
  const { operation, caller } = first;
  const sum = (name: Count): number => rows.reduce((total, row) => total + row[name], 0);
  const callsBy = (name: 'binding' | 'side'): Readonly<Record<string, number>> => {
    const calls: Record<string, number> = {};
    for (const row of rows) calls[row[name]] = (calls[row[name]] ?? 0) + row.calls;
    return calls;
  };
  const counts = Object.fromEntries(countNames.map((name) => [name, sum(name)])) as Record<Count, number>;
  const lastAt = Math.max(...rows.map((row) => row.lastAt));
  return [{ operation, caller, ...counts, lastAt, bindings: callsBy('binding'), sides: callsBy('side') }];
}

/** Returns the time of the last call of each operation of a contract, in ms since 1970. */
export async function lastCallsOf(store: Store, contract: string): Promise<ReadonlyMap<string, number>> {
  const sql =
    'SELECT operation, MAX(last_at) AS last_at FROM usage_days WHERE contract = $1 GROUP BY operation';
  const rows = await store.all({ sql, values: [contract] });
  return new Map(rows.map((row) => [String(row.operation), Number(row.last_at)]));
}

/** Returns the rows of callers of a contract by their names, all or those of one caller. */
export async function callerRowsOf(
  store: Store,
  contract: string,
  caller?: string,
): Promise<ReadonlyMap<string, CallerRow>> {
  const where = caller === undefined ? '' : ' AND caller = $2';
  const rows = await store.all({
    sql: `SELECT ${callers.columns} FROM callers WHERE contract = $1${where}`,
    values: caller === undefined ? [contract] : [contract, caller],
  });
  return new Map(rows.map(callers.read).map((row) => [row.caller, row]));
}

/** Returns the start of the day of a time, in UTC. */
export function startOfDay(ms: number): number {
  return Math.floor(ms / dayMs) * dayMs;
}

/** An exemption of a caller (G65). Times are ms since 1970. */
export interface StoredExemption {
  readonly id: number;
  readonly contract: string;
  readonly caller: string;
  /** Undefined for all operations. */
  readonly operation: string | undefined;
  readonly until: number;
  readonly reason: string;
  readonly actor: string;
  readonly at: number;
}

const exemptions = tableOf<Omit<StoredExemption, 'id'>>('exemptions', [
  ...(['contract', 'caller', 'operation', 'until', 'reason', 'actor', 'at'] as const),
]);

/** Returns the statement that adds an exemption. */
export function insertExemption(row: Omit<StoredExemption, 'id'>): Statement {
  return exemptions.insert(row);
}

/** Returns the statement that deletes an exemption. */
export function deleteExemption(contract: string, id: number): Statement {
  return { sql: 'DELETE FROM exemptions WHERE contract = $1 AND id = $2', values: [contract, id] };
}

/** The query for the exemptions of all contracts. `exemptionOf` reads its rows. */
export const allExemptions: Statement = { sql: `SELECT id, ${exemptions.columns} FROM exemptions` };

/** Reads a row of the table. */
export function exemptionOf(row: StoreRow): StoredExemption {
  return { id: Number(row.id), ...exemptions.read(row) };
}

/** Returns the exemptions of a contract, the newest first. */
export async function exemptionsOf(store: Store, contract: string): Promise<readonly StoredExemption[]> {
  const sql = `${allExemptions.sql} WHERE contract = $1 ORDER BY id DESC`;
  return (await store.all({ sql, values: [contract] })).map(exemptionOf);
}

import { randomBytes } from 'node:crypto';
import type { Statement, StoreRow } from '../store.ts';
import { tableOf } from '../table.ts';

/** The audit of changes. Rows are only added (G72). */
export const auditTables: readonly string[] = [
  `CREATE TABLE audit (
    id TEXT PRIMARY KEY,
    at BIGINT NOT NULL,
    actor TEXT,
    network TEXT NOT NULL,
    action TEXT NOT NULL,
    status INTEGER NOT NULL,
    contract TEXT,
    subject TEXT,
    force INTEGER NOT NULL,
    verdict TEXT,
    reason TEXT,
    detail TEXT
  )`,
];

/** A change, a refused change or a sign-in. */
export interface AuditRecord {
  /** Name of the user; undefined without authentication. */
  readonly actor?: string | undefined;
  /** Network of the client; `local` for a command. */
  readonly network: string;
  /** For example `routes`, `rollback` or `sign-in`. */
  readonly action: string;
  /** Status of the response. */
  readonly status: number;
  readonly contract?: string | undefined;
  /** Operation, finding, pseudonym of a caller or id that was meant. */
  readonly subject?: string | undefined;
  readonly force?: boolean;
  readonly verdict?: string | undefined;
  readonly reason?: string | undefined;
  /** Why it was refused. */
  readonly detail?: string | undefined;
}

let lastId = 0;

/** Distinguishes processes. Processes in containers may have the same number. */
const processId = randomBytes(3).toString('hex').slice(1);

/** Returns the id of a row. Ids of a process are in the order of their creation. */
function newId(now: number): string {
  lastId = Math.max(lastId + 1, now * 1_000);
  return idText(lastId) + processId;
}

function idText(microseconds: number): string {
  return microseconds.toString(16).padStart(14, '0');
}

/** Maximum length of a text in a row, in characters. */
export const maxAuditText = 500;

/** Returns a text of a client without control characters, which PostgreSQL may refuse. */
function shortened(text: string): string {
  return text.slice(0, maxAuditText).replace(/\p{Cc}/gu, ' ');
}

/** A row of the table. */
export interface AuditRow extends AuditRecord {
  readonly id: string;
  /** In ms since 1970. */
  readonly at: number;
}

const rows = tableOf<Omit<AuditRow, 'force'> & { force: number }>('audit', [
  ...(['id', 'at', 'actor', 'network', 'action', 'status', 'contract', 'subject', 'force'] as const),
  ...(['verdict', 'reason', 'detail'] as const),
]);

/** Returns the statement that adds a row. `now` is in ms since 1970. */
export function insertAudit({ force = false, ...record }: AuditRecord, now: number): Statement {
  const texts = Object.entries(record).map(([name, value]) => [
    name,
    typeof value === 'string' ? shortened(value) : value,
  ]);
  return rows.insert({
    ...record,
    ...Object.fromEntries(texts),
    id: newId(now),
    at: now,
    force: Number(force),
  });
}

/** Returns the query for rows before an id, newest first. */
export function selectAudit(before: string | undefined, most: number): Statement {
  const where = before === undefined ? '' : 'WHERE id < $2';
  return {
    sql: `SELECT ${rows.columns} FROM audit ${where} ORDER BY id DESC LIMIT $1`,
    values: before === undefined ? [most] : [most, before],
  };
}

/** Returns the query for the pseudonyms of callers that were forgotten since a time, as `subject` and `at`. */
export function selectForgotten(since: number): Statement {
  return {
    sql: "SELECT subject, at FROM audit WHERE id >= $1 AND action = 'forget' AND status = 200",
    values: [idText(since * 1_000)],
  };
}

/** Reads a row of the table. */
export function auditOf(row: StoreRow): AuditRow {
  const { force, ...record } = rows.read(row);
  return { ...record, force: force === 1 };
}

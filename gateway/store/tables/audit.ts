import { randomBytes } from 'node:crypto';
import type { Statement, StoreRow } from '../store.ts';

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
  return `${lastId.toString(16).padStart(14, '0')}${processId}`;
}

/** Maximum length of a text in a row, in characters. */
export const maxAuditText = 500;

/** Returns a text of a client without control characters, which PostgreSQL may refuse. */
function shortened(text: string | undefined): string | null {
  return text === undefined ? null : text.slice(0, maxAuditText).replace(/\p{Cc}/gu, ' ');
}

const types = {
  id: 'TEXT',
  at: 'BIGINT',
  actor: 'TEXT',
  network: 'TEXT',
  action: 'TEXT',
  status: 'INTEGER',
  contract: 'TEXT',
  subject: 'TEXT',
  force: 'INTEGER',
  verdict: 'TEXT',
  reason: 'TEXT',
  detail: 'TEXT',
} as const;

const columns = Object.keys(types).join(', ');
const parameters = Object.values(types).map((type, index) => `CAST($${index + 1} AS ${type})`);

/**
 * Returns the statement that adds a row.
 *
 * @param now in ms since 1970
 * @param change id of a route change. The row is only added if the change was added before.
 */
export function insertAudit(record: AuditRecord, now: number, change?: string): Statement {
  const { network, action, status, force = false } = record;
  const where = change === undefined ? '' : 'WHERE EXISTS (SELECT 1 FROM route_changes WHERE id = $13)';
  return {
    sql: `INSERT INTO audit (${columns}) SELECT ${parameters.join(', ')} ${where}`,
    values: [
      ...[newId(now), now, shortened(record.actor), network, action, status],
      ...[shortened(record.contract), shortened(record.subject), Number(force)],
      ...[shortened(record.verdict), shortened(record.reason), shortened(record.detail)],
      ...(change === undefined ? [] : [change]),
    ],
  };
}

/** Returns the query for rows before an id, newest first. */
export function selectAudit(before: string | undefined, most: number): Statement {
  const where = before === undefined ? '' : 'WHERE id < $2';
  return {
    sql: `SELECT ${columns} FROM audit ${where} ORDER BY id DESC LIMIT $1`,
    values: before === undefined ? [most] : [most, before],
  };
}

/** Returns the record of a row, with its id and time. */
export function auditOf(row: StoreRow): AuditRecord & { readonly id: string; readonly at: number } {
  const text = (name: string): string | undefined => (row[name] === null ? undefined : String(row[name]));
  return {
    id: String(row.id),
    at: Number(row.at),
    actor: text('actor'),
    network: String(row.network),
    action: String(row.action),
    status: Number(row.status),
    contract: text('contract'),
    subject: text('subject'),
    force: row.force === 1,
    verdict: text('verdict'),
    reason: text('reason'),
    detail: text('detail'),
  };
}

import { type BigIntStats, closeSync, openSync, statSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { performTasks } from '../workers/worker-thread.ts';
import { metaTable, migrationOf, selectVersion } from './schema.ts';
import { type Statement, StoreError, type StoreReason, type StoreRow } from './store.ts';

// The worker thread of a SQLite store (G53).

/** A call of the store. */
export interface SqliteTask {
  readonly path: string;
  /** Maximum wait for the lock of another process, in ms. */
  readonly busyMs: number;
  /** True if a missing file is an error, because this process has opened it before. */
  readonly mustExist: boolean;
  /** True if a missing file and an older schema are errors. */
  readonly isExisting: boolean;
  /** True to open the file again. */
  readonly isReset: boolean;
  readonly kind: 'all' | 'write';
  readonly statements: readonly Statement[];
}

/** Result of a call: rows of `all`, numbers of changed rows of `write`, or the parts of a StoreError. */
export type SqliteResult =
  | { readonly rows: readonly StoreRow[] }
  | { readonly changes: readonly number[] }
  | { readonly failed: { readonly message: string; readonly reason: StoreReason; readonly code: string } };

/** An open file. */
interface Opened {
  readonly database: DatabaseSync;
  readonly file: BigIntStats;
  readonly prepared: Map<string, StatementSync>;
}

/** Maximum number of prepared statements. */
const maxPrepared = 200;

let opened: Opened | undefined;

function open({ path, busyMs, mustExist, isExisting }: SqliteTask): Opened {
  if (mustExist || isExisting) stats(path);
  else closeSync(openSync(path, 'a', 0o600)); // SQLite would create a file that others can read
  const database = new DatabaseSync(path, { timeout: busyMs });
  try {
    database.exec('PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON');
    if (isExisting) migrationOf(versionOf(database), true);
    else migrate(database);
    return { database, file: stats(path), prepared: new Map() };
  } catch (error) {
    database.close();
    throw error;
  }
}

function migrate(database: DatabaseSync): void {
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('BEGIN IMMEDIATE'); // the lock of migrations
  database.exec(metaTable);
  for (const statement of migrationOf(versionOf(database), false))
    database.exec(statement.replaceAll('BIGSERIAL PRIMARY KEY', 'INTEGER PRIMARY KEY AUTOINCREMENT'));
  database.exec('COMMIT');
}

/** Returns the version of the schema; undefined for a database without a schema. */
function versionOf(database: DatabaseSync): string | undefined {
  const table = database.prepare("SELECT name FROM sqlite_master WHERE name = 'meta'").get();
  const version = table === undefined ? undefined : database.prepare(selectVersion).get()?.value;
  return version === undefined ? undefined : String(version);
}

function stats(path: string): BigIntStats {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) throw new StoreError('expected the file of the store, got none', 'missing');
  return found;
}

function close(): void {
  opened?.database.close();
  opened = undefined;
}

/** Returns the open file. It is opened again if another file has its path, because the old one would be lost. */
function openedOf(task: SqliteTask): Opened {
  if (opened !== undefined && (task.isReset || stats(task.path).ino !== opened.file.ino)) close();
  opened ??= open(task);
  return opened;
}

function prepare({ database, prepared }: Opened, sql: string): StatementSync {
  const known = prepared.get(sql);
  if (known !== undefined) return known;
  const statement = database.prepare(sql);
  if (prepared.size >= maxPrepared) prepared.clear();
  prepared.set(sql, statement);
  return statement;
}

function parametersOf({ values = [] }: Statement): Record<string, SQLInputValue> {
  return Object.fromEntries(values.map((value, index) => [`$${index + 1}`, value]));
}

function perform(task: SqliteTask): SqliteResult {
  try {
    const file = openedOf(task);
    const [first] = task.statements;
    if (task.kind === 'all' && first !== undefined)
      return { rows: prepare(file, first.sql).all(parametersOf(first)) as StoreRow[] };
    file.database.exec('BEGIN IMMEDIATE');
    try {
      const changes = task.statements.map((statement) =>
        Number(prepare(file, statement.sql).run(parametersOf(statement)).changes),
      );
      file.database.exec('COMMIT');
      return { changes };
    } catch (error) {
      if (file.database.isTransaction) file.database.exec('ROLLBACK');
      throw error;
    }
  } catch (error) {
    return { failed: failureOf(error) };
  }
}

/** Reasons by the primary result code of SQLite. */
const reasons = new Map<number, StoreReason>([
  [5, 'busy'],
  [6, 'busy'],
  [8, 'readonly'],
  [10, 'unreachable'],
  [11, 'corrupt'],
  [13, 'full'],
  [14, 'unreachable'],
  [19, 'constraint'],
  [26, 'corrupt'],
]);

function failureOf(error: unknown): { message: string; reason: StoreReason; code: string } {
  if (error instanceof StoreError) return { message: error.message, reason: error.reason, code: error.code };
  const { message, errcode, code } = error as { message: string; errcode?: number; code?: string };
  if (errcode === undefined)
    return { message, reason: code === undefined ? 'statement' : 'unreachable', code: code ?? '' };
  return { message, reason: reasons.get(errcode & 0xff) ?? 'statement', code: `SQLITE_${errcode}` };
}

performTasks(import.meta.url, perform);

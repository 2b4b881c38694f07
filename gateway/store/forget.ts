import { dayMs } from '../../mappings/contract/times.ts';
import type { Callers } from '../telemetry/callers.ts';
import { deleteRows } from './deletion.ts';
import { tableData } from './schema.ts';
import type { Statement, Store } from './store.ts';
import { selectForgotten } from './tables/audit.ts';

/** A caller in the rows of a store (G55). */
export interface StoredCaller {
  /** Names and pseudonyms of the caller in rows. Rows keep the name that the caller had when they were written. */
  readonly names: readonly string[];
  /** Pseudonym for the audit. */
  readonly pseudonym: string;
}

/**
 * Returns the caller with a name, an id or a pseudonym. Throws RangeError without SOAPBRIDGE_CALLER_KEY. Rejects with
 * StoreError.
 */
export async function findCaller(
  text: string,
  { names, nameOf, pseudonymOf, pseudonymsOf }: Callers,
  store: Store,
): Promise<StoredCaller> {
  if (pseudonymOf === undefined) throw new RangeError('caller: expected SOAPBRIDGE_CALLER_KEY, got none');
  if (names.has(text)) {
    const pseudonyms = pseudonymsOf(text);
    return { names: [text, ...pseudonyms], pseudonym: pseudonyms[0] ?? '' };
  }
  const pseudonym = pseudonymOf(`id ${text}`);
  const all = new Set([text, pseudonym, nameOf({ kind: 'id', value: text })]);
  return { names: [...all], pseudonym: (await isStoredPseudonym(store, text)) ? text : pseudonym };
}

/** Returns true for a pseudonym that rows have. An id can have the same form. */
export async function isStoredPseudonym(store: Store, text: string): Promise<boolean> {
  return /^[\w-]{16}$/.test(text) && (await hasRowsOf(store, text));
}

const ofCallers = tableData.flatMap((data) =>
  data.caller === undefined ? [] : [{ ...data, caller: data.caller }],
);

/** Returns true if a table has rows of a caller. */
export async function hasRowsOf(store: Store, name: string): Promise<boolean> {
  for (const { table, caller } of ofCallers) {
    const sql = `SELECT 1 AS found FROM ${table} WHERE ${caller} = $1 LIMIT 1`;
    if ((await store.all({ sql, values: [name] })).length > 0) return true;
  }
  return false;
}

/** Deletes the rows of a caller in all tables, and its examples (G55). Returns the number of rows by table. */
export async function deleteCaller(
  store: Store,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = new Map<string, number>();
  const add = (table: string, count: number): void => {
    rows.set(table, (rows.get(table) ?? 0) + count);
  };
  for (const data of ofCallers)
    for (const name of names) add(data.table, await deleteRows(store, data, `${data.caller} = $1`, [name]));
  add('findings', await deleteExamples(store, new Set(names), Number.POSITIVE_INFINITY));
  return rows;
}

/**
 * Age of rows that processes may still have in memory when their caller is forgotten, and time for which they may write
 * them later, in ms.
 */
const lateMs = dayMs;

/**
 * Deletes the rows that processes had in memory when their caller was forgotten, and have written since (G55). Keeps rows
 * of later calls, except counts of the same hour.
 *
 * @param now in ms since 1970
 */
export async function deleteLateRows(
  store: Store,
  { names, pseudonymsOf }: Pick<Callers, 'names' | 'pseudonymsOf'>,
  now: number,
): Promise<void> {
  for (const { subject, at } of await store.all(selectForgotten(now - lateMs))) {
    const pseudonym = String(subject);
    const named = [...names].find((name) => pseudonymsOf(name).includes(pseudonym));
    const all = named === undefined ? [pseudonym] : [named, ...pseudonymsOf(named)];
    const time = Number(at);
    for (const data of ofCallers) {
      const { caller, time: column, lastTime = column } = data;
      // a row of a day has the time of its start
      const isLate = `${caller} = $1 AND ${column} >= $2 AND ${lastTime} <= $3`;
      for (const name of all) await deleteRows(store, data, isLate, [name, time - lateMs - dayMs, time]);
    }
    await deleteExamples(store, new Set(all), time);
  }
}

/** Number of findings that are read at once. */
const findingsPerRead = 200;

/** Orders updates of findings as other processes do, so that no two wait for each other. */
function byId({ values: a = [] }: Statement, { values: b = [] }: Statement): number {
  return String(a[2]) < String(b[2]) ? -1 : 1;
}

/** Deletes the examples of a caller up to a time. Returns the number of changed findings. */
async function deleteExamples(store: Store, names: ReadonlySet<string>, until: number): Promise<number> {
  const sql = 'SELECT id, examples FROM findings WHERE id > $1 ORDER BY id LIMIT $2';
  let changed = 0;
  for (let after = ''; ; ) {
    const rows = await store.all({ sql, values: [after, findingsPerRead] });
    const updates = rows.flatMap(({ id = null, examples }): readonly Statement[] => {
      const lines = String(examples)
        .split('\n')
        .filter((line) => line !== '');
      const kept = lines.filter((line) => {
        const { caller, at } = JSON.parse(line);
        return !names.has(caller) || at > until;
      });
      if (kept.length === lines.length) return [];
      // an example that was added since must not be lost
      return [
        {
          sql: 'UPDATE findings SET examples = $1, example_count = $2 WHERE id = $3 AND examples = $4',
          values: [kept.map((line) => `${line}\n`).join(''), kept.length, id, String(examples)],
        },
      ];
    });
    const counts = await store.write(updates.toSorted(byId));
    changed += counts.reduce((sum, count) => sum + count, 0);
    if (counts.includes(0)) continue; // a finding that has changed since is read again
    after = String(rows.at(-1)?.id ?? '');
    if (rows.length < findingsPerRead) return changed;
  }
}

/** Maximum time to compact a SQLite file, in ms. */
const vacuumMs = 3_600_000;

/**
 * Removes deleted content from a SQLite file, with a connection of its own. Other processes cannot write meanwhile. Does
 * nothing for PostgreSQL, which compacts its tables itself.
 */
async function vacuum(url: string): Promise<void> {
  const { isSqlite, openStore } = await import('./open-store.ts');
  if (!isSqlite(url)) return;
  const silent = { info: () => {}, warn: () => {}, error: () => {} }; // the caller gets the error
  const store = await openStore({ url, storeMs: vacuumMs, isExisting: true, log: silent });
  try {
    await store.all({ sql: 'VACUUM' });
    await store.all({ sql: 'PRAGMA wal_checkpoint(TRUNCATE)' });
  } finally {
    await store.close();
  }
}

/** Deletes the data of a caller, and compacts a SQLite file (G55). The caller of this function has written the audit. */
export async function forgetCaller(
  store: Store,
  url: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await deleteCaller(store, names);
  await vacuum(url);
  return rows;
}

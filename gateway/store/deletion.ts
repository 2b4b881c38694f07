import { setTimeout as pause } from 'node:timers/promises';
import { dayMs } from '../../mappings/contract/times.ts';
import { timeText, writeName } from './numbered-writes.ts';
import { tableData } from './schema.ts';
import type { Statement, Store, StoreValue } from './store.ts';
import type { TableData } from './table-data.ts';
import { recordData } from './tables/record.ts';

/** Maximum duration of a batch of deletions, in ms (G55). */
export const maxBatchMs = 50;

/** Number of rows of the first batch, and of the largest one. */
const [firstRows, mostRows] = [50, 5_000];

/**
 * Deletes the rows that meet a condition, oldest first, in batches. Other calls of the store run between the batches.
 *
 * @param condition SQL with the parameters `$1`, `$2` and so on
 * @param most maximum number of deleted rows
 * @returns the number of deleted rows
 */
export async function deleteRows(
  store: Store,
  { table, key, time }: TableData,
  condition: string,
  values: readonly StoreValue[],
  most = Number.POSITIVE_INFINITY,
): Promise<number> {
  const sql = `DELETE FROM ${table} WHERE (${key}) IN
    (SELECT ${key} FROM ${table} WHERE ${condition} ORDER BY ${time} LIMIT $${values.length + 1})`;
  let all = 0;
  for (let rows = firstRows; ; ) {
    const begin = performance.now();
    const batch = Math.min(rows, most - all);
    const [deleted = 0] = await store.write([{ sql, values: [...values, batch] }]);
    const ms = performance.now() - begin;
    all += deleted;
    if (deleted < batch || all === most) return all;
    rows = ms > maxBatchMs / 2 ? Math.max(1, Math.floor(rows / 2)) : Math.min(mostRows, rows * 2);
    await pause(ms); // the store is free for at least half of the time
  }
}

const dueName = 'expiry';

/** The last writes of processes. A process needs its own only until its next one. */
const writes: TableData = { table: 'meta', key: 'name', time: 'value' };

/** Age at which the last write of a process is deleted, in ms. */
const writesKeptMs = 7 * dayMs;

/** Returns true in only one process of all replicas in each period. `now` is in ms since 1970. */
export async function takePeriod(store: Store, now: number, periodMs: number): Promise<boolean> {
  const first: Statement = {
    sql: 'INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING',
    values: [dueName, timeText(0)],
  };
  const take: Statement = {
    sql: 'UPDATE meta SET value = $1 WHERE name = $2 AND value <= $3',
    values: [timeText(now), dueName, timeText(now - periodMs)],
  };
  const [, taken] = await store.write([first, take]);
  return taken === 1;
}

/** Deletes the rows of all tables that are older than they are kept (G55). Returns their number. */
export async function deleteExpired(store: Store, now: number): Promise<number> {
  let deleted = 0;
  for (const data of tableData)
    if (data.keepMs !== undefined)
      deleted += await deleteRows(store, data, `${data.time} < $1`, [now - data.keepMs]);
  const isOld = `name LIKE '${writeName}%' AND value < $1`;
  return deleted + (await deleteRows(store, writes, isOld, [timeText(now - writesKeptMs)]));
}

/** Limits of the recordings of a contract (G55). */
export interface KeptRecordings {
  readonly keepMs: number;
  readonly bytes: number;
}

/** Limits of contracts that are not recorded any more: the defaults of `migration.record`. */
const unplanned: KeptRecordings = { keepMs: 30 * dayMs, bytes: 5 * 2 ** 30 };

/**
 * Deletes the recordings that are too old or exceed the size for their contract, oldest first (G55).
 *
 * @param plans limits by the path of the contract
 */
export async function deleteRecordings(
  store: Store,
  plans: ReadonlyMap<string, KeptRecordings>,
  now: number,
): Promise<void> {
  for (const { contract } of await store.all({ sql: 'SELECT DISTINCT contract FROM exchanges' })) {
    const { keepMs, bytes } = plans.get(String(contract)) ?? unplanned;
    const of = [contract ?? null];
    await deleteRows(store, recordData, 'contract = $1 AND at < $2', [...of, now - keepMs]);
    const sum = 'SELECT COALESCE(SUM(bytes), 0) AS bytes FROM exchanges WHERE contract = $1';
    const [row] = await store.all({ sql: sum, values: of });
    for (let excess = Number(row?.bytes) - bytes; excess > 0; ) {
      const sql = `SELECT bytes FROM exchanges WHERE contract = $1 ORDER BY at, id LIMIT ${mostRows}`;
      const oldest = await store.all({ sql, values: of });
      let count = 0;
      for (; count < oldest.length && excess > 0; count++) excess -= Number(oldest[count]?.bytes);
      if ((await deleteRows(store, recordData, 'contract = $1', of, count)) === 0) break;
    }
  }
}

import { setTimeout as pause } from 'node:timers/promises';
import { dayMs } from '../../mappings/contract/times.ts';
import { timeText, writeName } from './numbered-writes.ts';
import { tableData } from './schema.ts';
import type { Statement, Store, StoreValue } from './store.ts';
import type { TableData } from './table-data.ts';

/** Maximum duration of a batch of deletions, in ms (G55). */
export const maxBatchMs = 50;

/** Number of rows of the first batch, and of the largest one. */
const [firstRows, mostRows] = [50, 5_000];

/**
 * Deletes the rows that meet a condition, oldest first, in batches. Other calls of the store run between the batches.
 *
 * @param condition SQL with the parameter `$1`
 * @returns the number of deleted rows
 */
export async function deleteRows(
  store: Store,
  { table, key, time }: TableData,
  condition: string,
  value: StoreValue,
): Promise<number> {
  const sql = `DELETE FROM ${table} WHERE (${key}) IN
    (SELECT ${key} FROM ${table} WHERE ${condition} ORDER BY ${time} LIMIT $2)`;
  let all = 0;
  for (let rows = firstRows; ; ) {
    const begin = performance.now();
    const [deleted = 0] = await store.write([{ sql, values: [value, rows] }]);
    const ms = performance.now() - begin;
    all += deleted;
    if (deleted < rows) return all;
    rows = ms > maxBatchMs / 2 ? Math.max(1, Math.floor(rows / 2)) : Math.min(mostRows, rows * 2);
    await pause(ms); // the store is free for at least half of the time
  }
}

const dueName = 'expiry';

/** The last writes of processes. A process needs its own only until its next one. */
const writes: TableData = { table: 'meta', key: 'name', time: 'value' };

/** Age at which the last write of a process is deleted, in ms. */
const writesKeptMs = 7 * dayMs;

/**
 * Deletes the rows of all tables that are older than they are kept (G55). Only one process of all replicas does it, in
 * each period.
 *
 * @param now in ms since 1970
 */
export async function deleteExpired(
  store: Store,
  now: number,
  periodMs: number,
  all = tableData,
): Promise<number> {
  const first: Statement = {
    sql: 'INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING',
    values: [dueName, timeText(0)],
  };
  const take: Statement = {
    sql: 'UPDATE meta SET value = $1 WHERE name = $2 AND value <= $3',
    values: [timeText(now), dueName, timeText(now - periodMs)],
  };
  const [, taken] = await store.write([first, take]);
  if (taken !== 1) return 0;
  let deleted = 0;
  for (const data of all)
    if (data.keepMs !== undefined)
      deleted += await deleteRows(store, data, `${data.time} < $1`, now - data.keepMs);
  const isOld = `name LIKE '${writeName}%' AND value < $1`;
  return deleted + (await deleteRows(store, writes, isOld, timeText(now - writesKeptMs)));
}

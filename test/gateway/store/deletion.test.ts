import { join } from 'node:path';
import test from 'ava';
import { deleteExpired, deleteRows, takePeriod } from '../../../gateway/store/deletion.ts';
import { setMeta, timeText } from '../../../gateway/store/numbered-writes.ts';
import { tableData } from '../../../gateway/store/schema.ts';
import type { Store } from '../../../gateway/store/store.ts';
import { folderOf, opened } from './opened.ts';

const day = 24 * 60 * 60 * 1_000;
const now = 1_000 * day;

const hourOf = (hour: number, caller = 'acme') => ({
  sql: `INSERT INTO compare_hours VALUES ('/', 'Op', $1, $2, 'w', 1, 0, 0, 0, 0, 0, 0, 0, 0, '{}', '{}')`,
  values: [hour, caller],
});

const hoursOf = async (store: Store) =>
  (await store.all({ sql: 'SELECT hour FROM compare_hours ORDER BY hour' })).map(({ hour }) => hour);

test('G55: counts are kept for 400 days', async (t) => {
  const { store } = await opened(t, `sqlite:${join(folderOf(t), 'store.db')}`);
  const kept = now - 400 * day;
  await store.write([hourOf(kept - 1), hourOf(kept), hourOf(now)]);
  t.is(await deleteExpired(store, now), 1);
  t.deepEqual(await hoursOf(store), [kept, now]);
});

test('G55: a period can be taken once, and the next one when it has ended', async (t) => {
  const { store } = await opened(t, `sqlite:${join(folderOf(t), 'store.db')}`);
  const taken: boolean[] = [];
  for (const time of [now, now, now + day - 1, now + day]) taken.push(await takePeriod(store, time, day));
  t.deepEqual(taken, [true, false, false, true]);
});

test('G55: the number of the last write of a process is kept for seven days', async (t) => {
  const { store } = await opened(t, `sqlite:${join(folderOf(t), 'store.db')}`);
  const row = (name: string, time: number) => setMeta(name, `${timeText(time)} 1`);
  const kept = now - 7 * day;
  await store.write([row('write a', kept - 1), row('write b', kept), row('writer', 0), row('contract /', 0)]);
  t.is(await deleteExpired(store, now), 1);
  const names = await store.all({ sql: "SELECT name FROM meta WHERE name <> 'schema' ORDER BY name" });
  t.deepEqual(
    names.map(({ name }) => name),
    ['contract /', 'write b', 'writer'],
  );
});

test('G55: rows are deleted oldest first, in batches that are halved while they take longer than 50 ms', async (t) => {
  const { store } = await opened(t, `sqlite:${join(folderOf(t), 'store.db')}`);
  await store.write(Array.from({ length: 300 }, (_, hour) => hourOf(hour)));
  const batches: number[] = [];
  const oldest: unknown[] = [];
  const slow: Store = {
    all: store.all,
    close: store.close,
    isUp: true,
    write: async (statements) => {
      const changes = await store.write(statements);
      batches.push(changes[0] ?? 0);
      oldest.push((await hoursOf(store))[0]);
      if (batches.length < 3) await new Promise((resolve) => setTimeout(resolve, 60));
      return changes;
    },
  };
  const data = tableData.find(({ table }) => table === 'compare_hours');
  if (data === undefined) return t.fail();
  t.is(await deleteRows(slow, data, 'hour < $1', [299]), 299);
  t.deepEqual(batches.slice(0, 3), [50, 25, 12]);
  t.deepEqual(oldest.slice(0, 3), [50, 75, 87]);
  t.deepEqual(await hoursOf(store), [299]);
});

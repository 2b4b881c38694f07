import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { StoreError } from '../../../gateway/store/store.ts';
import { folderOf, opened } from './opened.ts';

const row = (name: string, value = 'v') => ({
  sql: 'INSERT INTO meta (name, value) VALUES ($1, $2)',
  values: [name, value],
});
const names = { sql: "SELECT name FROM meta WHERE name <> 'schema' ORDER BY name" };

test('G53: a SQLite file is created with its schema for its owner only, and read again', async (t) => {
  const folder = folderOf(t);
  const url = `sqlite:${join(folder, 'store.db')}`;
  const { store, lines } = await opened(t, url);
  t.true(store.isUp);
  t.deepEqual(await store.write([row('a'), row('b')]), [1, 1]);
  t.deepEqual(await store.write([{ sql: "DELETE FROM meta WHERE name <> 'schema'" }, row('c')]), [2, 1]);
  await store.close();
  const again = await opened(t, url);
  t.deepEqual(
    (await again.store.all(names)).map((found) => ({ ...found })),
    [{ name: 'c' }],
  );
  t.deepEqual(lines, ['store available {}']);
  t.deepEqual(
    readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o777]),
    ['store.db', 'store.db-shm', 'store.db-wal'].map((name) => [name, 0o600]),
  );
});

test('G53: statements of one write are one transaction', async (t) => {
  const { store } = await opened(t, `sqlite:${join(folderOf(t), 'store.db')}`);
  await store.write([row('a')]);
  const failed = await t.throwsAsync(store.write([row('b'), row('a')]), { instanceOf: StoreError });
  t.is(failed?.reason, 'constraint');
  t.true(store.isUp);
  t.is((await store.all(names)).length, 1);
});

test('G54: storeMs: a call that waits longer for another process fails', async (t) => {
  const path = join(folderOf(t), 'store.db');
  const { store } = await opened(t, `sqlite:${path}`, { storeMs: 1_000, retryMs: 60_000 });
  const other = new DatabaseSync(path);
  t.teardown(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const failed = await t.throwsAsync(store.write([row('a')]), { instanceOf: StoreError });
  t.regex(failed?.reason ?? '', /^(?:busy|timeout)$/); // a slow machine may take longer than storeMs
});

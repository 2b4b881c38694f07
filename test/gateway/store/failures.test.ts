import { spawn } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type ExecutionContext } from 'ava';
import { GuardedStore } from '../../../gateway/store/guarded-store.ts';
import { type Store, StoreError, type StoreReason } from '../../../gateway/store/store.ts';
import { until } from '../../until.ts';
import { folderOf, opened } from './opened.ts';

const row = (name: string, value = 'v') => ({
  sql: 'INSERT INTO meta (name, value) VALUES ($1, $2)',
  values: [name, value],
});

const count = async (store: Store): Promise<unknown> =>
  (await store.all({ sql: "SELECT COUNT(*) AS n FROM meta WHERE name LIKE 'row%'" }))[0]?.n;

async function reasonOf(t: ExecutionContext, call: Promise<unknown>): Promise<StoreReason | undefined> {
  return (await t.throwsAsync(call, { instanceOf: StoreError }))?.reason;
}

/** Returns the number of failures by reason. */
function failuresOf(store: {
  readonly read: () => ReturnType<Awaited<ReturnType<typeof opened>>['store']['read']>;
}) {
  return Object.fromEntries(store.read()[0]?.samples.map(({ labels, value }) => [labels, value]) ?? []);
}

test('G54: storeRetryMs: after a failure, the store gets no call for this time', async (t) => {
  const path = join(folderOf(t), 'store.db');
  const { store, lines } = await opened(t, `sqlite:${path}`, { retryMs: 200 });
  renameSync(path, `${path}.away`);
  t.is(await reasonOf(t, store.write([row('row1')])), 'missing');
  t.is(await reasonOf(t, store.all({ sql: 'SELECT 1' })), 'paused');
  t.false(store.isUp);
  t.is(store.failure?.reason, 'missing');
  renameSync(`${path}.away`, path);
  await until(() => store.isUp);
  t.is(store.failure, undefined);
  await store.write([row('row1')]);
  t.is(await count(store), 1);
  t.deepEqual(lines, [
    'store available {}',
    'store failed: retrying later {"reason":"missing","retryMs":200}',
    'store available {}',
  ]);
  t.deepEqual(failuresOf(store), { 'reason="missing"': 1 });
});

test('G54: a deleted file is not created again while the process runs', async (t) => {
  const folder = folderOf(t);
  const path = join(folder, 'store.db');
  const { store } = await opened(t, `sqlite:${path}`);
  await store.write([row('row1')]);
  for (const end of ['', '-wal', '-shm']) renameSync(path + end, `${path}.away${end}`);
  await until(async () => (await reasonOf(t, store.write([row('row2')]))) === 'missing');
  // a backup is restored
  const backup = new DatabaseSync(`${path}.away`);
  backup.exec(`VACUUM INTO '${path}'`);
  backup.close();
  await until(() => store.isUp);
  t.is(await count(store), 1);
});

test('G54: a full disk fails writes, which work again with free space', async (t) => {
  const path = join(folderOf(t), 'store.db');
  const { store } = await opened(t, `sqlite:${path}`);
  await store.all({ sql: 'PRAGMA max_page_count = 60' });
  let rows = 0;
  const fill = async (): Promise<void> => {
    for (; ; rows++) await store.write([row(`row${rows}`, 'x'.repeat(20_000))]);
  };
  t.is(await reasonOf(t, fill()), 'full');
  await until(() => store.isUp); // a new connection, without the limit
  t.is(await count(store), rows);
  await store.write([row('rowN')]);
});

test('G54: a read-only database is reported', async (t) => {
  const path = join(folderOf(t), 'store.db');
  const { store } = await opened(t, `sqlite:${path}`);
  await store.all({ sql: 'PRAGMA query_only = ON' });
  t.is(await reasonOf(t, store.write([row('row1')])), 'readonly');
});

test('G54: a file that is no database is reported as corrupt', async (t) => {
  const path = join(folderOf(t), 'store.db');
  writeFileSync(path, 'no database'.repeat(1_000));
  const { store } = await opened(t, `sqlite:${path}`);
  t.is(store.failure?.reason, 'corrupt');
});

test('G54: a store that another process locks at the start is used later', async (t) => {
  const path = join(folderOf(t), 'store.db');
  const other = new DatabaseSync(path);
  t.teardown(() => other.close());
  other.exec('PRAGMA journal_mode = WAL; BEGIN IMMEDIATE; CREATE TABLE other (id TEXT)');
  const { store, lines } = await opened(t, `sqlite:${path}`, { storeMs: 1_000 });
  t.regex(store.failure?.reason ?? '', /^(?:busy|timeout)$/);
  other.exec('COMMIT');
  await until(() => store.isUp);
  t.is(lines.at(-1), 'store available {}');
  t.is(await count(store), 0);
});

test('G54: a locked file fails the call, and the store is used for the next one', async (t) => {
  const path = join(folderOf(t), 'store.db');
  const { store, lines } = await opened(t, `sqlite:${path}`, { storeMs: 10_000, retryMs: 60_000 });
  const other = new DatabaseSync(path);
  t.teardown(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  t.is(await reasonOf(t, store.write([row('row1')])), 'busy');
  t.true(store.isUp);
  t.is(await count(store), 0);
  other.exec('COMMIT');
  await store.write([row('row1')]);
  t.is(await count(store), 1);
  t.deepEqual(lines, ['store available {}', 'store busy: a call failed {"reason":"busy","code":"SQLITE_5"}']);
});

test('G54: a call that the store has undone after a conflict is repeated once', async (t) => {
  let conflicts = 0;
  let calls = 0;
  const write = async (): Promise<readonly number[]> => {
    calls++;
    if (conflicts-- > 0) throw new StoreError('deadlock detected', 'conflict', '40P01');
    return [1];
  };
  const connection = { all: async () => [], write, reset: () => t.fail(), close: async () => {} };
  const busy: StoreReason[] = [];
  const store = new GuardedStore(connection, {
    retryMs: 60_000,
    onUp: () => {},
    onDown: () => t.fail(),
    onBusy: ({ reason }) => busy.push(reason),
  });
  await store.probe();
  conflicts = 1;
  t.deepEqual(await store.write([]), [1]);
  t.is(calls, 2);
  for (let attempt = 0; attempt < 2; attempt++) {
    conflicts = 2;
    t.is(await reasonOf(t, store.write([])), 'conflict');
  }
  t.is(calls, 6);
  t.deepEqual(busy, ['conflict']); // one line per minute
  t.deepEqual(failuresOf(store), { 'reason="conflict"': 2 });
  t.true(store.isUp);
});

test('G53: a schema of a newer major version stops the process', async (t) => {
  const url = `sqlite:${join(folderOf(t), 'store.db')}`;
  const { store } = await opened(t, url);
  await store.write([{ sql: "UPDATE meta SET value = '2.0' WHERE name = 'schema'" }]);
  await store.close();
  const error = await t.throwsAsync(opened(t, url), { instanceOf: StoreError });
  t.is(
    error?.message,
    'expected a store with a schema of major version 1, got 2. Start the version of soapbridge that has written it',
  );
});

test('G53: this version runs on a newer minor version, and keeps it', async (t) => {
  const url = `sqlite:${join(folderOf(t), 'store.db')}`;
  const { store } = await opened(t, url);
  await store.write([
    { sql: "UPDATE meta SET value = '1.7' WHERE name = 'schema'" },
    { sql: 'ALTER TABLE meta ADD COLUMN added TEXT' },
  ]);
  await store.close();
  const again = await opened(t, url);
  await again.store.write([row('row1')]);
  const version = await again.store.all({ sql: "SELECT value FROM meta WHERE name = 'schema'" });
  t.is(version[0]?.value, '1.7');
});

test('G53: processes that start at the same time migrate the schema once', async (t) => {
  const url = `sqlite:${join(folderOf(t), 'store.db')}`;
  const all = await Promise.all(Array.from({ length: 4 }, () => opened(t, url)));
  for (const [index, { store }] of all.entries()) await store.write([row(`row${index}`)]);
  for (const { store } of all) t.is(await count(store), 4);
});

test('G54: a killed writer loses only the transaction in progress', async (t) => {
  const path = join(folderOf(t), 'store.db');
  const { store } = await opened(t, `sqlite:${path}`);
  const writer = join(import.meta.dirname, 'killed-writer.ts');
  const child = spawn(process.execPath, [writer, `sqlite:${path}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));
  const rows = Number(await count(store));
  t.true(rows >= 42);
  t.is(rows % 2, 0);
  await store.write([row('row-after')]);
  t.is(await count(store), rows + 1);
});

test('at most 1,000 calls wait for the store', async (t) => {
  const { store } = await opened(t, `sqlite:${join(folderOf(t), 'store.db')}`);
  const calls = Array.from({ length: 1_001 }, () => store.all({ sql: 'SELECT 1 AS one' }));
  const results = await Promise.allSettled(calls);
  t.is(results.filter(({ status }) => status === 'fulfilled').length, 1_000);
  t.is(await reasonOf(t, Promise.resolve(calls[1_000])), 'queue');
  t.true(store.isUp);
});

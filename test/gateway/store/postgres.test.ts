import test, { type ExecutionContext } from 'ava';
import { failureOf } from '../../../gateway/store/postgres.ts';
import { StoreError } from '../../../gateway/store/store.ts';
import { missingPackages } from '../../../mappings/optional-packages.ts';
import { until } from '../../until.ts';
import { opened } from './opened.ts';
import { launchPostgres, type PostgresServer, postgresPrograms } from './postgres-server.ts';
import { tableTests } from './tables.ts';

let server: PostgresServer | undefined;

test.before('starts a server', async () => {
  const programs = postgresPrograms();
  if (programs !== undefined && missingPackages('store') === undefined)
    server = await launchPostgres(programs);
});

test.after.always('stops the server', () => server?.remove());

/** Runs a test with a server. Without PostgreSQL or its package it is skipped, with the reason. */
async function withServer(t: ExecutionContext, run: (own: PostgresServer) => Promise<void>): Promise<void> {
  if (server !== undefined) return run(server);
  t.log(`skipped: ${missingPackages('store') ?? 'PostgreSQL is not installed'}`);
  t.pass();
}

const row = (name: string, value = 'v') => ({
  sql: 'INSERT INTO meta (name, value) VALUES ($1, $2)',
  values: [name, value],
});

test.serial('G53: PostgreSQL has the same schema, and numbers are numbers', (t) =>
  withServer(t, async (own) => {
    const { store, lines } = await opened(t, own.create().urlWithPassword);
    t.deepEqual(lines, ['store available {}']);
    t.deepEqual(await store.write([row('a'), row('b')]), [1, 1]);
    const counted = 'SELECT COUNT(*) AS n, SUM(length(name)) AS s FROM meta WHERE name = $1';
    t.deepEqual([...(await store.all({ sql: counted, values: ['a'] }))], [{ n: 1, s: 1 }]);
    const failed = await t.throwsAsync(store.write([row('c'), row('a')]), { instanceOf: StoreError });
    t.is(failed?.reason, 'constraint');
    t.is((await store.all({ sql: "SELECT name FROM meta WHERE name = 'c'" })).length, 0);
  }),
);

test.serial('G53: processes that start at the same time migrate the schema of PostgreSQL once', (t) =>
  withServer(t, async (own) => {
    const { urlWithPassword } = own.create();
    const all = await Promise.all(Array.from({ length: 4 }, () => opened(t, urlWithPassword)));
    for (const { store, lines } of all) {
      t.true(store.isUp);
      t.deepEqual(lines, ['store available {}']);
    }
  }),
);

test.serial('G53: a newer major version stops the process, a newer minor version does not', (t) =>
  withServer(t, async (own) => {
    const { urlWithPassword } = own.create();
    const { store } = await opened(t, urlWithPassword);
    for (const version of ['1.9', '2.0']) {
      await store.write([{ sql: "UPDATE meta SET value = $1 WHERE name = 'schema'", values: [version] }]);
      if (version === '1.9') t.true((await opened(t, urlWithPassword)).store.isUp);
      else
        t.is((await t.throwsAsync(opened(t, urlWithPassword), { instanceOf: StoreError }))?.reason, 'schema');
    }
  }),
);

test.serial('G54: a restarted server is used again', (t) =>
  withServer(t, async (own) => {
    const { store, lines } = await opened(t, own.create().urlWithPassword);
    await own.stop();
    await t.throwsAsync(store.all({ sql: 'SELECT 1' }), { instanceOf: StoreError });
    t.false(store.isUp);
    await own.start();
    await until(() => store.isUp);
    t.is(lines.at(-1), 'store available {}');
  }),
);

test.serial('G54: a closed idle connection is opened again without a failure', (t) =>
  withServer(t, async (own) => {
    const { urlWithPassword } = own.create();
    const { store, lines } = await opened(t, urlWithPassword);
    const other = await opened(t, urlWithPassword);
    const others = 'FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()';
    await other.store.all({ sql: `SELECT pg_terminate_backend(pid) ${others}` });
    await until(async () => (await other.store.all({ sql: `SELECT pid ${others}` })).length === 0);
    t.is((await store.all({ sql: 'SELECT 1' })).length, 1);
    t.deepEqual(lines, ['store available {}']);
  }),
);

test.serial('G54: storeMs: a lock of another connection ends the call', (t) =>
  withServer(t, async (own) => {
    const { urlWithPassword } = own.create();
    const { store } = await opened(t, urlWithPassword, { storeMs: 500, retryMs: 60_000 });
    const other = await opened(t, urlWithPassword);
    const held = other.store.write([{ sql: 'LOCK TABLE meta' }, { sql: 'SELECT pg_sleep(3)' }]);
    await until(async () => {
      const locks =
        "SELECT 1 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation = 'meta'::regclass";
      return (await store.all({ sql: locks })).length > 0;
    });
    const failed = await t.throwsAsync(store.write([row('a')]), { instanceOf: StoreError });
    t.is(failed?.reason, 'timeout');
    await held;
  }),
);

test('G54: the reason of a failure is derived from SQLSTATE', (t) => {
  for (const [code, reason] of [
    ['40001', 'conflict'],
    ['40P01', 'conflict'],
    ['40003', 'unreachable'],
    ['22021', 'constraint'],
    ['23505', 'constraint'],
    ['57014', 'timeout'],
    ['57P01', 'unreachable'],
    ['42601', 'statement'],
    ['ECONNREFUSED', 'unreachable'],
  ] as const)
    t.is(failureOf(Object.assign(new Error('failed'), { code })).reason, reason, code);
});

test.serial(
  'G54: of two transactions that wait for each other, PostgreSQL undoes one, which is repeated',
  (t) =>
    withServer(t, async (own) => {
      const { urlWithPassword } = own.create();
      const [one, two] = [await opened(t, urlWithPassword), await opened(t, urlWithPassword)];
      await one.store.write([row('a', ''), row('b', '')]);
      const add = (name: string) => ({
        sql: "UPDATE meta SET value = value || 'x' WHERE name = $1",
        values: [name],
      });
      const wait = { sql: 'SELECT pg_sleep(0.5)' };
      await Promise.all([
        one.store.write([add('a'), wait, add('b')]),
        two.store.write([add('b'), wait, add('a')]),
      ]);
      const values = await one.store.all({ sql: "SELECT value FROM meta WHERE name IN ('a', 'b')" });
      t.deepEqual([...values], [{ value: 'xx' }, { value: 'xx' }]);
      for (const { lines } of [one, two]) t.deepEqual(lines, ['store available {}']);
    }),
);

test.serial('G54: a value that PostgreSQL refuses fails only the call', (t) =>
  withServer(t, async (own) => {
    const { store } = await opened(t, own.create().urlWithPassword);
    const failed = await t.throwsAsync(store.write([row('a\0')]), { instanceOf: StoreError });
    t.is(failed?.reason, 'constraint');
    t.true(store.isUp);
  }),
);

test.serial('G54: a read-only database and a wrong password are reported', (t) =>
  withServer(t, async (own) => {
    const { url, urlWithPassword } = own.create();
    const wrong = await opened(t, url.replace('postgres@', 'postgres:wrong@'));
    t.is(wrong.store.failure?.reason, 'refused');
    const { store } = await opened(t, urlWithPassword);
    await store.all({ sql: 'SET default_transaction_read_only = on' });
    const failed = await t.throwsAsync(store.write([row('a')]), { instanceOf: StoreError });
    t.is(failed?.reason, 'readonly');
  }),
);

for (const [title, run] of Object.entries(tableTests))
  test.serial(`${title}, on PostgreSQL`, (t) =>
    withServer(t, async (own) => run(t, (await opened(t, own.create().urlWithPassword)).store)),
  );

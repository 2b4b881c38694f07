import test, { type ExecutionContext } from 'ava';
import { StoreError } from '../../../gateway/store/store.ts';
import { missingPackages } from '../../../mappings/optional-packages.ts';
import { until } from '../../until.ts';
import { opened } from './opened.ts';
import { type PostgresServer, postgresPrograms, startPostgres } from './postgres-server.ts';

/** Runs a test with a server. Without PostgreSQL or its package it is skipped, with the reason. */
async function withServer(
  t: ExecutionContext,
  run: (server: PostgresServer) => Promise<void>,
): Promise<void> {
  const programs = postgresPrograms();
  const missing = programs === undefined ? 'PostgreSQL is not installed' : missingPackages('store');
  if (missing !== undefined || programs === undefined) {
    t.log(`skipped: ${missing}`);
    t.pass();
    return;
  }
  await run(await startPostgres(t, programs));
}

const row = (name: string, value = 'v') => ({
  sql: 'INSERT INTO meta (name, value) VALUES ($1, $2)',
  values: [name, value],
});

test('G53: PostgreSQL has the same schema, and numbers are numbers', (t) =>
  withServer(t, async (server) => {
    const { store, lines } = await opened(t, server.urlWithPassword);
    t.deepEqual(lines, ['store available {}']);
    t.deepEqual(await store.write([row('a'), row('b')]), [1, 1]);
    const counted = 'SELECT COUNT(*) AS n, SUM(length(name)) AS s FROM meta WHERE name = $1';
    t.deepEqual([...(await store.all({ sql: counted, values: ['a'] }))], [{ n: 1, s: 1 }]);
    const failed = await t.throwsAsync(store.write([row('c'), row('a')]), { instanceOf: StoreError });
    t.is(failed?.reason, 'constraint');
    t.is((await store.all({ sql: "SELECT name FROM meta WHERE name = 'c'" })).length, 0);
  }));

test('G54: a restarted server is used again', (t) =>
  withServer(t, async (server) => {
    const { store, lines } = await opened(t, server.urlWithPassword);
    await server.stop();
    await t.throwsAsync(store.all({ sql: 'SELECT 1' }), { instanceOf: StoreError });
    t.false(store.isUp);
    await server.start();
    await until(() => store.isUp);
    t.is(lines.at(-1), 'store available {}');
  }));

test('G54: a wrong password is reported as refused', (t) =>
  withServer(t, async (server) => {
    const { store } = await opened(t, server.url.replace('postgres@', 'postgres:wrong@'));
    t.is(store.failure?.reason, 'refused');
  }));

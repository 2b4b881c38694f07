import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type ExecutionContext } from 'ava';
import { readShownConfig, readStore } from '../../../gateway/process/config.ts';
import { checkSameStore, openProcessStore } from '../../../gateway/process/process-store.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { ContractError } from '../../../mappings/loader/document/error.ts';
import { run } from '../commands/run.ts';

function folderOf(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-store-setting-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes a configuration with a setting, and returns its path. */
function configOf(folder: string, store: unknown): string {
  const file = join(folder, 'soapbridge.yaml');
  const contract = join(import.meta.dirname, '../../fixtures/contracts/parcels');
  const contracts = { '/parcels': { contract, upstream: 'http://127.0.0.1:9' } };
  writeFileSync(file, JSON.stringify({ contracts, store }));
  return file;
}

/** Returns the messages about a setting, after their pointers. */
function problemsOf(t: ExecutionContext, folder: string, store: unknown, hasKey = true): readonly string[] {
  const error = t.throws(() => readStore(configOf(folder, store), hasKey), { instanceOf: ContractError });
  return (error?.problems ?? []).map(({ pointer, message }) => `${pointer}: ${message}`);
}

test('G53: the path of a SQLite file is relative to the folder of soapbridge.yaml', (t) => {
  const folder = folderOf(t);
  const config = configOf(folder, 'sqlite:store.db');
  t.like(readStore(config, true), { url: `sqlite:${join(folder, 'store.db')}`, shown: 'sqlite:store.db' });
});

test('G53: the password of PostgreSQL is read from a file, and never shown', (t) => {
  const folder = folderOf(t);
  writeFileSync(join(folder, 'password'), 'p@ss/w%rd\n');
  const url = 'postgres://gateway@db.example:5433/bridge?sslmode=require';
  const config = configOf(folder, { url, password: { file: 'password' } });
  t.is(
    readStore(config, true)?.url,
    'postgres://gateway:p%40ss%2Fw%25rd@db.example:5433/bridge?sslmode=require',
  );
  const shown = JSON.stringify(readShownConfig(config));
  t.false(shown.includes('w%rd'));
  t.true(shown.includes('postgres://***@db.example:5433/bridge'));
});

test('G3: each wrong `store` has an error with what was expected', (t) => {
  const folder = folderOf(t);
  const file = (name: string) => join(folder, name);
  mkdirSync(file('dir'));
  const wrong: readonly (readonly [unknown, string])[] = [
    ['mysql://db', '/store: expected sqlite:PATH or a postgres:// URL, got mysql://db'],
    ['mysql://me:secret@db', '/store: expected sqlite:PATH or a postgres:// URL, got mysql://***@db'],
    [{}, '/store: expected url, sqlite:PATH or a postgres:// URL, got none'],
    [{ url: 'sqlite:' }, '/store/url: expected sqlite:PATH, got no path'],
    [
      'sqlite:no/x.db',
      `/store: expected a file in a folder that exists and is writable, got ${file('no/x.db')}`,
    ],
    ['sqlite:dir', `/store: expected a file in a folder that exists and is writable, got ${file('dir')}`],
    [
      { url: 'sqlite:x.db', password: { file: 'p' } },
      '/store/password: expected a postgres:// URL with password, got SQLite',
    ],
    [
      'postgres://me:secret@db/x',
      '/store: expected postgres://USER@HOST/DATABASE without a password, got a URL with a password',
    ],
    ['postgres://', '/store: expected postgres://USER@HOST/DATABASE without a password, got another text'],
    [
      { url: 'postgres://me@db/x', password: { file: 'none' } },
      `/store/password/file: expected a readable file, got ENOENT for ${file('none')}`,
    ],
  ];
  for (const [store, message] of wrong) t.deepEqual(problemsOf(t, folder, store), [message]);
  const noKey =
    '/store: expected SOAPBRIDGE_CALLER_KEY with store, got none. Without it, pseudonyms change at each start';
  t.deepEqual(problemsOf(t, folder, 'sqlite:x.db', false), [noKey]);
  for (const store of [7, ['sqlite:x.db'], { url: 'sqlite:x.db', path: 'x' }])
    t.is(problemsOf(t, folder, store).length, 1);
});

test('G3: `check` says whether the store can be opened, and does not change it', async (t) => {
  const folder = folderOf(t);
  const config = configOf(folder, 'sqlite:store.db');
  writeFileSync(join(folder, 'key'), '0123456789abcdef');
  const check = () => run(t, ['check', '--config', config, '--caller-key', join(folder, 'key')]).ended;
  t.regex((await check()).out, /^store: sqlite:store.db does not exist yet. The gateway creates it$/m);
  const database = new DatabaseSync(join(folder, 'store.db'));
  t.teardown(() => database.close());
  database.exec(
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT); INSERT INTO meta VALUES ('schema', '0.9')",
  );
  t.regex((await check()).out, /^store: sqlite:store.db can be opened. The gateway migrates its schema$/m);
  t.is(database.prepare("SELECT value FROM meta WHERE name = 'schema'").get()?.value, '0.9');
  database.exec("UPDATE meta SET value = '1.99'");
  t.regex((await check()).out, /^store: sqlite:store.db can be opened$/m);
  database.exec("UPDATE meta SET value = '2.0'");
  const newer = await check();
  t.is(newer.code, 2);
  t.regex(newer.err, /soapbridge.yaml:\d+#\/store: expected a store with a schema of major version 1, got 2/);
});

test('G53: a reload with another store is an error, and a new password is not', async (t) => {
  const folder = folderOf(t);
  const key = join(folder, 'key');
  writeFileSync(key, '0123456789abcdef');
  const files = { callerFiles: { callerKey: key } };
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const config = configOf(folder, 'sqlite:store.db');
  const store = await openProcessStore({ config, ...files, limits: defaultLimits, log });
  t.teardown(() => store?.close());
  t.notThrows(() => checkSameStore(config, files, store));
  for (const other of ['sqlite:other.db', undefined]) {
    const error = t.throws(() => checkSameStore(configOf(folder, other), files, store), {
      instanceOf: ContractError,
    });
    t.is(error?.problems[0]?.pointer, '/store');
  }
  const before = readStore(configOf(folder, 'postgres://me@127.0.0.1:9/x'), true);
  writeFileSync(join(folder, 'password'), 'new');
  const after = readStore(
    configOf(folder, { url: 'postgres://me@127.0.0.1:9/x', password: { file: 'password' } }),
    true,
  );
  t.is(after?.shown, before?.shown);
});

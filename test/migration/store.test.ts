import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type ExecutionContext } from 'ava';
import { insertAudit } from '../../gateway/store/tables/audit.ts';
import { insertExchange } from '../../gateway/store/tables/record.ts';
import { addUsage, startOfDay } from '../../gateway/store/tables/usage.ts';
import { run, start } from '../gateway/commands/run.ts';
import { folderOf, opened } from '../gateway/store/opened.ts';
import { exchange } from '../gateway/store/tables.ts';
import { until } from '../until.ts';
import { type ComparingSite, headers, message, path, results, startComparing, zip } from './comparing.ts';
import { contractFolder, type SiteOptions, send, startSite, startStub } from './scenario.ts';

/** Options of a gateway with a store in a folder. */
function withStore(folder: string, more: Partial<SiteOptions> = {}): Partial<SiteOptions> {
  const callerKey = join(folder, 'key');
  const callers = join(folder, 'callers.yaml');
  writeFileSync(callerKey, '0123456789abcdef');
  writeFileSync(callers, JSON.stringify({ acme: ['acme'] }));
  return {
    root: { store: `sqlite:${join(folder, 'store.db')}` },
    serve: { callerFiles: { callers, callerKey } },
    ...more,
  };
}

const differing = '{"FileDataHandler":"UEsDBQ=="}';

async function startDiffering(t: ExecutionContext, folder: string, more?: Partial<SiteOptions>) {
  const site = await startComparing(t, {}, withStore(folder, more));
  site.upstream.answer = { status: 200, headers: { 'content-type': 'application/json' }, body: differing };
  return site;
}

const call = (caller?: string) => ({ path, headers, body: message('GRANT8'), caller });

test('G53: the store has the findings, and `report` reads them', async (t) => {
  const folder = folderOf(t);
  for (let start = 1; start <= 2; start++) {
    const site = await startDiffering(t, folder);
    t.is((await site.send(call('acme'))).status, 200);
    t.deepEqual(await results(site, 1), ['different']);
    await site.running.stop(0);
  }
  const store = `sqlite:${join(folder, 'store.db')}`;
  const { code, out } = await run(t, ['report', '--store', store, '--format', 'json']).ended;
  t.is(code, 0);
  const report = JSON.parse(out);
  const operation = report.operations.find(({ operation: name }: { operation: string }) => name === zip);
  t.like(operation, { verdict: 'different', calls: 2, callers: 1 });
  t.like(operation.findings[0], { count: 2, state: 'different' });
  t.is(operation.findings[0].examples[0].caller, 'acme');
});

test('G55: `forget` deletes the data of a caller by name, id or pseudonym, with an audit entry', async (t) => {
  const folder = folderOf(t);
  const site = await startDiffering(t, folder);
  for (const caller of ['acme', 'other']) {
    await site.send(call(caller));
    await results(site, caller === 'acme' ? 1 : 2);
  }
  await site.running.stop(0);
  const file = join(folder, 'store.db');
  const rowsOf = (sql: string) => {
    const database = new DatabaseSync(file);
    try {
      return database.prepare(sql).all();
    } finally {
      database.close();
    }
  };
  const callers = () => rowsOf('SELECT DISTINCT caller FROM compare_hours').map(({ caller }) => caller);
  t.is(callers().length, 3);
  const pseudonym = String(callers().find((caller) => caller !== '' && caller !== 'acme'));
  const forget = (caller: string) =>
    run(t, ['forget', caller, '--store', `sqlite:${file}`, '--reason', 'GDPR 17'], {
      SOAPBRIDGE_CALLERS: join(folder, 'callers.yaml'),
      SOAPBRIDGE_CALLER_KEY: join(folder, 'key'),
    }).ended;
  t.is((await forget('acme')).out, 'compare_hours: 1\nusage_days: 1\ncallers: 1\nfindings: 1\n4 rows\n');
  t.deepEqual(callers().toSorted(), ['', pseudonym]);
  t.false(readFileSync(file).includes('acme'));
  t.is((await forget('other')).out, 'compare_hours: 1\nusage_days: 1\ncallers: 1\nfindings: 1\n4 rows\n');
  t.deepEqual(callers(), ['']);
  t.is((await forget(pseudonym)).out, '0 rows\n');
  const [finding] = rowsOf('SELECT count, examples FROM findings');
  t.like(finding, { count: 2, examples: '' });
  const audit = rowsOf('SELECT action, subject, reason FROM audit ORDER BY id');
  t.is(audit.length, 3);
  t.like(audit[1], { action: 'forget', subject: pseudonym, reason: 'GDPR 17' });
  t.is(audit[0]?.subject === 'acme', false);
});

/** Returns the sample of a metric; undefined if there is none. */
function metricOf({ running }: ComparingSite, name: string, labels = ''): number | undefined {
  const family = running.metrics().find((one) => one.name === name);
  return family?.samples.find((one) => one.labels === labels)?.value;
}

const limits = { loopDelayMs: 60_000, storeMs: 2_000, storeRetryMs: 50 };

test('G54: until the store was reached once, /readyz gives the reason and calls get 503', async (t) => {
  const folder = folderOf(t);
  const other = new DatabaseSync(join(folder, 'store.db'));
  t.teardown(() => other.close());
  other.exec('PRAGMA journal_mode = WAL; BEGIN IMMEDIATE; CREATE TABLE other (id TEXT)');
  const site = await startDiffering(t, folder, { limits });
  const ready = async () => {
    const { status, body } = await site.send({ method: 'GET', path: '/readyz' });
    return `${status} ${body}`;
  };
  t.regex(await ready(), /^503 store: (?:busy|timeout)\n$/);
  t.is(metricOf(site, 'store_up'), 0);
  t.is((await site.send(call())).status, 503);
  other.exec('COMMIT');
  await until(async () => (await ready()) === '200 ready\n');
  t.is(metricOf(site, 'store_up'), 1);
  await until(async () => (await site.send(call())).status === 200);
});

test('G54: a store that fails later fails no call, and gets the queued findings', async (t) => {
  const folder = folderOf(t);
  const file = join(folder, 'store.db');
  const site = await startDiffering(t, folder, { limits });
  const move = (from: string, to: string): void => {
    for (const end of ['', '-wal', '-shm']) renameSync(from + end, to + end);
  };
  move(file, `${file}.away`);
  for (let count = 1; count <= 3; count++) {
    t.is((await site.send(call('acme'))).status, 200);
    await results(site, count);
  }
  // the next use of the store finds that the file is missing
  await until(() => metricOf(site, 'store_up') === 0);
  t.true(Number(metricOf(site, 'store_failed_total', 'reason="missing"')) > 0);
  t.is((await site.send({ method: 'GET', path: '/readyz' })).status, 200);
  move(`${file}.away`, file);
  await until(() => metricOf(site, 'store_up') === 1);
  await site.running.stop(0);
  const database = new DatabaseSync(file);
  t.teardown(() => database.close());
  t.like(database.prepare('SELECT count FROM findings').get(), { count: 3 });
  const lines = site.log().map(({ msg }) => msg);
  t.is(lines.filter((line) => line === 'store available').length, 2);
});

/** Writes the configuration of two workers with a store, and returns their flags. */
function flagsOf(folder: string, of: object): readonly string[] {
  const [config, key] = [join(folder, 'soapbridge.yaml'), join(folder, 'key')];
  const contracts = { '/': { contract: contractFolder('contracts/agency'), ...of } };
  writeFileSync(config, JSON.stringify({ contracts, store: 'sqlite:store.db' }));
  writeFileSync(key, '0123456789abcdef');
  return ['--config', config, '--workers', '2', '--drain-delay', '0', '--caller-key', key];
}

const noCounts = {
  ...{ calls: 1, faults: 0, reordered: 0, ignored: 0, illegalReferences: 0, noAction: 0 },
};

/** Returns the child processes of a process. */
function childrenOf(pid = 0): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text.split(' ').map(Number);
}

/** Writes a route change of the operation `zip` to mode `new`. */
function switchToNew(database: DatabaseSync): void {
  const change = { id: 'c', operation: zip, mode: 'new', percent: 100, actor: 'ann', reason: 'ready', at: 1 };
  const changes = JSON.stringify([{ ...change, isForced: true }]);
  database
    .prepare(
      `INSERT INTO route_changes (contract, version, id, action, operation, actor, reason, at, changes)
        VALUES ('/', 1, 'c', 'change', ?, 'ann', 'ready', 1, ?)`,
    )
    .run(zip, changes);
}

test('G54: workers that replace dead ones while the store is away use the last routes', async (t) => {
  const folder = folderOf(t);
  const [legacy, upstream] = await Promise.all([startStub(t), startStub(t)]);
  upstream.answer = { status: 200, headers: { 'content-type': 'application/json' }, body: differing };
  const flags = flagsOf(folder, { upstream: upstream.url, legacy: legacy.url });
  const file = join(folder, 'store.db');
  await (await opened(t, `sqlite:${file}`)).store.close(); // creates the tables
  const database = new DatabaseSync(file);
  switchToNew(database);
  database.close();
  const { child, port } = await start(t, flags, { SOAPBRIDGE_LOG_LEVEL: 'info' });
  let log = '';
  child.stdout?.on('data', (chunk) => {
    log += chunk;
  });
  const ask = () => send(port, { path, headers, body: message('GRANT8') });
  t.is((await ask()).status, 200);
  for (const end of ['', '-wal', '-shm']) renameSync(file + end, `${file}.away${end}`);
  const workers = childrenOf(child.pid);
  t.is(workers.length, 2);
  for (const pid of workers) process.kill(pid, 'SIGKILL');
  await until(() => [...log.matchAll(/"msg":"a worker serves"/g)].length >= 2);
  for (let count = 0; count < 20; count++) t.is((await ask()).status, 200);
  t.is((await send(port, { method: 'GET', path: '/readyz' })).status, 200);
  t.is(upstream.hits.length, 21);
  t.is(legacy.hits.length, 0);
  t.false(existsSync(file));
});

test('G53: workers add up in the store, and a killed gateway loses only new evidence', async (t) => {
  const folder = folderOf(t);
  const [legacy, upstream] = await Promise.all([startStub(t), startStub(t)]);
  legacy.answer = {
    status: 200,
    headers: { 'content-type': 'text/xml' },
    body: '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><a:GetApplicationZipResponse xmlns:a="http://desk.example/services/Agency-V2"><a:FileDataHandler>UEsDBA==</a:FileDataHandler></a:GetApplicationZipResponse></soap:Body></soap:Envelope>',
  };
  upstream.answer = { status: 200, headers: { 'content-type': 'application/json' }, body: differing };
  const routes = [{ name: 'c', operations: [zip], mode: 'compare' }];
  const flags = flagsOf(folder, { upstream: upstream.url, legacy: legacy.url, migration: { routes } });
  const counted = (): unknown => {
    const database = new DatabaseSync(join(folder, 'store.db'));
    try {
      return database.prepare('SELECT COALESCE(SUM(different), 0) AS n FROM compare_hours').get()?.n;
    } finally {
      database.close();
    }
  };
  const limits = ['--limits', 'loopDelayMs=60000'];
  let expected = 0;
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    const { child, ended, port } = await start(t, [...flags, ...limits]);
    for (let call = 1; call <= 4; call++) {
      t.is((await send(port, { path, headers, body: message('GRANT8') })).status, 200);
      expected++;
    }
    const compared = `migration_compared_total{contract="/",operation="${zip}",result="different"} 4`;
    await until(async () => {
      const { body } = await send(port, { method: 'GET', path: '/metrics' });
      return body.toString().includes(compared);
    });
    if (signal === 'SIGKILL') await until(() => counted() === expected);
    child.kill(signal);
    await ended;
    await until(() => counted() === expected);
  }
  t.is(counted(), 8);
});

test('G55: old rows are deleted without a legacy service, and late rows of forgotten callers', async (t) => {
  const folder = folderOf(t);
  const url = `sqlite:${join(folder, 'store.db')}`;
  const { store } = await opened(t, url);
  const [now, day] = [Date.now(), 86_400_000];
  const usage = { ...{ operation: 'TrackParcel', binding: 'json', side: 'new' }, ...noCounts };
  const rowOf = (caller: string, at: number) =>
    addUsage('/', { ...usage, caller, day: startOfDay(at), lastAt: at });
  const forgotten = { network: 'local', action: 'forget', status: 200, subject: 'p1' };
  await store.write([
    rowOf('old', now - 402 * day),
    insertAudit(forgotten, now),
    rowOf('p1', now),
    rowOf('kept', now),
    ...[31, 29].map((days) => insertExchange(exchange(days, now - days * day))),
  ]);
  const site = await startSite(t, {
    contract: resolve('test/fixtures/contracts/parcels'),
    config: {},
    ...withStore(folder),
  });
  const callers = async () =>
    (await store.all({ sql: 'SELECT caller FROM usage_days' })).map(({ caller }) => caller);
  await until(async () => (await callers()).length === 1);
  t.deepEqual(await callers(), ['kept']);
  await until(async () => (await store.all({ sql: 'SELECT id FROM exchanges' })).length === 1);
  t.is((await site.send({ method: 'GET', path: '/readyz' })).status, 200);
});

test('G53: a process that finds a newer major version of the schema does not start', async (t) => {
  const folder = folderOf(t);
  const config = join(folder, 'soapbridge.yaml');
  const contract = { contract: contractFolder('contracts/agency'), upstream: 'http://127.0.0.1:9' };
  writeFileSync(config, JSON.stringify({ contracts: { '/': contract }, store: 'sqlite:store.db' }));
  writeFileSync(join(folder, 'key'), '0123456789abcdef');
  const database = new DatabaseSync(join(folder, 'store.db'));
  database.exec(
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT); INSERT INTO meta VALUES ('schema', '2.0')",
  );
  database.close();
  for (const workers of ['1', '2']) {
    const flags = ['serve', '--config', config, '--caller-key', join(folder, 'key'), '--workers', workers];
    const { code, err } = await run(t, flags, { PORT: '0' }).ended;
    t.is(code, 2);
    t.regex(err, /soapbridge\.yaml:\d+#\/store: expected a store with a schema of major version 1, got 2/);
  }
});

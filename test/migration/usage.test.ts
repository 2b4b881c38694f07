import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type ExecutionContext } from 'ava';
import { Usage, type UsageParts } from '../../gateway/migration/usage.ts';
import { type Store, StoreError } from '../../gateway/store/store.ts';
import {
  callerRowsOf,
  insertExemption,
  type Usage as UsageOf,
  usageOf,
} from '../../gateway/store/tables/usage.ts';
import { startStats } from '../../gateway/telemetry/request-stats.ts';
import { run } from '../gateway/commands/run.ts';
import { folderOf, opened } from '../gateway/store/opened.ts';
import { until } from '../until.ts';
import { contractFolder, type Site, type SiteOptions, startSite } from './scenario.ts';

const names = ['acme', 'beta'];

/** Options of a gateway with a store in a folder. */
function withStore(folder: string): Partial<SiteOptions> {
  const callerKey = join(folder, 'key');
  const callers = join(folder, 'callers.yaml');
  writeFileSync(callerKey, '0123456789abcdef');
  writeFileSync(callers, JSON.stringify(Object.fromEntries(names.map((name) => [name, [name]]))));
  return {
    root: { store: `sqlite:${join(folder, 'store.db')}` },
    serve: { callerFiles: { callers, callerKey } },
  };
}

const path = '/agency/services/v2/AgencyPort';

function message(operation: string, inner = ''): string {
  return `<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><a:${operation}Request xmlns:a="http://desk.example/services/Agency-V2" xmlns:c="http://desk.example/system/Common-V1">${inner}</a:${operation}Request></soap:Body></soap:Envelope>`;
}

const list = {
  path,
  headers: { 'content-type': 'text/xml', soapaction: '"http://desk.example/GetOpportunityList"' },
  body: message('GetOpportunityList'),
};

const reply = { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' };
const legacyReply = { status: 200, headers: { 'content-type': 'text/xml' }, body: '<x/>' };

/** Stops the gateway, which writes its counters, and returns the usage in its store. */
async function usageIn(t: ExecutionContext, site: Site, folder: string): Promise<readonly UsageOf[]> {
  await site.running.stop(0);
  const { store } = await opened(t, `sqlite:${join(folder, 'store.db')}`);
  return usageOf(store, '/', 0);
}

test('G61: calls are counted by operation, caller, binding and side, with faults and refusals', async (t) => {
  const folder = folderOf(t);
  const migration = { routes: [{ name: 'beta', mode: 'new', when: { caller: 'beta' } }] };
  const site = await startSite(t, {
    contract: contractFolder('contracts/agency'),
    config: { legacy: '{legacy}', migration },
    ...withStore(folder),
  });
  site.upstream.answer = reply;
  site.legacy.answer = legacyReply;
  await site.send({ ...list, caller: 'acme' });
  site.legacy.answer = { ...legacyReply, status: 500 };
  await site.send({ ...list, caller: 'acme' });
  await site.send({ ...list, caller: 'beta' });
  await site.send({ ...list, caller: 'acme', body: '<broken' });
  await site.send({ ...list, caller: 'beta', headers: { 'content-type': 'text/xml' } });
  const usage = await usageIn(t, site, folder);
  t.deepEqual(
    usage.map(({ operation, caller, calls, faults, noAction, bindings, sides }) => [
      ...[operation, caller, calls, faults, noAction],
      ...[bindings, sides],
    ]),
    [
      ['GetOpportunityList', 'acme', 2, 1, 0, { soap11: 2 }, { legacy: 2 }],
      ['GetOpportunityList', 'beta', 2, 0, 1, { soap11: 2 }, { new: 2 }],
      ['?', 'acme', 1, 1, 0, { soap11: 1 }, { legacy: 1 }],
    ],
  );
});

const parcels = resolve('test/fixtures/contracts/parcels');

test('G61: usage per binding shows who has moved from SOAP, for an OpenAPI contract with only a store', async (t) => {
  const folder = folderOf(t);
  const site = await startSite(t, { contract: parcels, config: {}, ...withStore(folder) });
  site.upstream.answer = reply;
  const key = { 'x-api-key': 'k' };
  const soap = (namespace: string) =>
    `<s:Envelope xmlns:s="${namespace}"><s:Body><TrackParcel xmlns="urn:example:parcels"><number>1</number></TrackParcel></s:Body></s:Envelope>`;
  const send = (at: string, type: string, body?: string) =>
    site.send({
      path: at,
      headers: { ...key, 'content-type': type },
      body,
      method: body === undefined ? 'GET' : 'POST',
    });
  await send('/soap11', 'text/xml', soap('http://schemas.xmlsoap.org/soap/envelope/'));
  await send('/soap12', 'application/soap+xml', soap('http://www.w3.org/2003/05/soap-envelope'));
  await send('/json/reply/TrackParcel', 'application/json', '{"number":"1"}');
  await send(
    '/xml/reply/TrackParcel',
    'application/xml',
    '<TrackParcel xmlns="urn:example:parcels"><number>1</number></TrackParcel>',
  );
  await site.send({ method: 'GET', path: '/soap11?wsdl' });
  await site.send({ method: 'GET', path: '/nowhere' });
  const [usage, ...others] = await usageIn(t, site, folder);
  t.deepEqual(others, []);
  t.is(usage?.operation, 'TrackParcel');
  t.deepEqual(usage?.bindings, { json: 1, soap11: 1, soap12: 1, xml: 1 });
  t.is(usage?.caller.length, 16); // the pseudonym of a secret
});

test('G61: accepted irregularities are counted', async (t) => {
  const folder = folderOf(t);
  const contract = join(folder, 'openapi.yaml');
  const properties = { first: { type: 'string' }, second: { type: 'string' } };
  const content = { 'application/json': { schema: { type: 'object', properties } } };
  const responses = { 204: { description: 'done' } };
  const put = { operationId: 'PutPair', requestBody: { required: true, content }, responses };
  const info = { title: 'Pairs', version: '1' };
  writeFileSync(contract, JSON.stringify({ openapi: '3.0.3', info, paths: { '/pair': { put } } }));
  writeFileSync(
    join(folder, 'soap.yaml'),
    'dialect: plain\nunknownElements: ignore\nillegalCharacterReferences: accept\n',
  );
  const site = await startSite(t, { contract: folder, config: {}, ...withStore(folder) });
  site.upstream.answer = { status: 204 };
  const wsdl = (await site.send({ method: 'GET', path: '/soap11?wsdl' })).body.toString();
  const namespace = /targetNamespace="([^"]*)"/.exec(wsdl)?.[1];
  const send = async (inner: string, soapaction = '""', space = ''): Promise<void> => {
    const body = `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>${space}<PutPair xmlns="${namespace}"><Body>${inner}</Body></PutPair></s:Body></s:Envelope>`;
    const headers = { 'content-type': 'text/xml', ...(soapaction === 'none' ? {} : { soapaction }) };
    const reply = await site.send({ path: '/soap11', headers, body });
    t.is(reply.status, 200, reply.body.toString());
  };
  await send('<first>a</first><second>b</second>');
  await send('<second>b</second><first>a</first>');
  await send('<second>b</second><first>a</first>', '""', '<!-- read by the usual reader -->');
  await send('<first>a</first><third>c</third>');
  await send('<first>a&#1;</first>');
  await send('<first>a</first>', 'none');
  const [usage] = await usageIn(t, site, folder);
  t.like(usage, { calls: 6, faults: 0, reordered: 2, ignored: 1, illegalReferences: 1, noAction: 1 });
});

test('G62: a caller without an id has the pseudonym of its network, without the address', async (t) => {
  const folder = folderOf(t);
  const config = {
    migration: { deprecate: [{ since: '2020-01-01T00:00:00Z', sunset: '2020-01-02T00:00:00Z' }] },
  };
  const site = await startSite(t, {
    contract: contractFolder('contracts/agency'),
    config,
    ...withStore(folder),
  });
  const agent = `Apache-CXF/${'4'.repeat(200)}`;
  const headers = { ...list.headers, 'user-agent': agent };
  t.is((await site.send({ ...list, headers })).status, 500);
  await site.running.stop(0);
  const { store } = await opened(t, `sqlite:${join(folder, 'store.db')}`);
  const [usage] = await usageOf(store, '/', 0);
  t.like(usage, { calls: 1, faults: 1, sides: { none: 1 } });
  const [caller] = (await callerRowsOf(store, '/')).values();
  t.is(caller?.caller, usage?.caller);
  t.regex(caller?.caller ?? '', /^[\w-]{16}$/);
  t.like(caller, { network: undefined, userAgent: agent.slice(0, 128), stack: 'CXF' });
  t.true((caller?.firstAt ?? 0) > Date.now() - 60_000);
});

test('G62: the network of a caller is stored only with redact: none', async (t) => {
  for (const [redact, network] of [
    ['none', '127.0.0.1'],
    ['pseudonyms', undefined],
  ] as const) {
    const folder = folderOf(t);
    const site = await startSite(t, {
      contract: contractFolder('contracts/agency'),
      config: { legacy: '{legacy}', migration: { record: { redact } } },
      ...withStore(folder),
    });
    site.legacy.answer = legacyReply;
    t.is((await site.send({ ...list, caller: 'acme' })).status, 200);
    await site.running.stop(0);
    const { store } = await opened(t, `sqlite:${join(folder, 'store.db')}`);
    t.is((await callerRowsOf(store, '/')).get('acme')?.network, network);
  }
});

test('G65: an exemption in the store applies within two seconds', async (t) => {
  const folder = folderOf(t);
  const config = {
    migration: { deprecate: [{ since: '2020-01-01T00:00:00Z', sunset: '2020-01-02T00:00:00Z' }] },
  };
  const site = await startSite(t, {
    contract: contractFolder('contracts/agency'),
    config,
    ...withStore(folder),
  });
  site.upstream.answer = reply;
  const call = { ...list, caller: 'acme' };
  t.is((await site.send(call)).status, 500);
  const { store } = await opened(t, `sqlite:${join(folder, 'store.db')}`);
  const at = Date.now();
  const exemption = {
    contract: '/',
    caller: 'acme',
    until: at + 3_600_000,
    reason: 'late',
    actor: 'ann',
    at,
  };
  await store.write([insertExemption({ ...exemption, operation: 'GetOpportunityList' })]);
  await until(async () => (await site.send(call)).status === 200);
  t.is((await site.send({ ...call, caller: 'beta' })).status, 500);
  await store.write([{ sql: 'DELETE FROM exemptions' }]);
  await until(async () => (await site.send(call)).status === 500);
  t.pass();
});

test('G54, G65: while the exemptions are not known, a caller gets 503 after the sunset', async (t) => {
  const folder = folderOf(t);
  const other = new DatabaseSync(join(folder, 'store.db'));
  t.teardown(() => other.close());
  other.exec('PRAGMA journal_mode = WAL; BEGIN IMMEDIATE; CREATE TABLE other (id TEXT)');
  const [since, sunset] = ['2020-01-01T00:00:00Z', '2020-01-02T00:00:00Z'];
  const site = await startSite(t, {
    contract: contractFolder('contracts/agency'),
    config: { migration: { deprecate: [{ since, sunset, exempt: { beta: '2999-01-01T00:00:00Z' } }] } },
    limits: { storeMs: 2_000, storeRetryMs: 50 },
    ...withStore(folder),
  });
  site.upstream.answer = reply;
  const { headers, body } = await site.send({ ...list, caller: 'acme' });
  t.is(headers['x-status'], '503');
  t.is(headers['retry-after'], '1');
  t.true(body.toString().includes('the exemptions are not known'), body.toString());
  t.is((await site.send({ ...list, caller: 'beta' })).status, 200);
  other.exec('COMMIT');
  await until(async () => (await site.send({ ...list, caller: 'acme' })).headers['x-status'] === '410');
  t.pass();
});

test('G54, G61: without the store no call fails, and the counters are written when it is back', async (t) => {
  const folder = folderOf(t);
  const file = join(folder, 'store.db');
  const site = await startSite(t, { contract: parcels, config: {}, ...withStore(folder) });
  site.upstream.answer = reply;
  renameSync(file, `${file}.away`);
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
  const headers = { 'x-api-key': 'k', 'content-type': 'application/json' };
  for (let call = 0; call < 3; call++)
    t.is((await site.send({ path: '/json/reply/TrackParcel', headers, body: '{"number":"1"}' })).status, 200);
  t.pass();
});

/** Returns the counters of a contract, and a function that counts a call of a caller. */
function countersOf(store: Store, limits: { readonly maxCallers?: number; readonly maxRows?: number } = {}) {
  const lines: string[] = [];
  const log = (_fields: object, text: string): void => {
    lines.push(text);
  };
  const parts: UsageParts = {
    path: '/',
    maxCallers: 10_000,
    networkOf: () => 'n',
    pseudonymOf: (text) => text,
    subjectOf: undefined,
    keepsNetworks: false,
    ...limits,
  };
  const usage = new Usage(store, { info: log, warn: log, error: log }, parts);
  const call = (caller: string, operation = 'GetOrder'): void => {
    const request = new IncomingMessage(new Socket());
    const stats = { ...startStats('r', 'POST'), caller, operation, transport: 'soap11', status: 200 };
    usage.observer.finished?.({
      index: -1,
      head: { headers: {}, rawHeaders: [] },
      request,
      started: 0,
      stats,
    });
  };
  return { usage, call };
}

const callsBy = (rows: readonly UsageOf[]): Readonly<Record<string, number>> =>
  Object.fromEntries(rows.map(({ caller, calls }) => [caller, calls]));

test('usageCallers: (G61) as many callers have their own counts, and further ones are `other`', async (t) => {
  const { store } = await opened(t, `sqlite:${join(folderOf(t), 'store.db')}`);
  const { usage, call } = countersOf(store, { maxCallers: 2 });
  for (const caller of ['a', 'b', 'a']) call(caller);
  await usage.write();
  t.deepEqual(callsBy(await usageOf(store, '/', 0)), { a: 2, b: 1 });
  for (const caller of ['b', 'c', 'd']) call(caller);
  await usage.write();
  t.deepEqual(callsBy(await usageOf(store, '/', 0)), { a: 2, b: 2, other: 2 });
  t.is((await callerRowsOf(store, '/')).size, 2);
  const restarted = countersOf(store, { maxCallers: 2 });
  await restarted.usage.write(); // reads the callers of the store
  restarted.call('c');
  restarted.call('a');
  await restarted.usage.write();
  t.deepEqual(callsBy(await usageOf(store, '/', 0)), { a: 3, b: 2, other: 3 });
});

test('G54, G61: rows are written in the order of their keys, so that processes do not block each other', async (t) => {
  const { store } = await opened(t, `sqlite:${join(folderOf(t), 'store.db')}`);
  const written: string[] = [];
  const write: Store['write'] = (statements) => {
    written.push(...statements.map(({ values = [] }) => values.slice(0, 3).join(' ')));
    return store.write(statements);
  };
  const { usage, call } = countersOf({ all: store.all, close: store.close, isUp: true, write });
  for (const caller of ['b', 'c', 'a'])
    for (const operation of ['PutOrder', 'GetOrder']) call(caller, operation);
  await usage.write();
  const names = written.filter((text) => / (?:Get|Put)Order /.test(text));
  t.deepEqual(names, names.toSorted());
  t.is(names.length, 6);
  const callers = written.filter((text) => /^\/ [abc] /.test(text));
  t.deepEqual(callers, callers.toSorted());
  t.is(callers.length, 3);
});

test('usageCallers: (G61) is a limit of the contract, not of each process', async (t) => {
  const { store } = await opened(t, `sqlite:${join(folderOf(t), 'store.db')}`);
  const [one, two] = [countersOf(store, { maxCallers: 3 }), countersOf(store, { maxCallers: 3 })];
  for (const caller of ['a', 'b']) one.call(caller);
  for (const caller of ['c', 'd', 'e', 'a']) two.call(caller); // `a` is above the limit of this process
  await Promise.all([one.usage.write(), two.usage.write()]);
  t.deepEqual(callsBy(await usageOf(store, '/', 0)), { a: 1, b: 1, c: 1, other: 3 });
  t.is((await callerRowsOf(store, '/')).size, 3);
  for (const caller of ['c', 'd']) two.call(caller);
  await two.usage.write();
  t.deepEqual(callsBy(await usageOf(store, '/', 0)), { a: 1, b: 1, c: 2, other: 4 });
});

test('G54, G61: calls of a write whose reply is lost are counted once', async (t) => {
  const { store } = await opened(t, `sqlite:${join(folderOf(t), 'store.db')}`);
  let lost: 'reply' | 'write' | undefined;
  const write: Store['write'] = async (statements) => {
    const isLost = statements.some(({ sql }) => sql.startsWith('INSERT INTO usage_days'));
    const refused = new StoreError('no reply', 'timeout');
    if (isLost && lost === 'write') throw refused;
    const changes = await store.write(statements);
    if (isLost && lost === 'reply') throw refused;
    return changes;
  };
  const { usage, call } = countersOf({ all: store.all, close: store.close, isUp: true, write });
  for (const next of ['reply', 'write', undefined] as const) {
    lost = next;
    call('a');
    await usage.write();
  }
  t.deepEqual(callsBy(await usageOf(store, '/', 0)), { a: 3 });
});

test('G55, G61: a forgotten caller that calls again gets a new row', async (t) => {
  const { store } = await opened(t, `sqlite:${join(folderOf(t), 'store.db')}`);
  const { usage, call } = countersOf(store);
  call('a');
  await usage.write();
  await store.write([{ sql: 'DELETE FROM callers' }, { sql: 'DELETE FROM usage_days' }]);
  call('a');
  await usage.write();
  t.deepEqual(callsBy(await usageOf(store, '/', 0)), { a: 1 }); // it has called again
  t.is((await callerRowsOf(store, '/')).size, 1);
});

test('G54, G61: counters wait for the store up to their bound, and no call is lost', async (t) => {
  const folder = folderOf(t);
  const file = join(folder, 'store.db');
  const { store } = await opened(t, `sqlite:${file}`);
  const { usage, call } = countersOf(store, { maxRows: 3 });
  call('a');
  await usage.write();
  renameSync(file, `${file}.away`);
  for (const caller of ['a', 'b', 'c', 'd', 'a', 'e']) call(caller);
  await usage.write(); // fails
  call('b');
  await usage.write(); // fails, too
  t.false(store.isUp);
  renameSync(`${file}.away`, file);
  await until(async () => {
    await usage.write();
    return store.isUp;
  });
  await usage.write();
  t.deepEqual(callsBy(await usageOf(store, '/', 0)), { a: 3, b: 2, c: 1, other: 2 });
  await usage.write();
  t.is(
    (await usageOf(store, '/', 0)).reduce((sum, { calls }) => sum + calls, 0),
    8,
  );
});

test('G63: `usage` lists operations and callers, and operations without calls', async (t) => {
  const folder = folderOf(t);
  const file = join(folder, 'store.db');
  const site = await startSite(t, {
    contract: contractFolder('contracts/agency'),
    config: { legacy: '{legacy}' },
    path: '/agency',
    ...withStore(folder),
  });
  site.legacy.answer = legacyReply;
  const call = { ...list, path: `/agency${path}`, headers: { ...list.headers, 'user-agent': 'Axis/1.4' } };
  for (const caller of ['acme', 'beta', 'acme']) t.is((await site.send({ ...call, caller })).status, 200);
  await site.running.stop(0);
  const usage = async (...args: readonly string[]) => {
    const { code, out, err } = await run(t, ['usage', '--store', `sqlite:${file}`, ...args]).ended;
    return { code, out, err };
  };
  const { out, err } = await usage();
  t.is(err, '');
  t.regex(
    out,
    /^\/agency: calls since \d{4}-.*Z\n {2}operation +caller +calls +faults +last call +side +binding/,
  );
  t.regex(out, /\n {2}GetOpportunityList +acme +2 +0 +20\S+Z +legacy 2 +soap11 2\n/);
  t.regex(out, /\n {2}acme +Axis 1 +20\S+Z +20\S+Z +Axis\/1\.4\n/);
  const csv = (await usage('--format', 'csv', '--contract', '/agency')).out.split('\n');
  t.is(
    csv[0],
    'contract,operation,caller,stack,calls,faults,last_call,sides,bindings,reordered,ignored,illegal_references,no_action',
  );
  t.regex(csv[1] ?? '', /^\/agency,GetOpportunityList,acme,Axis 1,2,0,20\S+Z,legacy 2,soap11 2,0,0,0,0$/);
  const [json] = JSON.parse(
    (await usage('--format', 'json', '--since', '2020-01-01T00:00:00Z')).out,
  ).contracts;
  t.is(json.since, Date.parse('2020-01-01T00:00:00Z'));
  t.like(json.usage[1], { operation: 'GetOpportunityList', caller: 'beta', calls: 1, sides: { legacy: 1 } });
  t.like(json.callers[0], { caller: 'acme', stack: 'Axis 1', userAgent: 'Axis/1.4' });
  const contract = { contract: contractFolder('contracts/agency'), upstream: 'http://new.example' };
  const config = join(folder, 'other.yaml');
  writeFileSync(config, JSON.stringify({ contracts: { '/agency': contract } }));
  const silent = await usage('--silent', '14d', '--config', config);
  t.is(silent.err, '');
  t.regex(
    silent.out,
    /^\/agency: 4 operations without calls since 20\S+Z\n {2}GetSubmissionList: never called\n/,
  );
  t.false(silent.out.includes('GetOpportunityList'));
  for (const [args, expected] of [
    [['--since', 'soon'], '--since: expected a duration such as 30d, or a time with an offset'],
    [['--contract', '/x'], '--contract: expected the path of a contract: /agency, got /x'],
    [['--silent', '14d'], '--silent: expected --config'],
  ] as const) {
    const wrong = await usage(...args);
    t.is(wrong.code, 2);
    t.true(wrong.err.includes(expected), wrong.err);
  }
});

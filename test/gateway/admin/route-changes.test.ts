import { renameSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { bucketOf } from '../../../gateway/migration/decide.ts';
import { insertRouteVersion } from '../../../gateway/store/tables/routes.ts';
import { readScenario, type StubReply } from '../../migration/scenario.ts';
import { until } from '../../until.ts';
import { opened } from '../store/opened.ts';
import { type AdministeredSite, type Json, startAdministered } from './migration.ts';

interface Scenario {
  readonly calls: readonly {
    readonly request: {
      readonly path: string;
      readonly headers: Record<string, string>;
      readonly body: string;
    };
    readonly legacy: StubReply;
  }[];
}

/** A call of the read GetOpportunityList. */
const [read] = readScenario<Scenario>('S28').calls;
const list = '/api/v1/contracts/%2Fagency/routes';
const operation = 'GetOpportunityList';

/** Sends a read and returns the side that answers it. */
async function sideOf(site: AdministeredSite, caller = 'acme'): Promise<string> {
  if (read === undefined) throw new TypeError('scenario: expected a call, got none');
  const before = site.upstream.hits.length;
  site.legacy.answer = read.legacy;
  site.upstream.answer = { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' };
  const reply = await site.send({ ...read.request, path: `/agency${read.request.path}`, caller });
  if (reply.status !== 200) throw new Error(`call: expected 200, got ${reply.status}: ${reply.body}`);
  return site.upstream.hits.length > before ? 'new' : 'legacy';
}

async function versionOf({ as }: AdministeredSite): Promise<number> {
  return JSON.parse((await as('vera', list)).text).version;
}

const toNew = { operation, mode: 'new', force: true, reason: 'switch' };

test('G66: a change precedes the file, ends, and survives a restart and a reload', async (t) => {
  const site = await startAdministered(t);
  t.is(await sideOf(site), 'legacy');
  const changed = await site.post(list, { ...toNew, ifVersion: 0 });
  t.is(changed.status, 201);
  t.is(await sideOf(site), 'new');
  t.is(site.log().findLast(({ mode }) => mode === 'new')?.rule, `change ${operation}`);
  await site.running.reload();
  t.is(await sideOf(site), 'new');
  const restarted = await startAdministered(t, { folder: site.folder });
  t.is(await sideOf(restarted), 'new');
  t.is(await versionOf(restarted), 1);
  const ended = await restarted.as('otto', `${list}/${changed.json.id}`, { method: 'DELETE' });
  t.is(ended.status, 200);
  t.is(await sideOf(restarted), 'legacy');
  const again = await restarted.as('otto', `${list}/${changed.json.id}`, { method: 'DELETE' });
  t.is(again.status, 404);
});

test('G66: another process with the same store follows a change', async (t) => {
  const one = await startAdministered(t);
  const two = await startAdministered(t, { folder: one.folder });
  t.is(await sideOf(two), 'legacy');
  t.is((await one.post(list, { ...toNew, ifVersion: 0 })).status, 201);
  await until(async () => (await sideOf(two)) === 'new');
  const metric = two.running.metrics().find(({ name }) => name === 'routes_version');
  t.deepEqual(
    metric?.samples.map(({ labels, value }) => [labels, value]),
    [['contract="/agency"', 1]],
  );
  const { replicas, history, sentences }: Json = JSON.parse((await two.as('vera', list)).text);
  t.is(replicas[0].version, 1);
  t.like(history[0], { version: 1, actor: 'otto', action: 'change', operation });
  t.regex(sentences.find((one: Json) => one.operation === operation).sentence, /^new \("change /);
});

test('G66: a percentage selects callers by the name of the change', async (t) => {
  const site = await startAdministered(t);
  const rule = `change ${operation}`;
  const callers = Array.from({ length: 12 }, (_, index) => `caller${index}`);
  const percent = 40;
  t.is((await site.post(list, { ...toNew, percent, ifVersion: 0 })).status, 201);
  for (const caller of callers) {
    const isSelected = bucketOf(rule, `id ${caller}`) < percent;
    t.is(await sideOf(site, caller), isSelected ? 'new' : 'legacy', caller);
  }
});

test('G66: a change ends at its time', async (t) => {
  const site = await startAdministered(t);
  const end = new Date(Date.now() + 1_500).toISOString();
  const { json } = await site.post(list, { ...toNew, until: end, ifVersion: 0 });
  t.true(json.changes[0].isActive);
  await until(async () => (await sideOf(site)) === 'legacy');
  t.true(Date.now() >= Date.parse(end));
  const { changes }: Json = JSON.parse((await site.as('vera', list)).text);
  t.false(changes[0].isActive);
});

test('G66: a switch fails no call', async (t) => {
  const site = await startAdministered(t);
  let isDone = false;
  let calls = 0;
  const load = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (!isDone) {
        await sideOf(site);
        calls++;
      }
    }),
  );
  for (let version = 0; version < 100; version++) {
    const mode = version % 2 === 0 ? 'new' : 'legacy';
    const { status } = await site.post(list, { ...toNew, mode, ifVersion: version });
    t.is(status, 201);
  }
  isDone = true;
  await load;
  const { legacy, upstream } = site;
  t.true(legacy.hits.length > 0 && upstream.hits.length > 0);
  t.is(legacy.hits.length + upstream.hits.length, calls);
});

test('G67: only a read that moves to new needs a verdict, and a smaller share does not', async (t) => {
  const site = await startAdministered(t);
  const change = async (of: object) => {
    const ifVersion = await versionOf(site);
    return site.post(list, { operation, reason: 'why', ifVersion, ...of });
  };
  const refused = await change({ mode: 'new', percent: 5 });
  t.is(refused.status, 409);
  t.is(refused.json.title, 'NotReady');
  t.is((await change({ mode: 'new', percent: 5, force: true })).status, 201);
  t.is((await change({ mode: 'new', percent: 6 })).status, 409);
  t.is((await change({ mode: 'new', percent: 4 })).status, 201);
  t.is((await change({ mode: 'legacy' })).status, 201);
  t.is((await change({ operation: 'ConfirmApplicationDelivery', mode: 'new' })).status, 201);
  const { items }: Json = JSON.parse((await site.as('otto', '/api/v1/audit')).text);
  const forced = items.find(({ force, status }: Json) => force && status === 201);
  t.like(forced, { actor: 'otto', verdict: 'none', reason: 'why', subject: operation, contract: '/agency' });
});

test('G67: a change that has ended does not replace the verdict', async (t) => {
  const site = await startAdministered(t);
  const { store } = await opened(t, `sqlite:${join(site.folder, 'store.db')}`);
  const change = { id: 'c1', operation, mode: 'new', percent: 100, actor: 'otto', reason: 'why', at: 1 };
  const ended = [{ ...change, until: Date.now(), isForced: true }];
  const version = { version: 1, id: 'c1', action: 'change', operation, toVersion: undefined } as const;
  const row = { ...version, contract: '/agency', actor: 'otto', reason: 'why', at: 1 };
  await store.write([insertRouteVersion({ ...row, changes: JSON.stringify(ended) })]);
  const again = await site.post(list, { operation, mode: 'new', percent: 50, reason: 'why', ifVersion: 1 });
  t.is(again.status, 409);
  t.is(again.json.title, 'NotReady');
});

test('G71: problems of a change have the texts of the file', async (t) => {
  const site = await startAdministered(t);
  const base = { operation, mode: 'compare', reason: 'why', ifVersion: 0 };
  const cases: [object, string, string | RegExp][] = [
    [
      { operation: 'GetOpportunity' },
      '/operation',
      /^expected an operation of the contract, got GetOpportunity, did you/,
    ],
    [{ percent: 101 }, '/percent', 'expected 0 to 100, got 101'],
    [{ percent: { of: 5, by: 'x' } }, '/percent', 'expected 0 to 100, got "an object"'],
    [{ mode: 'blend' }, '/mode', `expected migration.blend.${operation} for mode blend, got none`],
    [{ mode: 'new', answer: 'new' }, '/answer', 'expected mode compare for answer, got new'],
    [{ mode: 'both' }, '/mode', /^expected one of legacy, new, .* got "both"/],
    [
      { until: '2020-01-01T00:00:00Z' },
      '/until',
      /^expected a time with an offset.* got 2020-01-01T00:00:00Z/,
    ],
  ];
  for (const [of, pointer, message] of cases) {
    const { status, json } = await site.post(list, { ...base, ...of });
    t.is(status, 422, JSON.stringify(of));
    t.is(json.problems[0].pointer, pointer);
    if (typeof message === 'string') t.is(json.problems[0].message, message);
    else t.regex(json.problems[0].message, message);
  }
  t.is(await versionOf(site), 0);
});

test('G71: a rollback restores a version, and an unknown one is refused', async (t) => {
  const site = await startAdministered(t);
  await site.post(list, { ...toNew, ifVersion: 0 });
  await site.post(list, { ...toNew, operation: 'GetSubmissionList', ifVersion: 1 });
  const back = await site.post(`${list}/rollback`, { toVersion: 1, reason: 'callers complain' });
  t.is(back.status, 201);
  t.deepEqual(
    back.json.changes.map((one: Json) => one.operation),
    [operation],
  );
  const unknown = await site.post(`${list}/rollback`, { toVersion: 9, reason: 'callers complain' });
  t.is(unknown.status, 422);
  t.is(unknown.json.problems[0].message, 'expected a version from 0 to 3, got 9');
  t.is((await site.post(`${list}/rollback`, { toVersion: 0, reason: 'no' })).status, 400);
  t.is((await site.post(`${list}/rollback`, { toVersion: 0, reason: 'all' })).status, 201);
  t.is(await sideOf(site), 'legacy');
});

test('G72: without the row of the audit, nothing changes, and the last routes stay', async (t) => {
  const site = await startAdministered(t);
  t.is((await site.post(list, { ...toNew, ifVersion: 0 })).status, 201);
  const file = join(site.folder, 'store.db');
  renameSync(file, `${file}.away`);
  const refused = await site.post(list, { ...toNew, mode: 'legacy', ifVersion: 1 });
  t.is(refused.status, 503);
  t.is((await site.post('/api/v1/reload', {})).status, 503);
  const lines = site.log().filter((line: Json) => line.audit?.status === 503);
  t.deepEqual(
    lines.map((line: Json) => line.audit.action),
    ['routes', 'reload'],
  );
  t.is(await sideOf(site), 'new');
  const { version, readOnlyReason }: Json = JSON.parse((await site.as('vera', list)).text);
  t.is(version, 1);
  t.is(readOnlyReason, 'the store does not work');
});

test('G71: without a store, routes cannot be changed', async (t) => {
  const site = await startAdministered(t, { store: undefined });
  const { status, json } = await site.post(list, { ...toNew, ifVersion: 0 });
  t.is(status, 409);
  t.is(json.title, 'NoStore');
  t.like(JSON.parse((await site.as('vera', list)).text), {
    version: 0,
    readOnlyReason: 'soapbridge.yaml has no store',
  });
});

test('G54: until the store has answered, no call is routed', async (t) => {
  const site = await startAdministered(t, { store: 'postgres://nobody@127.0.0.1:1/none' });
  await t.throwsAsync(sideOf(site), { message: /expected 200, got 503: the routes are not known/ });
  t.is(site.legacy.hits.length, 0);
  t.is((await site.post(list, { ...toNew, ifVersion: 0 })).status, 503);
});

test('G71: explain gives rule and mode for a message and for an operation', async (t) => {
  const site = await startAdministered(t);
  await site.post(list, { ...toNew, ifVersion: 0 });
  const path = `${list}/explain`;
  const found = { operation, mode: 'new', rule: `change ${operation}` };
  t.deepEqual((await site.post(path, { operation })).json, found);
  const body = read?.request.body ?? '';
  t.deepEqual(
    (await site.post(path, { body, caller: 'acme', headers: read?.request.headers ?? {} })).json,
    found,
  );
  t.is((await site.post(path, { body, operation: 'GetSubmissionList' })).status, 422);
  t.is((await site.post(path, {})).status, 422);
  t.is((await site.post(path, { body: '<x/>' })).json.operation, '?');
  t.is(site.legacy.hits.length + site.upstream.hits.length, 0);
});

test('G71: a reload reports the problems of the configuration, and keeps the previous one', async (t) => {
  const site = await startAdministered(t);
  t.deepEqual((await site.post('/api/v1/reload', {})).json, { reloaded: true });
  await site.reconfigure({ legacy: '{legacy}', migration: { routes: [{ name: 'x', mode: 'both' }] } });
  const refused = await site.post('/api/v1/reload', {});
  t.is(refused.status, 422);
  t.regex(refused.json.problems[0].pointer, /\/migration\/routes\/0\/mode$/);
  t.is(await sideOf(site), 'legacy');
});

import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { readFindings, readVerdicts } from '../../../gateway/admin/resources/verdicts.ts';
import type { AdminRequest } from '../../../gateway/admin/route.ts';
import { readExchanges } from '../../../gateway/admin/routes/exchanges.ts';
import type { Finding } from '../../../gateway/migration/evidence.ts';
import {
  addFinding,
  findingId,
  nothingWritten,
  replaceCounts,
} from '../../../gateway/migration/stored-evidence.ts';
import type { AdminState } from '../../../gateway/process/admin.ts';
import { type Statement, type Store, StoreError } from '../../../gateway/store/store.ts';
import { insertExchange } from '../../../gateway/store/tables/record.ts';
import { addUsage, putCaller, startOfDay } from '../../../gateway/store/tables/usage.ts';
import { createCallers } from '../../../gateway/telemetry/callers.ts';
import { run } from '../commands/run.ts';
import { folderOf, opened } from '../store/opened.ts';
import { type AdministeredSite, type Json, startAdministered } from './migration.ts';

const base = '/api/v1/contracts/%2Fagency';
const operation = 'GetOpportunityList';

/** Starts a site, and opens its store a second time. */
async function start(t: ExecutionContext) {
  const site = await startAdministered(t);
  const { store } = await opened(t, `sqlite:${join(site.folder, 'store.db')}`);
  return { site, store };
}

async function get({ as }: AdministeredSite, path: string, user: 'vera' | 'otto' = 'vera'): Promise<Json> {
  const reply = await as(user, path);
  return { status: reply.status, ...JSON.parse(reply.text) };
}

test('G45, G71: a finding is shown, accepted, and opened again', async (t) => {
  const { site, store } = await start(t);
  const at = Date.now();
  const finding: Finding = {
    ...{ operation, path: 'Opportunity[].Title', kind: 'value', count: 3, calls: 2, noise: 0 },
    ...{ first: at, last: at, callers: [1] },
    examples: [{ path: 'Opportunity[0].Title', legacy: 'p-1', new: 'p-2', requestId: 'r1', at }],
  };
  const zero = { explained: 0, more: 0, unanswered: 0, noisePairs: 0, replaced: 0, replacedLast: 0 };
  const counts = { operation, caller: 'acme', equal: 8, different: 2, first: at, callers: [], ...zero };
  await store.write([
    addFinding('/agency', finding, nothingWritten),
    replaceCounts('/agency', 'test', { ...counts, hour: at, legacyMs: {}, newMs: {} }),
    {
      sql: 'INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING',
      values: ['contract /agency', '{"dated":[],"reads":[]}'],
    },
  ]);
  const id = findingId('/agency', finding);
  const { items } = await get(site, `${base}/findings`);
  t.like(items[0], { id, operation, state: 'different', count: 3, examples: [] });
  t.is((await get(site, `${base}/findings/${id}`)).examples[0].legacy, 'p-1');
  t.is((await get(site, `${base}/findings/other`)).status, 404);
  const verdictOf = async () =>
    (await get(site, `${base}/verdicts`)).items.find((one: Json) => one.operation === operation).verdict;
  t.is(await verdictOf(), 'different');
  const decided = await site.post(`${base}/findings/${id}/state`, { state: 'accepted', reason: 'agreed' });
  t.like(decided.json, { state: 'explained', reason: 'agreed' });
  t.is(await verdictOf(), 'collecting');
  await site.post(`${base}/findings/${id}/state`, { state: 'open', reason: 'not agreed' });
  t.is(await verdictOf(), 'different');
  const report = await get(site, `${base}/report`);
  t.is(report.operations.find((one: Json) => one.operation === operation).findings[0].examples.length, 1);
  const { items: contracts } = await get(site, '/api/v1/contracts');
  t.like(contracts[0], { path: '/agency', health: { new: { isOpen: false }, legacy: { isOpen: false } } });
  t.is(contracts[0].verdicts.different, 1);
});

test('G56, G71: recorded exchanges are listed without bodies, newest first, for the role change', async (t) => {
  const { site, store } = await start(t);
  const message = { headers: {}, size: 4 };
  const details = { requestId: 'r', path: '/agency', version: '1.1' as const, request: message };
  for (const [index, body] of [Buffer.from('<a/>'), Buffer.from([0xff, 0xfe])].entries())
    await store.write([
      insertExchange({
        ...{
          id: `e${index}`,
          contract: '/agency',
          at: 1_000 + index,
          operation,
          caller: 'acme',
          mode: 'legacy',
        },
        ...{ rule: 'otherwise', redaction: 'pseudonyms', details, request: body, requestJson: '{}' },
        ...{ legacy: undefined, new: undefined },
      }),
    ]);
  t.is((await site.as('vera', `${base}/exchanges`)).status, 403);
  const first = await get(site, `${base}/exchanges?limit=1`, 'otto');
  t.deepEqual(
    first.items.map(({ id }: Json) => id),
    ['e1'],
  );
  t.false('bodies' in first.items[0]);
  const second = await get(site, `${base}/exchanges?limit=1&cursor=${first.cursor}`, 'otto');
  t.deepEqual(
    second.items.map(({ id }: Json) => id),
    ['e0'],
  );
  t.is(second.cursor, null);
  t.is((await get(site, `${base}/exchanges?cursor=AAAA`, 'otto')).status, 400);
  t.is((await get(site, `${base}/exchanges?caller=other`, 'otto')).items.length, 0);
  const text = await get(site, `${base}/exchanges/e0`, 'otto');
  t.deepEqual(text.bodies.request, { encoding: 'utf8', content: '<a/>' });
  t.is((await get(site, `${base}/exchanges/e1`, 'otto')).bodies.request.encoding, 'base64');
  t.is((await get(site, `${base}/exchanges/e2`, 'otto')).status, 404);
});

test('G56: each page of 100,000 exchanges is read in the order of an index', async (t) => {
  const { store } = await opened(t, `sqlite:${join(folderOf(t), 'store.db')}`, { storeMs: 600_000 });
  const numbers = 'WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 100000)';
  const rare = "CASE n % 1000 WHEN 0 THEN 'rare' ELSE 'usual' END";
  const sql = `INSERT INTO exchanges SELECT 'e' || n, '/agency', n, ${rare}, ${rare}, 'legacy', 'otherwise',
    'pseudonyms', '{}', NULL, NULL, NULL, NULL, 0 FROM (${numbers} SELECT n FROM c)`;
  await store.write([{ sql, values: [] }]);
  const statements: Statement[] = [];
  const all: Store['all'] = (statement) => {
    statements.push(statement);
    return store.all(statement);
  };
  const state = { store: { all }, contracts: () => [{ path: '/agency' }] } as unknown as AdminState;
  const queries: readonly [query: AdminRequest['query'], index: string][] = [
    [{}, 'exchanges_by_time (contract=?'],
    [{ operation: 'rare' }, 'exchanges_by_operation (contract=? AND operation=?'],
    [{ caller: 'rare' }, 'exchanges_by_caller (caller=? AND contract=?'],
  ];
  for (const [query, index] of queries) {
    const of = { ...query, limit: '50' };
    const first = await readExchanges(state, '/agency', of);
    const second = await readExchanges(state, '/agency', { ...of, cursor: first.cursor ?? '' });
    t.is(new Set([...first.items, ...second.items].map(({ id }) => id)).size, 100);
    for (const [at, { sql: read, ...values }] of statements.splice(0).entries()) {
      const plan = await store.all({ sql: `EXPLAIN QUERY PLAN ${read}`, ...values });
      const after = at === 0 ? ')' : ' AND (at,id)<(?,?))';
      t.deepEqual(
        plan.map(({ detail }) => detail),
        [`SEARCH exchanges USING INDEX ${index}${after}`],
      );
    }
  }
});

test('G71: verdicts and findings are read once for several requests, and again after a failure', async (t) => {
  let reads = 0;
  let isDown = true;
  const all = async () => {
    reads++;
    if (isDown) throw new StoreError('expected a working store, got one that fails');
    return [];
  };
  const contract = { basePath: '/agency', operations: [{ name: operation, readOnly: true }] };
  const migration = { contract, evidence: { ready: { calls: 1, callers: 1, days: 1 } } };
  const state = {
    store: { all },
    contracts: () => [],
    migrations: () => [migration],
  } as unknown as AdminState;
  await t.throwsAsync(readVerdicts(state, '/agency'), { instanceOf: StoreError });
  isDown = false;
  reads = 0;
  const [verdicts, again] = await Promise.all([
    readVerdicts(state, '/agency'),
    readVerdicts(state, '/agency'),
    readFindings(state, '/agency'),
  ]);
  t.is(reads, 1);
  t.is(verdicts.length, 1);
  t.deepEqual(again, verdicts);
});

test('G61 to G65, G71: usage, a caller and its exemption', async (t) => {
  const { site, store } = await start(t);
  const now = Date.now();
  const zero = { faults: 0, reordered: 0, ignored: 0, illegalReferences: 0, noAction: 0 };
  await store.write([
    addUsage('/agency', {
      ...{ operation, caller: 'acme', day: startOfDay(now), binding: 'soap11', side: 'legacy' },
      ...{ ...zero, calls: 5, lastAt: now },
    }),
    putCaller(
      '/agency',
      {
        ...{ caller: 'acme', network: undefined, userAgent: 'zeep', subject: undefined, stack: 'zeep' },
        ...{ firstAt: now, lastAt: now },
      },
      10,
    ),
  ]);
  t.like((await get(site, `${base}/usage`)).items[0], { operation, caller: 'acme', calls: 5, stack: 'zeep' });
  t.is((await get(site, `${base}/usage?since=soon`)).status, 400);
  t.is((await get(site, `${base}/callers/nobody`)).status, 404);
  const body = { caller: 'acme', until: '2100-01-01T00:00:00Z', reason: 'contract' };
  t.is((await site.post(`${base}/exemptions`, { ...body, until: '2020-01-01T00:00:00Z' })).status, 422);
  t.is((await site.post(`${base}/exemptions`, { ...body, operation: 'Other' })).status, 422);
  const added = await site.post(`${base}/exemptions`, { ...body, operation });
  t.is(added.status, 201);
  t.like(added.json, { caller: 'acme', operation, actor: 'otto', until: '2100-01-01T00:00:00.000Z' });
  t.is((await get(site, `${base}/callers/acme`)).exemptions[0].id, added.json.id);
  const path = `${base}/exemptions/${added.json.id}`;
  t.is((await site.as('otto', path, { method: 'DELETE' })).status, 204);
  t.is((await site.as('otto', path, { method: 'DELETE' })).status, 404);
});

test('G65: an exemption for an id that has the form of a pseudonym has the pseudonym', async (t) => {
  const { site, store } = await start(t);
  const now = Date.now();
  const body = { until: '2100-01-01T00:00:00Z', reason: 'contract' };
  const exempt = async (caller: string) =>
    (await site.post(`${base}/exemptions`, { ...body, caller })).json.caller;
  const id = 'branch_north_017';
  const pseudonym = createCallers({ key: Buffer.from('k'.repeat(64)) }).nameOf({ kind: 'id', value: id });
  t.is(await exempt(id), pseudonym);
  t.is(await exempt(pseudonym), pseudonym);
  const unused = 'abcdefghijklmnop';
  t.not(await exempt(unused), unused);
  const row = { network: undefined, userAgent: undefined, subject: undefined, stack: 'zeep' };
  await store.write([putCaller('/agency', { ...row, caller: unused, firstAt: now, lastAt: now }, 10)]);
  t.is(await exempt(unused), unused);
});

test('G66: routes --export prints the changes before the rules of the file', async (t) => {
  const { site } = await start(t);
  const until = '2100-01-01T00:00:00.000Z';
  const change = { operation, mode: 'new', percent: 25, force: true, reason: 'ramp', ifVersion: 0, until };
  t.is((await site.post(`${base}/routes`, change)).status, 201);
  const { out, code } = await run(t, ['routes', '--export', '--config', site.config]).ended;
  t.is(code, 0);
  t.regex(out, /# change GetOpportunityList ends at 2100-01-01T00:00:00.000Z/);
  t.regex(
    out,
    /- name: change GetOpportunityList\n\s+operations:\n\s+- GetOpportunityList\n\s+when:\n\s+percent: 25\n\s+mode: new/,
  );
});

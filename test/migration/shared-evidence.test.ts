import { join } from 'node:path';
import test from 'ava';
import { type ComparedCall, Evidence } from '../../gateway/migration/evidence.ts';
import { reportOn } from '../../gateway/migration/report.ts';
import { SharedEvidence } from '../../gateway/migration/shared-evidence.ts';
import type { EvidenceSettings } from '../../gateway/migration/state-file.ts';
import { readStoredEvidence, storedContracts } from '../../gateway/migration/stored-evidence.ts';
import type { Store } from '../../gateway/store/store.ts';
import { folderOf, opened } from '../gateway/store/opened.ts';

const hour = 3_600_000;
const now = 1_000 * hour;
const contract = '/agency';
const silent = { info: () => {}, warn: () => {}, error: () => {} };

function settingsOf(maxFindings = 100): EvidenceSettings {
  const ready = { calls: 1, callers: 1, days: 7, unanswered: 0.01 };
  return { contract, ready, state: undefined, maxFindings, reads: ['GetZip'], dated: [] };
}

function callOf(of: Partial<ComparedCall> & { readonly path?: string }): ComparedCall {
  const { path } = of;
  const difference = { path: path ?? '', kind: 'value' as const, class: 'case', legacy: 'a', new: 'A' };
  const differences = path === undefined ? [] : [difference];
  const result = path === undefined ? ('equal' as const) : ('different' as const);
  return {
    operation: 'GetZip',
    callerKey: 'id acme',
    callerName: 'acme',
    requestId: 'r1',
    comparison: { result, differences, explained: [], notes: [], more: 0 },
    legacyMs: 10,
    newMs: 20,
    at: now,
    ...of,
  };
}

/** A replica with one worker. */
function replicaOf(store: Store, maxFindings?: number) {
  const worker = new Evidence({
    contract,
    maxFindings: 100,
    reasons: [],
    pseudonymOf: (text) => `p(${text})`,
    hasHours: true,
  });
  const shared = new SharedEvidence(store, silent, () => now);
  const save = async (): Promise<void> => {
    shared.add([{ settings: settingsOf(maxFindings), data: worker.take() }]);
    await shared.save();
  };
  return { worker, shared, save };
}

test('G53: findings and counts of two replicas add up, also after more calls', async (t) => {
  const { store } = await opened(t, `sqlite:${join(folderOf(t), 'store.db')}`);
  const [one, two] = [replicaOf(store), replicaOf(store)];
  one.worker.add(callOf({ path: 'Item[0].Status' }));
  one.worker.add(callOf({}));
  await one.save();
  await one.save();
  two.worker.add(callOf({ path: 'Item[3].Status', callerName: undefined, callerKey: 'net 10.0.0.1' }));
  await two.save();
  one.worker.add(callOf({ path: 'Item[1].Status', at: now + 1 }));
  one.worker.unanswered('GetZip', now);
  await one.save();
  t.deepEqual(await storedContracts(store), [contract]);
  const state = await readStoredEvidence(store, contract);
  if (state === undefined) return t.fail();
  t.like(state, { contract, reads: ['GetZip'], saved: now });
  t.like(state.operations[0], { equal: 1, different: 3, unanswered: 1, first: now, legacyMs: { 27: 4 } });
  t.is(state.operations[0]?.callers.length, 2);
  t.is(state.findings.length, 1);
  t.like(state.findings[0], { path: 'Item[].Status', count: 3, calls: 3, first: now, last: now + 1 });
  t.is(state.findings[0]?.callers.length, 2);
  t.is(state.findings[0]?.examples.length, 3);
  const callers = await store.all({ sql: 'SELECT DISTINCT caller FROM compare_hours ORDER BY caller' });
  t.deepEqual(
    callers.map(({ caller }) => caller),
    ['', 'acme', 'p(net 10.0.0.1)'],
  );
  const verdict = one.shared.read()[0]?.samples.find(({ value }) => value === 1)?.labels;
  t.is(verdict, 'contract="/agency",operation="GetZip",verdict="different"');
});

test('G54: a write whose reply is lost is not repeated', async (t) => {
  const { store } = await opened(t, `sqlite:${join(folderOf(t), 'store.db')}`);
  let isLost = false;
  const failing: Store = {
    ...store,
    isUp: true,
    all: store.all,
    write: async (statements) => {
      const changes = await store.write(statements);
      if (isLost) await store.write([{ sql: 'INSERT INTO meta (name) VALUES (NULL)' }]);
      return changes;
    },
  };
  const { worker, save } = replicaOf(failing);
  for (const next of [true, false]) {
    isLost = next;
    worker.add(callOf({ path: 'Item[0].Status' }));
    await save();
  }
  const state = await readStoredEvidence(store, contract);
  t.like(state?.findings[0], { count: 2, calls: 2 });
  t.is(state?.findings[0]?.examples.length, 2);
  t.like(state?.operations[0], { different: 2 });
});

test('G54: findings are written in the order of their ids, so that replicas do not block each other', async (t) => {
  const { store } = await opened(t, `sqlite:${join(folderOf(t), 'store.db')}`);
  const ids: string[] = [];
  const write: Store['write'] = (statements) => {
    for (const { sql, values = [] } of statements)
      if (/INTO findings|FROM findings/.test(sql)) ids.push(String(values[0]));
    return store.write(statements);
  };
  const observed: Store = { all: store.all, close: store.close, isUp: true, write };
  const [one, two] = [replicaOf(observed), replicaOf(observed, 4)];
  for (let index = 0; index < 12; index++) one.worker.add(callOf({ path: `Item.P${index}` }));
  await one.save();
  two.worker.add(callOf({ path: 'Item.P0' }));
  await two.save();
  t.is(ids.splice(12, 1).length, 1);
  t.is(ids.length, 20);
  t.deepEqual(ids.slice(0, 12), ids.slice(0, 12).toSorted());
  t.deepEqual(ids.slice(12), ids.slice(12).toSorted());
});

test('G45: the store has at most `findings` findings, and counts replaced ones', async (t) => {
  const { store } = await opened(t, `sqlite:${join(folderOf(t), 'store.db')}`);
  const [one, two] = [replicaOf(store, 2), replicaOf(store, 2)];
  for (const path of ['A', 'A', 'B', 'B', 'B']) one.worker.add(callOf({ path }));
  await one.save();
  for (const path of ['C', 'C', 'C']) two.worker.add(callOf({ path }));
  await two.save();
  await two.save();
  const state = await readStoredEvidence(store, contract);
  t.deepEqual(state?.findings.map(({ path }) => path).toSorted(), ['B', 'C']);
  t.like(state?.operations[0], { replaced: 1, replacedLast: now });
});

test('G71: an accepted finding is explained, and a fixed one is closed until its next occurrence', async (t) => {
  const { store } = await opened(t, `sqlite:${join(folderOf(t), 'store.db')}`);
  const { worker, save } = replicaOf(store);
  for (const path of ['A', 'B', 'C']) worker.add(callOf({ path }));
  await save();
  const set = (path: string, state: string, at: number) => ({
    sql: `UPDATE findings SET state = $1, state_at = $2, state_reason = 'known' WHERE path = $3`,
    values: [state, at, path],
  });
  await store.write([set('A', 'accepted', now), set('B', 'fixed', now), set('C', 'fixed', now - 1)]);
  const state = await readStoredEvidence(store, contract);
  if (state === undefined) return t.fail();
  const [operation] = reportOn(state, now + 1).operations;
  const states = operation?.findings.map(({ name, state: is, reason }) => [name, is, reason]);
  t.deepEqual(states, [
    ['C value', 'different', undefined],
    ['B value', 'closed', undefined],
    ['A value', 'explained', 'known'],
  ]);
});

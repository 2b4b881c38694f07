import type { ExecutionContext } from 'ava';
import type { Finding } from '../../../gateway/migration/evidence.ts';
import {
  addFinding,
  nothingWritten,
  readStoredEvidence,
  replaceCounts,
  setSettings,
  storedContracts,
} from '../../../gateway/migration/stored-evidence.ts';
import { deleteExpired, deleteRecordings, takePeriod } from '../../../gateway/store/deletion.ts';
import { deleteCaller, deleteLateRows, hasRowsOf } from '../../../gateway/store/forget.ts';
import { type Store, StoreError } from '../../../gateway/store/store.ts';
import { auditOf, insertAudit, selectAudit, selectForgotten } from '../../../gateway/store/tables/audit.ts';
import {
  bytesOf,
  exchangeOf,
  insertExchange,
  type StoredExchange,
  selectExchanges,
} from '../../../gateway/store/tables/record.ts';
import {
  insertRouteVersion,
  newestRouteVersions,
  type RouteVersion,
  replicaOf,
  routeVersionOf,
  seenReplica,
  selectReplicas,
  selectRouteHistory,
  selectRouteVersion,
} from '../../../gateway/store/tables/routes.ts';
import {
  addUsage,
  allExemptions,
  callerRowsOf,
  callersOf,
  contractsOf,
  deleteExemption,
  exemptionsOf,
  insertExemption,
  lastCallsOf,
  putCaller,
  startOfDay,
  type UsageRow,
  usageOf,
} from '../../../gateway/store/tables/usage.ts';

// Tests of the functions of all tables, with an empty store. They run on SQLite and on PostgreSQL.

const at = Date.parse('2026-11-27T12:00:00Z');
const row: UsageRow = {
  operation: 'GetOrder',
  caller: 'acme',
  day: startOfDay(at),
  binding: 'soap11',
  side: 'legacy',
  calls: 3,
  faults: 1,
  reordered: 1,
  ignored: 2,
  illegalReferences: 1,
  noAction: 1,
  lastAt: at,
};

const exemption = {
  ...{ contract: '/', caller: 'acme', operation: undefined, until: at, reason: 'late', actor: 'ann', at },
};

const callerRow = {
  ...{ caller: 'acme', network: undefined, userAgent: 'Zeep/4.2', subject: undefined, stack: 'zeep' },
  ...{ firstAt: at, lastAt: at },
};

const version: RouteVersion = {
  ...{ contract: '/', version: 1, id: 'one', action: 'change', operation: 'GetOrder', toVersion: undefined },
  ...{ actor: 'ann', reason: 'ready', at, changes: '[]' },
};

/** Returns an exchange with a number. */
export function exchange(number: number, time: number): StoredExchange {
  return {
    id: String(number).padStart(6, '0'),
    ...{ contract: '/', at: time, operation: 'Get', caller: 'acme', mode: 'legacy', rule: 'otherwise' },
    redaction: 'pseudonyms',
    details: { requestId: 'r', path: '/types', version: '1.1', request: { headers: {}, size: 3 } },
    request: new Uint8Array([0, 1, 255]),
    requestJson: '{}',
    legacy: undefined,
    new: undefined,
  };
}

const hour = (time: number, caller: string) => ({
  sql: `INSERT INTO compare_hours VALUES ('/', 'Op', $1, $2, 'w', 1, 0, 0, 0, 0, 0, 0, 0, 0, '{}', '{}')`,
  values: [time, caller],
});

/** Tests by their title. */
export const tableTests: Readonly<Record<string, (t: ExecutionContext, store: Store) => Promise<void>>> = {
  'G61: calls of one key are added up, and read by operation and caller': async (t, store) => {
    await store.write([addUsage('/', row), addUsage('/', { ...row, lastAt: at - 5, calls: 1, faults: 0 })]);
    await store.write([
      addUsage('/', { ...row, binding: 'soap12', side: 'new' }),
      addUsage('/', { ...row, operation: 'PutOrder', calls: 100 }),
      addUsage('/other', row),
    ]);
    const [most, usage, ...others] = await usageOf(store, '/', at);
    t.deepEqual(others, []);
    t.is(most?.operation, 'PutOrder');
    t.deepEqual(usage, {
      operation: 'GetOrder',
      caller: 'acme',
      calls: 7,
      faults: 2,
      reordered: 3,
      ignored: 6,
      illegalReferences: 3,
      noAction: 3,
      lastAt: at,
      bindings: { soap11: 4, soap12: 3 },
      sides: { legacy: 4, new: 3 },
    });
    t.deepEqual(await usageOf(store, '/', at + 86_400_000), []);
    await store.write([addUsage('/', { ...row, caller: 'beta', calls: 5 })]);
    t.deepEqual(
      (await usageOf(store, '/', at, 'beta')).map(({ caller, calls }) => [caller, calls]),
      [['beta', 5]],
    );
    t.deepEqual(Object.fromEntries(await lastCallsOf(store, '/')), { GetOrder: at, PutOrder: at });
  },
  'G62: a caller keeps its first call and its known stack, and gets the newest other data': async (
    t,
    store,
  ) => {
    const caller = {
      caller: 'acme',
      network: undefined,
      userAgent: 'Zeep/4.2',
      subject: undefined,
      stack: 'zeep',
    };
    await store.write([putCaller('/', { ...caller, firstAt: at, lastAt: at }, 2)]);
    const next = { ...caller, userAgent: undefined, subject: 'CN=acme', stack: 'unknown' };
    await store.write([putCaller('/', { ...next, firstAt: at + 1, lastAt: at + 2 }, 1)]);
    for (const [most, changes] of [
      [1, 0],
      [2, 1],
    ] as const) {
      const beta = { ...caller, caller: 'beta', firstAt: at, lastAt: at };
      t.deepEqual(await store.write([putCaller('/', beta, most)]), [changes]);
    }
    t.deepEqual(await callersOf(store, '/', 10), ['acme', 'beta']);
    t.deepEqual(await callersOf(store, '/', 1), ['acme']);
    const rows = await callerRowsOf(store, '/', 'acme');
    t.deepEqual([...rows.values()], [{ ...caller, subject: 'CN=acme', firstAt: at, lastAt: at + 2 }]);
    t.is((await callerRowsOf(store, '/')).size, 2);
  },
  'G65: exemptions are added, listed and deleted': async (t, store) => {
    const one = {
      contract: '/',
      caller: 'acme',
      operation: undefined,
      until: at,
      reason: 'late',
      actor: 'ann',
      at,
    };
    await store.write([
      insertExemption(one),
      insertExemption({ ...one, operation: 'GetOrder', contract: '/b' }),
    ]);
    const [exemption, ...others] = await exemptionsOf(store, '/');
    t.deepEqual(others, []);
    t.like(exemption, one);
    t.is((await store.all(allExemptions)).length, 2);
    t.deepEqual(await store.write([deleteExemption('/b', exemption?.id ?? 0)]), [0]);
    t.deepEqual(await store.write([deleteExemption('/', exemption?.id ?? 0)]), [1]);
    t.deepEqual(await exemptionsOf(store, '/'), []);
  },
  'G72: rows of the audit are read newest first, and those of forgotten callers by time': async (
    t,
    store,
  ) => {
    const entry = { network: 'local', action: 'forget', status: 200, subject: 'p1', reason: 'a\u0000b' };
    for (const [index, status] of [200, 403].entries())
      await store.write([insertAudit({ ...entry, status }, at + index)]);
    const all = (await store.all(selectAudit(undefined, 10))).map(auditOf);
    t.like(all[0], { status: 403, actor: undefined, force: false, at: at + 1 });
    t.like(all[1], { status: 200, subject: 'p1', reason: 'a b' });
    const before = (await store.all(selectAudit(all[0]?.id, 10))).map(auditOf);
    t.deepEqual(
      before.map(({ id }) => id),
      [all[1]?.id],
    );
    t.is((await store.all(selectAudit(undefined, 1))).length, 1);
    t.deepEqual([...(await store.all(selectForgotten(at)))], [{ subject: 'p1', at }]);
    t.is((await store.all(selectForgotten(at + 1))).length, 0);
  },
  'G66: a version of the routes is added once, with its row of the audit': async (t, store) => {
    const add = (of: Partial<RouteVersion>) => {
      const next = { ...version, ...of };
      const audited = { network: 'local', action: 'routes', status: 201 };
      return store.write([insertRouteVersion(next), insertAudit(audited, at)]);
    };
    t.deepEqual(await add({}), [1, 1]);
    const again = await t.throwsAsync(add({ id: 'again' }), { instanceOf: StoreError });
    t.is(again?.reason, 'constraint');
    t.is((await store.all(selectAudit(undefined, 9))).length, 1);
    t.deepEqual(
      await add({ version: 2, id: 'two', action: 'rollback', toVersion: 0, operation: undefined }),
      [1, 1],
    );
    t.deepEqual(await add({ contract: '/b', id: 'b' }), [1, 1]);
    const newest = await store.all(newestRouteVersions);
    t.deepEqual(newest.map(({ contract, version: of }) => `${contract} ${of}`).toSorted(), ['/ 2', '/b 1']);
    t.is((await store.all(selectRouteVersion('/', 1)))[0]?.changes, '[]');
    const history = (await store.all(selectRouteHistory('/', 10))).map(routeVersionOf);
    t.deepEqual(history, [
      { ...version, version: 2, id: 'two', action: 'rollback', toVersion: 0, operation: undefined },
      version,
    ]);
  },
  'G66: a replica has one row per contract': async (t, store) => {
    for (const [id, seenAt] of [
      ['b', 1],
      ['a', 1],
      ['b', 2],
    ] as const)
      await store.write([seenReplica({ id, contract: '/', version: seenAt, seenAt })]);
    const rows = (await store.all(selectReplicas('/'))).map(replicaOf);
    t.deepEqual(rows, [
      { id: 'a', contract: '/', version: 1, seenAt: 1 },
      { id: 'b', contract: '/', version: 2, seenAt: 2 },
    ]);
  },
  'G45, G48: findings and counts of processes add up': async (t, store) => {
    const finding: Finding = {
      ...{ operation: 'Op', path: 'A', kind: 'value', count: 3, calls: 2, noise: 1 },
      ...{ first: at, last: at, callers: [1] },
      examples: [{ path: 'A', legacy: 'x', new: 'y', requestId: 'r', at, caller: 'acme' }],
    };
    const written = { count: 1, calls: 1, noise: 0, callers: 0, examples: 0 };
    await store.write([
      addFinding('/', finding, nothingWritten),
      addFinding('/', { ...finding, first: at - 1, last: at + 1, callers: [2] }, written),
    ]);
    const of = { explained: 1, more: 0, unanswered: 0, noisePairs: 0, replaced: 0, replacedLast: 0 };
    const counts = { operation: 'Op', equal: 8, different: 2, first: at, callers: [], ...of };
    for (const [writer, caller] of [
      ['one', 'acme'],
      ['two', 'acme'],
      ['two', 'acme'],
    ] as const)
      await store.write([
        replaceCounts('/', writer, { ...counts, caller, hour: 0, legacyMs: {}, newMs: {} }),
      ]);
    const durations = { ...counts, equal: 0, different: 0, explained: 0, hour: 0 };
    await store.write([replaceCounts('/', 'one', { ...durations, legacyMs: { 3: 1 }, newMs: { 4: 2 } })]);
    t.is(await readStoredEvidence(store, '/'), undefined);
    const ready = { calls: 1, callers: 1, days: 7, unanswered: 0.01 };
    const settings = { contract: '/', ready, reads: ['Op'], dated: [], state: undefined, maxFindings: 9 };
    await store.write([setSettings(settings, at)]);
    t.deepEqual(await storedContracts(store), ['/']);
    const state = await readStoredEvidence(store, '/');
    t.like(state?.operations[0], { equal: 16, different: 4, first: at, legacyMs: { 3: 1 }, newMs: { 4: 2 } });
    t.is(state?.operations[0]?.callers.length, 1);
    t.like(state?.findings[0], {
      count: 5,
      calls: 3,
      noise: 2,
      first: at - 1,
      last: at + 1,
      callers: [1, 2],
    });
    t.is(state?.findings[0]?.examples.length, 2);
    t.is((await readStoredEvidence(store, '/', false))?.findings[0]?.examples.length, 0);
  },
  'G55, G56: exchanges are selected in their order, and the oldest are deleted by age and size': async (
    t,
    store,
  ) => {
    const all = [1, 2, 3].map((number) => exchange(number, at - 10_000 + number));
    await store.write([exchange(0, at - 3_600_001), ...all].map(insertExchange));
    const read = async (of: object = {}) =>
      (await store.all(selectExchanges({ contract: '/', limit: 10, ...of }))).map(exchangeOf);
    const sweep = (bytes: number) =>
      deleteRecordings(store, new Map([['/', { keepMs: 3_600_000, bytes }]]), at);
    await sweep(1_000_000);
    const [first, second] = await read();
    t.deepEqual({ ...first, request: [...(first?.request ?? [])] }, { ...all[0], request: [0, 1, 255] });
    t.is((await read({ after: second })).length, 1);
    t.is((await read({ operation: 'Get', caller: 'acme', since: at - 9_998, until: at - 9_997 })).length, 1);
    const size = all.reduce((sum, one) => sum + bytesOf(one), 0);
    await sweep(size);
    t.is((await read()).length, 3);
    await sweep(size - 1);
    t.deepEqual(
      (await read()).map(({ id }) => id),
      ['000002', '000003'],
    );
  },
  'G55: recordings of a contract that is not recorded any more are deleted after 30 days': async (
    t,
    store,
  ) => {
    const day = 86_400_000;
    await store.write([31, 29].map((days, number) => insertExchange(exchange(number, at - days * day))));
    await deleteRecordings(store, new Map(), at);
    const rows = await store.all(selectExchanges({ contract: '/', limit: 10 }));
    t.deepEqual(
      rows.map(({ id }) => id),
      ['000001'],
    );
  },
  'G55: one process deletes expired rows in each period': async (t, store) => {
    const day = 86_400_000;
    await store.write([hour(at, 'acme'), hour(at - 401 * day, 'acme')]);
    const taken = await Promise.all([takePeriod(store, at, day), takePeriod(store, at, day)]);
    t.deepEqual(taken.toSorted(), [false, true]);
    t.is(await deleteExpired(store, at), 1);
  },
  'G55: a forgotten caller has no rows, and other callers keep theirs': async (t, store) => {
    const of = (caller: string) => [
      hour(at, caller),
      insertExchange({ ...exchange(0, at), id: caller, caller }),
      addUsage('/', { ...row, caller }),
      putCaller('/', { ...callerRow, caller }, 9),
      insertExemption({ ...exemption, caller }),
    ];
    await store.write([...of('acme'), ...of('other')]);
    t.deepEqual(await contractsOf(store), ['/']);
    t.true(await hasRowsOf(store, 'acme'));
    const deleted = await deleteCaller(store, ['acme', 'a pseudonym']);
    t.deepEqual(Object.fromEntries(deleted), {
      ...{ compare_hours: 1, exchanges: 1, usage_days: 1, callers: 1, exemptions: 1, findings: 0 },
    });
    t.false(await hasRowsOf(store, 'acme'));
    t.true(await hasRowsOf(store, 'other'));
  },
  'G55: rows of a forgotten caller that are written later are deleted, and rows of later calls stay': async (
    t,
    store,
  ) => {
    const named = { names: new Set(['acme']), pseudonymsOf: () => ['p1'] };
    const later = at + 1;
    const forgotten = { network: 'local', action: 'forget', status: 200 };
    await store.write([
      insertAudit({ ...forgotten, subject: 'p1' }, at),
      insertAudit({ ...forgotten, subject: 'p2' }, at),
      ...['acme', 'p1', 'p2'].map((caller) => addUsage('/', { ...row, caller })),
      insertExchange({ ...exchange(0, at), caller: 'acme' }),
      insertExchange({ ...exchange(1, later), caller: 'acme' }),
      addUsage('/b', { ...row, caller: 'acme', lastAt: later }),
      addUsage('/b', { ...row, caller: 'other' }),
    ]);
    await deleteLateRows(store, named, at + 60_000);
    t.deepEqual(await usageOf(store, '/', at), []);
    t.is((await usageOf(store, '/b', at)).length, 2);
    const left = await store.all({ sql: 'SELECT id FROM exchanges' });
    t.deepEqual([...left], [{ id: '000001' }]);
    await store.write([insertExchange({ ...exchange(0, at), caller: 'acme' })]);
    await deleteLateRows(store, named, at + 86_500_000);
    t.is((await store.all({ sql: 'SELECT id FROM exchanges' })).length, 2);
  },
};

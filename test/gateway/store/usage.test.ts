import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Store } from '../../../gateway/store/store.ts';
import {
  addUsage,
  callerRowsOf,
  callersOf,
  deleteExemption,
  exemptionsOf,
  insertExemption,
  lastCallsOf,
  putCaller,
  startOfDay,
  type UsageRow,
  usageOf,
} from '../../../gateway/store/tables/usage.ts';
import { missingPackages } from '../../../mappings/optional-packages.ts';
import { folderOf, opened } from './opened.ts';
import { postgresPrograms, startPostgres } from './postgres-server.ts';

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

async function openStores(t: ExecutionContext): Promise<readonly Store[]> {
  const { store } = await opened(t, `sqlite:${join(folderOf(t), 'store.db')}`);
  const programs = postgresPrograms();
  if (process.env.TESTS !== 'whole' || programs === undefined || missingPackages('store') !== undefined)
    return [store];
  const { urlWithPassword } = await startPostgres(t, programs);
  return [store, (await opened(t, urlWithPassword)).store];
}

test('G61: calls of one key are added up, and read by operation and caller', async (t) => {
  for (const store of await openStores(t)) {
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
  }
});

test('G62: a caller keeps its first call and its known stack, and gets the newest other data', async (t) => {
  const caller = {
    caller: 'acme',
    network: undefined,
    userAgent: 'Zeep/4.2',
    subject: undefined,
    stack: 'zeep',
  };
  for (const store of await openStores(t)) {
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
  }
});

test('G65: exemptions are added, listed and deleted', async (t) => {
  const one = {
    contract: '/',
    caller: 'acme',
    operation: undefined,
    until: at,
    reason: 'late',
    actor: 'ann',
    at,
  };
  for (const store of await openStores(t)) {
    await store.write([
      insertExemption(one),
      insertExemption({ ...one, operation: 'GetOrder', contract: '/b' }),
    ]);
    const [exemption, ...others] = await exemptionsOf(store, '/');
    t.deepEqual(others, []);
    t.like(exemption, one);
    t.is((await exemptionsOf(store)).length, 2);
    t.deepEqual(await store.write([deleteExemption('/b', exemption?.id ?? 0)]), [0]);
    t.deepEqual(await store.write([deleteExemption('/', exemption?.id ?? 0)]), [1]);
    t.deepEqual(await exemptionsOf(store, '/'), []);
  }
});

import { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { createReferenceUpstream } from '../../upstream/service.ts';
import { type Client, day, demo, jane, midnight, now, open, owner, wireDate } from './client.ts';
import { temporaryFile } from './temporary.ts';

/** Returns all seed data that operations show. */
async function everything({ call, send }: Client): Promise<readonly string[]> {
  const replies = [
    await call('UpdateSubUser', { request: { subUserName: 'jane' } }),
    await call('UpdateSubUser', { request: { subUserName: 'bob' } }),
    await call('UpdateSubUser', { request: { subUserName: 'owner' } }),
    await call('CostRenewAllPepSearches', { request: { renewalDate: wireDate(253_402_300_799_999) } }),
    await call('CountIncompleteClients', { daysIncomplete: 0 }),
    ...(await Promise.all([1, 2, 3, 4, 5].map((id) => call('GetSearch', { request: { id } })))),
    ...(await Promise.all([1, 2, 3].map((id) => call('GetDbsSearch', { id })))),
    ...(await Promise.all([1, 2, 3].map((page) => call('GetValidIds', { request: { page } })))),
    ...(await Promise.all(
      [1, 2, 9_007_199_254_740_993n].map((id) =>
        send('GetPdf', `{"request":{"id":${id}},"authentication":${JSON.stringify(demo)}}`),
      ),
    )),
  ];
  return replies.map(({ status, text }) => `${status} ${text}`);
}

test('R1: every start has the same seed data', async (t) => {
  const first = await everything(open());
  t.true(first.every((reply) => reply.startsWith('200 ')));
  t.deepEqual(await everything(open()), first);
});

test('R4: the dates of the seed data move with the clock, by whole days', async (t) => {
  const [plain, later] = await Promise.all(
    [0, 100 * day + 5_000].map(async (shift) => {
      const client = open(':memory:', () => now + shift);
      return (await everything(client)).filter((reply) => !reply.includes('documentBytes'));
    }),
  );
  const shifted = plain?.map((reply) =>
    reply.replaceAll(/(?<=\/Date\()\d{13}(?=-)/g, (ms) => String(Number(ms) + 100 * day)),
  );
  // Dates of birth do not move with the clock.
  const withoutBirths = (replies: readonly string[] | undefined) =>
    replies?.map((reply) => reply.replaceAll(/"dateOfBirth":"[^"]*"/g, ''));
  t.deepEqual(withoutBirths(later), withoutBirths(shifted));
});

test('R1: only an empty file gets seed data; changes survive a restart', async (t) => {
  const file = temporaryFile(t);
  const first = open(file);
  await first.call('DeleteClient', { id: 1 });
  await first.call('UpdateSubUser', { request: { subUserName: 'jane', permissions: [] } });
  await first.call('RenewAllPepSearches');
  const before = await everything(first);
  first.upstream.close();

  const second = open(file, () => now + 1);
  t.teardown(() => second.upstream.close());
  t.deepEqual(await everything(second), before);
  t.is((await second.call('DeleteClient', { id: 1 })).status, 404);
  t.is((await second.call('GetSearch', { request: { id: 3 } }, jane)).status, 403);
  t.like((await second.call('CostRenewAllPepSearches')).data, { count: 0 });
});

test('R1: two services on one file see each other’s changes', async (t) => {
  const file = temporaryFile(t);
  const [one, two] = [open(file), open(file)];
  t.teardown(() => {
    one.upstream.close();
    two.upstream.close();
  });
  t.is((await one.call('DeleteClient', { id: 1 })).status, 200);
  t.is((await two.call('DeleteClient', { id: 1 })).status, 404);
});

test("R1: another program's file is refused and unchanged", (t) => {
  const file = temporaryFile(t);
  const database = new DatabaseSync(file);
  database.exec('CREATE TABLE theirs (id INTEGER); INSERT INTO theirs VALUES (7)');
  database.close();
  t.throws(() => createReferenceUpstream({ database: file }), {
    message: `${file}: expected a database of schema 1, got 0`,
  });
  const after = new DatabaseSync(file, { readOnly: true });
  t.deepEqual(after.prepare('SELECT name FROM sqlite_schema').all().map(Object.values), [['theirs']]);
  after.close();
  writeFileSync(file, 'not a database at all, but long enough to be looked at'.repeat(20));
  t.throws(() => createReferenceUpstream({ database: file }), { message: /not a database/ });
});

test('R2: the key is stored only as a salted hash, with a new salt each time', (t) => {
  const hashes = [temporaryFile(t), temporaryFile(t)].map((file) => {
    createReferenceUpstream({ database: file }).close();
    t.false(readFileSync(file).includes('demo-key'));
    const reader = new DatabaseSync(file, { readOnly: true });
    const row = reader.prepare("SELECT key_hash FROM account WHERE api_user_id = 'demo'").get();
    reader.close();
    return Buffer.from(row?.key_hash as Uint8Array).toString('hex');
  });
  t.is(hashes[0]?.length, 64);
  t.not(hashes[0], hashes[1]);
});

test('R2: the sub users and the main user of the demo account', async (t) => {
  const { call } = open();
  for (const [subUserName, expected] of [
    [
      'jane',
      {
        userId: '6f9619ff8b86d011b42d00cf4fc964ff',
        isMainUser: false,
        isAdmin: false,
        permissions: ['bob'],
      },
    ],
    [
      'bob',
      {
        userId: '3f2504e04f8941d39a0c0305e82c3301',
        isMainUser: false,
        isAdmin: false,
        canResolveSearches: false,
        canDeleteSearches: false,
        permissions: [],
      },
    ],
    ['owner', { userId: '00000000000040008000000000000001', isMainUser: true, isAdmin: true }],
  ] as const) {
    const { data } = await call<{ subUser: object }>('UpdateSubUser', { request: { subUserName } }, owner);
    t.like(data.subUser, { userName: subUserName, ...expected });
  }
});

/** Returns true for a value without null and empty text. Only the first item of an array is checked. */
function filled(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && filled(value[0]);
  if (typeof value === 'object' && value !== null) return Object.values(value).every(filled);
  return value !== null && value !== '';
}

test('R3: sanctions search 1 has a result in every list with every nested item set', async (t) => {
  const { data } = await open().call<{
    searchRecord: {
      searchResults: Record<string, readonly unknown[]>;
      listSearchResults: readonly unknown[];
      searchCriteria: unknown;
      searchSources: unknown;
    };
    linkedTo: unknown;
  }>('GetSearch', { request: { id: 1 } });
  const { searchResults, listSearchResults, searchCriteria, searchSources } = data.searchRecord;
  const lists = { ...searchResults, listSearchResults };
  t.deepEqual(Object.keys(lists).toSorted(), [
    'canadianJusticeResults',
    'canadianSemaResults',
    'dfatResults',
    'euResults',
    'hmtResults',
    'hmtUkraineResults',
    'listSearchResults',
    'ofacConsolidatedResults',
    'ofacResults',
    'osfiResults',
    'swissSecoResults',
  ]);
  for (const [name, list] of Object.entries(lists)) t.true(filled(list[0]), name);
  t.true(filled(searchCriteria));
  t.true(filled(searchSources));
  t.true(filled(data.linkedTo));
});

test('R3: sanctions search 2 has no results, its lists are empty arrays', async (t) => {
  const { data } = await open().call<{
    searchRecord: {
      numOfResults: number;
      searchResults: Record<string, unknown[]>;
      listSearchResults: unknown[];
    };
  }>('GetSearch', { request: { id: 2 } });
  const { numOfResults, searchResults, listSearchResults } = data.searchRecord;
  t.is(numOfResults, 0);
  t.deepEqual([...Object.values(searchResults), listSearchResults], Array(11).fill([]));
});

test('R3: 12 PEP searches, 7 due within 30 days, 2 of them overdue', async (t) => {
  const { call } = open();
  for (const [renewalDate, count] of [
    [now, 2],
    [now + 30 * day, 7],
    [now + 400 * day, 12],
  ] as const) {
    const { data } = await call('CostRenewAllPepSearches', {
      request: { renewalDate: wireDate(renewalDate) },
    });
    t.like(data, { count });
  }
});

test('R3: 57 ValidID searches of several types, scores and owners over two years', async (t) => {
  const { call } = open();
  interface Page {
    searchRecords: readonly {
      id: number;
      type: number;
      score: number | null;
      dateSearched: string;
    }[];
  }
  const pages = await Promise.all([1, 2, 3].map((page) => call<Page>('GetValidIds', { request: { page } })));
  const items = pages.flatMap(({ data }) => data.searchRecords);
  t.deepEqual(
    items.map(({ id }) => id).toSorted((a, b) => a - b),
    Array.from({ length: 57 }, (_, position) => position + 1),
  );
  t.is(new Set(items.map(({ type }) => type)).size, 4);
  t.true(new Set(items.map(({ score }) => score)).has(null));
  const instants = items.map(({ dateSearched }) => Number(/\d+/.exec(dateSearched)?.[0]));
  t.true(Math.max(...instants) < midnight);
  t.true(Math.min(...instants) < now - 725 * day);
});

test('R3: 6 clients in every state, created 0 to 40 days ago', (t) => {
  const file = temporaryFile(t);
  createReferenceUpstream({ database: file, clock: () => now }).close();
  const reader = new DatabaseSync(file, { readOnly: true });
  const rows = reader.prepare('SELECT id, state, date_created FROM client WHERE account = 1').all();
  reader.close();
  t.deepEqual(
    rows.map((row) => row.id),
    [1, 2, 3, 4, 5, 6],
  );
  t.deepEqual([...new Set(rows.map((row) => row.state))].toSorted(), [
    'PendingCompletion',
    'PendingOcr',
    'PendingVerification',
    'Undefined',
    'Verified',
  ]);
  const ages = rows.map((row) => (midnight - Number(row.date_created)) / day);
  t.is(Math.min(...ages), 0);
  t.is(Math.max(...ages), 40);
});

import test from 'ava';
import { foldName } from '../../upstream/operations/valid-ids.ts';
import { open } from './client.ts';

interface Page {
  readonly totalSearchRecords: number;
  readonly currentPageNum: number;
  readonly maxPageNum: number;
  readonly searchRecords: readonly Item[];
}

interface Item {
  readonly id: number;
  readonly type: number;
  readonly dateSearched: string;
  readonly reference: string | null;
  readonly searchCriteria: { readonly fullName: string };
}

const list = async (request?: object): Promise<Page> =>
  (await open().call<Page>('GetValidIds', { request })).data;

/** Returns all records that match the filters, in order, over all pages. */
async function listAll(request: object): Promise<readonly Item[]> {
  const { call } = open();
  const items: Item[] = [];
  for (let page = 1; ; page += 1) {
    const { data } = await call<Page>('GetValidIds', { request: { ...request, page } });
    items.push(...data.searchRecords);
    if (page >= data.maxPageNum) return items;
  }
}

const instant = ({ dateSearched }: Item): number => Number(/-?\d+/.exec(dateSearched)?.[0]);
const ids = (items: readonly Item[]): readonly number[] => items.map(({ id }) => id);

test('GetValidIds: newest first in pages of 20, three for 57', async (t) => {
  const first = await list();
  t.like(first, { totalSearchRecords: 57, currentPageNum: 1, maxPageNum: 3 });
  t.deepEqual(
    ids(first.searchRecords),
    Array.from({ length: 20 }, (_, position) => 57 - position),
  );
  const last = await list({ page: 3 });
  t.like(last, { totalSearchRecords: 57, currentPageNum: 3, maxPageNum: 3 });
  t.is(last.searchRecords.length, 17);
});

test('GetValidIds: past the end searchRecords is empty and the totals are correct', async (t) => {
  for (const page of [4, 2_147_483_647]) {
    t.deepEqual(await list({ page }), {
      totalSearchRecords: 57,
      currentPageNum: page,
      maxPageNum: 3,
      searchRecords: [],
      responseStatus: {},
    });
  }
});

test('R9: a page below 1 is 1', async (t) => {
  for (const page of [0, -1, -2_147_483_648, null, '1']) t.deepEqual(await list({ page }), await list());
});

test('GetValidIds: the sort is stable, and the id breaks ties', async (t) => {
  const newest = ids(await listAll({ sortOrder: 'dateSearchedDesc' }));
  const oldest = ids(await listAll({ sortOrder: 'dateSearchedAsc' }));
  t.is(new Set(newest).size, 57);
  t.deepEqual(newest.slice(35, 39), [22, 20, 21, 19]);
  t.deepEqual(oldest.slice(18, 22), [19, 20, 21, 22]);
});

test('GetValidIds: nameAsc and nameDesc ignore case and diacritics', async (t) => {
  const up = await listAll({ sortOrder: 'nameAsc' });
  const down = await listAll({ sortOrder: 'nameDesc' });
  const names = up.map(({ searchCriteria }) => foldName(searchCriteria.fullName));
  t.deepEqual(names, names.toSorted());
  t.deepEqual(
    down.map(({ searchCriteria }) => foldName(searchCriteria.fullName)),
    names.toReversed(),
  );
  t.deepEqual(ids(up.slice(0, 3)), [19, 38, 57]);
  // É sorts like E, not after Z.
  t.true(names.indexOf('elodie exemple') < names.indexOf('frida pahitt'));
});

for (const sortOrder of ['dateSearched', 'NameAsc', 'id; DROP TABLE client']) {
  test(`GetValidIds: sortOrder "${sortOrder}" is a ValidationError`, async (t) => {
    const reply = await open().call('GetValidIds', { request: { sortOrder } });
    t.is(reply.status, 400);
    t.deepEqual(reply.errors, ['InvalidEnum request.sortOrder']);
  });
}

for (const [nameSearch, found] of [
  ['lukasz', 'Łukasz Zmyślony'],
  ['ŁUKASZ zmyslo', 'Łukasz Zmyślony'],
  ["o'nobody", "Conor O'Nobody"],
  ['NGUYEN van', 'Nguyễn Văn Mẫu'],
  ['soren', 'Søren Opdigtet'],
  ['架空', '架空 太郎'],
  ['홍보', '홍보기 예시'],
  ['Elodie', 'Élodie Exemple'],
] as const) {
  test(`GetValidIds: nameSearch "${nameSearch}" finds ${found}`, async (t) => {
    const items = await listAll({ nameSearch });
    t.deepEqual([...new Set(items.map(({ searchCriteria }) => searchCriteria.fullName))], [found]);
    t.is(items.length, 3);
  });
}

for (const nameSearch of ['%', '_', '  x  ', '호', "' OR 1=1 --"]) {
  test(`GetValidIds: nameSearch "${nameSearch}" is plain text and finds nothing`, async (t) => {
    t.like(await list({ nameSearch }), { totalSearchRecords: 0, currentPageNum: 1, maxPageNum: 0 });
  });
}

test('GetValidIds: filterReference matches exactly', async (t) => {
  const items = await listAll({ filterReference: 'CASE-07' });
  t.deepEqual(ids(items), [55, 43, 31, 19, 7]);
  t.is((await list({ filterReference: 'case-07' })).totalSearchRecords, 0);
  t.is((await list({ filterReference: 'CASE-0' })).totalSearchRecords, 0);
});

test("GetValidIds: filterType is the type's number as text", async (t) => {
  const items = await listAll({ filterType: '2' });
  t.true(items.length > 10);
  t.true(items.every(({ type }) => type === 2));
  t.is((await list({ filterType: '99' })).totalSearchRecords, 0);
});

test('GetValidIds: filterDateFrom and filterDateTo are inclusive', async (t) => {
  const all = await listAll({});
  const [from, to] = [all[10], all[4]];
  if (from === undefined || to === undefined) throw new Error('expected 57 searches, got fewer');
  const request = { filterDateFrom: from.dateSearched, filterDateTo: to.dateSearched };
  t.deepEqual(ids(await listAll(request)), ids(all.slice(4, 11)));
  const inside = {
    filterDateFrom: `/Date(${instant(from) + 1}-0000)/`,
    filterDateTo: `/Date(${instant(to) - 1}-0000)/`,
  };
  t.deepEqual(ids(await listAll(inside)), ids(all.slice(5, 10)));
});

test("GetValidIds: filterUserName keeps only that user's searches", async (t) => {
  t.is((await list({ filterUserName: 'jane' })).totalSearchRecords, 12);
  t.is((await list({ filterUserName: 'bob' })).totalSearchRecords, 11);
  t.is((await list({ filterUserName: 'owner' })).totalSearchRecords, 34);
  t.is((await list({ filterUserName: 'owner', subUserName: 'jane' })).totalSearchRecords, 0);
});

test('GetValidIds: null and empty filters filter nothing', async (t) => {
  const names = [
    'sortOrder',
    'nameSearch',
    'filterReference',
    'filterType',
    'filterDateFrom',
    'filterDateTo',
    'filterUserName',
  ];
  for (const blank of [null, '']) {
    t.deepEqual(await list(Object.fromEntries(names.map((name) => [name, blank]))), await list());
  }
});

test('GetValidIds: filters work together', async (t) => {
  const items = await listAll({ filterType: '2', filterUserName: 'owner', nameSearch: 'e' });
  t.true(items.length > 0);
  for (const { id, type, searchCriteria } of items) {
    t.is(type, 2);
    t.true(foldName(searchCriteria.fullName).includes('e'), `search ${id}`);
  }
});

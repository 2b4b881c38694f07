import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { day, demo, jane, midnight, now, open, other, wireDate } from './client.ts';
import { temporaryFile } from './temporary.ts';

test('UpdateSubUser: absent or null permissions change nothing, given ones replace, [] too', async (t) => {
  const { call } = open();
  const update = async (request: object): Promise<readonly string[]> => {
    const reply = await call<{ subUser: { permissions: string[] } }>('UpdateSubUser', { request });
    return reply.data.subUser.permissions;
  };
  t.deepEqual(await update({ subUserName: 'jane' }), ['bob']);
  t.deepEqual(await update({ subUserName: 'jane', permissions: null }), ['bob']);
  t.deepEqual(await update({ subUserName: 'jane', permissions: ['owner', 'bob', 'owner'] }), [
    'owner',
    'bob',
  ]);
  t.deepEqual(await update({ subUserName: 'jane' }), ['owner', 'bob']);
  t.deepEqual(await update({ subUserName: 'jane', permissions: [] }), []);
});

test('UpdateSubUser: the permissions of a sub user decide what it can read', async (t) => {
  const { call } = open();
  t.is((await call('GetSearch', { request: { id: 3 } }, jane)).status, 200);
  await call('UpdateSubUser', { request: { subUserName: 'jane', permissions: [] } });
  t.is((await call('GetSearch', { request: { id: 3 } }, jane)).status, 403);
});

test('UpdateSubUser: an unknown user name is a ValidationError by position, without changes', async (t) => {
  const { call } = open();
  const request = { subUserName: 'jane', permissions: ['owner', 'bob', 'nobody', 'boss'] };
  const reply = await call('UpdateSubUser', { request });
  t.is(reply.status, 400);
  t.is(reply.data.responseStatus.errorCode, 'ValidationError');
  t.deepEqual(reply.errors, ['InvalidEnum request.permissions[2]', 'InvalidEnum request.permissions[3]']);
  t.like((await call('UpdateSubUser', { request: { subUserName: 'jane' } })).data, {
    subUser: { permissions: ['bob'] },
  });
});

test('R9: UpdateValidId stores the two flags, and keeps an absent or null one', async (t) => {
  const file = temporaryFile(t);
  const { call, upstream } = open(file);
  t.teardown(() => upstream.close());
  const reader = new DatabaseSync(file, { readOnly: true });
  t.teardown(() => reader.close());
  const flags = (): unknown[] => {
    const sql = 'SELECT client_in_results, client_not_in_results FROM valid_id_search WHERE id = 5';
    return Object.values(reader.prepare(sql).get() ?? {});
  };
  for (const [request, expected] of [
    [{ clientInResults: true, clientNotInResults: false }, [1, 0]],
    [{}, [1, 0]],
    [{ clientInResults: null, clientNotInResults: null }, [1, 0]],
    [{ clientNotInResults: false }, [1, 0]],
    [{ clientInResults: false, clientNotInResults: true }, [0, 1]],
    [{ clientInResults: 'false' }, [0, 1]],
    [{ clientInResults: false, clientNotInResults: false }, [0, 0]],
  ] as const) {
    const reply = await call('UpdateValidId', { request: { id: 5, ...request } });
    t.deepEqual(reply.data, { success: true, responseStatus: {} });
    t.deepEqual(flags(), [...expected], JSON.stringify(request));
  }
});

test('UpdateValidId: both flags true is a ValidationError, also with a stored one', async (t) => {
  const { call } = open();
  const errors = ['OutOfRange request.clientInResults', 'OutOfRange request.clientNotInResults'];
  const both = await call('UpdateValidId', {
    request: { id: 5, clientInResults: true, clientNotInResults: true },
  });
  t.is(both.status, 400);
  t.deepEqual(both.errors, errors);
  t.is((await call('UpdateValidId', { request: { id: 5, clientInResults: true } })).status, 200);
  const second = await call('UpdateValidId', { request: { id: 5, clientNotInResults: true } });
  t.deepEqual(second.errors, errors);
});

test('AddClientTemplate: a blank template with the two categories', async (t) => {
  const { data } = await open().call<{
    request: { proofOfDocumentCategories: { proofOf: string; proofOfDocuments: { id: number }[] }[] };
  }>('AddClientTemplate');
  t.like(data.request, {
    name: '',
    email: '',
    mobileInternational: '',
    postCode: '',
    proofOfPreset: 'ValidateMe',
    linkedTo: [],
    reference: null,
  });
  t.deepEqual(
    data.request.proofOfDocumentCategories.map(({ proofOf }) => proofOf),
    ['name', 'address'],
  );
  const ids = data.request.proofOfDocumentCategories.flatMap(({ proofOfDocuments }) =>
    proofOfDocuments.map(({ id }) => id),
  );
  t.true(ids.length >= 4);
  t.is(new Set(ids).size, ids.length);
});

test('GetDbsSearch: returns the record with linkedTo', async (t) => {
  const { data } = await open().call('GetDbsSearch', { id: 1 });
  t.like(data, {
    linkedTo: [{ clientId: 5, id: 5, type: 'Client' }],
    summary: { id: 1, applicantInformation: { name: 'Siân Ffug-Enw', applicantPin: '004217' } },
  });
});

interface Result {
  readonly resultResolved: boolean;
}

interface Search {
  readonly searchRecord: {
    readonly numOfResults: number;
    readonly searchResults: Readonly<Record<string, readonly Result[]>>;
    readonly listSearchResults: readonly Result[];
  };
}

test('GetSearch: onlyShowUnresolvedResults removes resolved results; numOfResults is unchanged', async (t) => {
  const { call } = open();
  const results = async (onlyShowUnresolvedResults: boolean | null) => {
    const reply = await call<Search>('GetSearch', { request: { id: 1, onlyShowUnresolvedResults } });
    const { searchResults, listSearchResults, numOfResults } = reply.data.searchRecord;
    return { numOfResults, lists: [...Object.values(searchResults), listSearchResults] };
  };
  const all = await results(false);
  const unresolved = await results(true);
  t.deepEqual(await results(null), all);
  t.is(all.lists.length, 11);
  t.is(all.numOfResults, all.lists.flat().length);
  t.is(unresolved.numOfResults, all.numOfResults);
  for (const [position, list] of all.lists.entries()) {
    t.true(list.some(({ resultResolved }) => resultResolved));
    t.deepEqual(
      unresolved.lists[position],
      list.filter(({ resultResolved }) => !resultResolved),
    );
  }
});

test('CostRenewAllPepSearches: counts searches due on or before the date, and charges nothing', async (t) => {
  const { call } = open();
  for (const [renewalDate, count, totalCost, text] of [
    [undefined, 2, 2.2, '2026-03-10'],
    [null, 2, 2.2, '2026-03-10'],
    // R9: an unset date of an older .NET proxy.
    [wireDate(-62_135_596_800_000), 2, 2.2, '2026-03-10'],
    [wireDate(now + 30 * day), 7, 7.7, '2026-04-09'],
    [wireDate(midnight + day - 1), 2, 2.2, '2026-03-10'],
    [wireDate(midnight + day), 3, 3.3, '2026-03-11'],
    [`/Date(${midnight + day}+1400)/`, 3, 3.3, '2026-03-11'],
    [`/Date(${midnight + day})/`, 3, 3.3, '2026-03-11'],
    [wireDate(253_402_300_799_999), 12, 13.2, '9999-12-31'],
    [wireDate(Date.parse('0002-01-01T00:00:00Z')), 0, 0, '0002-01-01'],
  ] as const) {
    const { data } = await call('CostRenewAllPepSearches', { request: { renewalDate } });
    t.deepEqual(data, { count, totalCost, renewalDate: text, canAfford: true, responseStatus: {} });
  }
});

test('RenewAllPepSearches: charges and moves due dates by a year; a second call renews 0', async (t) => {
  const { call } = open();
  const request = { renewalDate: wireDate(now + 30 * day) };
  t.deepEqual((await call('RenewAllPepSearches', { request })).data, {
    count: 7,
    totalCost: 7.7,
    renewalDate: '2026-04-09',
    responseStatus: {},
  });
  t.like((await call('RenewAllPepSearches', { request })).data, { count: 0, totalCost: 0 });
  // The searches overdue by 45 and 3 days are due in 320 and 362 days.
  const dueBy = async (days: number): Promise<number> => {
    const reply = await call<{ count: number }>('CostRenewAllPepSearches', {
      request: { renewalDate: wireDate(midnight + days * day) },
    });
    return reply.data.count;
  };
  t.is(await dueBy(319), 4);
  t.is(await dueBy(320), 5);
  t.is(await dueBy(362), 6);
});

test('RenewAllPepSearches: without a request the date is now', async (t) => {
  t.like((await open().call('RenewAllPepSearches')).data, { count: 2, renewalDate: '2026-03-10' });
});

test('RenewAllPepSearches: 29 February comes due on 28 February', async (t) => {
  // Due 29 days after 31 January 2028.
  const clock = () => Date.UTC(2028, 0, 31, 12);
  const { call } = open(':memory:', clock);
  const count = async (renewalDate: number): Promise<unknown> =>
    (await call('CostRenewAllPepSearches', { request: { renewalDate: wireDate(renewalDate) } })).data;
  await call('RenewAllPepSearches', { request: { renewalDate: wireDate(Date.UTC(2028, 1, 29)) } });
  const before = await count(Date.UTC(2029, 1, 28) - 1);
  const on = await count(Date.UTC(2029, 1, 28));
  t.is((on as { count: number }).count - (before as { count: number }).count, 1);
});

test('RenewAllPepSearches: too little balance is InsufficientFunds, without changes', async (t) => {
  const { call } = open();
  const reply = await call('RenewAllPepSearches', {}, other);
  t.is(reply.status, 402);
  t.like(reply.data.responseStatus, {
    errorCode: 'InsufficientFunds',
    message: 'balance: expected at least 1.10, got 1.00',
  });
  t.like((await call('CostRenewAllPepSearches', {}, other)).data, { count: 1, canAfford: false });
});

test('RenewAllPepSearches: 250.00 pays for eighteen renewals of all twelve', async (t) => {
  const { call } = open();
  const request = { renewalDate: wireDate(253_402_300_799_999) };
  for (let round = 0; round < 18; round += 1) {
    t.is((await call('RenewAllPepSearches', { request })).status, 200);
  }
  t.like((await call('CostRenewAllPepSearches', { request })).data, { canAfford: false });
  t.is(
    (await call('RenewAllPepSearches', { request })).data.responseStatus.message,
    'balance: expected at least 13.20, got 12.40',
  );
});

test('DeleteClient: removes the client; again it is NotFound', async (t) => {
  const { call } = open();
  t.is((await call('DeleteClient', { id: 2 })).text, '{"data":{"responseStatus":{}}}');
  t.is((await call('DeleteClient', { id: 2 })).status, 404);
  t.like((await call('CountIncompleteClients', { daysIncomplete: 0 })).data, {
    numberOfIncompleteClients: 1,
  });
});

for (const [input, count] of [
  [{}, 1],
  [{ daysIncomplete: null, state: null, isValidateMe: null }, 1],
  [{ daysIncomplete: 0 }, 2],
  [{ daysIncomplete: 3 }, 2],
  [{ daysIncomplete: 4 }, 1],
  [{ daysIncomplete: 12 }, 1],
  [{ daysIncomplete: 13 }, 0],
  [{ daysIncomplete: 2_147_483_647 }, 0],
  [{ daysIncomplete: 0, state: 'PendingVerification' }, 1],
  [{ daysIncomplete: 0, state: 'PendingCompletion' }, 1],
  [{ state: 'PendingVerification' }, 0],
  [{ isValidateMe: false }, 1],
  [{ isValidateMe: 'false', daysIncomplete: '40' }, 1],
  [{ isValidateMe: false, daysIncomplete: 41 }, 0],
] as const) {
  test(`CountIncompleteClients: ${JSON.stringify(input)} counts ${count}`, async (t) => {
    const { data } = await open().call('CountIncompleteClients', input);
    t.deepEqual(data, { numberOfIncompleteClients: count, responseStatus: {} });
  });
}

for (const state of ['Undefined', 'PendingOcr', 'Verified', 'pendingcompletion', 'Nonsense', '']) {
  test(`CountIncompleteClients: state "${state}" is InvalidEnum, and the error names both values`, async (t) => {
    const reply = await open().call('CountIncompleteClients', { state });
    t.deepEqual(reply.errors, ['InvalidEnum state']);
    t.is(
      reply.data.responseStatus.message,
      `state: expected PendingCompletion or PendingVerification, got "${state}"`,
    );
  });
}

test('GetEulaStatus: jane agreed to everything, bob to nothing', async (t) => {
  const { call } = open();
  t.like((await call('GetEulaStatus', { request: { subUserName: 'jane' } })).data, {
    agreeToContact: true,
    agreeToContactDate: wireDate(midnight - 90 * day + 34_867_250),
    agreeToTerms: true,
    agreeToTermsDate: wireDate(midnight - 120 * day + 30_600_000),
    agreeToDataProtection: true,
    agreeToDataProtectionDate: wireDate(midnight - 120 * day + 30_660_000),
  });
  t.like((await call('GetEulaStatus', { request: { subUserName: 'bob' } })).data, {
    agreeToContact: false,
    agreeToContactDate: null,
    agreeToTerms: false,
    agreeToTermsDate: null,
    agreeToDataProtection: false,
    agreeToDataProtectionDate: null,
  });
});

test('GetEulaStatus: an absent, null or empty subUserName means the main user', async (t) => {
  const { call } = open();
  const main = await call('GetEulaStatus', { request: { subUserName: 'owner' } });
  for (const input of [
    {},
    { request: {} },
    { request: { subUserName: null } },
    { request: { subUserName: '' } },
  ]) {
    t.is((await call('GetEulaStatus', input, demo)).text, main.text);
  }
});

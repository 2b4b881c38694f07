import test from 'ava';
import { bob, demo, jane, open, other, owner } from './client.ts';

const renewal = { request: {} };

// Rights per operation. Without a userId and as the main user everything is allowed.
for (const [operation, input, right, allowed] of [
  ['UpdateSubUser', { request: { subUserName: 'bob', permissions: [] } }, 'isAdmin', []],
  ['RenewAllPepSearches', renewal, 'isAdmin', []],
  ['UpdateValidId', { request: { id: 4, clientInResults: true } }, 'canResolveSearches', ['jane']],
  ['DeleteClient', { id: 1 }, 'canDeleteSearches', ['jane']],
] as const) {
  for (const [name, authentication] of Object.entries({ 'no user': demo, owner, jane, bob })) {
    const may = name === 'no user' || name === 'owner' || allowed.some((user) => user === name);
    test(`R8: ${operation} by ${name} is ${may ? 'allowed' : `Forbidden without ${right}`}`, async (t) => {
      const reply = await open().call(operation, input, authentication);
      t.is(reply.status, may ? 200 : 403);
      if (!may) {
        t.like(reply.data.responseStatus, {
          errorCode: 'Forbidden',
          message: `authentication.userId: expected a user with ${right}, got ${name} without it`,
        });
      }
    });
  }
}

test("R8: a sub user without canDeleteSearches can't delete a client", async (t) => {
  const { call } = open();
  t.is((await call('DeleteClient', { id: 1 }, bob)).status, 403);
  t.is((await call('DeleteClient', { id: 1 })).status, 200);
});

test('R8: a missing right prevents all changes', async (t) => {
  const { call } = open();
  await call('RenewAllPepSearches', renewal, jane);
  t.like((await call('CostRenewAllPepSearches')).data, { count: 2 });
  await call('UpdateSubUser', { request: { subUserName: 'jane', permissions: [] } }, jane);
  t.like((await call('UpdateSubUser', { request: { subUserName: 'jane' } })).data, {
    subUser: { permissions: ['bob'] },
  });
});

for (const [who, authentication, subUserName, status] of [
  ['jane', jane, 'jane', 200],
  ['jane', jane, null, 200],
  ['jane', jane, 'bob', 403],
  ['bob', bob, 'owner', 403],
  ['owner', owner, 'bob', 200],
  ['no user', demo, 'jane', 200],
] as const) {
  test(`R8: the EULA status of ${subUserName ?? 'the account'} requested by ${who} returns ${status}`, async (t) => {
    t.is((await open().call('GetEulaStatus', { request: { subUserName } }, authentication)).status, status);
  });
}

test("R8: GetEulaStatus without subUserName returns the main user's status, for any acting user", async (t) => {
  const { call } = open();
  const mine = await call('GetEulaStatus', { request: { subUserName: 'owner' } });
  for (const authentication of [demo, owner, jane, bob]) {
    t.is((await call('GetEulaStatus', {}, authentication)).text, mine.text);
  }
});

// Sanctions search 1 belongs to owner, 3 to bob, 4 to jane, who may see bob's.
for (const [acting, authentication, subUserName, seen] of [
  ['no user', demo, undefined, [1, 3, 4]],
  ['no user', demo, null, [1, 3, 4]],
  ['no user', demo, '', [1, 3, 4]],
  ['no user', demo, 'owner', [1, 3, 4]],
  ['no user', demo, 'jane', [3, 4]],
  ['no user', demo, 'bob', [3]],
  ['owner', owner, undefined, [1, 3, 4]],
  ['jane', jane, undefined, [3, 4]],
  ['jane', jane, 'owner', [3, 4]],
  ['jane', jane, 'bob', [3]],
  ['bob', bob, undefined, [3]],
  ['bob', bob, 'jane', [3]],
  ['owner', owner, 'bob', [3]],
] as const) {
  test(`R6: ${acting}, subUserName ${JSON.stringify(subUserName)}: searches ${seen} of 1, 3, 4 are visible, others Forbidden`, async (t) => {
    const { call } = open();
    for (const id of [1, 3, 4]) {
      const reply = await call('GetSearch', { request: { id, subUserName } }, authentication);
      const sees = seen.some((one) => one === id);
      t.is(reply.status, sees ? 200 : 403, `search ${id}`);
      if (!sees) {
        t.like(reply.data.responseStatus, {
          errorCode: 'Forbidden',
          message: `sanctions search ${id}: expected a user who may see it, got one who may not`,
        });
      }
    }
  });
}

test('R6: DBS searches, documents and ValidID searches are hidden from users without the right', async (t) => {
  const { call } = open();
  for (const [operation, input, authentication, status] of [
    ['GetDbsSearch', { id: 2, subUserName: 'bob' }, demo, 200],
    ['GetDbsSearch', { id: 2 }, jane, 200],
    ['GetDbsSearch', { id: 1, subUserName: 'bob' }, demo, 403],
    ['GetDbsSearch', { id: 1 }, jane, 403],
    ['GetPdf', { request: { id: 1, subUserName: 'jane' } }, demo, 200],
    ['GetPdf', { request: { id: 2, subUserName: 'jane' } }, demo, 403],
    ['GetPdf', { request: { id: 2 } }, bob, 403],
    // ValidID search 2 belongs to jane, 4 to bob, 1 to the main user.
    ['UpdateValidId', { request: { id: 2 } }, jane, 200],
    ['UpdateValidId', { request: { id: 4 } }, jane, 200],
    ['UpdateValidId', { request: { id: 1 } }, jane, 403],
  ] as const) {
    const reply = await call(operation, input, authentication);
    t.is(reply.status, status, `${operation} ${JSON.stringify(input)}`);
  }
});

test('R6: userId and subUserName narrow GetValidIds each on its own', async (t) => {
  const { call } = open();
  const total = async (authentication: object, subUserName?: string): Promise<number> => {
    const reply = await call<{ totalSearchRecords: number }>(
      'GetValidIds',
      { request: { subUserName } },
      authentication,
    );
    return reply.data.totalSearchRecords;
  };
  t.is(await total(demo), 57);
  t.is(await total(jane), 23);
  t.is(await total(bob), 11);
  t.is(await total(demo, 'jane'), 23);
  t.is(await total(jane, 'bob'), 11);
  t.is(await total(bob, 'jane'), 11);
});

test('R6: an acting user gets the price of the searches it can see', async (t) => {
  const { call } = open();
  t.like((await call('CostRenewAllPepSearches', {}, bob)).data, { count: 1 });
  t.like((await call('CostRenewAllPepSearches', {}, owner)).data, { count: 2 });
});

for (const [operation, input, fieldName] of [
  ['UpdateSubUser', { request: { subUserName: 'nobody' } }, 'request.subUserName'],
  ['GetSearch', { request: { id: 1, subUserName: 'Jane' } }, 'request.subUserName'],
  ['GetDbsSearch', { id: 1, subUserName: 'nobody' }, 'subUserName'],
  ['GetPdf', { request: { id: 1, subUserName: ' ' } }, 'request.subUserName'],
  ['GetEulaStatus', { request: { subUserName: 'boss' } }, 'request.subUserName'],
  ['GetValidIds', { request: { subUserName: 'nobody' } }, 'request.subUserName'],
  ['GetValidIds', { request: { filterUserName: 'nobody' } }, 'request.filterUserName'],
] as const) {
  test(`R6: ${operation} with an unknown user in ${fieldName} is NotFound, with the field name`, async (t) => {
    const reply = await open().call(operation, input);
    t.is(reply.status, 404);
    t.is(reply.data.responseStatus.errorCode, 'NotFound');
    t.deepEqual(reply.errors, [`NotFound ${fieldName}`]);
  });
}

test("R2: another account's record does not exist for the caller", async (t) => {
  const { call } = open();
  for (const [operation, input] of [
    ['GetSearch', { request: { id: 901 } }],
    ['GetDbsSearch', { id: 902 }],
    ['UpdateValidId', { request: { id: 904, clientInResults: true } }],
    ['DeleteClient', { id: 905 }],
    ['GetPdf', { request: { id: 906 } }],
  ] as const) {
    t.is((await call(operation, input)).status, 404, operation);
    t.is((await call(operation, input, other)).status, 200, operation);
  }
  for (const [operation, input] of [
    ['GetSearch', { request: { id: 1 } }],
    ['GetDbsSearch', { id: 1 }],
    ['UpdateValidId', { request: { id: 1 } }],
    ['DeleteClient', { id: 1 }],
    ['GetPdf', { request: { id: 1 } }],
    ['GetEulaStatus', { request: { subUserName: 'jane' } }],
  ] as const) {
    t.is((await call(operation, input, other)).status, 404, operation);
  }
  t.like((await call('GetValidIds', {}, other)).data, {
    totalSearchRecords: 1,
    searchRecords: [{ id: 904 }],
  });
  t.like((await call('CostRenewAllPepSearches', {}, other)).data, { count: 1, canAfford: false });
});

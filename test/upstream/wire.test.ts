import test from 'ava';
import { createReferenceUpstream } from '../../upstream/service.ts';
import { bob, demo, jane, now, open, other, wireDate } from './client.ts';

const operations = [
  'UpdateSubUser',
  'UpdateValidId',
  'AddClientTemplate',
  'GetDbsSearch',
  'RenewAllPepSearches',
  'DeleteClient',
  'GetSearch',
  'CostRenewAllPepSearches',
  'GetPdf',
  'CountIncompleteClients',
  'GetEulaStatus',
  'GetValidIds',
];

for (const operation of operations) {
  for (const [what, authentication] of [
    ['an unknown apiUserId', { ...demo, apiUserId: 'nobody' }],
    ['a wrong key', { ...demo, apiUserKey: 'demo-kez' }],
    ["another account's key", { ...demo, apiUserKey: other.apiUserKey }],
    ['an unknown userId', { ...demo, userId: '6f9619ff-8b86-d011-b42d-00cf4fc964fe' }],
    ["another account's userId", { ...other, userId: jane.userId }],
    ['a userId that is no GUID', { ...demo, userId: 'jane' }],
    ['a key that is a number', { ...demo, apiUserKey: 7 }],
  ] as const) {
    test(`R5: ${operation} with ${what} is Unauthorized, with one message for all`, async (t) => {
      const reply = await open().call(operation, {}, authentication);
      t.is(reply.status, 401);
      t.like(reply.data.responseStatus, {
        errorCode: 'Unauthorized',
        message: 'authentication: expected credentials that are known here',
      });
      t.deepEqual(reply.errors, []);
    });
  }
}

test('R5: absent, null and empty credentials are Unauthorized, and the error names them', async (t) => {
  const { call, send } = open();
  for (const reply of [
    await send('GetEulaStatus', '{}'),
    await send('GetEulaStatus', ''),
    await send('GetEulaStatus', '{"authentication":null}'),
    await call('GetEulaStatus', {}, { apiUserId: null, apiUserKey: '' }),
  ]) {
    t.is(reply.status, 401);
    t.deepEqual(reply.errors, ['NotEmpty authentication.apiUserId', 'NotEmpty authentication.apiUserKey']);
  }
});

test('R5: userId matches in any GUID spelling, and an empty one is ignored', async (t) => {
  const { call } = open();
  const digits = jane.userId.replaceAll('-', '');
  for (const userId of [
    digits,
    digits.toUpperCase(),
    jane.userId.toUpperCase(),
    `{${jane.userId}}`,
    `(${jane.userId})`,
  ]) {
    // jane may not change other users' permissions, so a 403 proves that she acts.
    t.is((await call('UpdateSubUser', {}, { ...demo, userId })).status, 403, userId);
  }
  for (const userId of ['', null]) {
    t.is((await call('UpdateSubUser', { request: { subUserName: 'bob' } }, { ...demo, userId })).status, 200);
  }
});

test('R5: credentials may be in headers; the body wins', async (t) => {
  const upstream = createReferenceUpstream();
  const status = async (body: object, headers: Record<string, string>): Promise<number> => {
    const path = '/json/reply/UpdateSubUser';
    return (await upstream.handle({ method: 'POST', path, headers, body: JSON.stringify(body) })).status;
  };
  const headers = { 'x-api-user': 'demo', 'x-api-key': 'demo-key', 'x-user-id': bob.userId };
  t.is(await status({}, headers), 403);
  t.is(await status({ authentication: demo }, { 'x-user-id': bob.userId }), 403);
  t.is(await status({ authentication: { apiUserKey: 'wrong' } }, headers), 401);
});

test('R7: an unknown id is NotFound with the kind and the id', async (t) => {
  const { call } = open();
  for (const [operation, input, message] of [
    ['GetSearch', { request: { id: 6 } }, 'sanctions search 6'],
    ['GetDbsSearch', { id: 0 }, 'DBS search 0'],
    ['UpdateValidId', { request: { id: 58 } }, 'ValidID search 58'],
    ['DeleteClient', { id: -1 }, 'client -1'],
    ['GetPdf', { request: { id: 99 } }, 'document 99'],
  ] as const) {
    const reply = await call(operation, input);
    t.is(reply.status, 404);
    t.like(reply.data.responseStatus, {
      errorCode: 'NotFound',
      message: `${message}: expected an id that exists, got none such`,
    });
  }
});

for (const [operation, input, errors] of [
  ['UpdateSubUser', {}, ['NotEmpty request.subUserName']],
  ['UpdateSubUser', { request: { subUserName: '' } }, ['NotEmpty request.subUserName']],
  [
    'UpdateSubUser',
    { request: { permissions: 'bob' } },
    ['NotEmpty request.subUserName', 'InvalidType request.permissions'],
  ],
  [
    'UpdateSubUser',
    { request: { subUserName: 'jane', permissions: ['bob', null] } },
    ['NotEmpty request.permissions[1]'],
  ],
  ['UpdateValidId', { request: null }, ['NotEmpty request.id']],
  ['UpdateValidId', { request: { id: 1, clientInResults: 'TRUE' } }, ['InvalidType request.clientInResults']],
  ['GetDbsSearch', { id: null }, ['NotEmpty id']],
  ['GetDbsSearch', { id: 2 ** 31 }, ['OutOfRange id']],
  ['DeleteClient', {}, ['NotEmpty id']],
  ['DeleteClient', { id: 1.5 }, ['InvalidType id']],
  ['GetSearch', { request: [] }, ['InvalidType request']],
  ['GetSearch', { request: { id: {} } }, ['InvalidType request.id']],
  ['GetSearch', { request: { subUserName: 7 } }, ['NotEmpty request.id', 'InvalidType request.subUserName']],
  ['GetPdf', { request: { id: 1e19 } }, ['OutOfRange request.id']],
  ['GetPdf', { request: {} }, ['NotEmpty request.id']],
  ['CostRenewAllPepSearches', { request: { renewalDate: 'now' } }, ['InvalidType request.renewalDate']],
  [
    'CostRenewAllPepSearches',
    { request: { renewalDate: '/Date(253402300800000)/' } },
    ['OutOfRange request.renewalDate'],
  ],
  ['RenewAllPepSearches', { request: { renewalDate: 5 } }, ['InvalidType request.renewalDate']],
  ['CountIncompleteClients', { daysIncomplete: -1 }, ['OutOfRange daysIncomplete']],
  ['CountIncompleteClients', { isValidateMe: 1 }, ['InvalidType isValidateMe']],
  ['GetEulaStatus', { request: { subUserName: true } }, ['InvalidType request.subUserName']],
  [
    'GetValidIds',
    { request: { page: 'two', sortOrder: 'random', filterType: 'x', filterDateFrom: '2026-01-01' } },
    [
      'InvalidType request.page',
      'InvalidEnum request.sortOrder',
      'InvalidEnum request.filterType',
      'InvalidType request.filterDateFrom',
    ],
  ],
] as const) {
  test(`R7: ${operation} ${JSON.stringify(input)} is a ValidationError with one entry per field`, async (t) => {
    const reply = await open().call(operation, input);
    t.is(reply.status, 400);
    t.is(reply.data.responseStatus.errorCode, 'ValidationError');
    t.deepEqual(reply.errors, [...errors]);
    t.is(reply.data.responseStatus.message, reply.data.responseStatus.errors?.[0]?.message);
  });
}

test('R7: a message has position, expected and given value, shortened', async (t) => {
  const reply = await open().call('GetValidIds', { request: { sortOrder: 'x'.repeat(5000) } });
  t.is(
    reply.data.responseStatus.message,
    `request.sortOrder: expected dateSearchedDesc or dateSearchedAsc or nameAsc or nameDesc, got "${'x'.repeat(40)}…"`,
  );
});

test('R10: dates have escaped slashes', async (t) => {
  const { text, data } = await open().call<{ summary: { dateSearched: string } }>('GetDbsSearch', { id: 1 });
  const searched = Date.UTC(2026, 0, 9, 11, 5, 30);
  t.true(text.includes(`"dateSearched":"\\/Date(${searched}-0000)\\/"`));
  t.is(data.summary.dateSearched, wireDate(searched));
});

test('R10: decimals have two places, 64-bit ids all digits', async (t) => {
  const { call } = open();
  const thirtyDays = { request: { renewalDate: wireDate(now + 30 * 86_400_000) } };
  t.true((await call('CostRenewAllPepSearches', thirtyDays)).text.includes('"totalCost":7.70,'));
  t.true((await call('RenewAllPepSearches', thirtyDays)).text.includes('"totalCost":7.70,'));
  t.true((await call('RenewAllPepSearches', thirtyDays)).text.includes('"totalCost":0.00,'));
  t.true((await call('GetSearch', { request: { id: 1 } })).text.includes('"id":9007199254740993,'));
});

test('R10: null members are written, userId is 32 hex digits, success has an empty responseStatus', async (t) => {
  const { text } = await open().call('UpdateSubUser', { request: { subUserName: 'bob' } });
  t.is(
    text,
    '{"data":{"subUser":{"isMainUser":false,"userId":"3f2504e04f8941d39a0c0305e82c3301","userName":"bob",' +
      '"name":"Bób Przykład","email":null,"isAdmin":false,"canResolveSearches":false,"canDeleteSearches":false,' +
      '"permissions":[]},"responseStatus":{}}}',
  );
});

test('R10: an error has only responseStatus, with its null members', async (t) => {
  const { text } = await open().call('DeleteClient', { id: null });
  t.is(
    text,
    '{"data":{"responseStatus":{"errorCode":"ValidationError","message":"id: expected a value, got none","stackTrace":null,' +
      '"errors":[{"errorCode":"NotEmpty","fieldName":"id","message":"id: expected a value, got none","meta":null}],"meta":null}}}',
  );
});

test('R10: ignores unknown request members, __proto__ too', async (t) => {
  const { send } = open();
  const authentication = JSON.stringify({ ...demo, extra: 1 });
  const reply = await send(
    'GetSearch',
    `{"what":{"ever":[1.5]},"request":{"id":2,"__proto__":{"id":1},"toString":3},"authentication":${authentication}}`,
  );
  t.like(reply.data, { searchRecord: { id: 2 } });
  t.is((await send('DeleteClient', `{"__proto__":{"id":1},"authentication":${authentication}}`)).status, 400);
});

test('a 64-bit id is read exactly, as a number or as a string', async (t) => {
  const { send } = open();
  const get = (id: string) =>
    send('GetPdf', `{"request":{"id":${id}},"authentication":${JSON.stringify(demo)}}`);
  for (const id of ['9007199254740993', '"9007199254740993"']) {
    t.true((await get(id)).text.startsWith('{"data":{"document":{"id":9007199254740993,'), id);
  }
  for (const id of ['9007199254740992', '9007199254740994', '9223372036854775807', '-9223372036854775808']) {
    t.is((await get(id)).status, 404, id);
  }
  t.deepEqual((await get('9223372036854775808')).errors, ['OutOfRange request.id']);
  t.is((await get(`1${'0'.repeat(5000)}`)).status, 400);
});

test('an operation answers at any base path; the query is ignored', async (t) => {
  const { upstream } = open();
  const body = JSON.stringify({ authentication: demo });
  for (const path of [
    '/json/reply/GetEulaStatus',
    '/v2/json/reply/GetEulaStatus',
    '/a/b/json/reply/GetEulaStatus?x=1',
  ]) {
    const reply = await upstream.handle({ method: 'POST', path, body });
    t.is(reply.status, 200, path);
    t.is(reply.headers['content-type'], 'application/json; charset=utf-8');
  }
});

for (const [what, request, status, errorCode] of [
  ['an unknown operation', { path: '/json/reply/GetNothing' }, 404, 'OperationNotFound'],
  [
    'an operation named after a member of every object',
    { path: '/json/reply/toString' },
    404,
    'OperationNotFound',
  ],
  ['another path', { path: '/xml/reply/GetSearch' }, 404, 'NotFound'],
  ['another method', { method: 'GET' }, 405, 'MethodNotAllowed'],
  ['a body that is not JSON', { body: '<GetSearch/>' }, 400, 'MalformedRequest'],
  ['a body that is an array', { body: '[]' }, 400, 'MalformedRequest'],
  ['a body that is not UTF-8', { body: Uint8Array.of(0x7b, 0xff, 0x7d) }, 400, 'MalformedRequest'],
  [
    'a body nested 400,000 deep',
    { body: `{"a":${'['.repeat(4e5)}${']'.repeat(4e5)}}` },
    400,
    'MalformedRequest',
  ],
  [
    'a body with a byte order mark',
    { body: Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d) },
    401,
    'Unauthorized',
  ],
] as const) {
  test(`${what} is ${status} ${errorCode}`, async (t) => {
    const reply = await open().upstream.handle({
      method: 'POST',
      path: '/json/reply/GetSearch',
      body: '{}',
      ...request,
    });
    t.is(reply.status, status);
    t.like(JSON.parse(reply.body), { data: { responseStatus: { errorCode } } });
    t.is(reply.headers.allow, status === 405 ? 'POST' : undefined);
  });
}

test('an internal failure is an InternalError without details; the process logs them', async (t) => {
  const errors: unknown[] = [];
  const upstream = createReferenceUpstream({ onError: (error) => errors.push(error) });
  upstream.close();
  const body = JSON.stringify({ authentication: demo });
  const reply = await upstream.handle({ method: 'POST', path: '/json/reply/GetEulaStatus', body });
  t.is(reply.status, 500);
  t.like(JSON.parse(reply.body), {
    data: { responseStatus: { errorCode: 'InternalError', message: 'internal error', stackTrace: null } },
  });
  t.regex(String(errors[0]), /database is not open/);
});

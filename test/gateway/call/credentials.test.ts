import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { screeningContract } from '../../../mappings/loader/load.ts';
import {
  elementText,
  envelope,
  type HeaderList,
  type Reply,
  sharedGateway,
  startGateway,
  statusOf,
  typesNamespace,
} from '../gateway.ts';

const gateway = await sharedGateway({ serve: { logLevel: 'trace' } });
const { send } = gateway;

/** A key that may only appear in the body of the upstream call. */
const canary = 'cAnArY-7f3a91-kEy';

type Faces = 'soap' | 'xml' | 'json' | 'route';
const faces = ['soap', 'xml', 'json', 'route'] as const;

/** Calls GetEulaStatus (GetSearch on the route) in one of the formats, with these members of authentication. */
function call(
  face: Faces,
  members: Readonly<Record<string, string | null>> | undefined,
  headers: HeaderList = {},
  to = send,
): Promise<Reply> {
  const operation = face === 'route' ? 'GetSearch' : 'GetEulaStatus';
  if (face === 'json' || face === 'route') {
    const body = JSON.stringify(members === undefined ? {} : { authentication: members });
    return to('POST', face === 'json' ? `/json/reply/${operation}` : '/sanctions/get', headers, body);
  }
  const elements = Object.entries(members ?? {}).map(([name, value]) => {
    const element = name.charAt(0).toUpperCase() + name.slice(1);
    const nil = ' xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:nil="true"';
    return value === null
      ? `<${element}${nil}/>`
      : `<${element}>${value.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</${element}>`;
  });
  const inner = members === undefined ? '' : `<Authentication>${elements.join('')}</Authentication>`;
  const body = `<${operation} xmlns="${typesNamespace}">${inner}</${operation}>`;
  return face === 'xml'
    ? to('POST', `/xml/reply/${operation}`, headers, body)
    : to('POST', '/soap11', headers, envelope('1.1', { body }));
}

/** Returns the intended status, the errorCode and `code field` of each of errors[], for every format. */
function outcome({ status, headers, text }: Reply): {
  status: number;
  code: string | undefined;
  errors: string[];
} {
  const meant = Number(headers['x-status'] ?? status);
  if (text.startsWith('{')) {
    const told = statusOf(text);
    const errors = (told.errors ?? []).map(({ errorCode, fieldName }) => `${errorCode} ${fieldName}`);
    return { status: meant, code: told.errorCode, errors };
  }
  const items = text.match(/<ResponseError>.*?<\/ResponseError>/g) ?? [];
  return {
    status: meant,
    code: elementText(text, 'ErrorCode'),
    errors: items.map((item) => `${elementText(item, 'ErrorCode')} ${elementText(item, 'FieldName')}`),
  };
}

const spelled = (face: Faces, ...fields: readonly string[]): string[] =>
  fields.map((field) =>
    face === 'json' || face === 'route'
      ? field
      : field.replace(/(^|[ .])(a|u)/g, (_, before: string, letter: string) => before + letter.toUpperCase()),
  );

const header = { 'X-Api-User': 'u', 'X-Api-Key': 'k', 'X-User-Id': 'me' };
const body = { apiUserId: 'u', apiUserKey: 'k', userId: 'me' };

// --- W24: places of credentials -------------------------------------------------------------------------

interface Place {
  readonly members?: Readonly<Record<string, string | null>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** `me` distinguishes the calls of one test from those of other tests. */
const places: Readonly<Record<string, (me: string) => Place>> = {
  'all in the body': (userId) => ({ members: { ...body, userId } }),
  'all in headers': (me) => ({ headers: { ...header, 'X-User-Id': me } }),
  'all in headers, authentication empty': (me) => ({ members: {}, headers: { ...header, 'X-User-Id': me } }),
  'id in the body, key in a header': (userId) => ({
    members: { apiUserId: 'u', userId },
    headers: { 'X-Api-Key': 'k' },
  }),
  'id in a header, key in the body': (userId) => ({
    members: { apiUserKey: 'k', userId },
    headers: { 'X-Api-User': 'u' },
  }),
  'user in a header': (me) => ({
    members: { apiUserId: 'u', apiUserKey: 'k' },
    headers: { 'X-User-Id': me },
  }),
  'the same in both': (me) => ({ members: { ...body, userId: me }, headers: { ...header, 'X-User-Id': me } }),
  'empty in the body, good in headers': (me) => ({
    members: { apiUserId: '', apiUserKey: '', userId: '' },
    headers: { ...header, 'X-User-Id': me },
  }),
  'nil in the body, good in headers': (me) => ({
    members: { apiUserId: null, apiUserKey: null, userId: null },
    headers: { ...header, 'X-User-Id': me },
  }),
  'empty in headers, good in the body': (userId) => ({
    members: { ...body, userId },
    headers: { 'X-Api-User': '', 'X-Api-Key': '', 'X-User-Id': '' },
  }),
};

for (const face of faces) {
  for (const [what, place] of Object.entries(places)) {
    test(`W24, W25: ${face}, ${what}: the upstream gets all three once, only in the body`, async (t) => {
      const userId = `${face}-${what}`.replaceAll(/\W/g, '-');
      const { members, headers } = place(userId);
      const reply = await call(face, members, headers);
      t.is(reply.status, 200);
      t.is(reply.headers['x-status'], undefined);
      const hits = gateway.hitsOf(userId);
      t.is(hits.length, 1);
      t.deepEqual(JSON.parse(hits[0]?.body ?? ''), { authentication: { ...body, userId } });
      for (const name of Object.keys(header)) t.is(hits[0]?.headers[name.toLowerCase()], undefined);
    });
  }

  for (const [what, apiUserKey] of [
    ['256 characters', 'k'.repeat(256)],
    ['letters beyond ASCII', 'schlüssel-鍵-🔑'],
    ['256 characters beyond the BMP', '🔑'.repeat(256)],
    ['blanks, quotes and markup', ' a"b\\c<d>&e '],
  ] as const) {
    test(`W24: ${face}, a key of ${what} in the body arrives unchanged`, async (t) => {
      const userId = `${face}-${what}`.replaceAll(/\W/g, '-');
      const reply = await call(face, { ...body, apiUserKey, userId });
      t.is(reply.headers['x-status'], undefined);
      t.deepEqual(
        gateway.hitsOf(userId).map(({ body }) => JSON.parse(body)),
        [{ authentication: { ...body, apiUserKey, userId } }],
      );
    });
  }
}

test('W24: userId may be absent', async (t) => {
  const local = await startGateway(t);
  for (const face of faces) {
    t.is((await call(face, { apiUserId: 'u', apiUserKey: 'k' }, {}, local.send)).status, 200);
    t.deepEqual(JSON.parse(local.hits.at(-1)?.body ?? ''), {
      authentication: { apiUserId: 'u', apiUserKey: 'k' },
    });
  }
});

// --- W24: rejected credentials ----------------------------------------------------------------------------

const refusals: readonly (readonly [
  what: string,
  members: Readonly<Record<string, string | null>> | undefined,
  headers: HeaderList,
  status: number,
  code: string,
  errors: readonly string[],
])[] = [
  [
    'nothing',
    undefined,
    {},
    401,
    'Unauthorized',
    ['NotEmpty authentication.apiUserId', 'NotEmpty authentication.apiUserKey'],
  ],
  [
    'empty and nil members',
    { apiUserId: '', apiUserKey: null },
    {},
    401,
    'Unauthorized',
    ['NotEmpty authentication.apiUserId', 'NotEmpty authentication.apiUserKey'],
  ],
  ['no key', { apiUserId: 'u' }, {}, 401, 'Unauthorized', ['NotEmpty authentication.apiUserKey']],
  ['no id', undefined, { 'X-Api-Key': canary }, 401, 'Unauthorized', ['NotEmpty authentication.apiUserId']],
  [
    'another key in the header',
    { ...body, apiUserKey: canary },
    { 'X-Api-Key': 'k' },
    400,
    'ConflictingCredentials',
    [],
  ],
  ['another user in the header', body, { 'X-User-Id': 'you' }, 400, 'ConflictingCredentials', []],
  [
    'a key header twice',
    undefined,
    ['X-Api-User', 'u', 'X-Api-Key', canary, 'X-Api-Key', canary],
    400,
    'ConflictingCredentials',
    [],
  ],
  [
    'a key header twice in two cases',
    undefined,
    ['X-Api-User', 'u', 'X-Api-Key', 'k', 'x-api-key', 'k'],
    400,
    'ConflictingCredentials',
    [],
  ],
  ['a user header twice', body, ['X-User-Id', 'me', 'X-User-Id', 'me'], 400, 'ConflictingCredentials', []],
  [
    '257 characters in the header',
    { apiUserId: 'u' },
    { 'X-Api-Key': canary.padEnd(257, 'x') },
    401,
    'Unauthorized',
    ['InvalidCharacter authentication.apiUserKey'],
  ],
  [
    '257 characters in the body',
    { ...body, apiUserKey: canary.padEnd(257, 'x') },
    {},
    401,
    'Unauthorized',
    ['InvalidCharacter authentication.apiUserKey'],
  ],
  [
    'a blank in the header',
    { apiUserId: 'u' },
    { 'X-Api-Key': `${canary} x` },
    401,
    'Unauthorized',
    ['InvalidCharacter authentication.apiUserKey'],
  ],
  [
    'Latin-1 in the header',
    { apiUserId: 'u' },
    { 'X-Api-Key': `${canary}\u00e9` },
    401,
    'Unauthorized',
    ['InvalidCharacter authentication.apiUserKey'],
  ],
  [
    'a tab in the body',
    { ...body, apiUserKey: `${canary}\tx` },
    {},
    401,
    'Unauthorized',
    ['InvalidCharacter authentication.apiUserKey'],
  ],
  [
    'a line break in the body',
    { ...body, userId: 'k\nX-Admin: 1' },
    {},
    401,
    'Unauthorized',
    ['InvalidCharacter authentication.userId'],
  ],
  [
    'a C1 control in the body',
    { ...body, apiUserId: 'u\u0085' },
    {},
    401,
    'Unauthorized',
    ['InvalidCharacter authentication.apiUserId'],
  ],
  [
    'malformed before conflicting',
    { ...body, apiUserId: 'u\u0085', apiUserKey: 'x' },
    { 'X-Api-Key': 'k' },
    401,
    'Unauthorized',
    ['InvalidCharacter authentication.apiUserId'],
  ],
  [
    'malformed though given twice',
    body,
    ['X-Api-Key', 'a b', 'X-Api-Key', 'k'],
    401,
    'Unauthorized',
    ['InvalidCharacter authentication.apiUserKey'],
  ],
  [
    'conflicting before missing',
    { apiUserId: 'u', userId: 'me' },
    { 'X-User-Id': 'you' },
    400,
    'ConflictingCredentials',
    [],
  ],
];

for (const face of faces) {
  for (const [what, members, headers, status, code, errors] of refusals) {
    test(`W24: ${face} with ${what} is ${status} ${code}; nothing is sent or repeated`, async (t) => {
      const reply = await call(face, members, headers);
      t.deepEqual(outcome(reply), { status, code, errors: spelled(face, ...errors) });
      t.is(gateway.hitsOf('me').length + gateway.hitsOf('you').length, 0);
      t.false(reply.text.includes(canary.slice(0, 12)));
    });
  }
}

test('W24, W42: credentials are checked before required members', async (t) => {
  const reply = await send('POST', '/json/reply/GetDbsSearch', {}, '{}');
  t.is(reply.status, 401);
  const known = await send('POST', '/json/reply/GetDbsSearch', header, '{}');
  t.deepEqual(outcome(known), { status: 400, code: 'ValidationError', errors: ['NotEmpty id'] });
});

test('W24: credentials in query, cookies and SOAP headers are ignored', async (t) => {
  const cookies = { Cookie: 'X-Api-User=u; X-Api-Key=k; apiUserId=u; apiUserKey=k' };
  t.is((await send('POST', '/json/reply/GetEulaStatus', cookies, '{}')).status, 401);
  const header = `<Authentication xmlns="${typesNamespace}"><ApiUserId>u</ApiUserId><ApiUserKey>k</ApiUserKey></Authentication>`;
  const body = `<GetEulaStatus xmlns="${typesNamespace}"/>`;
  const soap = await send(
    'POST',
    '/soap11?X-Api-User=u&X-Api-Key=k',
    cookies,
    envelope('1.1', { header, body }),
  );
  t.is(soap.headers['x-status'], '401');
});

test('W37: JSON names of credentials match in any ASCII case; the header fills an empty member', async (t) => {
  const local = await startGateway(t);
  const body = '{ "Authentication" : { "APIUSERID":"u" , "ApiUserKey":null } , "request":{} }';
  const reply = await local.send(
    'POST',
    '/json/reply/GetEulaStatus',
    { 'X-Api-Key': 'k', 'X-User-Id': 'me' },
    body,
  );
  t.is(reply.status, 200);
  t.is(
    local.hits[0]?.body,
    '{ "authentication" : { "apiUserId":"u" , "apiUserKey":"k" ,"userId":"me"} , "request":{} }',
  );
});

// --- W25: the key is never shown --------------------------------------------------------------------------

test('W25: the key in an upstream error becomes *** in message, errors and meta', async (t) => {
  const told = {
    errorCode: `E-${canary}`,
    message: `key ${canary} and ${canary} are wrong`,
    stackTrace: `at ${canary}`,
    errors: [{ errorCode: 'E', fieldName: `f-${canary}`, message: `no ${canary}`, meta: { a: canary } }],
    meta: { b: `${canary}!` },
  };
  const { send, answer } = await startGateway(t);
  answer({ status: 500, body: JSON.stringify({ data: { responseStatus: told } }) });
  const hidden = (text: string): string => text.replaceAll(canary, '***');
  for (const headers of [{ 'X-Api-User': 'u', 'X-Api-Key': canary }, {}]) {
    const authentication = 'X-Api-Key' in headers ? {} : { apiUserId: 'u', apiUserKey: canary };
    const reply = await send(
      'POST',
      '/json/reply/GetEulaStatus',
      headers,
      JSON.stringify({ authentication }),
    );
    t.deepEqual(JSON.parse(reply.text), {
      data: {
        responseStatus: {
          errorCode: told.errorCode,
          message: hidden(told.message),
          errors: [{ errorCode: 'E', fieldName: `f-${canary}`, message: 'no ***', meta: { a: '***' } }],
          meta: { b: '***!' },
        },
      },
    });
  }
});

test('W25: the key is removed from a foreign error text before the text is cut', async (t) => {
  const { send, answer } = await startGateway(t, { overlay: 'upstreamErrors: tell' });
  const headers = { 'X-Api-User': 'u', 'X-Api-Key': 'abc/def+ghi==' };
  const toldOf = async (type: string, body: string) => {
    answer({ status: 404, headers: { 'content-type': type }, body });
    return statusOf((await send('POST', '/json/reply/GetEulaStatus', headers, '{}')).text);
  };
  for (const form of ['abc/def+ghi==', 'abc\\/def+ghi==', 'abc%2Fdef%2Bghi%3D%3D', 'YWJjL2RlZitnaGk9PQ==']) {
    const text = `${'x'.repeat(492)} ${form} and more`;
    const plain = await toldOf('text/plain', text);
    t.regex(plain.message, /^x{492} \*\*\*/);
    const told = await toldOf('application/json', JSON.stringify({ message: text, key: { [form]: form } }));
    t.regex(told.message, /^x{492} \*\*\*/);
    t.regex(
      told.meta?.Upstream ?? '',
      /^\{"message":"x+ \*\*\*=* and more","key":\{"\*\*\*=*":"\*\*\*=*"\}\}$/,
    );
  }
});

test('W25: the key is removed from the names of meta too', async (t) => {
  const { send, answer } = await startGateway(t);
  const meta = { [`a ${canary}`]: '1', [`b ${canary}`]: '2', c: '3' };
  answer({ status: 404, body: JSON.stringify({ responseStatus: { errorCode: 'E', meta } }) });
  const headers = { 'X-Api-User': 'u', 'X-Api-Key': canary };
  const reply = await send('POST', '/json/reply/GetEulaStatus', headers, '{}');
  t.deepEqual(statusOf(reply.text).meta, { 'a ***': '1', 'b ***': '2', c: '3' });
});

test('stack positions in an upstream error are removed unless the contract keeps them', async (t) => {
  const said = {
    message: 'no',
    stackTrace: 'at X.y()',
    error: [
      { inner_exception: { a: 1 }, id: 12.5, trace: 'at', traceId: '7', Stack: [], 'exception-type': 'E' },
    ],
    debug: {},
  };
  for (const [setting, expected] of [
    ['drop', '{"message":"no","error":[{"id":12.5,"traceId":"7"}]}'],
    ['keep', JSON.stringify(said)],
  ]) {
    const overlay = `upstreamErrors: tell\nstackTrace: ${setting}`;
    const { send, answer } = await startGateway(t, { overlay });
    answer({ status: 500, body: JSON.stringify(said) });
    const reply = await send(
      'POST',
      '/json/reply/GetEulaStatus',
      { 'X-Api-User': 'u', 'X-Api-Key': 'k' },
      '{}',
    );
    t.is(statusOf(reply.text).meta?.Upstream, expected);
  }
});

test('a call stack in an error text is cut off unless the contract keeps it', async (t) => {
  const calls = [
    'no\n    at Object.<anonymous> (/srv/app/secret.js:1:2)\n    at node:internal:1',
    'no\n    at /srv/app/secret.js:1:2',
    'no\r\n   at Secret.Of(String x) in /src/Secret.cs:line 7\r\n\r\nHEADERS\r\n=======\r\nCookie: secret',
    'no\n\tat com.secret.Of(Of.java:7)',
    'no\nTraceback (most recent call last):\n  File "/srv/secret.py", line 7',
    'no\\n    at secret (x.js:1:2)',
    'no\\r\\n\\tat com.secret.Of(Of.java:7)',
    'no\\\\n    at secret (x.js:1:2)\\\\n    at x.js:2:3',
    JSON.stringify({ why: 'no\n    at secret (x.js:1:2)' }).replace('{"why":"', ''),
  ];
  const type = { 'content-type': 'text/plain' };
  for (const setting of ['drop', 'keep']) {
    const { send, answer } = await startGateway(t, {
      overlay: `upstreamErrors: tell\nstackTrace: ${setting}`,
      limits: { breakerFailingMs: 600_000 }, // for slow machines
    });
    const ask = async (): Promise<string> => {
      const key = { 'X-Api-User': 'u', 'X-Api-Key': 'k' };
      return (await send('POST', '/json/reply/GetEulaStatus', key, '{}')).text;
    };
    for (const said of calls) {
      for (const reply of [
        { status: 500, body: said, headers: type },
        { status: 500, body: JSON.stringify({ message: said }) },
        { status: 500, body: JSON.stringify({ error: [{ detail: said, id: 1 }] }) },
      ]) {
        answer(reply);
        const told = await ask();
        t.is(/secret/i.test(told), setting === 'keep', told);
        t.regex(told, /"message":"no/);
      }
    }
    answer({ status: 500, body: JSON.stringify({ message: 'Traceback (most recent call last):\n  x' }) });
    t.is(statusOf(await ask()).message.startsWith('Traceback'), setting === 'keep');
    for (const said of ['look\n  at that', 'at 5:30 (or later)', 'a\nat b (c)', 'C:\\no at 5:30']) {
      answer({ status: 400, body: JSON.stringify({ message: said }) });
      t.is(statusOf(await ask()).message, said);
    }
  }
});

test('W25: keys shorter than six characters are not redacted', async (t) => {
  const { send, answer } = await startGateway(t);
  answer({ status: 400, body: '{"responseStatus":{"errorCode":"E","message":"a short sentence"}}' });
  const reply = await send(
    'POST',
    '/json/reply/GetEulaStatus',
    { 'X-Api-User': 'u', 'X-Api-Key': 'short' },
    '{}',
  );
  t.is(statusOf(reply.text).message, 'a short sentence');
});

test('W25: the key appears in no reply and no log line, whatever fails', async (t) => {
  const { send, answer, raw, log } = await startGateway(t, {
    serve: { logLevel: 'trace' },
    limits: { upstreamFirstByteMs: 60 },
  });
  const key = { 'X-Api-User': 'canary-user-id', 'X-Api-Key': canary, 'X-User-Id': 'canary-acting-user' };
  const inBody = `"authentication":{"apiUserId":"canary-user-id","apiUserKey":"${canary}","userId":"canary-acting-user"}`;
  const element = `<Authentication><ApiUserId>canary-user-id</ApiUserId><ApiUserKey>${canary}</ApiUserKey></Authentication>`;
  const xml = (inner: string): string => `<GetSearch xmlns="${typesNamespace}">${inner}</GetSearch>`;
  const soap = (inner: string): string => envelope('1.1', { body: xml(inner) });
  const replies: Reply[] = [
    // JSON with a syntax error before, in and after the key
    await send('POST', '/json/reply/GetSearch', {}, `{${inBody}`),
    await send('POST', '/json/reply/GetSearch', {}, `{${inBody.slice(0, -20)}`),
    await send('POST', '/json/reply/GetSearch', {}, `{${inBody},}`),
    await send('POST', '/json/reply/GetSearch', {}, `{${inBody},"request":{"id":"${canary}"}}`),
    await send('POST', '/json/reply/GetSearch', {}, `{${inBody},"nothing":"${canary}"}`),
    await send('POST', '/json/reply/GetSearch', {}, `{"authentication":"${canary}"}`),
    await send('POST', '/json/reply/GetSearch', {}, `{"authentication":{"apiUserKey":["${canary}"]}}`),
    await send('POST', '/json/reply/GetSearch', {}, `{"authentication":{"apiUserKey":"${canary}\u0001"}}`),
    await send('POST', '/json/reply/GetSearch', key, `{"request":{"id":"${canary}"}}`),
    // XML
    await send('POST', '/soap11', {}, soap(element).slice(0, -40)),
    await send('POST', '/soap11', {}, soap(element.replace('</ApiUserKey>', '</Key>'))),
    await send('POST', '/soap11', {}, soap(element.replace('</ApiUserKey>', '&nothing;</ApiUserKey>'))),
    await send('POST', '/soap11', {}, soap(element.replace('<ApiUserKey>', `<ApiUserKey a=${canary}>`))),
    await send('POST', '/soap11', {}, soap(`${element}<Request><Id>${canary}</Id></Request>`)),
    await send('POST', '/soap11', {}, soap(`${element}<Request>${canary}</Request>`)),
    await send(
      'POST',
      '/soap12',
      {},
      soap(element.replace('ApiUserId>', 'ApiUserID>').replace('/ApiUserId', '/ApiUserID')),
    ),
    await send('POST', '/xml/reply/GetSearch', {}, xml(element).slice(0, -20)),
    await send('POST', '/xml/reply/GetPdf', {}, xml(element)),
    await send('POST', '/soap11', key, '<a/>'),
    // query and paths
    await send('GET', `/dbs/1?apiUserKey=${canary}`, {}),
    await send('GET', `/dbs/${canary}`, key),
    await send('GET', '/nothing', key),
    await send('TRACE', '/soap11', key),
  ];
  answer((_hit, response) => response.destroy());
  replies.push(await send('POST', '/json/reply/GetSearch', key, '{}'));
  answer({ body: `{"data":{"searchRecord":"${canary}"}}` });
  replies.push(await send('POST', '/json/reply/GetSearch', key, '{}'));
  answer({ status: 500, body: `<html>${canary}</html>` });
  replies.push(await send('POST', '/json/reply/GetSearch', key, '{}'));
  answer({
    status: 400,
    headers: { 'retry-after': canary },
    body: `{"responseStatus":{"errorCode":"E","message":"${canary}"}}`,
  });
  replies.push(await send('POST', '/soap11', {}, soap(`${element}<Request><Id>1</Id></Request>`)));
  answer(() => {});
  replies.push(await send('POST', '/json/reply/GetSearch', key, '{}'));
  replies.push({
    status: 0,
    headers: {},
    text: await raw(
      `POST /v2/soap11 HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${canary}\r\nContent-Length: x\r\n\r\n`,
    ),
  });
  for (const [index, { status, headers, text }] of replies.entries()) {
    t.true(status !== 200 || headers['x-status'] !== undefined, `${index}: ${text}`);
    t.false(text.includes(canary), `${index}: ${text}`);
    t.false(JSON.stringify(headers).includes(canary), `${index}`);
  }
  const lines = log();
  t.true(lines.split('\n').length > 20);
  for (const secret of [canary, 'canary-user-id', 'canary-acting-user'])
    t.false(lines.includes(secret), secret);
});

test('W24: a credential of the header Authorization may have 8,192 characters in a body too', async (t) => {
  const contract = mkdtempSync(join(tmpdir(), 'authorization-'));
  t.teardown(() => rmSync(contract, { recursive: true }));
  copyFileSync(join(screeningContract, 'openapi.yaml'), join(contract, 'openapi.yaml'));
  const overlay = readFileSync(join(screeningContract, 'soap.yaml'), 'utf8');
  writeFileSync(join(contract, 'soap.yaml'), overlay.replace('X-Api-Key', 'Authorization'));
  const own = await startGateway(t, { serve: { contract } });
  const keyOf = (characters: number) => ({ apiUserId: 'demo', apiUserKey: 'k'.repeat(characters) });
  await call('soap', keyOf(8_192), {}, own.send);
  t.is(own.hits.length, 1);
  const { text } = await call('soap', keyOf(8_193), {}, own.send);
  t.is(own.hits.length, 1);
  t.true(
    text.includes('Authentication.ApiUserKey: expected at most 8192 characters, none a control character'),
    text,
  );
});

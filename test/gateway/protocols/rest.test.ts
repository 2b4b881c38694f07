import test from 'ava';
import {
  authentication,
  elementText,
  emptyReply,
  envelope,
  getSearch,
  keyHeaders,
  sharedGateway,
  startGateway,
  statusOf,
  typesNamespace,
} from '../gateway.ts';

const gateway = await sharedGateway();
const { send, hitsOf } = gateway;

const wrapped = (operation: string, inner = ''): string =>
  `<${operation} xmlns="${typesNamespace}">${inner}</${operation}>`;

// --- the seven routes --------------------------------------------------------------------------------

interface RouteRow {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly json?: string;
  readonly xml?: string;
  /** The inputs as sent upstream, before `authentication`. */
  readonly sent: string;
}

const routes: readonly RouteRow[] = [
  {
    operation: 'UpdateSubUser',
    method: 'PUT',
    path: '/subusers/update',
    json: '{"request":{"subUserName":"jane","permissions":["bob","a b"]}}',
    xml: wrapped(
      'UpdateSubUser',
      '<Request><SubUserName>jane</SubUserName><Permissions xmlns:a="http://schemas.microsoft.com/2003/10/Serialization/Arrays"><a:string>bob</a:string><a:string>a b</a:string></Permissions></Request>',
    ),
    sent: '"request":{"subUserName":"jane","permissions":["bob","a b"]},',
  },
  {
    operation: 'UpdateValidId',
    method: 'PUT',
    path: '/validid/update',
    json: '{"request":{"id":3,"clientInResults":true}}',
    xml: wrapped('UpdateValidId', '<Request><Id>3</Id><ClientInResults>1</ClientInResults></Request>'),
    sent: '"request":{"id":3,"clientInResults":true},',
  },
  { operation: 'AddClientTemplate', method: 'GET', path: '/clients/template', sent: '' },
  {
    operation: 'GetDbsSearch',
    method: 'GET',
    path: '/dbs/7?subUserName=jane',
    sent: '"id":7,"subUserName":"jane",',
  },
  {
    operation: 'RenewAllPepSearches',
    method: 'PUT',
    path: '/peps/renew/all',
    json: '{"request":{"renewalDate":"/Date(0-0000)/"}}',
    xml: wrapped('RenewAllPepSearches', '<Request><RenewalDate>1970-01-01T00:00:00</RenewalDate></Request>'),
    sent: '"request":{"renewalDate":"/Date(0-0000)/"},',
  },
  { operation: 'DeleteClient', method: 'DELETE', path: '/clients/6', sent: '"id":6,' },
  {
    operation: 'GetSearch',
    method: 'POST',
    path: '/sanctions/get',
    json: '{"request":{"id":1}}',
    xml: wrapped('GetSearch', '<Request><Id>1</Id></Request>'),
    sent: '"request":{"id":1},',
  },
];

for (const { operation, method, path, json, xml, sent } of routes) {
  for (const form of ['json', 'xml'] as const) {
    const body = form === 'json' ? json : xml;
    test(`W2, W35, W36: ${method} ${path} in ${form} is one POST of ${operation}`, async (t) => {
      const user = `${operation}-${form}`;
      const headers = {
        ...keyHeaders,
        'X-User-Id': user,
        ...(body === undefined
          ? { Accept: `application/${form}` }
          : { 'Content-Type': `application/${form}` }),
      };
      const reply = await send(method, path, headers, body);
      t.is(reply.status, 200);
      t.is(reply.headers['content-type'], `application/${form}; charset=utf-8`);
      if (form === 'json') t.is(reply.text, emptyReply);
      else {
        t.is(
          reply.text,
          `<?xml version="1.0" encoding="utf-8"?><${operation}Response xmlns="${typesNamespace}" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><Data><ResponseStatus/></Data></${operation}Response>`,
        );
      }
      const hits = hitsOf(user);
      t.is(hits.length, 1);
      t.is(hits[0]?.method, 'POST');
      t.is(hits[0]?.path, `/json/reply/${operation}`);
      t.is(
        hits[0]?.body,
        `{${sent}"authentication":{"apiUserId":"u","apiUserKey":"key","userId":"${user}"}}`,
      );
    });
  }
}

// --- W38: parameters ---------------------------------------------------------------------------------

for (const [path, sent] of [
  ['/dbs/7', '"id":7,'],
  ['/DBS/7/', '"id":7,'],
  ['/dbs/+7', '"id":7,'],
  ['/dbs/007', '"id":7,'],
  ['/dbs/%37', '"id":7,'],
  ['/dbs/%207%20', '"id":7,'],
  ['/dbs/-1', '"id":-1,'],
  ['/dbs/0', '"id":0,'],
  ['/dbs/7?SubUserName=a', '"id":7,"subUserName":"a",'],
  ['/dbs/7?subusername=a+b%20c%2Bd', '"id":7,"subUserName":"a b c+d",'],
  ['/dbs/7?subUserName=', '"id":7,"subUserName":"",'],
  ['/dbs/7?subUserName', '"id":7,"subUserName":"",'],
  ['/dbs/7?subUserName=%22%5C%C3%BC', '"id":7,"subUserName":"\\"\\\\ü",'],
  ['/dbs/7?_=17', '"id":7,'],
  ['/dbs/7?subUserName=Andr%c3%a9+100%', '"id":7,"subUserName":"André 100%",'],
  ['/dbs/7?subUserName=%EF%BF%BD%25', '"id":7,"subUserName":"\ufffd%",'],
  ['/clients/6', '"id":6,'],
  ['/Clients/6.json', '"id":6,'],
] as const) {
  test(`W38: ${path} sends ${sent}`, async (t) => {
    const user = `w38-${path}`.replaceAll(/\W/g, '-');
    const method = path.toLowerCase().startsWith('/clients') ? 'DELETE' : 'GET';
    const reply = await send(method, path, { ...keyHeaders, 'X-User-Id': user });
    t.is(reply.status, 200);
    t.deepEqual(
      hitsOf(user).map(({ body }) => body.slice(0, body.indexOf('"authentication":'))),
      [`{${sent}`],
    );
  });
}

for (const [method, path, errors] of [
  ['GET', '/dbs/x', ['InvalidType id']],
  ['GET', '/dbs/7.5', ['InvalidType id']],
  ['GET', '/dbs/1e3', ['InvalidType id']],
  ['GET', '/dbs/2147483648', ['OutOfRange id']],
  ['GET', '/dbs/1%2f2', ['InvalidType id']],
  ['GET', '/dbs/%2537', ['InvalidType id']],
  ['GET', '/dbs/%ff', ['InvalidCharacter id']],
  ['GET', '/dbs/%zz', ['InvalidCharacter id']],
  ['GET', '/dbs/7?subUserName=Andr%e9', ['InvalidCharacter subUserName']],
  ['GET', '/dbs/7?subUserName=%ED%A0%80', ['InvalidCharacter subUserName']],
  ['GET', '/dbs/7?subUserName=%c3&a=%a9', ['UnknownParameter a', 'InvalidCharacter subUserName']],
  ['GET', '/dbs/7%00', ['InvalidType id']],
  ['DELETE', '/clients/1;DELETE', ['InvalidType id']],
  ['DELETE', '/clients/99999999999999999999', ['OutOfRange id']],
  ['GET', '/dbs/7?subUserNam=x', ['UnknownParameter subUserNam']],
  ['GET', '/dbs/7?id=8', ['UnknownParameter id']],
  ['GET', '/dbs/7?apiUserKey=secret', ['UnknownParameter apiUserKey']],
  ['GET', '/dbs/7?subUserName=a&SUBUSERNAME=a', ['DuplicateParameter SUBUSERNAME']],
  ['GET', '/dbs/x?a=1&b=2', ['UnknownParameter a', 'UnknownParameter b', 'InvalidType id']],
  ['GET', '/clients/template?subUserName=x', ['UnknownParameter subUserName']],
  ['GET', '/clients/template?__proto__[a]=1', ['UnknownParameter __proto__[a]']],
  ['DELETE', '/clients/1?x', ['UnknownParameter x']],
  ['PUT', '/peps/renew/all?renewalDate=x', ['UnknownParameter renewalDate']],
  ['POST', '/sanctions/get?id=1', ['UnknownParameter id']],
  [
    'POST',
    '/json/reply/GetDbsSearch?id=1&subUserName=x',
    ['UnknownParameter id', 'UnknownParameter subUserName'],
  ],
  ['POST', '/xml/reply/GetDbsSearch?Id=1', ['UnknownParameter Id']],
] as const) {
  test(`W38: ${method} ${path} is 400 ValidationError ${errors.join(', ')}`, async (t) => {
    const user = `w38-${method}${path}`.replaceAll(/\W/g, '-');
    const reply = await send(method, path, { ...keyHeaders, 'X-User-Id': user, Accept: 'application/json' });
    const told = statusOf(reply.text);
    t.is(reply.status, 400);
    t.is(told.errorCode, 'ValidationError');
    t.deepEqual(
      told.errors?.map(({ errorCode, fieldName }) => `${errorCode} ${fieldName}`),
      [...errors],
    );
    t.like(told.errors?.[0], { message: told.message });
    t.is(hitsOf(user).length, 0);
    t.false(reply.text.includes('secret'));
  });
}

test('W38, W12: unknownElements: ignore covers unknown parameters, not repeated ones', async (t) => {
  const { send, hits } = await startGateway(t, { overlay: 'unknownElements: ignore' });
  t.is((await send('GET', '/dbs/7?subUserNam=x&a=1', keyHeaders)).status, 200);
  t.is(hits[0]?.body, '{"id":7,"authentication":{"apiUserId":"u","apiUserKey":"key"}}');
  t.is((await send('GET', '/dbs/7?subUserName=x&subUserName=y', keyHeaders)).status, 400);
});

for (const [method, path] of [
  ['GET', '/dbs/7'],
  ['GET', '/clients/template'],
  ['DELETE', '/clients/6'],
] as const) {
  for (const [what, headers, body] of [
    ['with a length', {}, '{}'],
    ['in chunks', { 'Transfer-Encoding': 'chunked' }, '{"a":1}'],
  ] as const) {
    test(`W38: ${method} ${path} with a body ${what} is 400 MalformedRequest`, async (t) => {
      const user = `body-${method}-${path}-${what}`.replaceAll(/\W/g, '-');
      const reply = await send(method, path, { ...keyHeaders, 'X-User-Id': user, ...headers }, body);
      t.is(reply.status, 400);
      t.is(statusOf(reply.text).errorCode, 'MalformedRequest');
      t.regex(statusOf(reply.text).message, /credentials go in the headers/);
      t.is(hitsOf(user).length, 0);
    });
  }
  test(`W38: ${method} ${path} with Content-Length: 0 and a media type has no body`, async (t) => {
    const headers = { ...keyHeaders, 'Content-Type': 'application/xml', 'Content-Length': '0' };
    const reply = await send(method, path, headers);
    t.is(reply.status, 200);
    t.is(reply.headers['content-type'], 'application/json; charset=utf-8');
  });
}

// --- W39: media types --------------------------------------------------------------------------------

const xmlBody = wrapped('GetSearch', `${authentication}<Request><Id>1</Id></Request>`);
const jsonBody = '{"request":{"id":1}}';

for (const [contentType, body, form] of [
  ['application/json', jsonBody, 'json'],
  ['APPLICATION/JSON; charset=UTF-8', jsonBody, 'json'],
  ['text/json', jsonBody, 'json'],
  ['application/vnd.x+json', jsonBody, 'json'],
  ['application/xml', xmlBody, 'xml'],
  ['text/xml; charset="utf-8"', xmlBody, 'xml'],
  ['application/vnd.x+xml', xmlBody, 'xml'],
  ['application/soap+xml', xmlBody, 'xml'],
  [undefined, xmlBody, 'xml'],
  [undefined, ` \r\n\t${xmlBody}`, 'xml'],
  [undefined, `\uFEFF${xmlBody}`, 'xml'],
  [undefined, jsonBody, 'json'],
  [undefined, `\uFEFF${jsonBody}`, 'json'],
  [undefined, '', 'json'],
] as const) {
  test(`W39: POST /sanctions/get as ${contentType}: ${JSON.stringify(body.slice(0, 12))} is read as ${form} and answered in it`, async (t) => {
    const headers = contentType === undefined ? keyHeaders : { ...keyHeaders, 'Content-Type': contentType };
    const reply = await send('POST', '/sanctions/get', headers, body);
    t.is(reply.status, 200);
    t.is(reply.headers['content-type'], `application/${form}; charset=utf-8`);
  });
}

for (const contentType of [
  'application/x-www-form-urlencoded',
  'text/plain',
  'multipart/related; boundary=x',
  'application/octet-stream',
  'nonsense',
]) {
  test(`W39: PUT /subusers/update as ${contentType} is 415 in JSON`, async (t) => {
    const reply = await send('PUT', '/subusers/update', { ...keyHeaders, 'Content-Type': contentType }, 'x');
    t.is(reply.status, 415);
    t.is(statusOf(reply.text).errorCode, 'UnsupportedMediaType');
  });
}

for (const path of ['/json/reply/GetSearch', '/xml/reply/GetSearch', '/soap11', '/soap12']) {
  const body = path.includes('json') ? jsonBody : path.includes('xml') ? xmlBody : envelope('1.1');
  for (const contentType of [
    'application/x-www-form-urlencoded',
    'application/json',
    'text/xml',
    'image/png',
    'nonsense;;=',
  ]) {
    test(`W39: POST ${path} reads its body by path or content, for any media type like ${contentType}`, async (t) => {
      const reply = await send('POST', path, { ...keyHeaders, 'Content-Type': contentType }, body);
      t.is(reply.status, 200);
    });
  }
  for (const contentType of ['multipart/mixed; boundary=x', 'Multipart/Form-Data; boundary=x']) {
    test(`W39, W44: POST ${path} as ${contentType} is 415`, async (t) => {
      const reply = await send(
        'POST',
        path,
        { ...keyHeaders, 'Content-Type': contentType },
        `--x\r\n\r\n${body}`,
      );
      t.is(reply.status, 415);
      if (path.includes('soap')) t.is(reply.headers['content-type'], 'text/plain; charset=utf-8');
      else t.true(reply.text.includes('UnsupportedMediaType'));
    });
  }
}

// --- W36: the XML body -------------------------------------------------------------------------------

for (const [path, root] of [
  ['/xml/reply/GetSearch', wrapped('GetPdf')],
  ['/xml/reply/GetSearch', wrapped('getSearch')],
  ['/xml/reply/GetSearch', '<GetSearch xmlns="urn:other"/>'],
  ['/xml/reply/GetSearch', envelope('1.1')],
  ['/xml/reply/GetSearch', '<Request/>'],
  ['/xml/reply/GetSearch', `${getSearch}<a/>`],
  ['/xml/reply/GetSearch', 'text'],
  ['/sanctions/get', wrapped('UpdateSubUser')],
] as const) {
  test(`W36: POST ${path} with ${root.slice(0, 40)}… is 400 MalformedRequest`, async (t) => {
    const reply = await send('POST', path, { ...keyHeaders, 'Content-Type': 'text/xml' }, root);
    t.is(reply.status, 400);
    t.is(reply.headers['content-type'], 'application/xml; charset=utf-8');
    t.is(elementText(reply.text, 'ErrorCode'), 'MalformedRequest');
    t.true(reply.text.includes('<GetSearchResponse '));
  });
}

test('W36: the error for a wrong root names the expected and the given one', async (t) => {
  const reply = await send('POST', '/xml/reply/GetSearch', keyHeaders, wrapped('GetPdf'));
  t.regex(
    elementText(reply.text, 'Message') ?? '',
    /expected &lt;GetSearch>.*got &lt;GetPdf>|expected &lt;GetSearch&gt;.*got &lt;GetPdf&gt;/,
  );
});

for (const body of ['', ' ', '\r\n\t']) {
  test(`W36: an empty XML body ${JSON.stringify(body)} is the empty element`, async (t) => {
    const reply = await send('POST', '/xml/reply/GetSearch', keyHeaders, body);
    t.is(reply.status, 200);
    t.true(reply.text.includes('<GetSearchResponse '));
  });
}

test('W36: the root may have no namespace', async (t) => {
  const reply = await send(
    'POST',
    '/xml/reply/GetSearch',
    keyHeaders,
    '<GetSearch><Request><Id>1</Id></Request></GetSearch>',
  );
  t.is(reply.status, 200);
});

test('W36: an error without an operation is an ErrorResponse', async (t) => {
  const reply = await send('POST', '/xml/reply/Nothing', {}, '');
  t.true(
    reply.text.startsWith(
      `<?xml version="1.0" encoding="utf-8"?><ErrorResponse xmlns="${typesNamespace}" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><Data><ResponseStatus><ErrorCode>OperationNotFound</ErrorCode>`,
    ),
  );
});

for (const [text, what] of [
  ['[]', 'an array'],
  ['"a"', 'a string'],
  ['{} {}', 'two objects'],
  ['{"request":}', 'a missing value'],
  ["{'request':{}}", 'single quotes'],
  ['{"request":{"id":NaN}}', 'NaN'],
  ['{"request":{"id":01}}', 'a leading zero'],
  ['{,}', 'a comma'],
] as const) {
  test(`W37: a JSON body of ${what} is 400 MalformedRequest with the position`, async (t) => {
    const reply = await send('POST', '/json/reply/GetSearch', keyHeaders, text);
    t.is(reply.status, 400);
    t.is(statusOf(reply.text).errorCode, 'MalformedRequest');
    t.regex(statusOf(reply.text).message, /position \d+/);
  });
}

test('W37: non-UTF-8 bytes are 400, another charset is 415, a byte order mark is skipped', async (t) => {
  const bytes = Buffer.from('7b226122ff7d', 'hex');
  t.is((await send('POST', '/json/reply/GetSearch', keyHeaders, bytes)).status, 400);
  const latin = { ...keyHeaders, 'Content-Type': 'application/json; charset=iso-8859-1' };
  t.is((await send('POST', '/json/reply/GetSearch', latin, '{}')).status, 415);
  t.is((await send('POST', '/json/reply/GetSearch', keyHeaders, `\uFEFF{}`)).status, 200);
});

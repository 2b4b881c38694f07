import test from 'ava';
import {
  elementText,
  emptyReply,
  envelope,
  getSearch,
  keyHeaders,
  type Reply,
  sharedGateway,
  startGateway,
  statusOf,
} from '../gateway.ts';

const gateway = await sharedGateway();
const { send } = gateway;

type Form = 'json' | 'xml' | 'soap11' | 'soap12' | 'jsonp';

/** Returns the format of a reply, from its media type and body. */
function formOf({ headers, text }: Reply): Form | undefined {
  const type = headers['content-type'];
  if (type === 'application/json; charset=utf-8') return text.startsWith('{"data":') ? 'json' : undefined;
  if (type === 'text/javascript; charset=utf-8') return text.startsWith('/**/') ? 'jsonp' : undefined;
  if (type === 'application/xml; charset=utf-8') {
    return /^<\?xml [^>]*\?><(?:GetSearchResponse|GetDbsSearchResponse|ErrorResponse) /.test(text)
      ? 'xml'
      : undefined;
  }
  if (type === 'text/xml; charset=utf-8' && text.includes('<s:Envelope xmlns:s="http://schemas.xmlsoap.org/'))
    return 'soap11';
  if (
    type === 'application/soap+xml; charset=utf-8' &&
    text.includes('<s:Envelope xmlns:s="http://www.w3.org/')
  )
    return 'soap12';
  return undefined;
}

// --- W5: the format of a reply ------------------------------------------------------------------------

const rows: readonly (readonly [
  endpoint: 'json' | 'xml',
  path: string,
  accept: string | undefined,
  form: Form,
])[] = [
  // own format
  ['json', '', undefined, 'json'],
  ['xml', '', undefined, 'xml'],
  ['xml', '', '*/*', 'xml'],
  ['json', '', '*/*', 'json'],
  // Accept
  ['json', '', 'application/xml', 'xml'],
  ['json', '', 'text/xml', 'xml'],
  ['json', '', 'Application/XML', 'xml'],
  ['json', '', 'application/soap+xml', 'soap12'],
  ['xml', '', 'application/json', 'json'],
  ['xml', '', 'text/json', 'json'],
  ['xml', '', 'application/xml;q=0.5, application/json;q=0.6', 'json'],
  ['xml', '', 'application/json;q=0.6,application/xml;q=0.5', 'json'],
  ['json', '', 'application/xml, application/json', 'json'],
  ['xml', '', 'application/xml, application/json', 'xml'],
  ['json', '', 'application/soap+xml, application/xml', 'soap12'],
  ['json', '', 'application/xml, application/soap+xml', 'xml'],
  ['json', '', 'application/json;q=0, */*', 'xml'],
  ['json', '', 'application/json;q=0.2, */*;q=0.9', 'xml'],
  ['json', '', 'application/json;q=0.2, application/*;q=0.9', 'xml'],
  ['json', '', 'application/xml;q=0, application/*', 'json'],
  ['json', '', 'text/html', 'json'],
  ['json', '', 'image/png, text/html;q=0.3', 'json'],
  ['xml', '', 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', 'xml'],
  ['json', '', 'application/xml; q=2', 'json'],
  ['json', '', 'application/xml; q=0.5 0.9', 'json'],
  ['json', '', 'application/xml; q=x, application/soap+xml', 'soap12'],
  ['json', '', 'nonsense', 'json'],
  ['json', '', ',,;;=,', 'json'],
  ['json', '', 'application/xml;level=1;q=0.9', 'xml'],
  ['json', '', `${'text/html,'.repeat(31)}application/xml`, 'xml'],
  ['json', '', `${'text/html,'.repeat(32)}application/xml`, 'json'],
  // format parameter wins over Accept
  ['json', '?format=xml', undefined, 'xml'],
  ['json', '?format=XML', 'application/json', 'xml'],
  ['xml', '?Format=json', 'application/xml', 'json'],
  ['json', '?FORMAT=Soap11', 'application/json', 'soap11'],
  ['xml', '?format=soap12', undefined, 'soap12'],
  ['json', '?format=soap11', 'application/xml', 'soap11'],
  // suffix wins over format parameter
  ['json', '.xml', undefined, 'xml'],
  ['json', '.XML?format=json', undefined, 'xml'],
  ['xml', '.json?format=soap11', 'application/xml', 'json'],
  ['json', '.soap11?format=xml', undefined, 'soap11'],
  ['json', '.Soap12', 'application/json', 'soap12'],
  ['json', '.xml/', undefined, 'xml'],
  // callback wins over all
  ['json', '?callback=f', undefined, 'jsonp'],
  ['xml', '?callback=f', 'application/xml', 'jsonp'],
  ['xml', '.xml?callback=f', undefined, 'jsonp'],
  ['xml', '.soap11?CALLBACK=f&format=soap12', 'application/soap+xml', 'jsonp'],
];

for (const [endpoint, path, accept, form] of rows) {
  const shown = (accept ?? 'none').slice(0, 60);
  test(`W5: /${endpoint}/reply/GetSearch${path} with Accept ${shown} (${shown.length < (accept ?? '').length ? accept?.length : 'all'}) returns ${form}`, async (t) => {
    const headers = accept === undefined ? keyHeaders : { ...keyHeaders, Accept: accept };
    const body = endpoint === 'json' ? '{"request":{"id":1}}' : getSearch;
    const good = await send(
      'POST',
      `/${endpoint}/reply/GetSearch${path}`,
      endpoint === 'xml' ? { ...headers, 'X-Api-Key': 'key' } : headers,
      body,
    );
    t.is(good.status, 200);
    t.is(formOf(good), form);
    // an error has the same format
    const bad = await send('POST', `/${endpoint}/reply/GetSearch${path}`, headers, '%');
    t.is(formOf(bad), form);
    t.is(bad.status, form === 'json' || form === 'xml' ? 400 : 200);
    t.is(bad.headers['x-status'], form === 'json' || form === 'xml' ? undefined : '400');
  });
}

for (const [path, form, status] of [
  ['/json/reply/Nothing.xml', 'xml', 404],
  ['/xml/reply/Nothing?format=json', 'json', 404],
  ['/json/reply/Nothing.soap11', 'soap11', 200],
  ['/nothing.soap12', 'soap12', 200],
  ['/nothing?format=xml', 'xml', 404],
  ['/nothing?callback=f', 'jsonp', 200],
] as const) {
  test(`W5, W26: the error of POST ${path} is in ${form} with ${status}`, async (t) => {
    const reply = await send('POST', path);
    t.is(formOf(reply), form);
    t.is(reply.status, status);
    t.is(reply.headers['x-status'], status === 200 ? '404' : undefined);
    if (form !== 'json' && form !== 'jsonp')
      t.regex(reply.text, /<ErrorResponse [^>]*><Data><ResponseStatus>/);
  });
}

test('W5: the suffix is removed before the id is read: /dbs/7.json is id 7, /dbs/7.5 is invalid', async (t) => {
  const local = await startGateway(t);
  t.is((await local.send('GET', '/dbs/7.json', keyHeaders)).status, 200);
  t.regex(local.hits[0]?.body ?? '', /^\{"id":7,/);
  const wrong = await local.send('GET', '/dbs/7.5', keyHeaders);
  t.is(wrong.status, 400);
  t.like(statusOf(wrong.text).errors?.[0], { errorCode: 'InvalidType', fieldName: 'id' });
  const both = await local.send('GET', '/dbs/7.5.xml', keyHeaders);
  t.is(both.status, 400);
  t.is(formOf(both), 'xml');
});

for (const [path, form] of [
  ['/json/reply/GetSearch?format=html', 'json'],
  ['/json/reply/GetSearch?format=', 'json'],
  ['/json/reply/GetSearch?format=json&format=json', 'json'],
  ['/xml/reply/GetSearch?format=json&Format=xml', 'xml'],
  ['/xml/reply/GetSearch?format=constructor', 'xml'],
  ['/xml/reply/GetSearch.json?format=html', 'xml'],
  ['/xml/reply/GetSearch?format=html&callback=f', 'jsonp'],
] as const) {
  test(`W5: POST ${path} is UnsupportedFormat in ${form}, and nothing is sent`, async (t) => {
    const user = `format-${path}`.replaceAll(/\W/g, '-');
    const reply = await send(
      'POST',
      path,
      { ...keyHeaders, 'X-User-Id': user, Accept: 'text/xml' },
      getSearch,
    );
    t.is(formOf(reply), form);
    t.is(reply.headers['x-status'] ?? String(reply.status), '400');
    t.true(reply.text.includes('UnsupportedFormat'));
    t.is(gateway.hitsOf(user).length, 0);
  });
}

// --- W6: JSONP ---------------------------------------------------------------------------------------

const names = ['f', '$', '_', 'jQuery1124.cb_1', '$._', 'a'.repeat(64)];
for (const name of names) {
  test(`W6: callback=${name} (${name.length} characters) wraps the reply`, async (t) => {
    const reply = await send('POST', `/json/reply/GetSearch?callback=${name}&_=123`, keyHeaders, '{}');
    t.is(reply.status, 200);
    t.is(reply.headers['content-type'], 'text/javascript; charset=utf-8');
    t.is(reply.headers['x-content-type-options'], 'nosniff');
    t.is(reply.headers['x-status'], undefined);
    t.is(reply.text, `/**/${name}(${emptyReply});`);
  });
}

for (const name of [
  '',
  '1a',
  '.a',
  'a+b',
  'alert(1)//',
  '%2BADw-script',
  'a%0a',
  'a%0d%0ab',
  'a[0]',
  'a-b',
  '%C3%A9',
  'a'.repeat(65),
  'f&callback=f',
  'f&CallBack=g',
]) {
  test(`W6: callback=${name.slice(0, 40)} (${name.length} characters) is InvalidCallback`, async (t) => {
    const reply = await send('POST', `/json/reply/GetSearch?callback=${name}`, keyHeaders, '{}');
    t.is(reply.status, 400);
    t.is(formOf(reply), 'json');
    t.is(statusOf(reply.text).errorCode, 'InvalidCallback');
    t.false(reply.text.includes('alert'));
  });
}

test('W6: JSONP errors have status 200 with X-Status, for every method and endpoint', async (t) => {
  for (const [method, path, status] of [
    ['GET', '/dbs/1?callback=f', '401'],
    ['GET', '/dbs/x?callback=f', '400'],
    ['DELETE', '/clients/1?callback=f', '401'],
    ['PUT', '/subusers/update?callback=f', '401'],
    ['PATCH', '/subusers/update?callback=f', '405'],
    ['POST', '/xml/reply/GetPdf?callback=f', '401'],
    ['GET', '/json/reply/GetPdf?callback=f', '405'],
    ['GET', '/nothing?callback=f', '404'],
  ] as const) {
    const reply = await send(method, path);
    t.is(reply.status, 200, path);
    t.is(reply.headers['x-status'], status, path);
    t.regex(reply.text, /^\/\*\*\/f\(\{"data":\{"responseStatus":\{"errorCode":"\w+".*\}\}\}\);$/);
  }
});

test('W6: U+2028 and U+2029 are escaped, other characters are unchanged', async (t) => {
  const { send, answer } = await startGateway(t);
  answer({ body: '{"data":{"termsAndConditions":"a\u2028b\u2029ü","responseStatus":{}}}' });
  const reply = await send('POST', '/json/reply/GetEulaStatus?callback=f', keyHeaders, '{}');
  t.is(reply.text, '/**/f({"data":{"termsAndConditions":"a\\u2028b\\u2029ü","responseStatus":{}}});');
});

test('W6: with jsonp off, callback is an unknown parameter', async (t) => {
  const { send } = await startGateway(t, { overlay: 'jsonp: false' });
  const reply = await send('POST', '/json/reply/GetSearch?callback=f', keyHeaders, '{}');
  t.is(reply.status, 400);
  t.is(formOf(reply), 'json');
  t.like(statusOf(reply.text).errors?.[0], { errorCode: 'UnknownParameter', fieldName: 'callback' });
});

test('W26: the SOAP formats of other endpoints wrap the reply in their envelope', async (t) => {
  const reply = await send('POST', '/json/reply/GetSearch.soap12', keyHeaders, '{"request":{"id":1}}');
  const direct = await send('POST', '/soap12', {}, envelope('1.2'));
  t.is(reply.text, direct.text);
  t.is(reply.headers['content-type'], direct.headers['content-type']);
  const refused = await send('POST', '/json/reply/GetSearch.soap11', {}, '{}');
  t.is(refused.status, 200);
  t.is(refused.headers['x-status'], '401');
  t.is(elementText(refused.text, 'ErrorCode'), 'Unauthorized');
});

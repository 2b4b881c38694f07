import { join } from 'node:path';
import test from 'ava';
import { createClientAsync } from 'soap';
import {
  elementText,
  type HeaderList,
  type Hit,
  type Reply,
  send,
  sharedGateway,
  soap11Namespace,
  soap12Namespace,
} from '../../gateway/gateway.ts';

const contract = join(import.meta.dirname, '../../fixtures/contracts/parcels');
const types = 'urn:example:parcels';
const key = { 'X-Api-Key': 'k-123456' } as const;

/** An upstream that knows some parcels, and returns booked ones. */
const gateway = await sharedGateway({ serve: { contract } });
gateway.answer((hit, response) => {
  const [status, body] = answerOf(hit);
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(body);
});

const everythingAsJson = `{"to":{"name":"Zoë & Co","street":null,"postal code":"1 <A>"},"from":null,"number":"all",
  "note":null,"service":"drone","marks":["a",null,""],
  "events":[{"at":"2026-01-31T09:05:00.120+01:00","place":"Utrecht"},null],
  "labels":{"b":"2","a":null},"grams":9007199254740993,"value":12.50,"bookedAt":"2026-01-31T09:05:00Z",
  "due":"2026-02-28","photo":"AAEC","insured":false,"contents":[{"to":{"name":"inner"},"contents":[]}],
  "extra":{"n":1.00,"l":[true,null]},"unknown":{"dropped":1}}`;

const parcels: Readonly<Record<string, readonly [number, string]>> = {
  '/parcels/all': [200, everythingAsJson],
  '/parcels/missing': [
    404,
    '{"responseStatus":{"errorCode":"NoParcel","message":"no parcel is called missing"}}',
  ],
  '/parcels/unknown': [404, '{"code":"no_parcel","message":"no parcel is called unknown"}'],
  '/parcels/bare': [404, ''],
  '/parcels/busy': [503, '<html>busy</html>'],
  '/parcels/wrong': [200, '{"to":{"name":"n"},"grams":"heavy"}'],
  '/parcels/none': [200, 'null'],
};

function answerOf({ method, path, body }: Hit): readonly [number, string] {
  const known = parcels[path];
  if (method === 'DELETE') return known ?? [204, ''];
  if (method === 'POST') return [201, body];
  return known ?? [200, '{"to":{"name":"n"}}'];
}

const versions = [
  { version: '1.1', path: '/post/soap11', namespace: soap11Namespace, type: 'text/xml; charset=utf-8' },
  {
    version: '1.2',
    path: '/post/soap12',
    namespace: soap12Namespace,
    type: 'application/soap+xml; charset=utf-8',
  },
] as const;

function post(path: string, body: string, headers: HeaderList = key): Promise<Reply> {
  return send(gateway.port, 'POST', path, headers, body);
}

function soap(payload: string, headers: HeaderList = key): Promise<Reply> {
  return post(
    '/post/soap11',
    `<s:Envelope xmlns:s="${soap11Namespace}"><s:Body>${payload}</s:Body></s:Envelope>`,
    headers,
  );
}

const track = (inputs: string): string => `<TrackParcel xmlns="${types}">${inputs}</TrackParcel>`;
const book = (body: string): string => `<BookParcel xmlns="${types}"><Body>${body}</Body></BookParcel>`;

/** Returns the upstream request for a parcel's path, or for a booking with this text. */
function hitOf(part: string): Hit | undefined {
  return gateway.hits.find(({ path, body }) => path.includes(part) || body.includes(part));
}

/** Returns the headers of the call without those of the connection. */
function callHeaders({ headers: { host, connection, 'x-request-id': requestId, ...rest } }: Hit): object {
  return rest;
}

/** A parcel with all members. Null differs from absent if the document allows null. */
const everything = [
  '<to><name>Zoë &amp; Co</name><postal_x0020_code>1 &lt;A&gt;</postal_x0020_code></to>',
  '<from i:nil="true"/><number>all</number><note i:nil="true"/><service>drone</service>',
  '<marks><string>a</string><string i:nil="true"/><string/></marks>',
  '<events><Event><at>2026-01-31T09:05:00.120+01:00</at><place>Utrecht</place></Event><Event i:nil="true"/></events>',
  '<labels><Entry><Key>b</Key><Value>2</Value></Entry><Entry><Key>a</Key><Value i:nil="true"/></Entry></labels>',
  '<grams>9007199254740993</grams><value>12.50</value><bookedAt>2026-01-31T09:05:00Z</bookedAt>',
  '<due>2026-02-28</due><photo>AAEC</photo><insured>false</insured>',
  '<contents><Parcel><to><name>inner</name></to><contents/></Parcel></contents>',
  '<extra>{"n":1.00,"l":[true,null]}</extra>',
].join('');

for (const { version, path, namespace, type } of versions) {
  test(`W3, W20: a SOAP ${version} call is a GET upstream, and its JSON reply becomes XML`, async (t) => {
    const reply = await post(
      path,
      `<s:Envelope xmlns:s="${namespace}"><s:Body>${track('<number>all</number>')}</s:Body></s:Envelope>`,
    );
    t.is(reply.status, 200);
    t.is(reply.headers['content-type'], type);
    const content = /<Result>(.*)<\/Result>/s.exec(reply.text)?.[1];
    t.is(content, everything);
    t.true(
      reply.text.includes(
        `<TrackParcelResponse xmlns="${types}" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><Result>`,
      ),
    );
  });
}

test('W35: inputs are sent as the document states: path, query, header and credential only', async (t) => {
  await soap(
    track(
      '<number>a/b c?d#e%2F;é😀</number><since>2026-01-31</since><detail>some</detail><X_Trace_Id>t 1</X_Trace_Id>',
    ),
  );
  const hit = hitOf('/parcels/a%2F');
  t.is(hit?.method, 'GET');
  t.is(hit?.path, '/parcels/a%2Fb%20c%3Fd%23e%252F%3B%C3%A9%F0%9F%98%80?detail=some&since=2026-01-31');
  t.is(hit?.body, '');
  t.deepEqual(hit && callHeaders(hit), {
    accept: 'application/json',
    'x-api-key': 'k-123456',
    'x-trace-id': 't 1',
  });
});

test('W35: an omitted input is not sent', async (t) => {
  await soap(track('<number>alone</number>'));
  const hit = hitOf('/parcels/alone');
  t.is(hit?.path, '/parcels/alone');
  t.deepEqual(hit && callHeaders(hit), { accept: 'application/json', 'x-api-key': 'k-123456' });
});

for (const [number, says] of [
  ['<number>.</number>', 'number: expected a value for the path, got dots'],
  ['<number>..</number>', 'number: expected a value for the path, got dots'],
  ['<number/>', 'number: expected a value for the path, got none'],
  ['', 'number is missing'],
  [
    '<number>h1</number><X_Trace_Id>é</X_Trace_Id>',
    'X-Trace-Id: expected printable ASCII for a header, got other characters',
  ],
  [
    '<number>h2</number><X_Trace_Id>a&#13;&#10;b: c</X_Trace_Id>',
    'X-Trace-Id: expected printable ASCII for a header, got other characters',
  ],
  ['<number>h3</number><detail>much</detail>', 'detail: expected one of none, some, all, got "much"'],
  ['<number>h4</number><since>2026-02-30</since>', 'since: expected xs:date, got "2026-02-30"'],
  ['<number>h5</number><Number>1</Number>', 'Number: unknown element, did you mean number?'],
] as const) {
  test(`W42: refuses ${number === '' ? 'an omitted path parameter' : number} with a fault, and sends nothing upstream`, async (t) => {
    const reply = await soap(track(number));
    t.is(reply.status, 500);
    t.is(elementText(reply.text, 'faultcode'), 's:Client');
    const text = elementText(reply.text, 'faultstring')?.replaceAll('&quot;', '"');
    t.true(text?.startsWith(`ValidationError: ${says}`), text);
    t.false(gateway.hits.some(({ path: hit }) => /^\/parcels\/(?:h\d|\.*|%2E.*)$/.test(hit)));
  });
}

test('W35: bodies of all types are sent as JSON, with all digits, in the caller’s order', async (t) => {
  const reply = await soap(
    book(
      [
        '<number>B1</number><to><postal_x0020_code>1</postal_x0020_code><name>Zoë</name></to>',
        '<note xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:nil="1"/><service>bulky goods</service>',
        '<marks><string>a</string><string/></marks><events><Event><place>Utrecht</place></Event></events>',
        '<labels><Entry><Key>b</Key><Value>2</Value></Entry><Entry><Key>__proto__</Key><Value>3</Value></Entry></labels>',
        '<grams>9007199254740993</grams><value>012.50</value><bookedAt>2026-01-31T09:05:00+01:00</bookedAt>',
        '<due>2026-02-28</due><photo> AA EC </photo><insured>1</insured>',
        '<contents><Parcel><to><name>inner</name></to><contents/></Parcel></contents>',
        '<extra>{"n":1.00}</extra>',
      ].join(''),
    ),
  );
  const hit = hitOf('"B1"');
  t.is(hit?.method, 'POST');
  t.is(hit?.path, '/parcels');
  t.is(
    hit?.body,
    '{"number":"B1","to":{"postal code":"1","name":"Zoë"},"note":null,"service":"bulky goods",' +
      '"marks":["a",""],"events":[{"place":"Utrecht"}],"labels":{"b":"2","__proto__":"3"},' +
      '"grams":9007199254740993,"value":12.50,"bookedAt":"2026-01-31T09:05:00+01:00","due":"2026-02-28",' +
      '"photo":"AAEC","insured":true,"contents":[{"to":{"name":"inner"},"contents":[]}],"extra":{"n":1.00}}',
  );
  t.deepEqual(hit && callHeaders(hit), {
    accept: 'application/json',
    'content-length': String(Buffer.byteLength(hit?.body ?? '')),
    'content-type': 'application/json',
    'x-api-key': 'k-123456',
  });
  t.is(reply.status, 200);
  t.is(elementText(reply.text, 'grams'), '9007199254740993');
  t.is(elementText(reply.text, 'value'), '12.50');
});

for (const [body, says] of [
  ['', 'Body.to.name is missing'],
  ['<to><name/></to>', 'Body.to.name must not be empty'],
  ['<to><name>n</name></to><extra>{1}</extra>', 'Body.extra: expected JSON text, got invalid JSON'],
  [
    '<to><name>n</name></to><contents><Parcel><to/></Parcel></contents>',
    'Body.contents[0].to.name is missing',
  ],
  [
    '<to><name>n</name></to><service>drone</service>',
    'Body.service: expected one of letter, parcel, bulky goods, got "drone"',
  ],
  ['<to><name>n</name></to><grams>9223372036854775808</grams>', 'Body.grams: expected xs:long from'],
] as const) {
  test(`W42: refuses a booking of ${body || 'nothing'} at the wrong member`, async (t) => {
    const reply = await soap(book(body));
    const text = elementText(reply.text, 'faultstring')?.replaceAll('&quot;', '"');
    t.true(text?.startsWith(`ValidationError: ${says}`), text);
  });
}

test('W42: refuses a missing required body', async (t) => {
  const reply = await soap(`<BookParcel xmlns="${types}"/>`);
  t.is(elementText(reply.text, 'faultstring')?.split(' (')[0], 'ValidationError: Body.to.name is missing');
});

const cancel = `<CancelParcel xmlns="${types}"><number>C1</number></CancelParcel>`;

test('W35: a call without a body has none upstream, and a 204 reply is an empty wrapper', async (t) => {
  const reply = await soap(cancel);
  t.is(reply.status, 200);
  t.regex(reply.text, /<CancelParcelResponse xmlns="urn:example:parcels" xmlns:i="[^"]*"\/?>/);
  const hit = hitOf('/parcels/C1');
  t.is(hit?.method, 'DELETE');
  t.is(hit?.body, '');
  t.is(hit?.headers['content-type'], undefined);
  t.is(hit?.headers['content-length'], undefined);
});

test('W36: a 204 reply is the empty wrapper at /xml/reply/{Op} too', async (t) => {
  const reply = await post('/post/xml/reply/CancelParcel', cancel);
  t.is(reply.status, 200);
  t.regex(reply.text, /<CancelParcelResponse /);
});

test('W23: a 204 reply is a 204 without a body at /json/reply/{Op}', async (t) => {
  const reply = await post('/post/json/reply/CancelParcel', '{"number":"7"}');
  t.is(reply.status, 204);
  t.is(reply.headers['content-length'], undefined);
  t.is(reply.text, '');
});

test('W19: a JSON null as the whole reply has no Result', async (t) => {
  const reply = await soap(track('<number>none</number>'));
  t.is(reply.status, 200);
  t.false(reply.text.includes('<Result'));
});

for (const { version, path, namespace } of versions) {
  test(`W26: an upstream error is a SOAP ${version} fault with its text, and its status in X-Status`, async (t) => {
    const body = track('<number>missing</number>');
    const reply = await post(
      path,
      `<s:Envelope xmlns:s="${namespace}"><s:Body>${body}</s:Body></s:Envelope>`,
    );
    t.is(reply.status, 500);
    t.is(reply.headers['x-status'], '404');
    const text = elementText(reply.text, version === '1.1' ? 'faultstring' : 'Text');
    t.true(text?.startsWith('NoParcel: no parcel is called missing'), text);
    t.regex(reply.text, version === '1.1' ? /<faultcode>s:Client</ : /:Value>\w+:Sender</);
  });
}

test('an upstream error in a custom shape is reported with its text', async (t) => {
  const reply = await soap(track('<number>unknown</number>'));
  t.true(elementText(reply.text, 'faultstring')?.includes('no parcel is called unknown'));
});

test('W30: an upstream error without a text is reported as the upstream’s', async (t) => {
  const reply = await soap(track('<number>bare</number>'));
  t.false(elementText(reply.text, 'faultstring')?.includes('unknown path'));
});

for (const [number, status, code, says] of [
  ['bare', '404', 'Client', 'NotFound: '],
  ['busy', '503', 'Server', 'UpstreamUnavailable: '],
  ['wrong', '502', 'Server', "UpstreamInvalidResponse: the reply's Result.grams: expected xs:long"],
] as const) {
  test(`W30: a response that is ${number} is a fault with the text ${says}`, async (t) => {
    const reply = await soap(track(`<number>${number}</number>`));
    t.is(reply.status, 500);
    t.is(reply.headers['x-status'], status);
    t.is(elementText(reply.text, 'faultcode'), `s:${code}`);
    t.true(elementText(reply.text, 'faultstring')?.replaceAll('&apos;', "'").startsWith(says));
  });
}

test('W2: /xml/reply/{Op} reads and writes the same elements without an envelope', async (t) => {
  const reply = await post('/post/xml/reply/TrackParcel', track('<number>all</number>'));
  t.is(reply.status, 200);
  t.is(reply.headers['content-type'], 'application/xml; charset=utf-8');
  t.is(/<Result>(.*)<\/Result>/s.exec(reply.text)?.[1], everything);
});

test('W2, W23: /json/reply/{Op} reads inputs by name and returns the upstream’s bytes', async (t) => {
  const reply = await post('/post/json/reply/TrackParcel', '{"number":"all"}');
  t.is(reply.status, 200);
  t.is(reply.headers['content-type'], 'application/json; charset=utf-8');
  t.is(reply.text, everythingAsJson);
});

test('W37: a JSON body is sent in the caller’s bytes, with the contract’s names', async (t) => {
  const reply = await post(
    '/post/json/reply/BookParcel',
    '{ "body" : {"Number":"B2", "to": {"name":"n"},  "grams":"9007199254740993", "extra":[1.00]} }',
  );
  t.is(reply.status, 201);
  t.is(hitOf('"B2"')?.body, '{"number":"B2", "to": {"name":"n"},  "grams":9007199254740993, "extra":[1.00]}');
});

test('W44: an error at /json/reply/{Op} and /xml/reply/{Op} has its status, code and message', async (t) => {
  const json = await post('/post/json/reply/TrackParcel', '{"number":"missing"}');
  t.is(json.status, 404);
  const { data } = JSON.parse(json.text);
  t.is(data.responseStatus.errorCode, 'NoParcel');
  const xml = await post('/post/xml/reply/TrackParcel', track('<number>missing</number>'));
  t.is(xml.status, 404);
  t.is(elementText(xml.text, 'code'), 'NoParcel', xml.text);
  t.regex(xml.text, /<FaultDetail xmlns="urn:example:parcels"/);
});

for (const [title, headers] of [
  ['none', {}],
  ['an empty one', { 'X-Api-Key': '' }],
  ['one with letters outside ASCII', { 'X-Api-Key': 'k\u00e9y-456789' }],
  ['one with a blank in it', { 'X-Api-Key': 'key 456789' }],
  ['one of 257 characters', { 'X-Api-Key': 'k'.repeat(257) }],
] as const) {
  test(`W25: a call whose credential is ${title} is 401, does not repeat it, and is not sent`, async (t) => {
    const number = `K${title.replaceAll(' ', '')}`;
    const reply = await soap(track(`<number>${number}</number>`), headers);
    t.is(reply.status, 500);
    t.is(reply.headers['x-status'], '401');
    t.true(elementText(reply.text, 'faultstring')?.startsWith('Unauthorized: X-Api-Key: expected '));
    t.false(/456789|kkkk/.test(reply.text));
    t.is(hitOf(number), undefined);
    const json = await post('/post/json/reply/TrackParcel', `{"number":"${number}"}`, headers);
    t.is(json.status, 401);
  });
}

test('W25: a credential cannot inject a header', async (t) => {
  const body = `<s:Envelope xmlns:s="${soap11Namespace}"><s:Body>${track('<number>smuggled</number>')}</s:Body></s:Envelope>`;
  const answer = await gateway.raw(
    `POST /post/soap11 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Api-Key: k\rX-Admin: 1\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  t.regex(answer, /^HTTP\/1\.1 400 /);
  t.is(hitOf('/parcels/smuggled'), undefined);
});

test('W25: no log and no error contains a credential, whatever the upstream returns', async (t) => {
  await soap(track('<number>missing</number>'));
  t.false(gateway.log().includes('k-123456'));
});

test('W24: refuses two different credentials as conflicting', async (t) => {
  const reply = await soap(track('<number>twice</number>'), ['X-Api-Key', 'a', 'X-Api-Key', 'a']);
  t.is(reply.headers['x-status'], '400');
  t.is(hitOf('/parcels/twice'), undefined);
});

for (const port of ['Soap11', 'Soap12']) {
  test(`a client made by soap from the WSDL calls all operations at ${port}`, async (t) => {
    const client = await createClientAsync(`${gateway.running.address}/soap11?wsdl`, {
      disableCache: true,
      forceSoap12Headers: port === 'Soap12',
    });
    client.addHttpHeader('X-Api-Key', 'k-123456');
    const call = (operation: string, input: object): Promise<unknown> =>
      new Promise((resolve, reject) => {
        client.Parcels[port][operation](input, (error: Error | null, result: unknown) => {
          if (error === null) resolve(result);
          else reject(error);
        });
      });

    const number = `S-${port}`;
    await call('CancelParcel', { number });
    t.is(hitOf(number)?.method, 'DELETE');

    const booked = await call('BookParcel', {
      Body: {
        to: { name: 'Zoë', postal_x0020_code: '1' },
        service: 'letter',
        marks: { string: ['a', `b-${number}`] },
        events: { Event: [{ place: 'Utrecht' }] },
        labels: { Entry: [{ Key: 'b', Value: '2' }] },
        grams: '9007199254740993',
        value: '12.50',
        bookedAt: '2026-01-31T09:05:00Z',
        due: '2026-02-28',
        photo: 'AAEC',
        insured: true,
        contents: { Parcel: [{ to: { name: 'inner' } }] },
        extra: '{"n":1.00}',
      },
    });
    t.is(
      hitOf(`b-${number}`)?.body,
      `{"to":{"name":"Zoë","postal code":"1"},"service":"letter","marks":["a","b-${number}"],` +
        '"events":[{"place":"Utrecht"}],"labels":{"b":"2"},"grams":9007199254740993,"value":12.50,' +
        '"bookedAt":"2026-01-31T09:05:00Z","due":"2026-02-28","photo":"AAEC","insured":true,' +
        '"contents":[{"to":{"name":"inner"}}],"extra":{"n":1.00}}',
    );
    t.like(booked, {
      Result: {
        to: { name: 'Zoë', postal_x0020_code: '1' },
        service: 'letter',
        marks: { string: ['a', `b-${number}`] },
        labels: { Entry: [{ Key: 'b', Value: '2' }] },
        insured: true,
        contents: { Parcel: [{ to: { name: 'inner' } }] },
        extra: '{"n":1.00}',
      },
    });

    const error = await t.throwsAsync(call('TrackParcel', { number: 'missing' }));
    t.true(error?.message.includes('no parcel is called missing'), error?.message);
  });
}

test('the error for an unknown operation suggests the nearest name', async (t) => {
  const reply = await soap(`<BokParcel xmlns="${types}"/>`);
  t.is(
    elementText(reply.text, 'faultstring')?.split(' (')[0],
    'expected an operation of the contract in Body, got &lt;BokParcel&gt;, did you mean BookParcel?',
  );
});

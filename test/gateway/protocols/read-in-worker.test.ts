import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import type { Limits } from '../../../mappings/contract/limits.ts';
import { folderOf } from '../../plain/folders.ts';
import { until } from '../../until.ts';
import { file } from '../commands/file.ts';
import { watchCpu } from '../cpu-time.ts';
import {
  authentication,
  contractWith,
  envelope,
  type Gateway,
  type GatewayOptions,
  getSearch,
  keyHeaders,
  type Reply,
  send,
  startGateway,
  statusOf,
  typesNamespace,
} from '../gateway.ts';

// Requests that take long to read are read in a worker thread. With `readAsideBytes: 1`, all are.

const xml = { 'Content-Type': 'text/xml; charset=utf-8' } as const;
const json = { 'Content-Type': 'application/json' } as const;
const aside: Partial<Limits> = { readAsideBytes: 1, readAsideMs: 600_000, totalMs: 600_000 };
const documents = fileURLToPath(new URL('../../fire/figures/documents', import.meta.url));
const parcels = fileURLToPath(new URL('../../fixtures/contracts/parcels', import.meta.url));

// --- same result in both threads -------------------------------------------------------------------

interface Sent {
  readonly title: string;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

const search = (inside: string, request = '<Request><Id>1</Id></Request>'): string =>
  `<GetSearch xmlns="${typesNamespace}">${inside}${request}</GetSearch>`;
const soap = (title: string, body: string | Buffer, headers: Record<string, string> = xml): Sent => ({
  title,
  path: '/v2/soap11',
  headers,
  body,
});
const addressing = (inside: string): string =>
  `<w:MessageID xmlns:w="http://www.w3.org/2005/08/addressing">urn:id:1</w:MessageID>${inside}`;
const elsewhere =
  '<w:ReplyTo xmlns:w="http://www.w3.org/2005/08/addressing" e:mustUnderstand="1"><w:Address>http://127.0.0.1:9/</w:Address></w:ReplyTo>';

const screeningCalls: readonly Sent[] = [
  soap('a call', envelope('1.1')),
  { ...soap('a call of SOAP 1.2', envelope('1.2')), path: '/v2/soap12' },
  soap('an envelope of the other version', envelope('1.2')),
  soap('an envelope of no version', '<Envelope xmlns="urn:none"/>'),
  soap('an envelope of another namespace', '<e:Envelope xmlns:e="urn:e"><e:Body/></e:Envelope>'),
  soap('a message id to be answered', envelope('1.1', { header: addressing('') })),
  soap('a reply to elsewhere', envelope('1.1', { header: addressing(elsewhere) })),
  soap('a header block that must be understood', envelope('1.1', { header: '<u e:mustUnderstand="1"/>' })),
  {
    ...soap('the same in SOAP 1.2', envelope('1.2', { header: '<u xmlns="urn:u" e:mustUnderstand="1"/>' })),
    path: '/v2/soap12',
  },
  soap('another action', envelope('1.1'), { ...xml, SOAPAction: '"GetPdf"' }),
  soap('its own action', envelope('1.1'), { ...xml, SOAPAction: '"GetSearch"' }),
  soap('no XML', 'no XML'),
  soap('an element without end', envelope('1.1').slice(0, -3)),
  soap('a document type', `<!DOCTYPE e>${envelope('1.1')}`),
  soap('another operation', envelope('1.1', { body: '<Other/>' })),
  soap('two operations', envelope('1.1', { body: getSearch + getSearch })),
  soap('a charset that is not read', envelope('1.1'), { 'Content-Type': 'text/xml; charset=ebcdic' }),
  soap('bytes that are no UTF-8', Buffer.from(`${envelope('1.1')}\xff`, 'latin1')),
  soap(
    'another charset',
    Buffer.from(
      envelope('1.1', {
        body: search(authentication, '<Request><SubUserName>é\x80</SubUserName></Request>'),
      }),
      'latin1',
    ),
    { 'Content-Type': 'text/xml; charset=windows-1252' },
  ),
  soap(
    'characters beyond ASCII, and references',
    envelope('1.1', {
      body: search(authentication, '<Request><SubUserName>備&amp;&#x1F600;"</SubUserName></Request>'),
    }),
  ),
  soap(
    'unknown members',
    envelope('1.1', { body: search(authentication, '<Request><No/><Nor/></Request>') }),
  ),
  soap(
    'a value of another type',
    envelope('1.1', { body: search(authentication, '<Request><Id>x</Id></Request>') }),
  ),
  soap('no credentials', envelope('1.1', { body: search('') })),
  soap('credentials in headers', envelope('1.1', { body: search('') }), { ...xml, ...keyHeaders }),
  soap('credentials that differ', envelope('1.1'), { ...xml, 'X-Api-Key': 'other' }),
  soap(
    'a credential with a control character',
    envelope('1.1', { body: search(authentication.replace('key', 'k&#9;y')) }),
  ),
  soap(
    'a secret that the upstream tells',
    envelope('1.1', { body: search(authentication.replace('key', 'told-secret')) }),
  ),
  { title: 'plain XML', path: '/v2/xml/reply/GetSearch', headers: xml, body: getSearch },
  { title: 'plain XML of another root', path: '/v2/xml/reply/GetPdf', headers: xml, body: getSearch },
  {
    title: 'plain XML without end',
    path: '/v2/xml/reply/GetSearch',
    headers: xml,
    body: getSearch.slice(0, -1),
  },
  {
    title: 'plain XML with its mark',
    path: '/v2/xml/reply/GetSearch',
    headers: xml,
    body: `\ufeff${getSearch}`,
  },
  { title: 'blanks', path: '/v2/xml/reply/GetSearch', headers: { ...xml, ...keyHeaders }, body: ' \n ' },
  {
    title: 'JSON',
    path: '/v2/json/reply/GetSearch',
    headers: { ...json, ...keyHeaders },
    body: '{"Request":{"ID":9007199254740993}}',
  },
  {
    title: 'JSON with a half of the credentials',
    path: '/v2/json/reply/GetSearch',
    headers: { ...json, 'X-Api-Key': 'k' },
    body: '{"authentication":{"apiUserId":"u"},"request":{"id":"1"}}',
  },
  { title: 'no JSON', path: '/v2/json/reply/GetSearch', headers: json, body: '{"request":' },
  { title: 'JSON that is no object', path: '/v2/json/reply/GetSearch', headers: json, body: '[1]' },
  { title: 'JSON twice', path: '/v2/json/reply/GetSearch', headers: json, body: '{}{}' },
  {
    title: 'no UTF-8',
    path: '/v2/json/reply/GetSearch',
    headers: json,
    body: Buffer.from('{"\xff":1}', 'latin1'),
  },
  {
    title: 'JSON in another charset',
    path: '/v2/json/reply/GetSearch',
    headers: { 'Content-Type': 'application/json; charset=latin1' },
    body: '{}',
  },
  {
    title: 'JSON with unknown members and parameters',
    path: '/v2/json/reply/GetSearch?no=1&no=2',
    headers: { ...json, ...keyHeaders },
    body: '{"request":{"no":1}}',
  },
  {
    title: 'JSON for XML',
    path: '/v2/json/reply/GetSearch?format=xml',
    headers: { ...json, ...keyHeaders },
    body: '{"request":{"id":1}}',
  },
  {
    title: 'JSONP',
    path: '/v2/json/reply/GetSearch?callback=told',
    headers: { ...json, ...keyHeaders },
    body: '{"request":{"id":1}}',
  },
  {
    title: 'a route with JSON',
    method: 'PUT',
    path: '/v2/subusers/update',
    headers: { ...json, ...keyHeaders },
    body: '{"request":{"subUserName":"jane"}}',
  },
  {
    title: 'a route with XML, whose form its first character shows',
    method: 'PUT',
    path: '/v2/subusers/update',
    headers: keyHeaders,
    body: `<UpdateSubUser xmlns="${typesNamespace}"><Request><SubUserName>jane</SubUserName></Request></UpdateSubUser>`,
  },
  {
    title: 'a route without what is required',
    method: 'PUT',
    path: '/v2/subusers/update',
    headers: { ...json, ...keyHeaders },
    body: '{"request":{}}',
  },
  {
    title: 'a route with another form',
    method: 'PUT',
    path: '/v2/subusers/update',
    headers: { 'Content-Type': 'text/csv' },
    body: 'a,b',
  },
];

const parcel = (
  body: string,
  header = '<Credentials xmlns="urn:example:parcels"><apiKey>told-secret</apiKey></Credentials>',
): Sent => ({
  title: body.slice(0, 60),
  path: '/post/soap11',
  headers: xml,
  body: envelope('1.1', { header, body }),
});
const book = (inside: string): string =>
  `<BookParcel xmlns="urn:example:parcels"><Body>${inside}</Body></BookParcel>`;

const parcelCalls: readonly Sent[] = [
  parcel(
    book('<to><name>Jo</name></to><marks><string>a</string></marks><value>12.50</value><photo>ZG 9j</photo>'),
  ),
  parcel(book('<to><name>Jo</name></to>'), ''),
  parcel(book('<to><name/></to><grams>1.5</grams>')),
  parcel(
    '<TrackParcel xmlns="urn:example:parcels"><number>a/b</number><X_Trace_Id>t</X_Trace_Id></TrackParcel>',
  ),
  parcel('<TrackParcel xmlns="urn:example:parcels"><number>..</number></TrackParcel>'),
  parcel('<CancelParcel xmlns="urn:example:parcels"><number>1</number></CancelParcel>'),
  parcel('<CancelParcel xmlns="urn:example:parcels"/>'),
  parcel(book('<to><name>Jo</name></to>'), '<Credentials xmlns="urn:example:parcels"><key/></Credentials>'),
  {
    title: 'JSON',
    path: '/post/json/reply/BookParcel',
    headers: { ...json, 'X-Api-Key': 'k' },
    body: '{"Body":{"to":{"name":"Jo"},"contents":[{"to":{"name":"x"}}],"extra":{"a":[1,{}]}}}',
  },
];

const strictCalls: readonly Sent[] = [
  {
    title: 'values that break rules',
    path: '/json/reply/putStrict',
    headers: json,
    body: '{"id":"gb1","Body":{"size":3}}',
  },
  { title: 'values that keep them', path: '/json/reply/putStrict', headers: json, body: '{"id":"GB1"}' },
];

/** A contract with `validate: strict` and a route with parameters that must match a pattern. */
function routed(t: ExecutionContext): string {
  const document = {
    openapi: '3.1.0',
    info: { title: 'Routed', version: '1' },
    paths: {
      '/things/{id}': {
        get: {
          operationId: 'findThing',
          parameters: [
            { name: 'id', in: 'path', required: true, schema: { type: 'string', pattern: '^[A-Z]{2}\\d+$' } },
          ],
          responses: { 204: { description: 'none' } },
        },
      },
    },
  };
  const folder = dirname(file(t, JSON.stringify(document), 'openapi.yaml'));
  writeFileSync(
    join(folder, 'soap.yaml'),
    'validate: strict\nbasePath: /r\nroutes: { "GET /thing/{id}": findThing }\n',
  );
  return folder;
}

const routeCalls: readonly Sent[] = ['GB1', 'gb1', 'GB1?no=1', 'gb?no=1&nor=2', 'GB%32'].map((path) => ({
  title: path,
  method: 'GET',
  path: `/r/thing/${path}`,
}));

/** The result of a call: its reply, its upstream requests, and its log lines without times and pseudonyms. */
async function outcomeOf(gateway: Gateway, call: Sent) {
  const before = { hits: gateway.hits.length, log: gateway.log().length };
  const headers = { 'X-Request-Id': 'the-same-id', ...call.headers };
  const reply = await send(gateway.port, call.method ?? 'POST', call.path, headers, call.body);
  const { date: _date, ...told } = reply.headers;
  await until(() => gateway.log().slice(before.log).includes('"status":'));
  const hits = gateway.hits
    .slice(before.hits)
    .map(({ headers: { host: _host, ...rest }, ...hit }) => ({ ...hit, headers: rest }));
  const lines = gateway
    .log()
    .slice(before.log)
    .replaceAll(/"(time|ms|upstreamMs|queueMs)":[\d.]+/g, '"$1":0')
    .replaceAll(/"(caller|upstream|writeId)":"[^"]*"/g, '"$1":"*"');
  return { status: reply.status, headers: told, text: reply.text, hits, lines };
}

for (const [name, contract, calls, least] of [
  ['the screening contract', undefined, screeningCalls, 15],
  ['a contract whose credentials go in headers', parcels, parcelCalls, 4],
  ['a contract with validate: strict', folderOf('strict-validation'), strictCalls, 1],
] as const) {
  test(`a worker thread and the event loop read the same result: ${name}`, async (t) => {
    const serve = { logMessages: true, ...(contract === undefined ? {} : { contract }) };
    const onLoop = await startGateway(t, { serve });
    const beside = await startGateway(t, { serve, limits: aside });
    for (const gateway of [onLoop, beside])
      gateway.answer((hit, response) => {
        const fails = hit.body.includes('told-secret') || hit.headers['x-api-key'] === 'told-secret';
        response.writeHead(fails ? 500 : 200, { 'content-type': 'application/json' });
        const status = '{"errorCode":"Broken","message":"told-secret is no good"}';
        response.end(fails ? `{"data":{"responseStatus":${status}}}` : '{"data":{"responseStatus":{}}}');
      });
    for (const call of calls)
      t.deepEqual(await outcomeOf(beside, call), await outcomeOf(onLoop, call), call.title);
    t.true(onLoop.hits.length >= least, String(onLoop.hits.length));
  });
}

test('a worker thread and the event loop read the same result: parameters of a route', async (t) => {
  const serve = { logMessages: true, contract: routed(t) };
  const onLoop = await startGateway(t, { serve });
  const beside = await startGateway(t, { serve, limits: { ...aside, loopSteps: 1 } });
  for (const gateway of [onLoop, beside]) gateway.answer({ status: 204, body: '' });
  for (const call of routeCalls)
    t.deepEqual(await outcomeOf(beside, call), await outcomeOf(onLoop, call), call.title);
  t.is(onLoop.hits.length, 2);
});

// --- limits ----------------------------------------------------------------------------------------

/** A gateway with a worker thread that exceeds its time limit at once. */
const withoutTime = (t: ExecutionContext, options: GatewayOptions = {}): Promise<Gateway> =>
  startGateway(t, { ...options, limits: { ...options.limits, readAsideMs: 1 } });

test('readAsideBytes: a body at the limit is read on the event loop, a larger one in a thread', async (t) => {
  const message = envelope('1.1');
  const gateway = await withoutTime(t, { limits: { readAsideBytes: message.length } });
  t.is((await gateway.send('POST', '/soap11', xml, message)).status, 200);
  t.is((await gateway.send('POST', '/soap11', xml, `${message} `)).status, 503);
  t.is(
    (await gateway.send('POST', '/xml/reply/GetSearch', xml, getSearch.padEnd(message.length))).status,
    200,
  );
  t.is(
    (await gateway.send('POST', '/xml/reply/GetSearch', xml, getSearch.padEnd(message.length + 1))).status,
    503,
  );
});

test('readAsideMs: a request that takes longer ends its thread, and a new thread replaces it', async (t) => {
  const gateway = await withoutTime(t, { limits: aside });
  const soapReply = await gateway.send('POST', '/soap11', xml, envelope('1.1'));
  t.is(soapReply.status, 503);
  t.is(soapReply.headers['retry-after'], '1');
  t.regex(soapReply.text, /^expected a request that is read within 1 ms, got a longer time/);
  const jsonReply = await gateway.send('POST', '/json/reply/GetSearch', keyHeaders, '{"request":{"id":1}}');
  t.is(jsonReply.status, 503);
  t.is(statusOf(jsonReply.text).errorCode, 'Overloaded');
  t.deepEqual(gateway.hits, []);
  t.regex(gateway.log(), /"msg":"reading thread restarted"/);
  const patient = await startGateway(t, { limits: aside });
  t.is((await patient.send('POST', '/soap11', xml, envelope('1.1'))).status, 200);
});

test('loopSteps: rules up to the limit are checked on the event loop, longer ones in a thread', async (t) => {
  const contract = folderOf('strict-validation');
  const gateway = await withoutTime(t, { serve: { contract }, limits: { loopSteps: 37 + 64 } });
  gateway.answer({ status: 204, body: '' });
  const put = async (id: string): Promise<number> =>
    (await send(gateway.port, 'POST', '/json/reply/putStrict', json, `{"id":"${id}"}`)).status;
  t.is(await put('GB1'), 204);
  t.is(await put('GB12'), 503);
  const routes = await withoutTime(t, { serve: { contract: routed(t) }, limits: { loopSteps: 37 + 64 } });
  routes.answer({ status: 204, body: '' });
  t.is((await send(routes.port, 'GET', '/r/thing/GB1')).status, 204);
  t.is((await send(routes.port, 'GET', '/r/thing/GB12')).status, 503);
  const patient = await startGateway(t, {
    serve: { contract },
    limits: { ...aside, readAsideBytes: 1_000, loopSteps: 1 },
  });
  patient.answer({ status: 204, body: '' });
  const reply = await send(patient.port, 'POST', '/json/reply/putStrict', json, '{"id":"gb12"}');
  t.true(reply.text.includes('id: expected text that matches ^[A-Z]{2}'));
});

test('readAsideHeapBytes: a request that needs more memory ends its thread, which is replaced', async (t) => {
  const mebibyte = 1024 * 1024;
  const serve = { contract: documents };
  const body = `<convert xmlns="urn:Documents"><Body><notes>${`<string>${'"'.repeat(mebibyte - 1)}</string>`.repeat(12)}</notes></Body></convert>`;
  const large = envelope('1.1', { body });
  const small = await startGateway(t, { serve, limits: { ...aside, readAsideHeapBytes: 24 * mebibyte } });
  const reply = await send(small.port, 'POST', '/soap11', xml, large);
  t.is(reply.status, 500);
  t.regex(reply.text, /<faultstring>internal error/);
  t.regex(small.log(), /"code":"ERR_WORKER_OUT_OF_MEMORY"/);
  t.is(
    (
      await send(
        small.port,
        'POST',
        '/soap11',
        xml,
        envelope('1.1', { body: '<convert xmlns="urn:Documents"/>' }),
      )
    ).status,
    200,
  );
  const roomy = await startGateway(t, { serve, limits: aside });
  t.is((await send(roomy.port, 'POST', '/soap11', xml, large)).status, 200);
});

test('totalMs: a request that waits for the thread until its time limit gets 503', async (t) => {
  const gateway = await startGateway(t, { limits: { ...aside, totalMs: 5 } });
  const reply = await gateway.send('POST', '/json/reply/GetSearch', keyHeaders, '{"request":{"id":1}}');
  t.is(reply.status, 503);
  t.is(statusOf(reply.text).errorCode, 'Overloaded');
  t.deepEqual(gateway.hits, []);
});

// --- other work at the same time -------------------------------------------------------------------

/** 15 MB of character references, rejected at the end. */
const references = `<string>${'&#65;'.repeat(200_000)}</string>`.repeat(15);
const slow = envelope('1.1', {
  body: `<convert xmlns="urn:Documents"><Body><notes>${references}<no/></notes></Body></convert>`,
});

test.serial('no event-loop iteration is long while a large request is read', async (t) => {
  const gateway = await startGateway(t, { serve: { contract: documents }, limits: { readAsideMs: 600_000 } });
  const turns = watchCpu();
  const reply = await send(gateway.port, 'POST', '/soap11', xml, slow);
  const longest = turns.end();
  t.regex(reply.text, /expected &lt;string&gt;, got &lt;no&gt;/);
  t.true(longest < 100, `${longest} ms of CPU in one turn`); // reading it takes more than 200 ms
});

const strictDocuments = fileURLToPath(new URL('../../fire/figures/strict', import.meta.url));
const items = Array.from({ length: 60_000 }, (_, index) => `"x${index}"`).join();
/** 0.5 MB in nested lists, each checked separately: reading takes half a second, within rereadText. */
const busy = `{"body":{"nested":${'['.repeat(30)}${items}${']'.repeat(30)}}}`;
const quick = '{"body":{"word":"quick"}}';

/** A gateway with a worker thread that reads everything, and a function to call it. */
async function startStrict(t: ExecutionContext, limits: Partial<Limits> = {}) {
  const gateway = await startGateway(t, {
    serve: { contract: strictDocuments },
    limits: { ...aside, ...limits },
  });
  const call = (body: string): Promise<Reply> =>
    send(gateway.port, 'POST', '/json/reply/convert', json, body);
  /** Waits until `bytes` bytes of bodies have arrived. */
  const arrived = (bytes: number): Promise<void> => until(() => gateway.running.load().heldBytes >= bytes);
  return { gateway, call, arrived };
}

test('a waiting request whose caller disconnects is dropped, and its call is not sent', async (t) => {
  const { gateway, call, arrived } = await startStrict(t);
  const going = [call(busy), call(busy)];
  await arrived(2 * busy.length);
  const leaving = request({
    port: gateway.port,
    method: 'POST',
    path: '/json/reply/convert',
    headers: json,
    agent: false,
  });
  leaving.on('error', () => {});
  leaving.end(quick);
  await arrived(2 * busy.length + quick.length);
  leaving.destroy();
  await until(() => gateway.log().includes('"error":"CallerGone"'));
  for (const reply of await Promise.all(going)) t.is(reply.status, 200);
  t.is(gateway.hits.length, 2);
  t.false(gateway.hits.some(({ body }) => body.includes('quick')));
});

test('readAsideQueue: one request waits while another is read, a third gets 503', async (t) => {
  const { call, arrived } = await startStrict(t, { readAsideQueue: 1 });
  const going = call(busy);
  await arrived(busy.length);
  const waiting = call(quick);
  await arrived(busy.length + quick.length);
  const shed = await call(quick);
  t.is(shed.status, 503);
  t.is(shed.headers['retry-after'], '1');
  t.is((await waiting).status, 200);
  t.is((await going).status, 200);
});

test('a small request does not wait for all large ones that arrived before it', async (t) => {
  const { call, arrived } = await startStrict(t);
  const order: string[] = [];
  const post = async (body: string): Promise<void> => {
    await call(body);
    order.push(body === quick ? 'small' : 'large');
  };
  const large = Array.from({ length: 5 }, () => post(busy));
  await arrived(5 * busy.length);
  await Promise.all([...large, post(quick)]);
  t.true(order.indexOf('small') < 4, order.join());
});

test('after a reload requests are read by the new contract', async (t) => {
  const contract = contractWith(t, 'unknownElements: refuse');
  const gateway = await startGateway(t, { serve: { contract }, limits: aside });
  const body = envelope('1.1', { body: search(authentication, '<Request><No/></Request>') });
  t.regex((await gateway.send('POST', '/soap11', xml, body)).text, /ValidationError/);
  const overlay = join(contract, 'soap.yaml');
  writeFileSync(
    overlay,
    readFileSync(overlay, 'utf8').replace('unknownElements: refuse', 'unknownElements: ignore'),
  );
  await gateway.running.reload();
  t.notRegex((await gateway.send('POST', '/soap11', xml, body)).text, /ValidationError/);
  t.is(gateway.hits.length, 1);
});

import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { strFromU8, unzipSync } from 'fflate';
import { createKitMaker } from '../../console/server/contract-kit.ts';
import { createPages } from '../../console/server/pages.ts';
import { createSite } from '../../console/server/view.ts';
import { compileContract } from '../../mappings/compile.ts';
import { readContract, screeningContract } from '../../mappings/loader/load.ts';
import { Kits } from '../../wsdl/kits/kits.ts';
import { raw, send as sendTo, sharedGateway, startGateway } from '../gateway/gateway.ts';

const { send, log } = await sharedGateway({ serve: { pages: createPages } });

/** Accept header of browsers. */
const browser = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

test('the base path is the overview: addresses, WSDLs, sign-in, errors, limits, operations', async (t) => {
  const { status, headers, text } = await send('GET', '', browser);
  t.is(status, 200);
  t.is(headers['content-type'], 'text/html; charset=utf-8');
  for (const id of ['operations', 'wsdl', 'addresses', 'sign-in', 'errors', 'limits'])
    t.true(text.includes(`<h2 id="${id}">`), id);
  t.true(text.includes('href="v2/docs/GetSearch"'));
  t.true(text.includes('/v2/soap11?wsdl'));
  t.true(text.includes('X-Api-Key: YOUR_API_USER_KEY'));
  t.true(Buffer.byteLength(text) < 100_000);
});

test('links lead up from every depth of page', async (t) => {
  t.true((await send('GET', '/', browser)).text.includes('href="./docs/GetSearch"'));
  t.true((await send('GET', '/docs', browser)).text.includes('href="./docs/GetSearch"'));
  t.true((await send('GET', '/docs/GetSearch', browser)).text.includes('href="../docs/-/types/'));
  t.true((await send('GET', '/docs/-/types/ResponseStatus', browser)).text.includes('href="../../../"'));
});

test('every page has a strict content policy and a media type that browsers do not guess', async (t) => {
  for (const path of ['', '/docs', '/docs/GetSearch', '/docs/Nothing', '/docs/-/types/ResponseStatus']) {
    const { headers } = await send('GET', path, browser);
    const policy = String(headers['content-security-policy']);
    t.true(policy.startsWith("default-src 'none'; script-src 'self'; style-src 'self'"), path);
    t.notRegex(policy, /unsafe|\*|http/);
    t.is(headers['x-content-type-options'], 'nosniff');
    t.is(headers['referrer-policy'], 'no-referrer');
  }
});

test('no page has an inline script or style', async (t) => {
  for (const path of ['', '/docs', '/docs/GetSearch']) {
    const { text } = await send('GET', path, browser);
    t.notRegex(text, /<style|\sstyle=|<script(?! type="module" src=)|\son[a-z]+=/);
  }
});

test('an operation has a page with members, samples and errors, under its name in any case', async (t) => {
  const { status, text } = await send('GET', '/docs/getsearch', browser);
  t.is(status, 200);
  t.true(text.includes('<h1>GetSearch</h1>'));
  for (const part of [
    '>Authentication<',
    'GetSearch.request.soap11.xml',
    'ValidationError',
    'UpstreamTimeout',
  ])
    t.true(text.includes(part), part);
});

test('the page of an unknown operation suggests names', async (t) => {
  const { status, text } = await send('GET', '/docs/GetSerch', browser);
  t.is(status, 404);
  t.true(text.includes('There is no “GetSerch” here.'));
  t.true(text.includes('<a href="../docs/GetSearch">GetSearch</a>'));
});

test('text from the request is shown as text on the page', async (t) => {
  const { text } = await send('GET', `/docs/${encodeURIComponent('<script>alert(1)</script>')}`, browser);
  t.false(text.includes('<script>alert'));
  const list = await send('GET', `/docs?q=${encodeURIComponent('"><img src=x>')}`, browser);
  t.false(list.text.includes('<img'));
});

// removes the random port from addresses
const portless = (text: string): string => text.replaceAll(/127\.0\.0\.1:\d+/g, '');

const documentAddresses = [
  '?wsdl',
  '/soap11?wsdl',
  '/soap12?WSDL',
  '/soap11?singleWsdl',
  '/soap11',
  '/soap11/',
  '/soap11?xsd=0',
];

for (const [client, headers] of [
  ['no Accept', {}],
  ['Accept: text/xml', { Accept: 'text/xml' }],
  ['the Accept of wsimport', { Accept: 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2' }],
  ['the Accept of node-soap', browser],
  ['the Fetch Metadata of a script', { ...browser, 'Sec-Fetch-Dest': 'empty', 'Sec-Fetch-Mode': 'cors' }],
] as const)
  test(`W2: a client with ${client} gets the XML of each document`, async (t) => {
    const plain = await startGateway(t);
    for (const address of documentAddresses) {
      const expected = await plain.send('GET', address);
      const { status, text, headers: got } = await send('GET', address, headers);
      t.is(status, 200);
      t.is(portless(text), portless(expected.text));
      t.is(got['content-type'], 'text/xml; charset=utf-8');
      t.is(got.vary, 'Sec-Fetch-Dest, Sec-Fetch-Mode');
      const head = await send('HEAD', address, headers);
      t.is(head.text, '');
      for (const name of ['content-type', 'content-length', 'etag', 'vary'])
        t.is(head.headers[name], got[name]);
    }
  });

for (const [name, value] of [
  ['Sec-Fetch-Dest', 'document'],
  ['Sec-Fetch-Mode', 'navigate'],
] as const)
  test(`W2: a request with ${name}: ${value} gets the page about each document`, async (t) => {
    for (const address of documentAddresses) {
      const page = await send('GET', address, { ...browser, [name]: value });
      t.is(page.headers['content-type'], 'text/html; charset=utf-8');
      for (const vary of ['Sec-Fetch-Dest', 'Sec-Fetch-Mode'])
        t.true(String(page.headers.vary).split(', ').includes(vary));
      const head = await send('HEAD', address, { ...browser, [name]: value });
      t.is(head.headers['content-type'], 'text/html; charset=utf-8');
      t.is(head.headers.etag, page.headers.etag);
      const raw = /href="([^"]*raw)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
      const { pathname, search } = new URL(raw, `http://gateway/v2${address}`);
      t.true(pathname.startsWith('/v2'));
      const xml = await send('GET', pathname.slice('/v2'.length) + search, { ...browser, [name]: value });
      t.is(xml.headers['content-type'], 'text/xml; charset=utf-8');
      const other = await send('GET', address, { 'If-None-Match': String(page.headers.etag) });
      t.is(other.status, 200, 'the ETag of the page is not the ETag of the document');
    }
  });

test('the overview links to the page about each document, which needs no browser header', async (t) => {
  const { text } = await send('GET', '/');
  for (const name of ['wsdl', 'xsd=0', 'xsd=1']) {
    t.true(text.includes(`href="./docs/-/document?${name}"`));
    const page = await send('GET', `/docs/-/document?${name}`);
    t.is(page.headers['content-type'], 'text/html; charset=utf-8');
    t.true(page.text.includes(`href="../../soap11?${name}&amp;raw"`));
  }
  t.is((await send('GET', '/docs/-/document')).status, 404);
  t.is((await send('GET', '/docs/-/document?xsd=7')).status, 404);
});

test('the page about a slice links to the slice', async (t) => {
  const { text } = await send('GET', '/soap11?wsdl&operation=GetSearch', { 'Sec-Fetch-Mode': 'navigate' });
  t.true(text.includes('href="./soap11?wsdl&amp;operation=GetSearch&amp;raw"'));
});

test('?op=, as in .asmx, leads to the operation', async (t) => {
  const { status, headers } = await send('GET', '/soap11?op=getsearch');
  t.is(status, 302);
  t.is(headers.location, './docs/GetSearch');
});

test('pages are in the language that the browser asks for or a link chose', async (t) => {
  const german = await send('GET', '', { ...browser, 'Accept-Language': 'fr, de-AT;q=0.9, en;q=0.5' });
  t.true(german.text.startsWith('<!doctype html><html lang="de">'));
  t.true(german.text.includes('Anmelden'));
  const chosen = await send('GET', '?lang=en', { ...browser, 'Accept-Language': 'de' });
  t.true(chosen.text.startsWith('<!doctype html><html lang="en">'));
  t.true(chosen.text.includes('href="v2/docs/GetSearch?lang=en"'));
  t.is((await send('GET', '?lang=xx', browser)).status, 200);
});

test('a cached page is not sent again, and pages are compressed if the browser accepts it', async (t) => {
  const { headers } = await send('GET', '/docs/GetSearch', browser);
  const again = await send('GET', '/docs/GetSearch', { ...browser, 'If-None-Match': String(headers.etag) });
  t.is(again.status, 304);
  const packed = await send('GET', '/docs/GetSearch', { ...browser, 'Accept-Encoding': 'gzip' });
  t.is(packed.headers['content-encoding'], 'gzip');
  t.true(Number(packed.headers['content-length']) < Number(headers['content-length']) / 3);
});

test('docs.json contains the whole contract for other tools', async (t) => {
  const { status, text } = await send('GET', '/docs.json');
  t.is(status, 200);
  const told = JSON.parse(text);
  t.is(told.operations.length, 12);
  t.true(told.types.some(({ name }: { name: string }) => name === 'ResponseStatus'));
});

test('the request for a page is logged like others, without its query', async (t) => {
  await send('GET', '/docs?q=looked-for', browser);
  t.true(log().includes('"method":"GET"'));
  t.false(log().includes('looked-for'));
});

test('calls continue while pages are served, and other methods are refused', async (t) => {
  t.is((await send('POST', '/docs/GetSearch', {}, '')).status, 405);
  t.is((await send('POST', '/soap11', {}, '')).status, 500);
  t.is((await send('GET', '/nothing', browser)).status, 404);
});

test('without pages the base path returns the plain list', async (t) => {
  const plain = await startGateway(t);
  const { text, headers } = await plain.send('GET', '', browser);
  t.true(text.includes('<h1>ScreeningApi</h1>'));
  t.is(headers.vary, undefined);
  t.is((await plain.send('GET', '/docs/GetSearch', browser)).status, 404);
  t.is((await plain.send('GET', '/soap11?wsdl', browser)).headers['content-type'], 'text/xml; charset=utf-8');
});

test('show-upstream reports the upstream call of a request, hides secrets, and sends nothing', async (t) => {
  const gateway = await startGateway(t, { serve: { pages: createPages, tryIt: 'show-upstream' } });
  const ask = (message: object, headers = { 'Content-Type': 'application/json' }) =>
    gateway.send('POST', '/docs/-/upstream', headers, JSON.stringify(message));
  const { status, text } = await ask({
    operation: 'GetSearch',
    format: 'json',
    headers: { 'X-Api-User': 'somebody', 'X-Api-Key': 'secret-key', 'Content-Type': 'application/json' },
    body: '{"request":{"id":123456789}}',
  });
  t.is(status, 200);
  t.regex(text, /^POST \/\S+\n/);
  t.true(text.includes('123456789'));
  t.false(text.includes('secret-key'));
  const wrong = await ask({ operation: 'GetSearch', format: 'soap11', headers: {}, body: '<a>' });
  t.is(wrong.status, 200);
  t.regex(wrong.text, /line 1|expected/);
  t.is((await ask({ operation: 1 })).status, 400);
  t.is((await ask({}, { 'Content-Type': 'text/plain' })).status, 415);
  t.is(gateway.hits.length, 0);
  t.false(gateway.log().includes('somebody'));
  t.is((await send('POST', '/docs/-/upstream', { 'Content-Type': 'application/json' }, '{}')).status, 404);
});

test('the message of a preview may have the size that is read on the event loop, and no byte more', async (t) => {
  const gateway = await startGateway(t, {
    serve: { pages: createPages, tryIt: 'show-upstream' },
    limits: { readAsideBytes: 200 },
  });
  const sized = (bytes: number): string => {
    const whole = JSON.stringify({ operation: 'GetSearch', format: 'json', headers: {}, body: '' });
    return whole.replace('"body":""', `"body":"${' '.repeat(bytes - whole.length)}"`);
  };
  const json = { 'Content-Type': 'application/json' };
  t.is((await gateway.send('POST', '/docs/-/upstream', json, sized(200))).status, 200);
  t.is((await gateway.send('POST', '/docs/-/upstream', json, sized(201))).status, 413);
});

test('SOAPBRIDGE_TRY_IT=off removes the form', async (t) => {
  const gateway = await startGateway(t, { serve: { pages: createPages, tryIt: 'off' } });
  t.false((await gateway.send('GET', '/docs/GetSearch', browser)).text.includes('try-form'));
  t.true((await send('GET', '/docs/GetSearch', browser)).text.includes('try-form'));
});

test('the page of an operation has a program for each stack, and files for tools', async (t) => {
  const { text } = await send('GET', '/docs/GetSearch', browser);
  for (const file of ['call.sh', 'call_zeep.py', 'Program.cs', 'all.zip'])
    t.true(text.includes(`href="../docs/GetSearch/kit/${file}"`), file);
  t.true(text.includes('not run by our tests'));
  const curl = await send('GET', '/docs/getsearch/kit/call.sh');
  t.is(curl.status, 200);
  t.is(curl.headers['content-type'], 'text/plain; charset=utf-8');
  t.regex(String(curl.headers['content-disposition']), /GetSearch-call\.sh/);
  t.regex(curl.text, /\/v2\/soap11/);
  const zip = await send('GET', '/docs/GetSearch/kit/all.zip');
  t.is(zip.headers['content-type'], 'application/zip');
  t.is(zip.text.slice(0, 2), 'PK');
  t.regex((await send('GET', '/docs/GetSearch/kit/soapui-project.xml')).text, /soapui-project/);
  for (const path of ['/docs/GetSearch/kit/other', '/docs/Nothing/kit/call.sh'])
    t.is((await send('GET', path)).status, 404);
});

test('the overview has a kit of all operations, a tag its own; at most five are built or wait', async (t) => {
  const { text } = await send('GET', '/docs', browser);
  t.false(text.includes('-/kit/'));
  const overview = await send('GET', '', browser);
  for (const file of ['soapui-project.xml', 'postman-collection.json', 'all.zip'])
    t.true(overview.text.includes(`href="v2/docs/-/kit/${file}"`), file);
  const project = await send('GET', '/docs/-/kit/soapui-project.xml');
  t.is(project.status, 200);
  t.true(project.text.includes('GetSearch') && project.text.includes('UpdateSubUser'));
  t.true((await send('GET', '/docs/-/kit/postman-collection.json')).text.includes('GetPdf'));
  for (const path of ['/docs/-/kit/other', '/docs/-/kit/all.zip?tag=nothing'])
    t.is((await send('GET', path)).status, 404);
  const five = await Promise.all(Array.from({ length: 5 }, () => send('GET', '/docs/-/kit/all.zip')));
  t.deepEqual(
    five.map(({ status }) => status),
    [200, 200, 200, 200, 200],
  );
  const six = await Promise.all(Array.from({ length: 6 }, () => send('GET', '/docs/-/kit/all.zip')));
  t.deepEqual(six.map(({ status }) => status).toSorted(), [200, 200, 200, 200, 200, 503]);
  t.is(six.find(({ status }) => status === 503)?.headers['retry-after'], '5');
});

test('the zip of a contract’s kit has the files that the command writes', async (t) => {
  const compiled = compileContract(readContract(screeningContract).contract);
  const site = createSite(compiled, 'off');
  const kits = new Kits(compiled, 'http://gateway.example/v2');
  const names = ['GetSearch', 'GetPdf'];
  const made = await createKitMaker().make(site, 'http://gateway.example/v2', names, 'all.zip');
  if (made === undefined || made === 'busy' || typeof made.content === 'string') return t.fail();
  const files = Object.entries(unzipSync(made.content)).map(([path, bytes]) => [path, strFromU8(bytes)]);
  t.deepEqual(new Map(files as [string, string][]), kits.files(names));
});

test('samples are files to download', async (t) => {
  const { status, headers, text } = await send('GET', '/docs/GetSearch/samples/GetSearch.request.json');
  t.is(status, 200);
  t.is(headers['content-disposition'], 'attachment; filename="GetSearch.request.json"');
  t.notThrows(() => JSON.parse(text));
  t.is((await send('GET', '/docs/GetSearch/samples/Other.json')).status, 404);
});

test('doctor: reports the problems of a message as a page and as JSON, and stores nothing', async (t) => {
  const wrong = '<Envelope><Body><GetSeerch xmlns="urn:x"/></Body></Envelope>';
  const form = { 'Content-Type': 'application/x-www-form-urlencoded', ...browser };
  const fields = new URLSearchParams({ type: 'text/xml', action: '', message: wrong }).toString();
  const page = await send('POST', '/docs/-/doctor', form, fields);
  t.is(page.status, 200);
  t.true(page.text.includes('GetSearch'));
  t.true(page.text.includes('What is wrong'));
  const told = await send('POST', '/docs/-/explain', { 'Content-Type': 'text/xml' }, wrong);
  t.true(JSON.parse(told.text).findings.length > 0);
  t.is(told.headers['cache-control'], 'no-store');
  t.is((await send('GET', '/docs/-/doctor', browser)).status, 200);
  t.false(log().includes('GetSeerch'));
});

test('doctor: a message may have half the size that is read on the event loop', async (t) => {
  const gateway = await startGateway(t, { serve: { pages: createPages }, limits: { readAsideBytes: 600 } });
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const xml = { 'Content-Type': 'text/xml' };
  t.is((await gateway.send('POST', '/docs/-/explain', xml, 'x'.repeat(300))).status, 200);
  t.is((await gateway.send('POST', '/docs/-/explain', xml, 'x'.repeat(301))).status, 413);
  t.is((await gateway.send('POST', '/docs/-/doctor', form, `message=${'x'.repeat(300)}`)).status, 200);
  t.is((await gateway.send('POST', '/docs/-/doctor', form, `message=${'x'.repeat(301)}`)).status, 413);
});

test('a request body sent to a page has the limits of all bodies', async (t) => {
  const limits = { bodyPieces: 8, bodyIdleMs: 300 };
  const { port, running, log } = await startGateway(t, { serve: { pages: createPages }, limits });
  for (const path of ['/docs/-/explain', '/docs/-/doctor']) {
    const head = `POST /v2${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n`;
    const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n`;
    t.regex(
      await raw(port, `${chunked}${'1\r\nx\r\n'.repeat(9)}`),
      /^HTTP\/1\.1 413 .*of at most 8 chunks/s,
      path,
    );
    const begun = `${chunked}1\r\nx\r\n`;
    const waiting = raw(port, begun);
    while (running.load().arriving === 0) await pause(5);
    t.is(running.load().heldBytes, 1);
    t.regex(await waiting, /^HTTP\/1\.1 408 /, path);
    t.deepEqual([running.load().arriving, running.load().heldBytes], [0, 0]);
    const packed = `${head}Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx`;
    t.regex(await raw(port, packed), /^HTTP\/1\.1 415 /, path);
    const asked = `${head}Expect: 100-continue\r\nContent-Length: 9\r\n\r\n`;
    t.regex(await raw(port, asked, 'message=x'), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /, path);
  }
  t.regex(
    log(),
    /"status":413,"bytesIn":0,.*"error":"RequestTooLarge"|"error":"RequestTooLarge".*"status":413/,
  );
});

test('uncached pages are rendered one at a time; one visitor too many gets Retry-After', async (t) => {
  const gateway = await startGateway(t, { serve: { pages: createPages }, limits: { pagesWaiting: 2 } });
  const asked = await Promise.all(
    Array.from({ length: 8 }, (_, index) => gateway.send('GET', `/docs/GetSearch?x=${index}`)),
  );
  const refused = asked.filter(({ status }) => status === 503);
  t.true(refused.length > 0 && refused.length < 8, `${refused.length}`);
  t.true(refused.every(({ headers }) => headers['retry-after'] === '5'));
  t.true(asked.every(({ status }) => status === 200 || status === 503));
  t.false(gateway.log().includes('internal error'));
  // cached pages do not wait
  t.is(
    (await gateway.send('GET', `/docs/GetSearch?x=${asked.findIndex(({ status }) => status === 200)}`))
      .status,
    200,
  );
});

test('a visitor who leaves early is no error in the log, another failure is', async (t) => {
  let tell: ((error: unknown) => void) | undefined;
  const gateway = await startGateway(t, {
    serve: {
      pages: ({ onError }) => {
        tell = onError;
        return { takes: () => false, handle: async () => 0 };
      },
    },
  });
  tell?.(Object.assign(new Error('write ECONNRESET'), { code: 'ECONNRESET' }));
  t.false(gateway.log().includes('internal error'));
  tell?.(new Error('no page'));
  t.true(gateway.log().includes('internal error'));
});

test('a refused page request has the request’s id and the headers of all pages', async (t) => {
  const gateway = await startGateway(t, { serve: { pages: createPages }, limits: { readAsideBytes: 600 } });
  const id = { 'X-Request-Id': 'visitor-0001' };
  const form = { ...id, 'Content-Type': 'application/x-www-form-urlencoded' };
  for (const [path, headers, body, status] of [
    ['/docs/-/doctor', form, `message=${'x'.repeat(301)}`, 413],
    ['/docs/-/doctor', form, 'x'.repeat(901), 413],
    ['/docs/-/doctor', { ...id, 'Content-Type': 'text/plain' }, 'x', 415],
    ['/docs/-/explain', { ...id, 'Content-Encoding': 'gzip' }, 'x', 415],
    ['/docs/-/assets/nothing', id, undefined, 404],
    ['/docs/-/kit/nothing', id, undefined, 404],
  ] as const) {
    const reply = await gateway.send(body === undefined ? 'GET' : 'POST', path, headers, body);
    t.is(reply.status, status, path);
    t.is(reply.headers['x-request-id'], 'visitor-0001', path);
    t.is(reply.headers['x-content-type-options'], 'nosniff', path);
    t.truthy(reply.headers['content-security-policy'], path);
  }
  for (const path of ['/metrics', '/healthz', '/nowhere'])
    t.is((await sendTo(gateway.port, 'GET', path, id)).headers['x-request-id'], 'visitor-0001', path);
});

test('a visitor who leaves before the reply is logged as such, and the page is not rendered', async (t) => {
  const gateway = await startGateway(t, { serve: { pages: createPages } });
  const lines = (): string[] =>
    gateway
      .log()
      .split('\n')
      .filter((line) => line.includes('"contract":'));
  const sockets = Array.from({ length: 20 }, (_, index) => {
    const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
    t.teardown(() => socket.destroy());
    socket.write(`GET /v2/docs/GetSearch?x=${index} HTTP/1.1\r\nHost: x\r\n\r\n`);
    return socket;
  });
  await Promise.race(sockets.map((socket) => once(socket, 'readable')));
  for (const socket of sockets) socket.resetAndDestroy();
  t.is((await gateway.send('GET', '/docs/GetSearch?x=last')).status, 200);
  const gone = lines().filter((line) => line.includes('"error":"CallerGone"'));
  t.true(gone.length > 0);
  t.true(gone.every((line) => line.includes('"status":499') && line.includes('"aborted":true')));
  t.true(lines().every((line) => line.includes('"status":200') || gone.includes(line)));
  t.false(gateway.log().includes('internal error'));
});

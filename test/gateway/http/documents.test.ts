import test from 'ava';
import { ContractDocuments, type Document, type Unwritten } from '../../../gateway/http/documents.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { readContract, screeningContract } from '../../../mappings/loader/load.ts';
import { documentOf, ref } from '../../mappings/contract/shapes.ts';
import { file } from '../commands/file.ts';
import { envelope, keyHeaders, sharedGateway, startGateway } from '../gateway.ts';

const { send } = await sharedGateway();

/** A document with `count` types. Generating its WSDL takes time. */
function manyTypes(count: number): string {
  const names = Array.from({ length: count }, (_, at) => `S${at}`);
  const schemas = names.map((name) => [
    name,
    { properties: { a: { type: 'string' }, b: { type: 'integer' } } },
  ]);
  const members = names.map((name) => [name, ref(name)]);
  return documentOf({ ...Object.fromEntries(schemas), Root: { properties: Object.fromEntries(members) } });
}

test('a slice is one document for any order, case and repetition of its names', async (t) => {
  const asked = [
    '?wsdl&operation=GetSearch&operation=GetPdf',
    '?wsdl&operation=getpdf&operation=GETSEARCH&operation=getsearch',
    '?operation=GetPdf&singleWsdl&Operation=GetSearch&operation=GetPdf',
  ];
  const [first, ...others] = await Promise.all(asked.map((query) => send('GET', query)));
  t.is(first?.status, 200);
  for (const other of others) {
    t.is(other.text, first?.text ?? '');
    t.is(other.headers.etag, first?.headers.etag);
  }
});

test('concurrent requests for one slice share its rendering; later ones get the stored result', async (t) => {
  const documents = new ContractDocuments(readContract(screeningContract).contract, {
    publicUrl: () => 'http://127.0.0.1',
    configured: true,
    trustedProxies: undefined,
    limits: defaultLimits,
  });
  const request = {} as never; // only read if there are trusted proxies
  const find = (query: string): Document | Unwritten =>
    documents.find(new URLSearchParams(query), 'page', request);
  const queries = [
    'wsdl&operation=GetPdf&operation=GetSearch',
    'wsdl&operation=getsearch&operation=getpdf',
  ] as const;
  const [one, other] = queries.map((query) => find(query));
  if (one?.kind !== 'unwritten' || other?.kind !== 'unwritten') return t.fail();
  const [first, second] = await Promise.all([one.write(), other.write()]);
  t.is(first, second);
  for (const query of queries) t.is(find(query), first);
});

test('documentsWaiting: that many requests wait for slices, and one more gets 503', async (t) => {
  for (const [documentsWaiting, statuses] of [
    [2, [200, 200]],
    [1, [200, 503]],
  ] as const) {
    const { send } = await startGateway(t, { limits: { documentsWaiting } });
    const replies = await Promise.all(
      ['GetPdf', 'GetSearch'].map((name) => send('GET', `?wsdl&operation=${name}`)),
    );
    t.deepEqual(replies.map(({ status }) => status).toSorted(), statuses);
    for (const { status, headers } of replies) t.is(headers['retry-after'], status === 503 ? '1' : undefined);
    for (const name of ['GetPdf', 'GetSearch'])
      t.is((await send('GET', `?wsdl&operation=${name}`)).status, 200);
  }
});

test('rendering a slice needs a slot like a call; a stored one does not', async (t) => {
  const gateway = await startGateway(t, { limits: { inFlight: 1, queue: 0 } });
  t.is((await gateway.send('GET', '?wsdl&operation=GetPdf')).status, 200);
  let finish: (() => void) | undefined;
  const arrived = new Promise<void>((resolve) => {
    gateway.answer((_hit, response) => {
      finish = () => response.end('{"data":{"responseStatus":{}}}');
      resolve();
    });
  });
  const call = gateway.send('POST', '/soap11', keyHeaders, envelope('1.1'));
  await arrived;
  t.is((await gateway.send('GET', '?wsdl&operation=GetSearch')).status, 503);
  t.is((await gateway.send('GET', '?wsdl&operation=GetPdf')).status, 200);
  finish?.();
  await call;
  t.is((await gateway.send('GET', '?wsdl&operation=GetSearch')).status, 200);
});

test('a large WSDL is written in a worker thread while other requests are answered', async (t) => {
  const openapi = file(t, manyTypes(3_000), 'openapi.json');
  const overlay = file(t, 'basePath: /v2', 'soap.yaml');
  const { send } = await startGateway(t, {
    serve: { contract: { openapi, overlay }, upstreamUrl: 'http://127.0.0.1:9' },
  });
  let isWritten = false;
  const wsdl = send('GET', '/soap11?wsdl').then((reply) => {
    isWritten = true;
    return reply;
  });
  for (let calls = 0; calls < 3; calls++) {
    t.is((await send('GET', '/soap11?xsd=2')).status, 404);
    t.false(isWritten);
  }
  const { status, text } = await wsdl;
  t.is(status, 200);
  t.true(text.includes('name="S2999"'));
});

test('a caller with a current document gets 304, and the tag differs per document', async (t) => {
  const queries = ['', '?wsdl', '?xsd=0', '?wsdl&operation=GetPdf'];
  const tags = new Set<string>();
  for (const query of queries) {
    const { headers } = await send('GET', query);
    const etag = String(headers.etag);
    t.regex(etag, /^"[\w-]{22}"$/);
    tags.add(etag);
    for (const stated of [etag, `"other", W/${etag}`, '*']) {
      const known = await send('GET', query, { 'If-None-Match': stated });
      t.is(known.status, 304);
      t.is(known.text, '');
      t.is(known.headers.etag, etag);
    }
    t.is((await send('GET', query, { 'If-None-Match': '"other"' })).status, 200);
  }
  t.is(tags.size, queries.length);
});

for (const [version, port, other] of [
  ['1.1', 'Soap11', 'Soap12'],
  ['1.2', 'Soap12', 'Soap11'],
] as const)
  test(`W2: soap=${version} limits a WSDL and its slices to SOAP ${version}`, async (t) => {
    for (const query of [
      '?wsdl',
      '?WSDL',
      '?singleWsdl',
      '/soap12?wsdl',
      '?wsdl&operation=GetPdf',
      '/soap11?',
    ]) {
      const whole = await send('GET', query);
      const { status, text, headers } = await send('GET', `${query}&SOAP=${version}`);
      t.is(status, 200);
      t.true(text.includes(`<wsdl:port name="${port}"`), query);
      t.false(text.includes(other), query);
      t.true(whole.text.includes(other), query);
      t.not(headers.etag, whole.headers.etag);
    }
    const schema = await send('GET', `?xsd=0&soap=${version}`);
    t.is(schema.text, (await send('GET', '?xsd=0')).text);
  });

test('W2: another value of soap is 404', async (t) => {
  for (const value of ['', '1', '1.0', '2', '1.1,1.2', '%3Cscript%3E']) {
    const { status, text } = await send('GET', `?wsdl&soap=${value}`);
    t.is(status, 404);
    t.regex(text, /^soap: expected 1\.1 or 1\.2, got another version/);
  }
});

test('an unknown operation or tag is 404, and the reply does not repeat markup', async (t) => {
  for (const word of ['operation', 'tag']) {
    const { status, text } = await send('GET', `?wsdl&${word}=%3Cscript%3Ealert(1)%3C/script%3E`);
    t.is(status, 404);
    t.regex(text, new RegExp(`^${word}: expected .*, got another ${word} \\(`));
    t.false(text.includes('script'));
  }
});

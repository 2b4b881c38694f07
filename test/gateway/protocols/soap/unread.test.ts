import test from 'ava';
import {
  elementText,
  emptyReply,
  envelope,
  type Reply,
  sharedGateway,
  startGateway,
  typesNamespace,
} from '../../gateway.ts';

const gateway = await sharedGateway();
const { send } = gateway;

// --- W44: faults for unread requests that are marked as SOAP -----------------------------------------------

const saying = {
  'SOAP 1.1': ['/soap11', { SOAPAction: '"GetSearch"' }, 'text/xml; charset=utf-8'],
  'SOAP 1.2': ['/soap12', {}, 'application/soap+xml; charset=utf-8'],
} as const;

/** Errors of a request, as headers for each version. */
const unread: readonly (readonly [
  what: string,
  headers: { readonly [header: string]: string },
  status: number,
  said: RegExp,
])[] = [
  ['of a coding nobody reads', { 'Content-Encoding': 'br' }, 415, /expected Content-Encoding to be gzip/],
  ['too long', { 'Content-Length': '99999999' }, 413, /expected a body of at most/],
];

/** Returns the text of a fault of either version. */
const reasonOf = ({ text }: Reply): string | undefined =>
  elementText(text, 'faultstring') ?? /<s:Text xml:lang="en">(.*?)<\/s:Text>/.exec(text)?.[1];

for (const [name, [path, own, contentType]] of Object.entries(saying))
  for (const [what, wrong, status, said] of unread)
    test(`W44: a ${name} request ${what} gets a fault, with ${status} in X-Status`, async (t) => {
      const headers = { 'Content-Type': contentType, ...own, ...wrong, Expect: '100-continue' };
      const lines = Object.entries(headers).map(([key, value]) => `${key}: ${value}`);
      const length = 'Content-Length' in wrong ? '' : '\r\nContent-Length: 9';
      const reply = await gateway.raw(
        `POST /v2${path} HTTP/1.1\r\nHost: x\r\n${lines.join('\r\n')}${length}\r\n\r\n`,
      );
      t.regex(reply, /^HTTP\/1\.1 500 /);
      t.regex(reply, new RegExp(`^X-Status: ${status}\r$`, 'm'));
      t.regex(reply, /^Connection: close\r$/im);
      t.true(reply.includes(`\r\nContent-Type: ${contentType}\r\n`));
      t.regex(reply, name === 'SOAP 1.1' ? /<faultcode>s:Client</ : /<s:Value>s:Sender</);
      t.regex(reply, said);
      t.is(gateway.hits.length, 0);
    });

test('W44: an unknown charset is a fault for a request with SOAPAction, and plain text otherwise', async (t) => {
  const headers = { 'Content-Type': 'text/xml; charset=utf-7' };
  const told = await send('POST', '/soap11', { ...headers, SOAPAction: '""' }, envelope('1.1'));
  t.is(told.status, 500);
  t.is(told.headers['x-status'], '415');
  t.regex(reasonOf(told) ?? '', /^charset/);
  const plain = await send('POST', '/soap11', headers, envelope('1.1'));
  t.is(plain.status, 415);
  t.is(plain.headers['content-type'], 'text/plain; charset=utf-8');
});

test('W44: DIME, and MTOM without a boundary, are faults that name alternatives', async (t) => {
  const SOAPAction = '"GetSearch"';
  const dime = await send('POST', '/soap11', { SOAPAction, 'Content-Type': 'application/dime' }, 'x');
  t.regex(
    reasonOf(dime) ?? '',
    /^expected a SOAP envelope, or multipart\/related with one \(MTOM, SwA\), got application\/dime/,
  );
  const mtom = 'multipart/related; type="application/xop+xml"; start-info="application/soap+xml"';
  const related = await send('POST', '/soap12', { 'Content-Type': mtom }, 'x');
  t.regex(reasonOf(related) ?? '', /^expected a boundary of 1 to 70 characters/);
  t.is(related.headers['x-status'], '415');
});

test('W44: a call rejected with 503 is plain text for every client, for the proxy', async (t) => {
  const local = await startGateway(t, { limits: { inFlight: 1, queue: 0 } });
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    local.answer(async (_request, response) => {
      resolve();
      await released;
      response.end(emptyReply);
    });
  });
  const headers = { SOAPAction: '"GetSearch"' };
  const first = local.send('POST', '/soap11', headers, envelope('1.1'));
  await reached;
  const shed = await local.send('POST', '/soap11', headers, envelope('1.1'));
  release();
  t.is(shed.status, 503);
  t.is(shed.headers['content-type'], 'text/plain; charset=utf-8');
  t.is((await first).status, 200);
});

test('a fault for an unread request is logged and counted by its error', async (t) => {
  const local = await startGateway(t);
  await local.send('POST', '/soap11', { SOAPAction: '""', 'Content-Type': 'application/dime' }, 'x');
  t.regex(local.log(), /"error":"UnsupportedMediaType"/);
});

// --- unsupported features of SOAP encoding ------------------------------------------------------------------

const encoding = 'xmlns:c="http://schemas.xmlsoap.org/soap/encoding/"';
const getSearch = (content: string): string =>
  `<t:GetSearch xmlns:t="${typesNamespace}" ${encoding}>${content}</t:GetSearch>`;

for (const [what, body, found] of [
  [
    'multiRef beside the operation',
    `${getSearch('<Request href="#id0"/>')}<multiRef id="id0"><Page>1</Page></multiRef>`,
    'multiRef',
  ],
  [
    'an array of the encoding beside the operation',
    `${getSearch('<Request/>')}<c:Array xmlns:c="http://www.w3.org/2003/05/soap-encoding"/>`,
    'Array',
  ],
  ['an element of the encoding', getSearch('<c:string>a</c:string>'), 'string'],
  ['multiRef among the members', getSearch('<Request><multiRef/></Request>'), 'multiRef'],
] as const)
  test(`W11: the error names ${what}`, async (t) => {
    const { text } = await send('POST', '/soap11', {}, envelope('1.1', { body }));
    t.regex(text, new RegExp(`document/literal expected, got SOAP encoding \\(&lt;${found}&gt;\\)`));
  });

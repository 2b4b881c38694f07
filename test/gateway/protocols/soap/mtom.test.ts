import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { sendRaw } from '../../../send-raw.ts';
import {
  contractWith,
  envelope,
  type Gateway,
  send as sendTo,
  sharedGateways,
  startGateway,
} from '../../gateway.ts';
import {
  bytesOf,
  captures,
  documents,
  include,
  type Message,
  related,
  storeDocument,
  xop,
} from './related.ts';

const stored = '{"name":"a.pdf"}';
const limits = { bodyPieces: 100_000 };
/** The upstream of the second gateway must get no call. */
const [gateway, refusing] = await sharedGateways(
  { serve: { contract: documents }, limits },
  { serve: { contract: documents } },
);
gateway.answer({ body: stored });

/** The upstream body of a StoreDocument capture, as described by the name of the capture. */
interface Meant {
  readonly name: string;
  readonly content?: string;
  readonly thumbnail?: string;
}

const base64Of = (length: number): string => bytesOf(length).toString('base64');

function meantBy(file: string): Meant {
  const sizes = [...file.matchAll(/-(\d{3,4})(?=[-.])/g)].map(([, size]) => Number(size));
  const small = file.startsWith('gowsdl') ? 10 : file.includes('-threshold') ? 200 : sizes[1];
  const content = file.includes('-empty') ? 0 : file.includes('nobinary') ? undefined : (sizes[0] ?? 5000);
  return {
    name: 'a.pdf',
    ...(content === undefined ? {} : { content: base64Of(content) }),
    ...(small === undefined ? {} : { thumbnail: base64Of(small) }),
  };
}

/** Rejected captures by the start of their names, with the status and message of the reply. */
const refusals: readonly (readonly [start: string, status: number, said: RegExp])[] = [
  // faults (W44)
  ['axis1-dime', 500, /expected a SOAP envelope, or multipart\/related with one .*, got application\/dime/],
  ['mono-wcf', 500, /expected a boundary of 1 to 70 characters in the Content-Type, got none/],
  // its Content-Length is too small by the 47 bytes of its preamble
  ['axis1-swa', 500, /expected the closing boundary at the end of the message, got none/],
  ['cxf3-mtom-wss-sig', 500, /soap:MustUnderstand|MustUnderstand/],
  ['cxf3-mtom-wss-ut', 500, /soap:MustUnderstand|MustUnderstand/],
  ['node-soap-swa', 500, /cid:file_001: nothing in the message refers to it/],
];

const files = readdirSync(captures).filter((name) => name.endsWith('.http'));
const refusalOf = (file: string) => refusals.find(([start]) => file.startsWith(start));
const read = (file: string): Buffer => readFileSync(join(captures, file));

// one after another: the order of upstream calls identifies their requests
for (const file of files)
  test.serial(`W57, W62: the recording ${file.replace('.http', '')} becomes the expected call`, async (t) => {
    const before = gateway.hits.length;
    const reply = await sendRaw(gateway.running.url, read(file));
    const hits = gateway.hits.slice(before);
    const refusal = refusalOf(file);
    t.false(reply.headers['content-type']?.startsWith('multipart/'));
    if (refusal !== undefined) {
      const [, status, said] = refusal;
      t.is(reply.status, status, reply.body);
      t.regex(reply.body, said);
      t.deepEqual(hits, []);
      return;
    }
    t.is(reply.status, 200, reply.body);
    t.is(reply.headers['x-status'], undefined, reply.body);
    t.deepEqual(
      hits.map(({ body }) => JSON.parse(body)),
      [meantBy(file)],
    );
  });

/** Sends a request in packets of one byte each. Returns the status of the reply. */
async function sendByteByByte(request: Buffer): Promise<number> {
  const socket = connect({ port: gateway.port, host: '127.0.0.1', noDelay: true });
  const status = new Promise<number>((resolve, reject) => {
    socket.on('error', reject);
    socket.once('data', (reply: Buffer) => resolve(Number(reply.toString('latin1', 9, 12))));
  });
  for (let at = 0; at < request.length; at++) {
    socket.write(request.subarray(at, at + 1));
    if (at % 8 === 7) await turn();
  }
  const answered = await status;
  socket.destroy();
  return answered;
}

test.serial('W59: each recorded message in packets of one byte is the same call', async (t) => {
  const good = files.filter((file) => refusalOf(file) === undefined);
  const before = gateway.hits.length;
  await Promise.all(good.map(async (file) => t.is(await sendByteByByte(read(file)), 200, file)));
  const bodies = gateway.hits.slice(before).map(({ body }) => JSON.stringify(JSON.parse(body)));
  t.deepEqual(bodies.toSorted(), good.map((file) => JSON.stringify(JSON.parse(plainOf(file)))).toSorted());
});

/** The upstream body of a capture's call, with members in the order that all stacks send. */
function plainOf(file: string): string {
  const { name, content, thumbnail } = meantBy(file);
  return JSON.stringify({ name, content, thumbnail });
}

// --- generated messages ----------------------------------------------------------------------------

const call = (message: Message, to: Pick<Gateway, 'port'> = gateway, headers = {}) => {
  const { headers: own, body } = related(message);
  return sendTo(to.port, 'POST', '/soap11', { ...own, ...headers }, body);
};

const bytes = bytesOf(5000);
const storing = (content: string): string => storeDocument(`<name>a.pdf</name><content>${content}</content>`);
const whole: Message = { root: storing(include('cid:p')), parts: [{ id: 'p', bytes }] };

/** The message `whole` with some members replaced. */
const but = (other: Partial<Message>): Message => ({ ...whole, ...other });

test('W62: content in a part and content in base64 become the same upstream request', async (t) => {
  for (const length of [0, 1, 2, 3, 768, 58_367, 58_368, 58_369, 300_000]) {
    const local = await startGateway(t, { serve: { contract: documents } });
    local.answer({ body: stored });
    const content = bytesOf(length);
    const inPart = await call(but({ parts: [{ id: 'p', bytes: content }] }), local);
    t.is(inPart.status, 200, inPart.text);
    const plain = storing(content.toString('base64'));
    t.is((await sendTo(local.port, 'POST', '/soap11', { 'Content-Type': 'text/xml' }, plain)).status, 200);
    const [first, second] = local.hits;
    t.is(first?.body, second?.body);
    t.is(first?.headers['content-length'], second?.headers['content-length']);
  }
});

/** Accepted messages, each with its special property. */
const taken: readonly (readonly [string, Partial<Message>])[] = [
  ['a preamble of 1 KiB', { preamble: 'x'.repeat(1024) }],
  ['an epilogue of 1 KiB', { epilogue: `\r\n${'x'.repeat(1022)}` }],
  ['no line end at the end', { epilogue: '' }],
  ['blanks and a lone line feed at the end', { epilogue: ' \t\n' }],
  ['a boundary of 70 characters', { boundary: 'b'.repeat(70) }],
  ['a boundary of signs', { boundary: "a'()+_,-./:=?b" }],
  [
    'base64 as the transfer encoding',
    {
      parts: [
        {
          id: 'p',
          header: ['Content-Transfer-Encoding: BASE64'],
          bytes: bytes.toString('base64').replace(/.{76}/g, '$&\r\n'),
        },
      ],
    },
  ],
  ['a folded header', { parts: [{ header: ['content-id:', '\t<p>'], bytes }] }],
  ['other parameters', { parameters: '; charset=utf-8; start-info="text/xml"; MIME=a/b' }],
  ['an encoded reference', { root: storing(include('CID:a%40b')), parts: [{ id: 'a@b', bytes }] }],
  [
    'a reference that looks encoded',
    { root: storing(include('cid:a%40b')), parts: [{ id: 'a%40b', bytes }] },
  ],
  ['blanks and comments around the Include', { root: storing(` <!-- a -->\n${include('cid:p')} `) }],
  [
    'an Include in the header that nothing reads',
    {
      root: storeDocument(
        `<name>a.pdf</name><content>${include('cid:p')}</content>`,
        `<t:T xmlns:t="urn:t">${include('cid:q')}</t:T>`,
      ),
      parts: [
        { id: 'p', bytes },
        { id: 'q', bytes: 'x' },
      ],
    },
  ],
  [
    'a reference to a control character beside an Include in the header',
    {
      root: storeDocument(
        `<name>a.pdf</name><content>${include('cid:p')}</content>`,
        `<t:T xmlns:t="urn:t">&#1;${include('cid:q')}</t:T>`,
      ),
      parts: [
        { id: 'p', bytes },
        { id: 'q', bytes: 'x' },
      ],
    },
  ],
  [
    'ids that objects have members of',
    {
      root: storeDocument(
        `<name>a.pdf</name><content>${include('cid:__proto__')}</content><thumbnail>${include('cid:constructor')}</thumbnail>`,
      ),
      parts: [
        { id: '__proto__', bytes },
        { id: 'constructor', bytes: '' },
      ],
    },
  ],
  [
    'multipart and XML in a part, which are bytes',
    {
      parts: [
        {
          id: 'p',
          header: ['Content-Type: multipart/related; boundary=x'],
          bytes: '--x\r\n\r\n<!DOCTYPE a [<!ENTITY b "c">]>\r\n--x--',
        },
      ],
    },
  ],
  ['SwA', { form: 'swa', root: storeDocument('<name>a.pdf</name><content href="cid:p"/>') }],
  [
    'UTF-16, as the first part says',
    {
      root: Buffer.from(`\ufeff${storing(include('cid:p'))}`, 'utf16le'),
      rootHeader: ['Content-Type: application/xop+xml; charset=utf-16', 'Content-ID: <root>'],
    },
  ],
];

for (const [what, message] of taken)
  test(`W58, W60, W61: reads a message with ${what}`, async (t) => {
    const local = await startGateway(t, { serve: { contract: documents } });
    local.answer({ body: stored });
    const { status, headers, text } = await call(but(message), local);
    t.is(status, 200, text);
    t.is(headers['x-status'], undefined, text);
    t.is(JSON.parse(local.hits[0]?.body ?? '').name, 'a.pdf');
  });

const empties = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `e${index}`, bytes: '' }));
const two = { id: 'p', bytes };

/** Messages that are rejected in band or with a fault, before the upstream is called. */
const refused: readonly (readonly [string, Partial<Message>, RegExp])[] = [
  ['a preamble of 1 KiB and a byte', { preamble: 'x'.repeat(1025) }, /within 1024 bytes, got none/],
  [
    'bytes behind what looks like the closing boundary, on its line',
    { boundary: 'b', parts: [{ id: 'p', bytes: 'abc\r\n--b--c, and more of the part' }] },
    /nothing but blanks behind the closing boundary on its line/,
  ],
  [
    'an epilogue of 1 KiB and a byte',
    { epilogue: `\r\n${'x'.repeat(1023)}` },
    /at most 1024 bytes behind the closing boundary/,
  ],
  ['101 parts', { parts: empties(100) }, /expected at most 100 parts, got more parts/],
  ['100,000 parts', { parts: empties(100_000) }, /expected at most 100 parts, got more parts/],
  [
    'a header of 4 KiB and more',
    { parts: [{ id: 'p', header: [`X: ${'y'.repeat(4096)}`], bytes }] },
    /of at most 4096 bytes/,
  ],
  ['a lone line feed', { parts: [{ header: ['Content-ID: <p>\nX: y'], bytes }] }, /lines that end in CRLF/],
  ['NUL in a Content-ID', { parts: [{ id: 'a\0', bytes }] }, /lines that end in CRLF/],
  [
    'a Content-ID of 257 characters',
    { parts: [{ id: 'a'.repeat(257), bytes }] },
    /at most 256 characters, got "a{64}" and more/,
  ],
  [
    'Content-ID twice',
    { parts: [{ id: 'p', header: ['content-id: <q>'], bytes }] },
    /expected content-id once/,
  ],
  ['two parts of one id', { parts: [two, two] }, /one part of each Content-ID, got two of "p"/],
  [
    'another transfer encoding',
    { parts: [{ id: 'p', header: ['Content-Transfer-Encoding: quoted-printable'], bytes }] },
    /7bit, 8bit, binary or base64, got "quoted-printable"/,
  ],
  [
    'base64 that is none',
    { parts: [{ id: 'p', header: ['Content-Transfer-Encoding: base64'], bytes: 'a' }] },
    /expected base64/,
  ],
  [
    'a root that is not the first',
    { rootHeader: ['Content-Type: text/xml'], parts: [two, { id: 'root', bytes: '' }] },
    /to name the first part, got a later part/,
  ],
  [
    'a root that is not there',
    { rootHeader: ['Content-Type: text/xml'] },
    /to name the first part, got no such part/,
  ],
  [
    'a root of another type',
    { rootHeader: ['Content-Type: image/png', 'Content-ID: <root>'] },
    /first part's Content-Type/,
  ],
  ['a part that nothing refers to', { root: storing('') }, /cid:p: nothing in the message refers to it/],
  ['a reference to a file', { root: storing(include('file:///etc/passwd')) }, /Body.content.*cid:…/],
  ['a reference to a server', { root: storing(include('http://127.0.0.1:1/x')) }, /cid:…/],
  ['a reference to no part', { root: storing(include('cid:other')) }, /no such part/],
  [
    'a part referred to twice',
    {
      root: storeDocument(`<content>${include('cid:p')}</content><thumbnail>${include('cid:p')}</thumbnail>`),
    },
    /expected one reference to the part/,
  ],
  ['an Include in text', { root: storing(`YQ==${include('cid:p')}`) }, /got elements/],
  [
    'an Include before text',
    { root: storing(`${include('cid:p')}YQ==`) },
    /other content next to xop:Include/,
  ],
  [
    'two Includes in an element',
    { root: storing(include('cid:p') + include('cid:p')) },
    /other content next to xop:Include/,
  ],
  [
    'content in an Include',
    { root: storing(`<x:Include xmlns:x="${xop}" href="cid:p">a</x:Include>`) },
    /content in xop:Include/,
  ],
  [
    'an Include without href',
    { root: storing(`<x:Include xmlns:x="${xop}"/>`) },
    /an xop:Include without href/,
  ],
  [
    'an Include in a string',
    { root: storeDocument(`<name>${include('cid:p')}</name>`) },
    /Body.name.*is allowed for base64 only/,
  ],
  ['an Include in a record', { root: storeDocument(include('cid:p')) }, /is allowed for base64 only/],
  [
    'an Include in a list',
    { root: storeDocument(`<pages>${include('cid:p')}</pages>`) },
    /is allowed for base64 only/,
  ],
  [
    'an Include in a nil element',
    {
      root: storeDocument(
        `<content xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:nil="true">${include('cid:p')}</content>`,
      ),
    },
    /no content in an element with xsi:nil/,
  ],
  [
    'an href in a message of MTOM',
    { root: storeDocument('<content href="cid:p"/>') },
    /document\/literal expected/,
  ],
  ['an Include in a message of SwA', { form: 'swa' }, /got elements/],
  [
    'SwA content beside its href',
    { form: 'swa', root: storeDocument('<content href="cid:p">YQ==</content>') },
    /no content next to href/,
  ],
  [
    'a SwA href at a string',
    { form: 'swa', root: storeDocument('<name href="cid:p"/>') },
    /document\/literal expected/,
  ],
  [
    'a SwA href around another',
    { form: 'swa', root: storeDocument('').replace('<Body>', '<Body href="cid:p">') },
    /document\/literal expected/,
  ],
  [
    'another charset than the root’s',
    {
      root: Buffer.from(`\ufeff${storing(include('cid:p'))}`, 'utf16le'),
      rootHeader: ['Content-Type: application/xop+xml; charset=utf-8', 'Content-ID: <root>'],
    },
    /./,
  ],
];

for (const [what, message, said] of refused)
  test(`W59, W60, W61: refuses a message with ${what}`, async (t) => {
    const { status, headers, text } = await call(but(message), refusing);
    t.true(status === 500 || status === 415 || headers['x-status'] === '400', text);
    t.regex(text, said);
    t.false(text.includes('a'.repeat(65)));
    t.deepEqual(refusing.hits, []);
  });

/** Content-Types that get 415 before the body is read. */
const unread: readonly (readonly [string, RegExp])[] = [
  ['multipart/mixed; boundary=b', /got multipart\/mixed/],
  ['multipart/form-data; boundary=b', /got multipart\/form-data/],
  ['application/dime', /got application\/dime/],
  ['multipart/related', /expected a boundary/],
  ['multipart/related; boundary=""', /expected a boundary/],
  [`multipart/related; boundary=${'b'.repeat(71)}`, /expected a boundary/],
  ['multipart/related; boundary=b; boundary=b', /expected boundary once/],
  ['multipart/related; boundary=b; start="<a>"; START="<a>"', /expected start once/],
  ['multipart/related; boundary=b; type=text/xml; type=text/xml', /expected type once/],
  ['multipart/related; boundary=b; type="text/html"', /expected type="application\/xop\+xml"/],
  ['multipart/related; boundary="b', /parameters in another form/],
];

for (const [type, said] of unread)
  test(`W57, W58: ${type.slice(0, 80)} is 415`, async (t) => {
    const reply = await sendTo(gateway.port, 'POST', '/soap11', { 'Content-Type': type }, 'x');
    t.is(reply.status, 415);
    t.is(reply.headers['content-type'], 'text/plain; charset=utf-8');
    t.regex(reply.text, said);
  });

test('W57: multipart outside SOAP endpoints is 415', async (t) => {
  const { headers, body } = related(whole);
  const reply = await sendTo(gateway.port, 'POST', '/json/reply/StoreDocument', headers, body);
  t.is(reply.status, 415);
});

test('W61: thousands of references to one part are refused at the second one', async (t) => {
  const pages = `<pages xmlns:a="http://schemas.microsoft.com/2003/10/Serialization/Arrays">${`<a:base64Binary>${include('cid:p')}</a:base64Binary>`.repeat(6_000)}</pages>`;
  const local = await startGateway(t, { serve: { contract: documents } });
  const reply = await call(but({ root: storeDocument(pages) }), local);
  t.is(reply.headers['x-status'], '400', reply.text);
  t.deepEqual(local.hits, []);
});

test('W63: a compressed message counts with its unpacked size', async (t) => {
  const { headers, body } = related(but({ parts: [{ id: 'p', bytes: Buffer.alloc(4_000_000) }] }));
  const packed = gzipSync(body);
  const reply = await sendTo(
    gateway.port,
    'POST',
    '/soap11',
    { ...headers, 'Content-Encoding': 'gzip' },
    packed,
  );
  t.is(reply.status, 413, reply.text);
});

test('W61: with unknownElements: ignore an unreferenced part is dropped and logged', async (t) => {
  const local = await startGateway(t, {
    serve: { contract: contractWith(t, 'unknownElements: ignore', documents) },
  });
  local.answer({ body: stored });
  const reply = await call(but({ root: storing('') }), local);
  t.is(reply.headers['x-status'], undefined, reply.text);
  t.is(local.hits.length, 1);
  t.regex(local.log(), /"cid:p"/);
});

test('W64: a message whose first part is long or base64 is read in a worker thread', async (t) => {
  const local = await startGateway(t, { serve: { contract: documents }, limits: { readAsideBytes: 1_000 } });
  local.answer({ body: stored });
  const long = `${storing(include('cid:p'))}${' '.repeat(1_000)}`;
  const encoded = { id: 'p', header: ['Content-Transfer-Encoding: base64'], bytes: bytes.toString('base64') };
  for (const message of [whole, but({ root: long }), but({ parts: [encoded] })]) {
    const reply = await call(message, local);
    t.is(reply.headers['x-status'], undefined, reply.text);
  }
  const bodies = local.hits.map(({ body }) => JSON.parse(body));
  t.deepEqual(bodies, Array(3).fill({ name: 'a.pdf', content: bytes.toString('base64') }));
  const bad = await call(but({ root: long, parts: [two, two] }), local);
  t.is(bad.status, 500);
});

test('W4: the action of a message is a hint, in any position that stacks use', async (t) => {
  const local = await startGateway(t);
  const root = envelope('1.1');
  for (const other of [
    { parameters: '; action="urn:x#DeleteClient"' },
    { parameters: '; start-info="application/soap+xml;action=\\"DeleteClient\\""' },
    {
      rootHeader: [
        'Content-Type: application/xop+xml; type="text/xml; action=\\"DeleteClient\\""',
        'Content-ID: <root>',
      ],
    },
  ]) {
    const { headers, body } = related({ root, ...other });
    const reply = await local.send('POST', '/soap11', headers, body);
    t.is(reply.status, 500, reply.text);
    t.regex(reply.text, /DeleteClient/);
  }
  const { headers, body } = related({ root, parameters: '; action="urn:x#GetSearch"' });
  t.is((await local.send('POST', '/soap11', headers, body)).headers['x-status'], undefined);
});

// --- limits: accepted at N, rejected at N + 1 --------------------------------------------------------

const limitRows = {
  mimeParts: {
    n: 3,
    message: (n: number) => but({ parts: [two, ...empties(n - 2)], root: storing(include('cid:p')) }),
    said: /at most 3 parts/,
  },
  mimeHeaderBytes: {
    n: 100,
    message: (n: number) =>
      but({
        rootHeader: ['Content-ID: <root>'],
        parts: [{ id: 'p', header: [`X: ${'y'.repeat(n - 24)}`], bytes }],
      }),
    said: /of at most 100 bytes/,
  },
  mimeContentId: {
    n: 20,
    message: (n: number) =>
      but({ root: storing(include(`cid:${'p'.repeat(n)}`)), parts: [{ id: 'p'.repeat(n), bytes }] }),
    said: /at most 20 characters/,
  },
  mimeOutsideBytes: {
    n: 10,
    message: (n: number) => but({ preamble: 'x'.repeat(n) }),
    said: /within 10 bytes/,
  },
} as const;

for (const limit of Object.keys(limitRows) as (keyof typeof limitRows)[])
  test(`W63: ${limit}: a message at the limit is read, a larger one is a fault`, async (t) => {
    const { n, message, said } = limitRows[limit];
    const contract = contractWith(t, 'unknownElements: ignore', documents);
    const local = await startGateway(t, { serve: { contract }, limits: { [limit]: n } });
    local.answer({ body: stored });
    t.is((await call(message(n), local)).status, 200);
    const beyond = await call(message(n + 1), local);
    t.is(beyond.status, 500);
    t.regex(beyond.text, said);
    t.is(local.hits.length, 1);
  });

test('W63: a first part has at most bodyBytes, whatever the limit of the message', async (t) => {
  const local = await startGateway(t, { serve: { contract: documents }, limits: { bodyBytes: 1_000 } });
  local.answer({ body: stored });
  const root = (length: number) => storing(include('cid:p')).padEnd(length);
  t.is((await call(but({ root: root(1_000) }), local)).status, 200);
  const beyond = await call(but({ root: root(1_001) }), local);
  t.is(beyond.status, 500);
  t.regex(beyond.text, /a first part of at most 1000 bytes/);
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { contractWith, type Gateway, startGateway } from '../gateway/gateway.ts';
import { cases, folder } from './captures.ts';
import { type Message, signed } from './sign.ts';
import { type Outcome, requestOf, sendAt, startSigned } from './signed.ts';

// Signed messages with MIME parts, as MTOM and as SOAP with Attachments.

const gateways = {} as Record<string, Gateway>;
const ends: (() => unknown)[] = [];
const time = '2026-11-27T18:00:00.000Z';
const wsse = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd';
const xop = 'http://www.w3.org/2004/08/xop/include';

const settings = {
  usual: 'require: [body, timestamp]',
  timestamp: 'require: [timestamp]',
  all: 'require: [body, timestamp, attachments]',
};

test.before(async () => {
  const t = { teardown: (end: () => unknown) => ends.push(end) };
  const at = (name: string): string => JSON.stringify(join(folder, 'keys', name));
  for (const [name, x509] of Object.entries(settings)) {
    const trusted = `ca: [${at('issuing.crt')}, ${at('root.crt')}], replay: allow, credential: { userId: subject }`;
    const overlay = `credentials: { headers: { userId: X-User-Id }, send: headers }\nwsse: { x509: { ${trusted}, ${x509} } }`;
    const contract = contractWith(t, overlay, join(import.meta.dirname, '../fixtures/mtom/contract'));
    const serve = { contract, publicUrl: 'https://gateway.example' };
    gateways[name] = await startGateway(t, { serve });
    gateways[name].answer({ body: '{}' });
  }
});

test.after.always(async () => {
  for (const end of ends.toReversed()) await end();
});

/** A part after the envelope. */
interface Part {
  readonly id?: string;
  readonly text: string;
  readonly type?: string;
  readonly coding?: string;
}

/** Sends an envelope with parts. */
function send(
  setting: keyof typeof settings,
  envelope: string,
  parts: readonly Part[],
  form: 'mtom' | 'swa',
): Promise<Outcome> {
  const gateway = gateways[setting];
  if (gateway === undefined) throw new RangeError(setting);
  const type = form === 'mtom' ? 'application/xop+xml' : 'text/xml';
  const head = (fields: readonly string[]): string => `--b\r\n${fields.join('\r\n')}\r\n\r\n`;
  const pieces = parts.map(({ id, text, type: own = 'application/octet-stream', coding = 'binary' }) => {
    const named = id === undefined ? [] : [`Content-ID: <${id}>`];
    return `${head([`Content-Type: ${own}`, `Content-Transfer-Encoding: ${coding}`, ...named])}${text}\r\n`;
  });
  const body = `${head([`Content-Type: ${type}; charset=utf-8; type="text/xml"`])}${envelope}\r\n${pieces.join('')}--b--\r\n`;
  const request = requestOf(body, `multipart/related; boundary=b; type="${type}"; start-info="text/xml"`);
  return sendAt(gateway, Buffer.from(request.toString().replace('/v2/soap11', '/soap11')), time);
}

const photo = 'a photo';
const base64 = Buffer.from(photo).toString('base64');

function document(content: string): string {
  return `<StoreDocument xmlns="urn:example:documents"><Body><name>jane</name>${content}</Body></StoreDocument>`;
}

/** A signed message whose content is in a part: the signature is that of the inline base64. */
function mtom(message: Message = {}, href = 'cid:photo@lab'): string {
  const inline = signed({ payload: document(`<content>${base64}</content>`), ...message });
  return inline.replace(`>${base64}<`, `><x:Include xmlns:x="${xop}" href="${href}"/><`);
}

const stored = { name: 'jane', content: base64 };

test.serial('X22: a part of an MTOM message is signed as base64 in Body', async (t) => {
  const part = { id: 'photo@lab', text: photo };
  for (const setting of ['usual', 'all'] as const) {
    const { code, upstream, reply } = await send(setting, mtom(), [part], 'mtom');
    t.is(code, 'accepted', reply);
    t.deepEqual(upstream, stored);
  }
  const encoded = await send('usual', mtom({}, 'cid:photo%40lab'), [part], 'mtom');
  t.deepEqual(encoded.upstream, stored);
  const coded = { ...part, text: base64, coding: 'base64' };
  t.deepEqual((await send('usual', mtom(), [coded], 'mtom')).upstream, stored);
});

test.serial('X22: a changed or replaced part of an MTOM message is refused', async (t) => {
  const changed = await send('usual', mtom(), [{ id: 'photo@lab', text: 'b photo' }], 'mtom');
  t.is(changed.code, 'wsse:FailedCheck');
  t.is(changed.upstream, undefined);
  const other = [
    { id: 'photo@lab', text: photo },
    { id: 'evil@lab', text: 'mallory' },
  ];
  t.is((await send('usual', mtom({}, 'cid:evil@lab'), other, 'mtom')).code, 'wsse:FailedCheck');
  t.is((await send('usual', mtom({}, 'cid:none@lab'), other, 'mtom')).code, 'wsse:FailedCheck');
  t.is((await send('all', mtom(), other, 'mtom')).code, 'wsse:InvalidSecurity');
});

test.serial('X22: an xop:Include with content or text beside it is not read as a part', async (t) => {
  const part = { id: 'photo@lab', text: photo };
  const include = `<x:Include xmlns:x="${xop}" href="cid:photo@lab"/>`;
  const beside = mtom().replace(include, `${include}AAAA`);
  t.is((await send('usual', beside, [part], 'mtom')).code, 'wsse:FailedCheck');
  const within = mtom().replace(include, include.replace('/>', '><y xmlns="urn:y"/></x:Include>'));
  t.is((await send('usual', within, [part], 'mtom')).code, 'wsse:FailedCheck');
  const twice = mtom().replace(include, `${include}${include}`);
  t.is((await send('usual', twice, [part], 'mtom')).code, 'wsse:FailedCheck');
});

test.serial('X22: a part with the text of a name is refused in an element of text', async (t) => {
  const inline = signed({ payload: document('').replace('jane', 'amFuZQ==') });
  const included = inline.replace('>amFuZQ==<', `><x:Include xmlns:x="${xop}" href="cid:n@lab"/><`);
  const { code, upstream } = await send('usual', included, [{ id: 'n@lab', text: 'jane' }], 'mtom');
  t.is(code, 's:Client');
  t.is(upstream, undefined);
});

test.serial(
  'X22: a certificate or a digest may be in a part, and no other element of Security',
  async (t) => {
    const text = signed({ payload: document('') });
    const move = async (name: string, element: RegExp): Promise<Outcome> => {
      const value = element.exec(text)?.[1] ?? '';
      const envelope = text.replace(`>${value}<`, `><x:Include xmlns:x="${xop}" href="cid:${name}"/><`);
      t.not(envelope, text);
      return send('usual', envelope, [{ id: name, text: value, coding: 'base64' }], 'mtom');
    };
    t.is((await move('token', /#X509v3">([^<]*)</)).code, 'accepted');
    t.is((await move('digest', /<DigestValue>([^<]*)</)).code, 'accepted');
    t.is((await move('value', /<SignatureValue>([^<]*)</)).code, 'wsse:InvalidSecurity');
  },
);

const includeMany = `<x:Include xmlns:x="${xop}" href="cid:many"/>`;

test.serial('X22, X39: Security includes a part once', async (t) => {
  const text = signed({ payload: document('') });
  const [digest] = /<DigestValue>[^<]*</.exec(text) ?? [];
  const value = digest?.slice('<DigestValue>'.length, -1) ?? '';
  const part = { id: 'many', text: value, coding: 'base64' };
  const envelope = text.replace(`>${value}<`, `>${includeMany}<`);
  t.is((await send('usual', envelope, [part], 'mtom')).code, 'accepted');
  const token = `<o:BinarySecurityToken xmlns:o="${wsse}">${includeMany}</o:BinarySecurityToken>`;
  const twice = envelope.replace(/(<o:Security[^>]*>)/, `$1${token}`);
  t.not(twice, envelope);
  const { code, reply } = await send('usual', twice, [part], 'mtom');
  t.is(code, 'wsse:InvalidSecurity');
  t.true(reply.includes('expected one xop:Include in Security for each part, got several'), reply);
});

for (const [name, most, element] of [
  ['BinarySecurityToken', 16_384, /#X509v3">([^<]*)</],
  ['DigestValue', 64, /<DigestValue>([^<]*)</],
] as const)
  test.serial(`X22, X39: the part of a ${name} has at most ${most} bytes`, async (t) => {
    const text = signed({ payload: document('') });
    const value = element.exec(text)?.[1] ?? '';
    const envelope = text.replace(`>${value}<`, `>${includeMany}<`);
    const limit = `a part for ${name} has more than ${most} bytes`;
    const largest = await send('usual', envelope, [{ id: 'many', text: 'x'.repeat(most) }], 'mtom');
    t.not(largest.code, 'accepted');
    t.false(largest.reply.includes(limit), largest.reply);
    const larger = await send('usual', envelope, [{ id: 'many', text: 'x'.repeat(most + 1) }], 'mtom');
    t.is(larger.code, 'wsse:InvalidSecurity');
    t.true(larger.reply.includes(limit), larger.reply);
  });

test.serial('X22, X39: a part that Body includes many times is refused before it is copied', async (t) => {
  const include = `<x:Include xmlns:x="${xop}" href="cid:photo@lab"/>`;
  const pages = `<pages>${include}</pages>`.repeat(500);
  const envelope = signed({ payload: document(pages) });
  const part = { id: 'photo@lab', text: 'x'.repeat(200_000) };
  const { code, reply } = await send('usual', envelope, [part], 'mtom');
  t.is(code, 'wsse:InvalidSecurity');
  t.true(reply.includes('more than 4 times as long as the message'), reply);
});

/** A message that refers to its part by href. */
function swa(message: Message = {}): string {
  const payload = document('<content href="cid:photo@lab"/>');
  return signed({ payload, parts: { 'cid:photo@lab': photo }, ...message });
}

const withPart = ['body', 'time', 'cid:photo@lab'];

test.serial('X22: a part that the operation reads needs a Reference in a SwA message', async (t) => {
  const part = { id: 'photo@lab', text: photo };
  const accepted = await send('usual', swa({ references: withPart }), [part], 'swa');
  t.is(accepted.code, 'accepted', accepted.reply);
  t.deepEqual(accepted.upstream, stored);
  const unsigned = await send('usual', swa(), [part], 'swa');
  t.is(unsigned.code, 'wsse:InvalidSecurity', unsigned.reply);
  t.true(unsigned.reply.includes('the part photo@lab is not signed'), unsigned.reply);
  t.is(unsigned.upstream, undefined);
  const changed = await send('usual', swa({ references: withPart }), [{ ...part, text: 'b photo' }], 'swa');
  t.is(changed.code, 'wsse:FailedCheck');
});

test.serial('X22: one Signature must cover Body and the part that is read', async (t) => {
  const part = { id: 'photo@lab', text: photo };
  const apart = swa({
    signatures: [
      ['body', 'time'],
      ['time', 'cid:photo@lab'],
    ],
  });
  t.is((await send('usual', apart, [part], 'swa')).code, 'wsse:InvalidSecurity');
  t.is((await send('all', apart, [part], 'swa')).code, 'wsse:InvalidSecurity');
  const both = swa({ signatures: [['body', 'time'], withPart] });
  t.is((await send('usual', both, [part], 'swa')).code, 'accepted');
});

test.serial('X22: an unread part is dropped, and `attachments` requires a Reference to it', async (t) => {
  const parts = [{ id: 'photo@lab', text: photo }];
  const envelope = signed({ payload: document('') });
  t.is((await send('usual', envelope, parts, 'swa')).code, 'accepted');
  const refused = await send('all', envelope, parts, 'swa');
  t.is(refused.code, 'wsse:InvalidSecurity');
  t.true(refused.reply.includes('the part photo@lab is not signed'), refused.reply);
  const nameless = [{ text: photo }];
  t.true((await send('all', envelope, nameless, 'swa')).reply.includes('the part 2 is not signed'));
  const references = withPart;
  const covered = signed({ payload: document(''), references, parts: { 'cid:photo@lab': photo } });
  t.is((await send('all', covered, parts, 'swa')).code, 'accepted');
  t.is((await send('all', signed({ payload: document('') }), [], 'swa')).code, 'accepted');
});

test.serial('X4, X22: without a signed Body the part it refers to need not be signed', async (t) => {
  const part = { id: 'photo@lab', text: photo };
  t.is((await send('timestamp', swa({ references: ['time'] }), [part], 'swa')).code, 'accepted');
  t.is((await send('timestamp', swa(), [part], 'swa')).code, 'wsse:InvalidSecurity');
});

test.serial('X22: signed text and XML, unknown parts and other transforms are refused', async (t) => {
  const part = { id: 'photo@lab', text: photo };
  const envelope = swa({ references: withPart });
  for (const type of ['text/plain; charset=utf-8', 'application/xml', 'image/svg+xml', 'TEXT/XML'])
    t.is((await send('usual', envelope, [{ ...part, type }], 'swa')).code, 'wsse:UnsupportedAlgorithm', type);
  t.is((await send('usual', envelope, [{ ...part, id: 'other' }], 'swa')).code, 'wsse:InvalidSecurity');
  const transform = 'Attachment-Content-Signature-Transform';
  // the algorithms are read before the SignatureValue, which then no longer matches
  for (const [other, code] of [
    [transform.replace('Content', 'Complete'), 'wsse:UnsupportedAlgorithm'],
    ['', 'wsse:UnsupportedAlgorithm'],
  ] as const)
    t.is((await send('usual', envelope.replace(transform, other), [part], 'swa')).code, code);
  const two = envelope.replace(
    /(<Transform Algorithm="[^"]*Attachment)/,
    '<Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"/>$1',
  );
  t.is((await send('usual', two, [part], 'swa')).code, 'wsse:InvalidSecurity');
  const alone = await sendAt(
    gateways.usual as Gateway,
    Buffer.from(
      requestOf(signed({ references: withPart, payload: document('') }), 'text/xml')
        .toString()
        .replace('/v2/soap11', '/soap11'),
    ),
    time,
  );
  t.is(alone.code, 'wsse:InvalidSecurity', 'no parts');
});

test.serial('X22: a part with the name of an element is signed only by cid:', async (t) => {
  const part = { id: 'body', text: photo };
  const payload = document('<content href="cid:body"/>');
  t.is((await send('usual', signed({ payload }), [part], 'swa')).code, 'wsse:InvalidSecurity');
});

test.serial(
  'X22: the certificate of the CXF capture is in a part, and its SwA part is dropped',
  async (t) => {
    const gateway = await startSigned(t, 'default');
    const all = await startSigned(t, 'require: [body, timestamp, attachments], replay: allow');
    for (const [file, strict] of [
      ['cxf3-mtom-signed-body-soap11', 'wsse:InvalidSecurity'],
      ['cxf3-swa-signed-body-only-soap11', 'wsse:InvalidSecurity'],
    ] as const) {
      const one = cases.captures[file];
      const request = readFileSync(join(folder, 'captures', `${file}.http`));
      const outcome = await sendAt(gateway, request, one?.receivedAt ?? '');
      t.is(outcome.code, 'accepted', outcome.reply);
      t.deepEqual(outcome.upstream, one?.upstream);
      t.is((await sendAt(all, request, one?.receivedAt ?? '')).code, strict, file);
    }
  },
);

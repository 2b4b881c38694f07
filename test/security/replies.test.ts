import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock } from 'node:test';
import test from 'ava';
import { ReplySigner } from '../../mappings/security/sign.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { bytesOf, documents, related, storeDocument } from '../gateway/protocols/soap/related.ts';
import { sendRaw } from '../send-raw.ts';
import { until } from '../until.ts';
import { bodyOf, cases, folder } from './captures.ts';
import { signed } from './sign.ts';
import { requestOf, sendAt, startSigned } from './signed.ts';
import { verifyReply } from './verify-reply.ts';

// Signed replies and faults, verified with libxml2 and OpenSSL.

const gateways = {} as Record<string, Gateway>;
const ends: (() => unknown)[] = [];
const time = '2026-11-27T18:00:00.000Z';
const type = 'text/xml; charset=utf-8';
const pair = 'sign: { key: gateway.key, certificate: gateway.crt }';

test.before(async () => {
  const start = (variant: string, more: string, limits = {}) =>
    startSigned({ teardown: (end) => ends.push(end) }, variant, undefined, limits, undefined, more);
  gateways.default = await start('default', pair);
  gateways.wide = await start('wide', pair);
  gateways.none = await start('none', pair);
  gateways.unsigned = await start('default', '');
  gateways.confirming = await start('default', pair.replace('}', ', confirmation: true }'));
});

test.after.always(async () => {
  for (const end of ends.toReversed()) await end();
});

async function replyTo(setting: string, envelope: string, contentType = type): Promise<string> {
  const gateway = gateways[setting];
  if (gateway === undefined) throw new RangeError(setting);
  return (await sendAt(gateway, requestOf(envelope, contentType), time)).reply;
}

const usual = {
  method: 'rsa-sha256',
  digest: 'sha256',
  covered: ['Body', 'Timestamp'],
  block: ['Timestamp', 'BinarySecurityToken', 'Signature'],
  header: ['Security'],
  signer: 'gateway',
};

test.serial('X31: a reply has a signed Body and Timestamp, in both versions of SOAP', async (t) => {
  const reply = await replyTo('default', signed());
  t.regex(reply, /<GetEulaStatusResponse/);
  t.deepEqual(verifyReply(reply), usual);
  const soap = 'http://www.w3.org/2003/05/soap-envelope';
  const second = await replyTo('default', signed({ soap }), 'application/soap+xml; charset=utf-8');
  t.regex(second, /<GetEulaStatusResponse/);
  t.deepEqual(verifyReply(second), usual);
});

test.serial('X31: a changed reply is not valid', async (t) => {
  const reply = await replyTo('default', signed());
  t.throws(() => verifyReply(reply.replace('<u:Created>2026', '<u:Created>2027')), {
    message: /digest of Timestamp/,
  });
  t.throws(() => verifyReply(reply.replace('<GetEulaStatusResponse', '<GetEulaStatusResponse a="b"')), {
    message: /digest of Body/,
  });
  t.throws(() => verifyReply(reply.replace('<SignatureValue>', '<SignatureValue>AAAA')), {
    message: /SignatureValue/,
  });
});

test.serial('X30: a fault is signed if the request has a Signature, valid or not', async (t) => {
  const faults: readonly (readonly [string, string])[] = [
    [signed().replace('>jane<', '>mary<'), 'FailedCheck'],
    [signed({ references: ['body'] }), 'InvalidSecurity'],
    [signed().replace('rsa-sha256', 'hmac-sha1'), 'UnsupportedAlgorithm'],
    [signed({ payload: '<Unknown xmlns="http://schemas.servicestack.net/types"/>' }), 's:Client'],
    [signed({ header: '<x:Own xmlns:x="urn:x" s:mustUnderstand="1"/>' }), 's:MustUnderstand'],
    [signed({ block: '<o:SecurityContextToken/>' }), 'UnsupportedSecurityToken'],
    [signed({ created: '2026-11-27T16:00:00Z', expires: '2026-11-27T16:05:00Z' }), 'MessageExpired'],
  ];
  for (const [envelope, code] of faults) {
    const reply = await replyTo('default', envelope);
    t.true(reply.includes(code), reply);
    t.deepEqual(verifyReply(reply), usual, code);
  }
});

test.serial('X30: a reply without a Signature in the request is not signed', async (t) => {
  const unsigned = signed().replace(/<Signature .*<\/Signature>/, '');
  t.notRegex(await replyTo('none', unsigned), /<Signature/);
  t.notRegex(await replyTo('default', unsigned), /<Signature/);
  t.notRegex(await replyTo('default', '<not-xml'), /<Signature/);
  t.notRegex(await replyTo('unsigned', signed()), /<Signature/);
  const other = signed().replace('<o:Security ', '<o:Security s:actor="urn:other" ');
  t.notRegex(await replyTo('none', other), /<Signature/);
});

test.serial('X30: an error of the upstream is signed', async (t) => {
  const gateway = gateways.default;
  if (gateway === undefined) return t.fail();
  gateway.answer({
    status: 403,
    body: '{"data":{"responseStatus":{"errorCode":"Denied","message":"no & <no>"}}}',
  });
  const reply = await replyTo('default', signed());
  gateway.answer({ body: '{"data":{}}' });
  t.regex(reply, /Denied/);
  t.deepEqual(verifyReply(reply), usual);
});

/** Returns the name of the algorithm of an element in a capture. */
function algorithmIn(text: string, element: string): string {
  return new RegExp(`${element}[^>]*Algorithm="[^"]*#([^"]*)"`).exec(text)?.[1] ?? '';
}

test.serial(
  'X31: a reply has the algorithms of its request, if the key of the gateway permits them',
  async (t) => {
    const gateway = gateways.wide;
    if (gateway === undefined) return t.fail();
    const methods = new Set<string>();
    for (const [file, { receivedAt, wide }] of Object.entries(cases.captures)) {
      const request = readFileSync(join(folder, 'captures', `${file}.http`));
      const text = bodyOf(request).toString('latin1');
      if (wide !== 'accepted' || /EncryptedData|Assertion|^\r?\n?--/.test(text)) continue;
      const { reply } = await sendAt(gateway, request, receivedAt);
      const method = algorithmIn(text, 'SignatureMethod');
      const isRsa = !method.startsWith('ecdsa');
      const digest = isRsa ? algorithmIn(text, 'DigestMethod') : 'sha256';
      t.like(verifyReply(reply), { ...usual, method: isRsa ? method : 'rsa-sha256', digest }, file);
      methods.add(method);
    }
    t.deepEqual([...methods].toSorted(), [
      'ecdsa-sha256',
      'rsa-sha1',
      'rsa-sha256',
      'rsa-sha512',
      'sha256-rsa-MGF1',
    ]);
  },
);

test.serial('X31: an algorithm that is not accepted is not used in the fault', async (t) => {
  const reply = await replyTo(
    'default',
    signed()
      .replace(/rsa-sha256/, 'rsa-sha512')
      .replaceAll('xmlenc#sha256', 'xmldsig-more#sha384'),
  );
  t.like(
    verifyReply(reply),
    { method: 'rsa-sha512', digest: 'sha384' },
    'the Signature is readable, and not valid',
  );
  const sha1 = signed().replace('2001/04/xmldsig-more#rsa-sha256', '2000/09/xmldsig#rsa-sha1');
  t.like(verifyReply(await replyTo('default', sha1)), { method: 'rsa-sha256', digest: 'sha256' });
});

for (const [name, method] of [
  ['alice-ec', 'ecdsa-sha256'],
  ['alice-p521', 'ecdsa-sha512'],
] as const)
  test.serial(`X31: a gateway with the key ${name} signs with ${method}`, async (t) => {
    const more = `sign: { key: ${name}.key, certificate: ${name}.crt }`;
    const gateway = await startSigned(t, 'default', undefined, {}, undefined, more);
    const { reply } = await sendAt(gateway, requestOf(signed(), type), time);
    t.like(verifyReply(reply), { ...usual, method, signer: name });
  });

test.serial('X31: Security is the last block, after the answer to WS-Addressing', async (t) => {
  const header = '<a:MessageID xmlns:a="http://www.w3.org/2005/08/addressing">urn:1</a:MessageID>';
  const reply = await replyTo('default', signed({ header }));
  t.like(verifyReply(reply), { header: ['Action', 'RelatesTo', 'Security'] });
  const fault = await replyTo('default', signed({ header }).replace('>jane<', '>mary<'));
  t.like(verifyReply(fault), { header: ['Action', 'RelatesTo', 'Security'] });
});

test.serial('X31: a signed request without a Timestamp gets a signed reply with one', async (t) => {
  const reply = await replyTo(
    'wide',
    signed({ references: ['body'] }).replace(/<u:Timestamp.*<\/u:Timestamp>/, ''),
  );
  t.regex(reply, /<GetEulaStatusResponse/);
  t.deepEqual(verifyReply(reply), usual);
  t.regex(reply, /<u:Created>2026-11-27T18:00:00.000Z</);
});

test.serial('X33: a reply confirms each verified Signature of its request', async (t) => {
  const confirming = {
    covered: ['Body', 'Timestamp', 'SignatureConfirmation'],
    block: ['Timestamp', 'BinarySecurityToken', 'SignatureConfirmation', 'Signature'],
  };
  const request = signed();
  const value = /<SignatureValue>([^<]*)</.exec(request)?.[1] ?? '';
  const reply = await replyTo('confirming', request);
  t.like(verifyReply(reply), confirming);
  t.true(reply.includes(` Value="${value}" `));
  const twice = await replyTo('confirming', signed({ signatures: [['body', 'time'], ['time']] }));
  t.is(verifyReply(twice).covered.length, 4);
  const refused = await replyTo('confirming', request.replace('>jane<', '>mary<'));
  t.like(verifyReply(refused), confirming);
  t.notRegex(refused, / Value="/);
});

for (const [size, more] of [
  ['the size of the limit', 0],
  ['one byte more', 1],
] as const)
  test.serial(`X34: a reply of ${size} of wsseSignedReplyBytes`, async (t) => {
    const start = (limits: object) => startSigned(t, 'default', undefined, limits, undefined, pair);
    const unlimited = await start({});
    const text = (await sendAt(unlimited, requestOf(signed(), type), time)).reply;
    const unsigned = text.replace(/<o:BinarySecurityToken.*<\/Signature>/, '');
    const gateway = await start({ wsseSignedReplyBytes: Buffer.byteLength(unsigned) - more });
    const { reply } = await sendAt(gateway, requestOf(signed(), type), time);
    t.is(/<faultcode>s:Server</.test(reply), more === 1, reply);
    t.deepEqual(verifyReply(reply), usual);
    if (more === 1) t.regex(reply, /the reply has \d+ bytes, and at most \d+ bytes are signed/);
  });

test.serial('X31: a request and a reply that worker threads read are answered in the same way', async (t) => {
  const limits = { readAsideBytes: 1, replyAsideBytes: 1 };
  const gateway = await startSigned(t, 'default', undefined, limits, undefined, pair);
  const { reply } = await sendAt(gateway, requestOf(signed(), type), new Date().toISOString());
  t.regex(reply, /MessageExpired/);
  t.deepEqual(verifyReply(reply), usual);
  const now = new Date();
  const created = now.toISOString();
  const expires = new Date(now.getTime() + 60_000).toISOString();
  const accepted = await sendAt(gateway, requestOf(signed({ created, expires }), type), created);
  t.regex(accepted.reply, /<GetEulaStatusResponse/);
  t.deepEqual(verifyReply(accepted.reply), usual);
});

const getPdf = '<GetPdf xmlns="http://schemas.servicestack.net/types"><Request><Id>1</Id></Request></GetPdf>';

function pdf(name: string, documentBytes: string): string {
  return JSON.stringify({ data: { document: { name, documentBytes }, responseStatus: {} } });
}

test.serial('X31: a worker thread signs a large reply, also one that is mostly base64', async (t) => {
  const limits = { replyAsideBytes: 100_000 };
  const gateway = await startSigned(t, 'default', undefined, limits, undefined, pair);
  const signing = mock.method(ReplySigner.prototype, 'sign');
  t.teardown(() => signing.mock.restore());
  const base64 = Buffer.alloc(150_000, 'any').toString('base64');
  for (const [body, count] of [
    [pdf('&'.repeat(150_000), 'YQ=='), 0],
    [pdf('a.pdf', base64), 0],
    [pdf('a.pdf', 'YQ=='), 1],
  ] as const) {
    gateway.answer({ body });
    const { reply } = await sendAt(gateway, requestOf(signed({ payload: getPdf }), type), time);
    t.regex(reply, /<GetPdfResponse/);
    t.deepEqual(verifyReply(reply), usual);
    t.is(signing.mock.callCount(), count);
  }
});

test.serial('X34: a reply over wsseSignedReplyBytes that a worker thread read is a fault', async (t) => {
  const limits = { replyAsideBytes: 100_000, wsseSignedReplyBytes: 140_000 };
  const gateway = await startSigned(t, 'default', undefined, limits, undefined, pair);
  gateway.answer({ body: pdf('a'.repeat(140_000), 'YQ==') });
  const { reply } = await sendAt(gateway, requestOf(signed({ payload: getPdf }), type), time);
  t.regex(reply, /the reply has \d+ bytes, and at most 140000 bytes are signed/);
  t.deepEqual(verifyReply(reply), usual);
});

test.serial('X31: the Signature of an MTOM reply covers the content of its parts', async (t) => {
  const more = `${pair}`;
  const overlay = 'mtomReplies: requested\ncredentials: { headers: { userId: X-User-Id } }';
  const setting = 'require: [body, timestamp], replay: allow, credential: { userId: subject }';
  const gateway = await startSigned(t, setting, undefined, {}, undefined, more, {
    folder: documents,
    overlay,
  });
  const content = bytesOf(5_000).toString('base64');
  gateway.answer({ body: JSON.stringify({ name: 'a.pdf', content }) });
  const payload =
    /<(?:\w+:)?Body>(.*)<\/(?:\w+:)?Body>/s.exec(storeDocument('<name>a.pdf</name>'))?.[1] ?? '';
  const created = new Date().toISOString();
  const expires = new Date(Date.now() + 60_000).toISOString();
  const { headers, body } = related({ root: signed({ payload, created, expires }) });
  const head = Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  const request = Buffer.concat([
    Buffer.from(`POST /soap11 HTTP/1.1\r\nHost: gateway\r\nContent-Length: ${body.length}\r\n${head}\r\n`),
    Buffer.from(body),
  ]);
  const { body: reply } = await sendRaw(gateway.running.url, request);
  const envelope = /<\?xml.*<\/s:Envelope>/s.exec(reply)?.[0] ?? reply;
  t.regex(envelope, /<xop:Include /);
  t.throws(() => verifyReply(envelope), { message: /digest of Body/ });
  t.deepEqual(verifyReply(envelope.replace(/<xop:Include [^>]*>/, content)), usual);
});

test.serial(
  'X3: a changed key pair signs the next reply, and a wrong one keeps the previous pair',
  async (t) => {
    const keys = mkdtempSync(join(tmpdir(), 'signed-'));
    const gateway = await startSigned(t, 'default', keys, {}, undefined, pair);
    const signer = async (): Promise<string> =>
      verifyReply((await sendAt(gateway, requestOf(signed(), type), time)).reply).signer;
    t.is(await signer(), 'gateway');
    const write = (name: string): void =>
      writeFileSync(join(keys, 'gateway.crt'), readFileSync(join(folder, 'keys', name)));
    const wrong = setInterval(() => write('alice.crt'), 200); // a change before the first check is not noticed
    t.teardown(() => clearInterval(wrong));
    await until(() => gateway.log().includes('not reloaded: serving the previous contracts'));
    clearInterval(wrong);
    t.regex(gateway.log(), /\/wsse\/sign\/key/);
    t.is(await signer(), 'gateway');
    writeFileSync(join(keys, 'gateway.key'), readFileSync(join(folder, 'keys/alice.key')));
    const right = setInterval(() => write('alice.crt'), 200);
    t.teardown(() => clearInterval(right));
    await until(() => gateway.log().includes('"msg":"reloaded"'));
    clearInterval(right);
    t.is(await signer(), 'alice');
  },
);

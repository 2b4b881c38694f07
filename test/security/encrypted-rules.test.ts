import crypto, { hash, randomBytes, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { mock } from 'node:test';
import test from 'ava';
import type { Gateway } from '../gateway/gateway.ts';
import { related } from '../gateway/protocols/soap/related.ts';
import { folder } from './captures.ts';
import {
  type Encryption,
  encrypt,
  encryptedThenSigned,
  inBlock,
  keyNames,
  signedThenEncrypted,
} from './encrypt.ts';
import { startEncrypted } from './encrypted.ts';
import { type Message, signed, usualPayload } from './sign.ts';
import { type Outcome, requestOf, sendAt } from './signed.ts';

// Rules of encryption that the captured clients do not show. Alice signs the messages.

const names = ['wide', 'transport', 'open', 'decrypt', 'gcm', 'encryption'] as const;
type Name = (typeof names)[number];
const gateways = {} as Record<Name, Gateway>;
const ends: (() => unknown)[] = [];
const time = '2026-11-27T18:01:00Z';
const jane = { request: { subUserName: 'jane' } };

test.before(async () => {
  for (const name of names)
    gateways[name] = await startEncrypted({ teardown: (end) => ends.push(end) }, name);
});

test.after.always(async () => {
  for (const end of ends.toReversed()) await end();
});

function send(name: Name, message: string): Promise<Outcome> {
  return sendAt(gateways[name], requestOf(message, 'text/xml; charset=utf-8'), time);
}

async function codeOf(name: Name, message: string): Promise<string> {
  return (await send(name, message)).code;
}

/** The text of a fault without the id of its request. */
function faultIn({ reply }: Outcome): string {
  return reply.replace(/\(request [^)]*\)/, '').replace(/<u:(Created|Expires)>[^<]*/g, '');
}

for (const bits of [128, 192, 256])
  test.serial(`X9: aes${bits}-gcm is accepted, and aes${bits}-cbc with the setting`, async (t) => {
    const [gcm, cbc] = [`aes${bits}-gcm`, `aes${bits}-cbc`];
    t.deepEqual((await send('gcm', signedThenEncrypted({ cipher: gcm }))).upstream, jane);
    t.deepEqual((await send('decrypt', signedThenEncrypted({ cipher: cbc }))).upstream, jane);
    const refused = await send('gcm', signedThenEncrypted({ cipher: cbc }));
    t.is(refused.code, 'wsse:UnsupportedAlgorithm');
    t.true(refused.reply.includes('aes256-gcm'));
  });

for (const [name, named] of Object.entries(keyNames))
  test.serial(`X10, X23: an EncryptedKey names the certificate by ${name}`, async (t) => {
    t.is(await codeOf('gcm', signedThenEncrypted({ named })), 'accepted');
    t.is(
      await codeOf(
        'gcm',
        signedThenEncrypted({ named: named.replace(/[1-7]</, '8<').replace(/.=</, 'A=<') }),
      ),
      'wsse:SecurityTokenUnavailable',
    );
  });

test.serial('X23: an EncryptedKey needs a KeyInfo with a certificate, and one CipherValue', async (t) => {
  const whole = signedThenEncrypted();
  const change = (pattern: RegExp, text: string) => codeOf('gcm', whole.replace(pattern, text));
  t.is(await change(/<d:KeyInfo.*?<\/d:KeyInfo>/, ''), 'wsse:UnsupportedSecurityToken');
  t.is(
    await change(
      /<o:SecurityTokenReference>.*?<\/o:SecurityTokenReference>/,
      '<d:KeyName>gateway</d:KeyName>',
    ),
    'wsse:UnsupportedSecurityToken',
  );
  t.is(
    await change(/<x:CipherValue>[^<]*<\/x:CipherValue>/, '<x:CipherReference URI="http://example.com"/>'),
    'wsse:InvalidSecurity',
  );
  t.is(await change(/rsa-oaep-mgf1p/, 'rsa-1_5'), 'wsse:UnsupportedAlgorithm');
  t.is(await change(/ Type="[^"]*"/, ''), 'wsse:UnsupportedSecurityToken');
  t.is(await change(/DataReference/g, 'KeyReference'), 'wsse:InvalidSecurity');
  t.is(await change(/#data"/, '#body"'), 'wsse:InvalidSecurity');
  t.is(await change(/#data"/, '#none"'), 'wsse:InvalidSecurity');
});

const around = (attributes: string): string =>
  usualPayload
    .replace(/(<\/?)(GetEulaStatus|Request|SubUserName)/g, '$1q:$2')
    .replace(' xmlns=', ` ${attributes}xmlns:unused=`);

test.serial(
  'X23: with encrypt-then-sign, the plaintext uses only declarations of its own or of signed octets',
  async (t) => {
    const types = 'http://schemas.servicestack.net/types';
    const foreign = { envelope: ` xmlns:q="${types}"` };
    for (const cipher of ['aes128-gcm', 'aes128-cbc']) {
      t.deepEqual((await send('decrypt', encryptedThenSigned(usualPayload, { cipher }))).upstream, jane);
      const own = around(`xmlns:q="${types}" `);
      t.deepEqual((await send('decrypt', encryptedThenSigned(own, { cipher }, foreign))).upstream, jane);
      const refused = await send('decrypt', encryptedThenSigned(around(''), { cipher }, foreign));
      t.is(refused.code, 'wsse:InvalidSecurity');
      t.true(refused.reply.includes('the prefix q is not signed'));
      t.is(refused.upstream, undefined);
      const listed = { ...foreign, prefixes: 'q' };
      t.deepEqual(
        (await send('decrypt', encryptedThenSigned(around(''), { cipher }, listed))).upstream,
        jane,
      );
    }
    const plain = usualPayload.replace(/ xmlns="[^"]*"/, '');
    t.is(
      await codeOf('decrypt', encryptedThenSigned(plain, {}, { envelope: ` xmlns="${types}"` })),
      'wsse:InvalidSecurity',
    );
  },
);

test.serial('X23: with sign-then-encrypt, the plaintext uses the declarations of the message', async (t) => {
  const envelope = ' xmlns:q="http://schemas.servicestack.net/types"';
  const message = { envelope, payload: around('') };
  t.deepEqual((await send('decrypt', signedThenEncrypted({}, message))).upstream, jane);
  const moved = signedThenEncrypted({}, message).replace(envelope, ' xmlns:q="urn:other"');
  t.is(await codeOf('decrypt', moved), 'wsse:FailedCheck');
});

test.serial('X4, X8: a covered EncryptedData covers its plaintext, and not Body', async (t) => {
  const message = (content: string, envelope = ''): string => {
    const { data, key } = encrypt(content);
    return inBlock(signed({ payload: data, references: ['data', 'time'], envelope }), key, 'end');
  };
  t.is(await codeOf('decrypt', message(usualPayload)), 'wsse:InvalidSecurity');
  t.deepEqual((await send('transport', message(usualPayload))).upstream, jane);
  const q = ' xmlns:q="http://schemas.servicestack.net/types"';
  t.is(await codeOf('transport', message(around(''), q)), 'wsse:InvalidSecurity');
  t.deepEqual((await send('transport', message(around(`${q.trim()} `)))).upstream, jane);
});

test.serial('X25: `encryption` in require needs an encrypted Body', async (t) => {
  t.is(await codeOf('encryption', signedThenEncrypted()), 'accepted');
  const refused = await send('encryption', signed());
  t.is(refused.code, 'wsse:InvalidSecurity');
  t.true(refused.reply.includes('expected Body to be encrypted'));
});

test.serial('X25: encryption without a Signature needs `require: []`, and no CBC', async (t) => {
  const message = (cipher: string): string =>
    signedThenEncrypted({ cipher }).replace(/<Signature .*<\/Signature>/, '');
  t.deepEqual((await send('open', message('aes128-gcm'))).upstream, jane);
  t.is(await codeOf('open', message('aes128-cbc')), 'wsse:UnsupportedAlgorithm');
  t.is(await codeOf('decrypt', message('aes128-gcm')), 'wsse:InvalidSecurity');
});

test.serial('X39: a block has at most two EncryptedKeys and eight DataReferences', async (t) => {
  const message = signedThenEncrypted();
  const extra = (count: number): string =>
    Array.from({ length: count }, (_, at) =>
      encrypt('', { keyId: `k${at}` }).key.replace(/<x:ReferenceList>.*<\/x:ReferenceList>/, ''),
    ).join('');
  t.is(await codeOf('gcm', inBlock(message, extra(1))), 'accepted');
  t.is(await codeOf('gcm', inBlock(message, extra(2))), 'wsse:InvalidSecurity');
  const tokens = (count: number): string => {
    const all = Array.from({ length: count }, (_, at) => encrypt('', { type: 'Element', id: `d${at}` }));
    const list = all.map((_, at) => `<x:DataReference URI="#d${at}"/>`).join('');
    return inBlock(
      message.replace('<x:DataReference', `${list}<x:DataReference`),
      all.map(({ data }) => data).join(''),
      'end',
    );
  };
  // the data that is added has another key, so it fails when it is decrypted
  t.is(await codeOf('gcm', tokens(7)), 'wsse:FailedCheck');
  t.is(await codeOf('gcm', tokens(8)), 'wsse:InvalidSecurity');
  const twice = message.replace(/(<x:DataReference[^>]*>)/, '$1$1');
  t.is(await codeOf('gcm', twice), 'wsse:InvalidSecurity');
});

const user =
  '<o:UsernameToken u:Id="user"><o:Username>demo</o:Username><o:Password>demo-key</o:Password></o:UsernameToken>';

/** Encrypts elements of the block of a signed message. */
function encryptedElement(pattern: RegExp, options: Encryption = {}, message: Message = {}): string {
  const text = signed(message);
  const element = pattern.exec(text)?.[0] ?? '';
  const { data, key } = encrypt(element.replace('<o:', '<o:'), { type: 'Element', ...options });
  return inBlock(
    text.replace(element, () => data),
    key,
  );
}

const signature = /<Signature .*<\/Signature>/;

for (const cipher of ['aes256-gcm', 'aes256-cbc'])
  test.serial(`X23: Signature, UsernameToken and Timestamp may be encrypted: ${cipher}`, async (t) => {
    t.deepEqual((await send('decrypt', encryptedElement(signature, { cipher }))).upstream, jane);
    t.deepEqual(
      (await send('decrypt', encryptedElement(/<u:Timestamp.*<\/u:Timestamp>/, { cipher }))).upstream,
      jane,
    );
    const all = { block: user, references: ['body', 'time', 'user'] };
    const { upstream } = await send(
      'decrypt',
      encryptedElement(/<o:UsernameToken.*<\/o:UsernameToken>/, { cipher }, all),
    );
    t.deepEqual(upstream, { ...jane, authentication: { apiUserId: 'demo', apiUserKey: 'demo-key' } });
    // the same token without a Signature over it: CBC text must be covered
    const unsigned = await codeOf(
      'decrypt',
      encryptedElement(/<o:UsernameToken.*<\/o:UsernameToken>/, { cipher }, { block: user }),
    );
    t.is(unsigned, cipher.endsWith('cbc') ? 'wsse:FailedCheck' : 'accepted');
    const token = await codeOf(
      'decrypt',
      encryptedElement(/<o:BinarySecurityToken.*<\/o:BinarySecurityToken>/, { cipher }),
    );
    t.not(token, 'accepted');
  });

test.serial('X36: encrypted header blocks are refused by name', async (t) => {
  const { data, key } = encrypt('<a/>', { type: 'Element' });
  const head = (block: string): string => inBlock(signed({ header: block }), key);
  t.is(await codeOf('decrypt', head(data)), 'wsse:UnsupportedSecurityToken');
  const wsse11 = 'http://docs.oasis-open.org/wss/oasis-wss-wssecurity-secext-1.1.xsd';
  t.is(
    await codeOf('decrypt', head(`<h:EncryptedHeader xmlns:h="${wsse11}">${data}</h:EncryptedHeader>`)),
    'wsse:UnsupportedSecurityToken',
  );
});

test.serial('X23: EncryptedData that is left in Body, or that has no key, is refused by name', async (t) => {
  const { data } = encrypt('<a/>');
  const nested = usualPayload.replace('jane', data);
  t.is(
    await codeOf('decrypt', signedThenEncrypted({}, { payload: nested.replace('Id="data"', '') })),
    'wsse:UnsupportedSecurityToken',
  );
  t.is(await codeOf('decrypt', signed({ payload: nested })), 'wsse:UnsupportedSecurityToken');
  t.is(await codeOf('decrypt', signed({ payload: data })), 'wsse:UnsupportedSecurityToken');
  t.is(
    await codeOf('decrypt', inBlock(signed(), encrypt('<a/>', { type: 'Element' }).data)),
    'wsse:UnsupportedSecurityToken',
  );
});

const deep = `${'<a>'.repeat(200)}${'</a>'.repeat(200)}`;
const flip = (at: number) => (bytes: Buffer) => {
  const changed = Buffer.from(bytes);
  const index = at < 0 ? changed.length + at : at;
  changed[index] = (changed[index] ?? 0) ^ 0x80;
  return changed;
};

/** Returns a number above each modulus. It differs, because a failed key is burnt. */
function aboveModulus({ length }: Buffer): Buffer {
  return Buffer.concat([Buffer.alloc(length - 16, 0xff), randomBytes(16)]);
}

/** Messages that fail after the decryption has begun (X24). */
const failures: Readonly<Record<string, (cipher: string) => string>> = {
  'wrong key': (cipher) => signedThenEncrypted({ cipher, damageKey: flip(100) }),
  'number above the modulus': (cipher) => signedThenEncrypted({ cipher, damageKey: aboveModulus }),
  'key of wrong length': (cipher) => signedThenEncrypted({ cipher, key: Buffer.alloc(24) }),
  'short value': (cipher) => signedThenEncrypted({ cipher, damageKey: (bytes) => bytes.subarray(1) }),
  'first byte': (cipher) => signedThenEncrypted({ cipher, damage: flip(0) }),
  'last byte': (cipher) => signedThenEncrypted({ cipher, damage: flip(-1) }),
  'block before the last': (cipher) => signedThenEncrypted({ cipher, damage: flip(-17) }),
  'cut block': (cipher) => signedThenEncrypted({ cipher, damage: (bytes) => bytes.subarray(0, -16) }),
  'cut byte': (cipher) => signedThenEncrypted({ cipher, damage: (bytes) => bytes.subarray(0, -1) }),
  'nearly nothing': (cipher) => signedThenEncrypted({ cipher, damage: (bytes) => bytes.subarray(0, 1) }),
  'not UTF-8': (cipher) => signedThenEncrypted({ cipher }, {}, Buffer.from('<a>\xff</a>', 'latin1')),
  'open element': (cipher) => signedThenEncrypted({ cipher }, {}, '<a>'),
  'closed element': (cipher) => signedThenEncrypted({ cipher }, {}, `${usualPayload}</content><content>`),
  'end of Body': (cipher) => signedThenEncrypted({ cipher }, {}, `${usualPayload}</s:Body><s:Body>`),
  DTD: (cipher) => signedThenEncrypted({ cipher }, {}, `<!DOCTYPE a>${usualPayload}`),
  'processing instruction': (cipher) => signedThenEncrypted({ cipher }, {}, `<?a b?>${usualPayload}`),
  'XML declaration': (cipher) => signedThenEncrypted({ cipher }, {}, `<?xml version="1.0"?>${usualPayload}`),
  'undeclared prefix': (cipher) => signedThenEncrypted({ cipher }, {}, '<none:a/>'),
  'depth above the limit': (cipher) => signedThenEncrypted({ cipher }, {}, deep),
  digest: (cipher) => signedThenEncrypted({ cipher }, {}, usualPayload.replace('jane', 'mary')),
  SignatureValue: (cipher) =>
    signedThenEncrypted({ cipher }).replace(/<SignatureValue>..../, '<SignatureValue>AAAA'),
};

/** Messages that show with AES-CBC only that the padding was valid (X24). */
const revealing: Readonly<Record<string, () => string>> = {
  'an Id twice': () =>
    signedThenEncrypted(
      { cipher: 'aes128-cbc' },
      {},
      `<a xmlns:u="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd" u:Id="token"/>`,
    ),
  'EncryptedData left': () =>
    signedThenEncrypted({ cipher: 'aes128-cbc' }, { payload: encrypt('', { id: 'other' }).data }),
  uncovered: () => signedThenEncrypted({ cipher: 'aes128-cbc' }, { references: ['time'] }),
  'another element': () =>
    encryptedElement(
      /<o:SecurityTokenReference><o:Embedded>.*?<\/o:SecurityTokenReference>/,
      { cipher: 'aes128-cbc' },
      { block: '<o:SecurityTokenReference><o:Embedded></o:Embedded></o:SecurityTokenReference>' },
    ),
  'wrong Signature': () => encryptedElement(signature, { cipher: 'aes128-cbc' }).replace('>jane<', '>mary<'),
};

test.serial('X24: every failure of decryption has the same fault, log reason and metric', async (t) => {
  const first = await send('decrypt', failures['wrong key']?.('aes128-gcm') ?? '');
  t.is(first.code, 'wsse:FailedCheck');
  t.true(first.reply.includes('the signature or the encryption is invalid'));
  const expected = faultIn(first);
  const all = ['aes128-gcm', 'aes128-cbc'].flatMap((cipher) =>
    Object.entries(failures).map(([name, message]) => [`${cipher}: ${name}`, message(cipher)] as const),
  );
  for (const [name, message] of [
    ...all,
    ...Object.entries(revealing).map(([name, of]) => [name, of()] as const),
  ]) {
    const before = gateways.decrypt.log().length;
    const outcome = await send('decrypt', message);
    t.is(faultIn(outcome), expected, name);
    t.is(outcome.upstream, undefined, name);
    const line = gateways.decrypt.log().slice(before);
    t.true(line.includes('"wsse":"FailedCheck","reason":"encryption"'), `${name}: ${line}`);
  }
});

test.serial('X24: failures of key, data and digest take the same operations with keys', async (t) => {
  const names = ['privateDecrypt', 'createDecipheriv', 'verify'] as const;
  const operations = names.map((name) => mock.method(crypto, name));
  syncBuiltinESMExports();
  t.teardown(() => {
    for (const operation of operations) operation.mock.restore();
    syncBuiltinESMExports();
  });
  const stages = ['wrong key', 'number above the modulus', 'key of wrong length', 'last byte', 'not UTF-8'];
  for (const cipher of ['aes128-gcm', 'aes128-cbc'])
    for (const name of [...stages, 'open element', 'digest']) {
      const message = failures[name]?.(cipher) ?? '';
      for (const operation of operations) operation.mock.resetCalls();
      t.is((await send('decrypt', message)).code, 'wsse:FailedCheck');
      const counts = operations.map((operation) => operation.mock.callCount());
      t.deepEqual(counts, [1, 1, 2], `${cipher}: ${name}`); // the first reading reserves the keys
    }
});

test.serial('X24: no fault names an element of the plaintext', async (t) => {
  const stolen = signedThenEncrypted({ id: 'stolen', keyId: 'stolenKey' });
  const [key = ''] = /<x:EncryptedKey.*?<\/x:EncryptedKey>/.exec(stolen) ?? [];
  const [data = ''] = /<x:EncryptedData.*?<\/x:EncryptedData>/.exec(stolen) ?? [];
  const moved = data.replace('#Content"', '#Element"');
  t.not(moved, data);
  const refused = await send('gcm', inBlock(inBlock(signed(), key), moved, 'end'));
  t.is(faultIn(refused), faultIn(await send('gcm', failures['wrong key']?.('aes128-gcm') ?? '')));
  const payload = usualPayload.replace(/(<[A-Za-z]*)/, '$1 Id="inner"');
  const place = await send(
    'gcm',
    signedThenEncrypted({}, { payload, references: ['body', 'time', 'inner'] }),
  );
  t.is(place.code, 'wsse:InvalidSecurity', place.reply);
  t.true(place.reply.includes('encrypted content&gt; is at a place that is not read'), place.reply);
  const time = /<u:Timestamp.*<\/u:Timestamp>/;
  const covered = await send('gcm', encryptedElement(time, {}, { references: ['time'] }));
  t.is(covered.code, 'wsse:InvalidSecurity');
  t.true(covered.reply.includes('got only encrypted content'), covered.reply);
});

test.serial('X24: a failed call burns its key, however the key is written', async (t) => {
  for (const cipher of ['aes128-cbc', 'aes128-gcm']) {
    const good = signedThenEncrypted({ cipher });
    t.is(await codeOf('decrypt', good), 'accepted');
    t.is(await codeOf('decrypt', good), 'accepted');
    const bad = good.replace(/(Type="[^"]*Content">.*?<x:CipherValue>)..../, '$1AAAA');
    t.is(await codeOf('decrypt', bad), 'wsse:FailedCheck');
    t.is(await codeOf('decrypt', good), 'wsse:FailedCheck');
    t.is(
      await codeOf('decrypt', good.replace(/(<x:EncryptedKey.*?<x:CipherValue>.{8})/, '$1\n  ')),
      'wsse:FailedCheck',
    );
    t.is(await codeOf('decrypt', signedThenEncrypted({ cipher })), 'accepted');
  }
  const good = signedThenEncrypted();
  t.is(
    await codeOf(
      'gcm',
      good.replace('>AAAA', '').replace(/(Type="[^"]*Content">.*?<x:CipherValue>)..../, '$1AAAA'),
    ),
    'wsse:FailedCheck',
  );
  t.is(await codeOf('gcm', good), 'accepted');
});

test.serial(
  'X24: a key is burnt too if its SignatureValue is wrong, and not by a later refusal',
  async (t) => {
    const cipher = 'aes128-cbc';
    const good = signedThenEncrypted({ cipher });
    t.is(
      await codeOf('decrypt', good.replace(/<SignatureValue>..../, '<SignatureValue>AAAA')),
      'wsse:FailedCheck',
    );
    t.is(await codeOf('decrypt', good), 'wsse:FailedCheck');
    const late = signedThenEncrypted(
      { cipher },
      { created: '2026-11-27T10:00:00Z', expires: '2026-11-27T10:05:00Z' },
    );
    for (let count = 0; count < 2; count++) t.is(await codeOf('decrypt', late), 'wsu:MessageExpired');
  },
);

test.serial('X24: a message that a worker thread reads burns its key', async (t) => {
  // the clock of the thread is not replaced
  const instantAt = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString();
  const payload = usualPayload.replace('jane', `jane${'<!-- -->'.repeat(30_000)}`);
  const message = { created: instantAt(0), expires: instantAt(5), payload };
  const good = signedThenEncrypted({ cipher: 'aes128-cbc' }, message);
  const sendNow = (text: string) =>
    sendAt(gateways.decrypt, requestOf(text, 'text/xml; charset=utf-8'), instantAt(0));
  t.true(good.length > 300_000);
  for (let count = 0; count < 2; count++) t.deepEqual((await sendNow(good)).upstream, jane);
  const bad = good.replace(/(Type="[^"]*Content">.*?<x:CipherValue>)..../, '$1AAAA');
  t.is((await sendNow(bad)).code, 'wsse:FailedCheck');
  t.is((await sendNow(good)).code, 'wsse:FailedCheck');
});

test.serial('X29: log and metrics show what was decrypted', async (t) => {
  const before = gateways.wide.log().length;
  await send('wide', signedThenEncrypted({ cipher: 'aes256-cbc' }));
  const line = gateways.wide.log().slice(before);
  t.true(line.includes('"decrypted":"aes256-cbc body"'), line);
  t.false(line.includes('jane'));
  const samples = gateways.wide.running.metrics().flatMap((family) => family.samples);
  const sampleOf = (name: string, label = ''): number | undefined =>
    samples.find((sample) => sample.name === name && sample.labels.includes(label))?.value;
  t.is(sampleOf('wsse_total', 'outcome="signed+encrypted"'), 1);
  t.is(sampleOf('wsse_cbc_total'), 1);
  t.is(sampleOf('wsse_burnt_keys'), 0);
});

test.serial('X1: during a key rotation, messages for both certificates are decrypted', async (t) => {
  const alice = new X509Certificate(readFileSync(join(folder, 'keys/alice.crt')));
  const named = keyNames.thumbprint.replace(/>[^<]*</, `>${hash('sha1', alice.raw, 'base64')}<`);
  const pairs = ['alice', 'gateway'].map((name) => `{ key: ${name}.key, certificate: ${name}.crt }`);
  const settings = ['require: [body], replay: allow', `keys: [${pairs.join(', ')}]`] as const;
  const rotating = await startEncrypted(t, settings);
  const sendTo = async (gateway: Gateway, options: Encryption) =>
    (await sendAt(gateway, requestOf(signedThenEncrypted(options), 'text/xml'), time)).code;
  t.is(await sendTo(rotating, { certificate: alice, named }), 'accepted');
  t.is(await sendTo(rotating, {}), 'accepted');
  // a key with the name of the other certificate
  t.is(await sendTo(rotating, { certificate: alice }), 'wsse:FailedCheck');
  t.is(await sendTo(gateways.gcm, { certificate: alice, named }), 'wsse:SecurityTokenUnavailable');
});

test.serial('X22, X23: ciphertext may be in MIME parts, as CXF sends it with MTOM', async (t) => {
  const xop = 'http://www.w3.org/2004/08/xop/include';
  const unsigned = signedThenEncrypted({}, { signatures: [] });
  for (const [name, message] of [
    ['gcm', signedThenEncrypted()],
    ['gcm', encryptedThenSigned(usualPayload)],
    ['open', unsigned],
  ] as const) {
    const parts: { readonly id: string; readonly bytes: Buffer }[] = [];
    const root = message.replace(/<x:CipherValue>([^<]*)</g, (_, base64: string) => {
      const id = `part${parts.length}@lab`;
      parts.push({ id, bytes: Buffer.from(base64, 'base64') });
      return `<x:CipherValue><p:Include xmlns:p="${xop}" href="cid:${id}"/><`;
    });
    t.is(parts.length, 2);
    const { headers, body } = related({ root, parts });
    const request = Buffer.concat([
      Buffer.from(
        `POST /v2/soap11 HTTP/1.1\r\nHost: gateway\r\nSOAPAction: ""\r\nContent-Type: ${headers['Content-Type']}\r\nContent-Length: ${body.length}\r\n\r\n`,
      ),
      body,
    ]);
    const { upstream, reply } = await sendAt(gateways[name], request, time);
    t.deepEqual(upstream, jane, reply);
    const other = Buffer.from(request);
    const at = other.indexOf(parts[1]?.bytes ?? 'none');
    other[at] = (other[at] ?? 0) ^ 1;
    const changed = await sendAt(gateways[name], other, time);
    t.is(changed.code, 'wsse:FailedCheck');
  }
});

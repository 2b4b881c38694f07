import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { readContract } from '../../mappings/loader/load.ts';
import { file } from '../gateway/commands/file.ts';
import { contractWith, type Gateway } from '../gateway/gateway.ts';
import { folder } from './captures.ts';
import { signed, usualPayload } from './sign.ts';
import { requestOf, sendAt, startSigned } from './signed.ts';

// Messages that the tests sign themselves, at and beyond each limit and rule.

const gateways = {} as Record<string, Gateway>;
const ends: (() => unknown)[] = [];
const time = '2026-11-27T18:00:00.000Z';
const type = 'text/xml; charset=utf-8';

test.before(async () => {
  for (const name of [
    'default',
    'body',
    'none',
    'replay',
    'to',
    'token',
    'credential',
    'optionalSigner',
    'signerOnly',
  ])
    gateways[name] = await startSigned({ teardown: (end) => ends.push(end) }, name);
});

test.after.always(async () => {
  for (const end of ends.toReversed()) await end();
});

async function codeOf(setting: string, envelope: string, at = time): Promise<string> {
  const gateway = gateways[setting];
  if (gateway === undefined) throw new RangeError(setting);
  return (await sendAt(gateway, requestOf(envelope, type), at)).code;
}

test.serial('X4: a signed Body and Timestamp are accepted, and each alone is not', async (t) => {
  t.is(await codeOf('default', signed()), 'accepted');
  t.is(await codeOf('default', signed({ references: ['body'] })), 'wsse:InvalidSecurity');
  t.is(await codeOf('default', signed({ references: ['time'] })), 'wsse:InvalidSecurity');
  t.is(await codeOf('default', signed({ signatures: [['body'], ['time']] })), 'wsse:InvalidSecurity');
  t.is(await codeOf('default', signed({ signatures: [['body', 'time'], ['time']] })), 'accepted');
});

const token =
  '<o:UsernameToken u:Id="user"><o:Username>demo</o:Username><o:Password>demo-key</o:Password></o:UsernameToken>';
const to = '<a:To xmlns:a="http://www.w3.org/2005/08/addressing" u:Id="to">urn:gateway</a:To>';

test.serial('X4: `token` and `to` require a Signature over what is there', async (t) => {
  const all = ['body', 'time'];
  t.is(await codeOf('token', signed()), 'accepted');
  t.is(await codeOf('token', signed({ block: token })), 'wsse:InvalidSecurity');
  t.is(await codeOf('token', signed({ block: token, references: [...all, 'user'] })), 'accepted');
  t.is(await codeOf('to', signed()), 'accepted');
  t.is(await codeOf('to', signed({ header: to })), 'wsse:InvalidSecurity');
  t.is(await codeOf('to', signed({ header: to, references: [...all, 'to'] })), 'accepted');
});

test.serial('X17: with `to`, a message to another address of this gateway is refused', async (t) => {
  const sendTo = (setting: string, address: string) =>
    codeOf(
      setting,
      signed({ header: to.replace('urn:gateway', address), references: ['body', 'time', 'to'] }),
    );
  t.is(await sendTo('to', 'https://gateway.example/v2/soap11'), 'accepted');
  t.is(await sendTo('to', ' https://gateway.example/v2/soap11?a '), 'accepted');
  t.is(await sendTo('to', 'https://gateway.example/other/soap11'), 'wsse:FailedAuthentication');
  t.is(await sendTo('to', 'https://elsewhere.example/other/soap11'), 'accepted');
  t.is(await sendTo('default', 'https://gateway.example/other/soap11'), 'accepted');
});

test.serial(
  'X1, X4: without required parts an unsigned message is accepted, and a wrong signature is not',
  async (t) => {
    t.is(await codeOf('none', signed({ references: ['time'] })), 'accepted');
    t.is(await codeOf('none', signed().replace('>jane<', '>mary<')), 'wsse:FailedCheck');
    t.is(await codeOf('none', signed().replace(/<Signature .*<\/Signature>/, '')), 'accepted');
    t.is(
      await codeOf(
        'none',
        `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><GetEulaStatus xmlns="http://schemas.servicestack.net/types"/></s:Body></s:Envelope>`,
      ),
      'accepted',
    );
    t.is(await codeOf('default', signed().replace(/<Signature .*<\/Signature>/, '')), 'wsse:InvalidSecurity');
  },
);

test.serial('X7: an Id matches as written and percent-decoded, and only one element may match', async (t) => {
  const encoded = signed().replace('URI="#body"', 'URI="#bod%79"');
  t.is(await codeOf('default', encoded), 'wsse:FailedCheck', 'SignedInfo was changed');
  const twice = '<x xmlns="urn:x" Id="body"/>';
  t.is(await codeOf('default', signed().replace('<s:Header>', `<s:Header>${twice}`)), 'wsse:InvalidSecurity');
  t.is(
    await codeOf(
      'default',
      signed().replace('<s:Header>', '<s:Header><x xmlns="urn:x" Id="other"/><y xmlns="urn:x" Id="other"/>'),
    ),
    'accepted',
  );
  t.is(
    await codeOf('default', signed().replace('<s:Header>', '<s:Header><x xmlns="urn:x" xml:id="body"/>')),
    'wsse:InvalidSecurity',
  );
});

test.serial('X15: a prefix that only values use has no meaning outside the octets', async (t) => {
  const payload = (declared: string): string =>
    `<GetEulaStatus xmlns="http://schemas.servicestack.net/types"${declared}><Request><SubUserName xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:type="q:base64">amFuZQ==</SubUserName></Request></GetEulaStatus>`;
  const soapEncoding = ' xmlns:q="http://schemas.xmlsoap.org/soap/encoding/"';
  const gateway = gateways.default;
  if (gateway === undefined) return t.fail();
  const upstreamOf = async (envelope: string): Promise<unknown> =>
    (await sendAt(gateway, requestOf(envelope, type), time)).upstream;
  t.deepEqual(await upstreamOf(signed({ payload: payload(soapEncoding), prefixes: 'q' })), {
    request: { subUserName: 'jane' },
  });
  t.deepEqual(await upstreamOf(signed({ payload: payload(''), envelope: ' xmlns:q="urn:other"' })), {
    request: { subUserName: 'amFuZQ==' },
  });
  t.deepEqual(await upstreamOf(signed({ payload: payload(''), envelope: soapEncoding })), {
    request: { subUserName: 'amFuZQ==' },
  });
});

test.serial('X39: soapHeaderText is checked before the signature and its certificate are read', async (t) => {
  const reply = async (length: number): Promise<string> => {
    const gateway = gateways.default;
    if (gateway === undefined) return t.fail();
    const text = signed({ header: `<x xmlns="urn:x">${'x'.repeat(length)}</x>` });
    const broken = text.replace(/(ValueType="[^"]*#X509v3">)[^<]*/, '$1AAAA');
    return (await sendAt(gateway, requestOf(broken, type), time)).reply;
  };
  t.regex(await reply(50_000), /the token is not an X.509 certificate/);
  t.regex(await reply(65_536), /the Header has more than 65536 characters/);
});

test.serial('X16: at most two Signatures, of one signer', async (t) => {
  const both = [['body', 'time'], ['time']];
  t.is(await codeOf('default', signed({ signatures: both })), 'accepted');
  t.is(await codeOf('default', signed({ signatures: [...both, ['time']] })), 'wsse:InvalidSecurity');
});

test.serial('X39: wsseReferences: sixteen References are read, seventeen are refused', async (t) => {
  const many = (count: number): string[] => ['body', ...Array.from({ length: count - 1 }, () => 'time')];
  t.is(await codeOf('default', signed({ references: many(16) })), 'accepted');
  t.is(await codeOf('default', signed({ references: many(17) })), 'wsse:InvalidSecurity');
});

test.serial('X39: two Transforms are read, three are refused', async (t) => {
  t.is(await codeOf('default', signed({ transforms: 2 })), 'accepted');
  t.is(await codeOf('default', signed({ transforms: 3 })), 'wsse:InvalidSecurity');
});

test.serial('X39: 64 names in a PrefixList are read, 65 are refused', async (t) => {
  const list = (count: number): string => Array.from({ length: count }, (_, index) => `p${index}`).join(' ');
  t.is(await codeOf('default', signed({ prefixes: list(64) })), 'accepted');
  t.is(await codeOf('default', signed({ prefixes: list(65) })), 'wsse:InvalidSecurity');
});

test.serial('X39: canonical forms of more than four times the document are refused', async (t) => {
  const payload = `<GetEulaStatus xmlns="http://schemas.servicestack.net/types"><Request><SubUserName>${'x'.repeat(9_000)}</SubUserName></Request></GetEulaStatus>`;
  const names = (count: number): string[] => ['time', ...Array.from({ length: count }, () => 'body')];
  t.is(await codeOf('default', signed({ payload, references: names(4) })), 'accepted');
  t.is(await codeOf('default', signed({ payload, references: names(15) })), 'wsse:InvalidSecurity');
});

test.serial('X18: wsseSignedLifeMs: a message with a long Expires ends an hour after Created', async (t) => {
  const long = signed({ expires: '2026-11-28T18:00:00Z' });
  t.is(await codeOf('default', long, '2026-11-27T23:00:00Z'), 'accepted', 'replay: allow');
  t.is(await codeOf('replay', long, '2026-11-27T19:05:01Z'), 'wsu:MessageExpired');
  t.is(await codeOf('replay', long, '2026-11-27T19:05:00Z'), 'accepted');
  t.is(await codeOf('default', signed(), '2026-11-27T18:10:01Z'), 'wsu:MessageExpired');
});

test.serial('X17: one of two equal messages at the same time is refused', async (t) => {
  const gateway = gateways.replay;
  if (gateway === undefined) return t.fail();
  const request = requestOf(signed({ created: '2026-11-27T17:59:59Z' }), type);
  const codes = await Promise.all(
    [sendAt(gateway, request, time), sendAt(gateway, request, time)].map(async (one) => (await one).code),
  );
  t.deepEqual(codes.toSorted(), ['accepted', 'wsse:FailedAuthentication']);
});

test.serial('X17: a message is known by each of its Signatures', async (t) => {
  const gateway = gateways.replay;
  if (gateway === undefined) return t.fail();
  const both = signed({ created: '2026-11-27T17:59:56Z', signatures: [['body', 'time'], ['time']] });
  const send = async (text: string): Promise<string> =>
    (await sendAt(gateway, requestOf(text, type), time)).code;
  t.is(await send(both), 'accepted');
  const one = both.replace(/(<Signature .*?<\/Signature>)<Signature .*<\/Signature>/, '$1');
  t.not(one, both);
  t.is(await send(one), 'wsse:FailedAuthentication');
});

test.serial('X17: wsseNonces: a full memory refuses messages, and forgets none', async (t) => {
  const gateway = await startSigned(t, 'replay', undefined, { wsseNonces: 2 });
  const send = async (second: number): Promise<string> => {
    const text = signed({ created: `2026-11-27T17:58:0${second}Z` });
    return (await sendAt(gateway, requestOf(text, type), time)).code;
  };
  t.deepEqual([await send(1), await send(2), await send(3)], ['accepted', 'accepted', 'Overloaded']);
  t.is(await send(1), 'wsse:FailedAuthentication');
  t.is(gateway.hits.length, 2);
});

test.serial('X17: a full memory keeps no Signature of a refused message', async (t) => {
  const gateway = await startSigned(t, 'replay', undefined, { wsseNonces: 1 });
  const signatures = [['body', 'time'], ['time']];
  const send = async (text: string, at: string): Promise<string> =>
    (await sendAt(gateway, requestOf(text, type), at)).code;
  t.is(await send(signed({ signatures }), '2026-11-27T18:00:02Z'), 'Overloaded');
  t.is(await send(signed({ created: '2026-11-27T17:59:57Z' }), '2026-11-27T18:00:04Z'), 'accepted');
});

test.serial('X17: a refused call can be sent again', async (t) => {
  const gateway = gateways.replay;
  if (gateway === undefined) return t.fail();
  const request = requestOf(signed({ created: '2026-11-27T17:59:58Z', block: token }), type);
  const late = await sendAt(gateway, request, '2026-11-27T19:30:00Z');
  t.is(late.code, 'wsu:MessageExpired');
  t.is((await sendAt(gateway, request, time)).code, 'accepted');
});

test.serial(
  'X20: the credential of the signer conflicts with another value, and needs a signature',
  async (t) => {
    const gateway = gateways.credential;
    if (gateway === undefined) return t.fail();
    const withUser = (request: Buffer, user: string): Buffer =>
      Buffer.from(
        request.toString('latin1').replace('Host: gateway', `Host: gateway\r\nX-User-Id: ${user}`),
        'latin1',
      );
    const request = requestOf(signed(), type);
    const spoofed = await sendAt(gateway, withUser(request, 'root'), time);
    t.is(spoofed.code, 'ConflictingCredentials');
    const same = await sendAt(gateway, withUser(request, 'CN=alice,O=lab\\,%20Inc.,C=AT'), time);
    t.is(same.code, 'accepted');
    const optional = gateways.optionalSigner;
    if (optional === undefined) return t.fail();
    const unsigned = plainRequest('POST', '/v2/json/reply/GetEulaStatus', 'X-User-Id: alice\r\n', '{}');
    const { reply, upstream } = await sendAt(optional, unsigned, time);
    t.true(reply.includes('no signature was verified'), reply);
    t.is(upstream, undefined);
  },
);

test.serial(
  'X20: a forged credential of the signer does not count towards the limits of the signer',
  async (t) => {
    const serve = {
      publicUrl: 'https://gateway.example',
      callerLimits: file(t, 'each: { rate: 1/h }', 'caller-limits.yaml'),
    };
    const alice = 'X-User-Id: CN=alice,O=lab\\,%20Inc.,C=AT\r\n';
    const forged = [
      plainRequest('POST', '/v2/json/reply/GetEulaStatus', alice, '{'),
      plainRequest('POST', '/v2/soap11', alice, '<broken'),
      plainRequest('POST', '/v2/soap11', alice, signed({ payload: '<NoSuch xmlns="urn:x"/>' })),
      plainRequest('POST', '/v2/soap11', alice, signed().replace('>jane<', '>mary<')),
    ];
    for (const request of forged) {
      const gateway = await startSigned(t, 'optionalSigner', undefined, {}, serve);
      const first = await sendAt(gateway, request, time);
      t.is(first.upstream, undefined, first.reply);
      t.is((await sendAt(gateway, requestOf(signed(), type), time)).code, 'accepted', first.reply);
      t.is((await sendAt(gateway, requestOf(signed(), type), time)).code, 'TooManyRequests');
    }
  },
);

/** Returns a request outside the SOAP endpoints. */
function plainRequest(method: string, path: string, headers: string, body: string): Buffer {
  const type = body.startsWith('<') ? 'application/xml' : 'application/json';
  const content = method === 'GET' ? '' : `Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n`;
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nHost: gateway\r\n${headers}${content}\r\n${method === 'GET' ? '' : body}`,
  );
}

const payload = '<GetEulaStatus xmlns="http://schemas.servicestack.net/types"/>';
const withoutSignature = [
  ['POST', '/v2/json/reply/GetEulaStatus', '{}'],
  ['POST', '/v2/xml/reply/GetEulaStatus', payload],
  ['PUT', '/v2/subusers/update', '{}'],
  ['PUT', '/v2/subusers/update', '<UpdateSubUser/>'],
  ['GET', '/v2/dbs/1', ''],
] as const;

for (const [method, path, body] of withoutSignature)
  test.serial(
    `X4: a contract that requires signatures refuses ${method} ${path} ${body.slice(0, 6)}`,
    async (t) => {
      for (const variant of ['default', 'credential', 'none']) {
        const gateway = gateways[variant];
        if (gateway === undefined) return t.fail();
        const request = plainRequest(method, path, '', body);
        const { reply, upstream } = await sendAt(gateway, request, time);
        t.is(reply.includes('this contract requires signed messages'), variant !== 'none', reply);
        if (variant !== 'none') t.is(upstream, undefined);
      }
    },
  );

test.serial('X4: a payload without an envelope is refused at a SOAP endpoint', async (t) => {
  for (const contentType of [type, 'application/soap+xml']) {
    const gateway = gateways.default;
    if (gateway === undefined) return t.fail();
    const { code, upstream } = await sendAt(gateway, requestOf(payload, contentType), time);
    t.not(code, 'accepted');
    t.is(upstream, undefined);
  }
});

test.serial('X5: a Signature has three children in order, and an Algorithm has no namespace', async (t) => {
  const message = signed();
  const keyInfo = /<KeyInfo>.*<\/KeyInfo>/.exec(message)?.[0] ?? '';
  const direct = keyInfo.replaceAll(/<\/?KeyInfo>/g, '');
  t.is(await codeOf('default', message.replace(keyInfo, direct)), 'accepted');
  t.is(await codeOf('default', message.replace(keyInfo, '')), 'wsse:InvalidSecurity');
  t.is(await codeOf('default', message.replace(keyInfo, keyInfo + keyInfo)), 'wsse:InvalidSecurity');
  t.is(
    await codeOf('default', message.replace('</Signature>', '<Object/></Signature>')),
    'wsse:InvalidSecurity',
  );
  t.is(
    await codeOf('default', message.replace('<SignatureValue>', 'text<SignatureValue>')),
    'wsse:InvalidSecurity',
  );
  const qualified = message.replace('<DigestMethod Algorithm', '<DigestMethod u:Algorithm');
  t.is(await codeOf('default', qualified), 'wsse:InvalidSecurity');
});

test.serial('X6: base64 may have blanks and comments, and nothing else', async (t) => {
  const message = signed();
  const broken = (more: string): string =>
    message.replace(/<SignatureValue>(.{20})/, (_, start) => `<SignatureValue>${start}${more}`);
  t.is(await codeOf('default', broken('\n \t')), 'accepted');
  t.is(await codeOf('default', broken('<!-- AAAA -->')), 'accepted');
  t.is(await codeOf('default', broken('<x/>')), 'wsse:InvalidSecurity');
  for (const letters of ['*', '-', '=', 'A'])
    t.is(await codeOf('default', broken(letters)), 'wsse:InvalidSecurity');
  t.is(await codeOf('default', broken('AAAA')), 'wsse:FailedCheck');
});

test.serial('X8: a signed element in a wrapper, in another block or in the payload is refused', async (t) => {
  const all = ['body', 'time', 'other'];
  const element = '<x xmlns="urn:x" Id="other"/>';
  t.is(await codeOf('default', signed({ header: element, references: all })), 'accepted');
  t.is(
    await codeOf('default', signed({ header: `<w xmlns="urn:w">${element}</w>`, references: all })),
    'wsse:InvalidSecurity',
  );
  const payload = usualPayload.replace('<Request>', '<Request Id="other">');
  t.is(await codeOf('default', signed({ payload, references: all })), 'wsse:InvalidSecurity');
});

test.serial(
  'X13: an STR-Transform needs its parameters, and no Transform follows a canonical form',
  async (t) => {
    const end = '</Transforms><DigestMethod';
    const after = signed().replace(
      end,
      `<Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/>${end}`,
    );
    t.is(await codeOf('default', after), 'wsse:InvalidSecurity');
    const uri =
      'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0#STR-Transform';
    const token = signed().replace(
      '<Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#">',
      `<Transform Algorithm="${uri}">`,
    );
    t.is(await codeOf('default', token), 'wsse:InvalidSecurity');
  },
);

test.serial('X28: the texts of faults name no certificate and no digest', async (t) => {
  const gateway = gateways.default;
  if (gateway === undefined) return t.fail();
  const changed = signed().replace('>jane<', '>mary<');
  const { reply } = await sendAt(gateway, requestOf(changed, type), time);
  t.true(reply.includes('the digest of Body differs: the content or its whitespace changed in transit'));
  t.true(reply.includes('<u:Timestamp'), 'the reply has a Timestamp');
  const unsigned = await sendAt(
    gateway,
    requestOf(signed().replace(/<Signature .*<\/Signature>/, ''), type),
    time,
  );
  t.true(unsigned.reply.includes('expected Body and Timestamp to be signed, got none'), unsigned.reply);
  const part = await sendAt(gateway, requestOf(signed({ references: ['time'] }), type), time);
  t.true(part.reply.includes('expected Body to be signed, got only Timestamp'), part.reply);
});

test.serial('X12, X40: a large message is verified in the worker thread', async (t) => {
  const gateway = gateways.replay;
  if (gateway === undefined) return t.fail();
  const name = 'é'.repeat(200_000);
  // the clock of the thread is that of the machine
  const now = Date.now();
  const [here, created, expires] = [now, now, now + 300_000].map((at) => new Date(at).toISOString());
  const envelope = signed({
    payload: usualPayload.replace('jane', name),
    created: created ?? '',
    expires: expires ?? '',
  });
  const changed = envelope.replace('é</SubUserName>', 'e</SubUserName>');
  const refused = await sendAt(gateway, requestOf(changed, type), here ?? '');
  t.is(refused.code, 'wsse:FailedCheck');
  t.is(refused.upstream, undefined);
  const accepted = await sendAt(gateway, requestOf(envelope, type), here ?? '');
  t.is(accepted.code, 'accepted');
  t.deepEqual(accepted.upstream, { request: { subUserName: name } });
  t.is((await sendAt(gateway, requestOf(envelope, type), here ?? '')).code, 'wsse:FailedAuthentication');
  t.true(gateway.log().includes('"signature":"rsa-sha256 body+timestamp"'));
});

test.serial('X12: soap12 messages and namespaced Ids are verified in the same way', async (t) => {
  const gateway = gateways.default;
  if (gateway === undefined) return t.fail();
  const soap12 = signed({ soap: 'http://www.w3.org/2003/05/soap-envelope' });
  const accepted = await sendAt(gateway, requestOf(soap12, 'application/soap+xml; charset=utf-8'), time);
  t.deepEqual(accepted.upstream, { request: { subUserName: 'jane' } });
  const changed = soap12.replace('>jane<', '>mary<');
  t.is(
    (await sendAt(gateway, requestOf(changed, 'application/soap+xml; charset=utf-8'), time)).code,
    'wsse:FailedCheck',
  );
});

function problemsOf(t: ExecutionContext, wsse: string, more = ''): string {
  const contract = contractWith(t, `wsse: ${wsse}\n${more}`);
  writeKeys(contract);
  try {
    readContract(contract);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
}

/** Writes private keys next to an overlay. */
function writeKeys(contract: string): void {
  const pem = readFileSync(join(folder, 'keys/gateway.key'));
  const write = (name: string, content: string | Buffer, mode = 0o600): void => {
    writeFileSync(join(contract, name), content);
    chmodSync(join(contract, name), mode);
  };
  const exported = { type: 'pkcs8', format: 'pem' } as const;
  const encrypted = { ...exported, cipher: 'aes-256-cbc', passphrase: 'changeit' };
  write('gateway.key', pem);
  write('open.key', pem, 0o644);
  write('encrypted.key', createPrivateKey(pem).export(encrypted));
  write('ec.key', readFileSync(join(folder, 'keys/alice-ec.key')));
  write('ec.crt', readFileSync(join(folder, 'keys/alice-ec.crt')));
  write('ed25519.key', generateKeyPairSync('ed25519').privateKey.export(exported));
  write('empty.pem', '');
  write('long.pem', `${pem.toString()}${' '.repeat(1024 * 1024)}`);
}

const key = (name: string): string =>
  JSON.stringify(new URL(`../fixtures/x509/keys/${name}`, import.meta.url).pathname);
const usual = 'username: apiUserId, password: apiUserKey';
const trusted = `x509: { ca: ${key('root.crt')} }`;

for (const [setting, expected] of [
  ['x509: {}', '/wsse/x509: expected ca or certificates, got none'],
  ['x509: { ca: none.pem }', '/wsse/x509/ca: expected a readable file, got none (ENOENT): "none.pem"'],
  ['x509: { ca: [soap.yaml] }', '/wsse/x509/ca/0: expected certificates in PEM or DER'],
  [`x509: { ca: ${key('alice.crt')} }`, '/wsse/x509/ca: expected certificates of CAs (CA:TRUE)'],
  [
    `x509: { certificates: ${key('weak.crt')} }`,
    '/wsse/x509/certificates: expected RSA keys of 2048 to 8192 bits, got 1024 bits',
  ],
  [
    `x509: { certificates: ${key('../issued/large-key.crt')} }`,
    '/wsse/x509/certificates: expected RSA keys of 2048 to 8192 bits, got 8200 bits',
  ],
  [
    `x509: { ca: ${key('root.crt')}, crl: ${key('issuing.crl')} }`,
    '/wsse/x509/crl: expected a CRL that a certificate of ca signed',
  ],
  [`x509: { ca: ${key('root.crt')}, require: [body] }`, '/wsse/x509/replay: expected allow'],
  [`x509: { ca: ${key('root.crt')}, sha1: always }`, '/wsse/x509/sha1: expected false, signature or true'],
  [`x509: { ca: ${key('root.crt')}, require: [encryption] }`, '/wsse/x509/require'],
  [
    `x509: { ca: ${key('root.crt')}, credential: { nobody: subject } }`,
    '/wsse/x509/credential: expected a name from /credentials/headers',
  ],
  [
    `x509: { ca: ${key('root.crt')}, credential: { apiUserId: subject } }`,
    '/wsse/x509/credential: expected another credential',
  ],
  [`x509: { ca: ${key('root.crt')} }, unverified: [Signature]`, '/wsse/unverified'],
  [`x509: { ca: ${key('root.crt')} }, timestamp: optional`, '/wsse/timestamp: expected required'],
  ['sign: {}', '/wsse/sign: expected /wsse/x509 too'],
  [`${trusted}, sign: {}`, '/wsse/sign/key: expected the path of a file, got none'],
  [
    `${trusted}, sign: { confirmation: true }`,
    '/wsse/sign/certificate: expected the path of a file, got none',
  ],
  [`${trusted}, sign: { key: none.key }`, '/wsse/sign/key: expected a readable file, got none (ENOENT)'],
  [`${trusted}, sign: { key: . }`, '/wsse/sign/key: expected a readable file'],
  [`${trusted}, sign: { key: empty.pem }`, '/wsse/sign/key: expected a readable file, got an empty file'],
  [`${trusted}, sign: { key: long.pem }`, '/wsse/sign/key: expected a readable file, got a file over 1 MiB'],
  [`${trusted}, sign: { key: soap.yaml }`, '/wsse/sign/key: expected a private key in PEM'],
  [`${trusted}, sign: { key: ed25519.key }`, '/wsse/sign/key: expected an RSA key, or an EC key on P-256'],
  [`${trusted}, sign: { key: encrypted.key }`, '/wsse/sign/key: expected a private key without a passphrase'],
  [`${trusted}, sign: { key: open.key }`, '/wsse/sign/key: expected a file that only its owner can read'],
  [`${trusted}, sign: { certificate: soap.yaml }`, '/wsse/sign/certificate: expected certificates in PEM'],
  [
    `${trusted}, sign: { certificate: ${key('weak.crt')} }`,
    '/wsse/sign/certificate: expected RSA keys of 2048 to 8192 bits, got 1024 bits',
  ],
  [
    `${trusted}, sign: { key: gateway.key, certificate: ${key('alice.crt')} }`,
    '/wsse/sign/key: expected the private key of the first certificate',
  ],
  ['decrypt: { keys: [] }', '/wsse/decrypt: expected /wsse/x509 too'],
  [`${trusted}, decrypt: { keys: [] }`, '/wsse/decrypt/keys: expected one or more key pairs, got none'],
  [`${trusted}, decrypt: {}`, '/wsse/decrypt/keys: expected key pairs, or /wsse/sign, got neither'],
  [`${trusted}, decrypt: { keys: [{}] }`, '/wsse/decrypt/keys/0/key: expected the path of a file, got none'],
  [
    `${trusted}, decrypt: { keys: [{ key: open.key, certificate: ${key('gateway.crt')} }] }`,
    '/wsse/decrypt/keys/0/key: expected a file that only its owner can read',
  ],
  [
    `${trusted}, decrypt: { keys: [{ key: ec.key, certificate: ec.crt }] }`,
    '/wsse/decrypt/keys: expected RSA keys, got another key',
  ],
  [
    `x509: { ca: ${key('root.crt')}, require: [body, timestamp, encryption] }`,
    '/wsse/x509/require: expected /wsse/decrypt too, because encryption is required',
  ],
  ['saml: {}', '/wsse/saml'],
] as const)
  test(`X2: an error at start names the key: ${setting.replaceAll(/"[^"]*\//g, '"')}`, (t) => {
    const problems = problemsOf(t, `{ ${usual}, ${setting} }`);
    t.true(problems.includes(expected), problems);
  });

for (const [first, second, credential, expected] of [
  ['san-one', 'san-two', 'san', 'expected one san for each key, got two'],
  ['san-one', 'sha256', 'san', 'expected one san for each key, got two'],
  ['san-one', 'san-two', 'fingerprint', 'expected one fingerprint for each key, got two'],
  ['san-one', 'san-one', 'fingerprint', ''],
  ['san-one', 'san-two', 'subject', ''],
  ['san-one', 'san-two', 'commonName', ''],
  ['sha256', 'eku-client', 'san', ''],
] as const)
  test(`X2: two certificates of one key have one ${credential}: ${first} and ${second}`, (t) => {
    const issued = (name: string): string => key(`../issued/${name}.crt`);
    const files = `certificates: [${issued(first)}, ${issued(second)}], credential: { userId: ${credential} }`;
    const problems = problemsOf(t, `{ x509: { ${files} } }`);
    t.is(problems.includes(expected), true, problems);
    if (expected === '') t.is(problems, '');
  });

test('X1: username and password are not needed if the signer is a credential', (t) => {
  const x509 = `x509: { ca: ${key('root.crt')}, credential: { userId: subject } }`;
  t.is(problemsOf(t, `{ ${x509} }`), '');
  t.true(problemsOf(t, `{ x509: { ca: ${key('root.crt')} } }`).includes('/wsse/username'));
  t.true(problemsOf(t, `{ username: apiUserId, ${x509} }`).includes('/wsse/password'));
});

test.serial('X1: without username a UsernameToken is refused, and a signature is read', async (t) => {
  const gateway = gateways.signerOnly;
  if (gateway === undefined) return t.fail();
  const accepted = await sendAt(gateway, requestOf(signed(), type), time);
  t.deepEqual(accepted.upstream, {
    request: { subUserName: 'jane' },
    authentication: { userId: 'CN=alice,O=lab\\,%20Inc.,C=AT' },
  });
  t.is(
    (await sendAt(gateway, requestOf(signed({ block: token }), type), time)).code,
    'wsse:UnsupportedSecurityToken',
  );
});

test('X2: without a signed Body, the public URL must be https', async (t) => {
  const start = (publicUrl: string | undefined) => startSigned(t, 'transport', undefined, {}, { publicUrl });
  const message = 'wsse: x509: require: expected body, or an https SOAPBRIDGE_PUBLIC_URL, got neither';
  await t.throwsAsync(start(undefined), { instanceOf: RangeError, message });
  await t.throwsAsync(start('http://gateway.example'), { instanceOf: RangeError, message });
  await t.notThrowsAsync(start('https://gateway.example'));
});

test('X2: a credential without a signed Body needs https, and no other setting of `[]` does', async (t) => {
  const start = (variant: string, publicUrl: string | undefined) =>
    startSigned(t, variant, undefined, {}, { publicUrl });
  const message = 'wsse: x509: require: expected body, or an https SOAPBRIDGE_PUBLIC_URL, got neither';
  await t.throwsAsync(start('optionalSigner', undefined), { instanceOf: RangeError, message });
  await t.throwsAsync(start('optionalSigner', 'http://gateway.example'), { message });
  await t.notThrowsAsync(start('optionalSigner', 'https://gateway.example'));
  await t.notThrowsAsync(start('none', 'http://gateway.example'));
  await t.notThrowsAsync(start('credential', 'http://gateway.example'));
});

test('X2, X17: one of several workers refuses `replay: refuse`, also at a reload', async (t) => {
  const metricsOfAll = () => Promise.resolve(undefined);
  const start = (variant: string) => startSigned(t, variant, undefined, {}, { metricsOfAll });
  await t.throwsAsync(start('replay'), {
    instanceOf: RangeError,
    message:
      'wsse: x509: replay: expected allow, SOAPBRIDGE_LIMIT_STORE, or a single process (SOAPBRIDGE_WORKERS=1), got several workers',
  });
  const contract = contractWith(t, `wsse: { ${usual} }`);
  const gateway = await startSigned(t, 'default', undefined, {}, { metricsOfAll, contract });
  const overlay = join(contract, 'soap.yaml');
  const before = readFileSync(overlay, 'utf8');
  writeFileSync(overlay, before.replace(`{ ${usual} }`, `{ ${usual}, x509: { ca: ${key('root.crt')} } }`));
  await gateway.running.reload();
  t.regex(
    gateway.log(),
    /x509: replay: expected allow, SOAPBRIDGE_LIMIT_STORE, or a single process.*not reloaded/,
  );
  const credentials = { 'X-Api-User': 'demo', 'X-Api-Key': 'demo-key' };
  t.is((await gateway.send('POST', '/json/reply/GetEulaStatus', credentials, '{}')).status, 200);
});

test('X2, X32: encryption and MTOM replies exclude each other', (t) => {
  const pair = `key: gateway.key, certificate: ${key('gateway.crt')}`;
  const settings = `{ ${usual}, ${trusted}, decrypt: { keys: [{ ${pair} }] } }`;
  t.is(problemsOf(t, settings), '');
  t.regex(
    problemsOf(t, settings, 'mtomReplies: requested'),
    /\/mtomReplies: expected never with \/wsse\/decrypt/,
  );
});

test('X2, X24: AES-CBC needs a single process', async (t) => {
  const metricsOfAll = () => Promise.resolve(undefined);
  const pair = 'key: gateway.key, certificate: gateway.crt';
  const more = `decrypt: { keys: [{ ${pair} }], cbc: true }`;
  await t.throwsAsync(startSigned(t, 'default', undefined, {}, { metricsOfAll }, more), {
    message:
      'wsse: decrypt: cbc: expected false, SOAPBRIDGE_LIMIT_STORE, or a single process (SOAPBRIDGE_WORKERS=1), got several workers',
  });
});

test('X2: usual settings have no error', (t) => {
  const pair = `key: gateway.key, certificate: ${key('gateway.crt')}`;
  t.is(problemsOf(t, `{ ${usual}, ${trusted}, sign: { ${pair} }, decrypt: { cbc: true } }`), '');
  t.is(problemsOf(t, `{ ${usual}, ${trusted}, sign: { ${pair}, confirmation: true } }`), '');
  t.is(
    problemsOf(
      t,
      `{ ${usual}, x509: { ca: [${key('issuing.crt')}, ${key('root.crt')}], crl: ${key('issuing.crl')} } }`,
    ),
    '',
  );
});

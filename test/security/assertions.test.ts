import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Limits } from '../../mappings/contract/limits.ts';
import { readContract } from '../../mappings/loader/load.ts';
import { contractWith, type Gateway } from '../gateway/gateway.ts';
import { assertion, dataOf, type Issued, keyInfoOf, keyValueOf } from './assertion.ts';
import { type Attack, cases, folder } from './captures.ts';
import { type Message, signed } from './sign.ts';
import { type Outcome, requestOf, sendAt, startSigned } from './signed.ts';

// SAML assertions: requests of CXF, attacks, and assertions that the tests issue.

const gateways = {} as Record<string, Gateway>;
const ends: (() => unknown)[] = [];
const time = '2026-11-27T18:00:00.000Z';
const type = 'text/xml; charset=utf-8';

function fingerprint(name: string): string {
  return new X509Certificate(readFileSync(join(folder, `keys/${name}.crt`))).fingerprint256;
}

const vouchers = `vouchers: ["${fingerprint('alice')}", "${fingerprint('sts').replaceAll(':', '').toLowerCase()}"]`;
const audience = 'audience: "urn:soapbridge:screening"';

/** Settings of x509 and of saml by name. */
const settings: Readonly<Record<string, readonly [x509: string, saml: string]>> = {
  wide: ['require: [body], sha1: true, replay: allow', `${audience}, ${vouchers}`],
  transport: ['require: [timestamp], sha1: true, replay: allow', `${audience}, ${vouchers}`],
  open: ['require: [], sha1: true, replay: allow', `${audience}, ${vouchers}, bearer: true`],
  saml: ['require: [body, timestamp], replay: allow', audience],
  'saml-audience': ['require: [body, timestamp], replay: allow', 'audience: "urn:other"'],
  replay: ['require: [body, timestamp]', `${vouchers}, bearer: true`],
  name: ['require: [body, timestamp], replay: allow, credential: { userId: subject }', ''],
  credential: ['require: [], replay: allow', `${vouchers}, bearer: true, credential: { userId: nameId }`],
  attribute: ['require: [body, timestamp], replay: allow', 'credential: { userId: role }'],
};

function start(
  t: Pick<ExecutionContext, 'teardown'>,
  [x509, saml]: readonly [string, string],
  limits: Partial<Limits> = {},
): Promise<Gateway> {
  const serve = { publicUrl: 'https://gateway.example/' };
  return startSigned(
    t,
    x509,
    undefined,
    limits,
    serve,
    `saml: { issuers: { "urn:test:sts": sts.crt }${saml === '' ? '' : `, ${saml}`} }`,
  );
}

test.before(async () => {
  const t = { teardown: (end: () => unknown) => ends.push(end) };
  for (const [name, both] of Object.entries(settings)) gateways[name] = await start(t, both);
});

test.after.always(async () => {
  for (const end of ends.toReversed()) await end();
});

function gatewayOf(name: string): Gateway {
  const gateway = gateways[name];
  if (gateway === undefined) throw new RangeError(name);
  return gateway;
}

function send(setting: string, envelope: string, at = time): Promise<Outcome> {
  return sendAt(gatewayOf(setting), requestOf(envelope, type), at);
}

/** A message of the holder of a key, with an assertion about it. */
function held(issued: Issued = {}, message: Message = {}): string {
  return signed({ block: assertion(issued), keyInfo: keyInfoOf(issued.id, issued.version), ...message });
}

/** A message whose signer vouches for an unsigned assertion. */
function vouched(issued: Issued = {}, message: Message = {}): string {
  const block = assertion({ method: 'sender-vouches', signedBy: undefined, ...issued });
  return signed({ block, references: ['body', 'time', '_a'], ...message });
}

for (const setting of ['wide', 'transport', 'open'] as const)
  test.serial(`X26: the requests of CXF have the result of their rules: ${setting}`, async (t) => {
    const all = Object.entries(cases.captures).filter(([file]) => file.includes('saml2'));
    t.is(all.length, 4);
    for (const [file, one] of all) {
      const expected = (one as unknown as Readonly<Record<string, string | undefined>>)[setting];
      if (expected === undefined) continue;
      const request = readFileSync(join(folder, 'captures', `${file}.http`));
      const { code, upstream, reply } = await sendAt(gatewayOf(setting), request, one.receivedAt);
      t.is<string, string>(code, expected, `${file} ${reply}`);
      t.deepEqual(upstream, expected === 'accepted' ? one.upstream : undefined, file);
    }
  });

const { attacks } = JSON.parse(readFileSync(join(folder, 'assertions.json'), 'utf8')) as {
  readonly attacks: Readonly<Record<string, Attack>>;
};

test.serial('X26: each attack has the result of its rules, also with other settings', async (t) => {
  t.is(Object.keys(attacks).length, 6);
  for (const [file, one] of Object.entries(attacks)) {
    const envelope = readFileSync(join(folder, 'attacks', file));
    const request = requestOf(envelope, one.contentType);
    const { code, upstream, reply } = await sendAt(gatewayOf(one.config), request, one.clock);
    t.true(one.expect.split(' or ').includes(code), `${file}: ${code} ${reply}`);
    t.is(upstream, undefined, file);
    const wide = await sendAt(gatewayOf('wide'), request, one.clock);
    t.not(wide.code, 'accepted', file);
    if (!file.startsWith('saml-08'))
      t.not((await sendAt(gatewayOf('open'), request, one.clock)).code, 'accepted', file);
  }
});

test.serial(
  'X26: the holder of the key is accepted, by certificate or key value, in both versions',
  async (t) => {
    const accepted = async (issued: Issued, message?: Message): Promise<void> => {
      const { code, reply, upstream } = await send('saml', held(issued, message));
      t.is(code, 'accepted', reply);
      t.deepEqual(upstream, { request: { subUserName: 'jane' } });
    };
    await accepted({});
    await accepted({ version: '1.1' });
    await accepted({ holder: keyValueOf('alice') });
    await accepted({ holder: dataOf('bob') }, { signer: 'bob' });
    const reference =
      '<KeyInfo><o:SecurityTokenReference xmlns:o="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"><o:Reference URI="#_a"/></o:SecurityTokenReference></KeyInfo>';
    await accepted({}, { keyInfo: reference });
    await accepted({ keyInfo: '' });
    await accepted({ keyInfo: `<KeyInfo>${keyValueOf('sts')}</KeyInfo>` });
  },
);

test.serial('X26: an issuer vouches for a certificate that is not trusted itself', async (t) => {
  const message = held({ holder: dataOf('mallory') }, { signer: 'mallory' });
  t.is((await send('saml', message)).code, 'accepted');
  const named = await send('name', message);
  t.is(named.code, 'accepted', named.reply);
  t.deepEqual(named.upstream, { request: { subUserName: 'jane' } }, 'no credential of the signer');
  const trusted = await send('name', held());
  t.deepEqual(trusted.upstream, {
    request: { subUserName: 'jane' },
    authentication: { userId: 'CN=alice,O=lab\\,%20Inc.,C=AT' },
  });
});

test.serial('X26: another key than that of the holder is refused', async (t) => {
  const other = await send('saml', held({}, { signer: 'bob' }));
  t.is(other.code, 'wsse:FailedCheck');
  const token = await send('saml', signed({ block: assertion() }));
  t.is(token.code, 'wsse:FailedAuthentication');
  t.true(token.reply.includes('must name the Assertion as its key'), token.reply);
  const short = await send('saml', held({ holder: dataOf('weak') }));
  t.is(short.code, 'wsse:FailedAuthentication');
  t.is((await send('saml', held({ holder: '' }))).code, 'wsse:UnsupportedSecurityToken');
  t.is(
    (await send('saml', held({ holder: '<KeyName>alice</KeyName>' }))).code,
    'wsse:UnsupportedSecurityToken',
  );
});

test.serial('X26: an assertion of another issuer or with another signature is refused', async (t) => {
  const codes = async (issued: Issued): Promise<string> => (await send('saml', held(issued))).code;
  t.is(await codes({ issuer: 'urn:other' }), 'wsse:FailedAuthentication');
  t.is(await codes({ signedBy: 'mallory' }), 'wsse:FailedAuthentication');
  t.is(
    await codes({ signedBy: 'mallory', keyInfo: `<KeyInfo>${dataOf('sts')}</KeyInfo>` }),
    'wsse:FailedCheck',
  );
  t.is(await codes({ signedBy: 'alice', keyInfo: '' }), 'wsse:FailedCheck');
  t.is(await codes({ signedBy: undefined }), 'wsse:FailedAuthentication');
  const changed = held().replace('alice@lab', 'root@lab');
  t.is((await send('saml', changed)).code, 'wsse:FailedCheck');
});

test.serial('X26: the Signature of an assertion has one Reference with two Transforms', async (t) => {
  const codes = async (issued: Issued): Promise<string> => (await send('saml', held(issued))).code;
  const exclusive = '<Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"></Transform>';
  const inclusive = '<Transform Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315"></Transform>';
  const enveloped =
    '<Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"></Transform>';
  t.is(await codes({ transforms: exclusive }), 'wsse:InvalidSecurity');
  t.is(await codes({ transforms: enveloped }), 'wsse:InvalidSecurity');
  t.is(await codes({ transforms: enveloped + inclusive }), 'wsse:InvalidSecurity');
  const other = held().replace('URI="#_a"', 'URI="#body"');
  t.is((await send('saml', other)).code, 'wsse:FailedCheck', 'SignedInfo was changed');
});

test.serial('X26: at most one assertion and one Signature in it, and no other place', async (t) => {
  const second = assertion({ id: '_b' });
  t.is((await send('saml', held({}, { block: assertion() + second }))).code, 'wsse:InvalidSecurity');
  const same = held({}, { block: assertion() + assertion() });
  t.is((await send('saml', same)).code, 'wsse:InvalidSecurity');
  const outside = signed({ header: assertion(), keyInfo: keyInfoOf() });
  t.is((await send('saml', outside)).code, 'wsse:InvalidSecurity');
  const wrapped = signed({ block: `<w xmlns="urn:w">${assertion()}</w>`, keyInfo: keyInfoOf() });
  t.is((await send('saml', wrapped)).code, 'wsse:UnsupportedSecurityToken');
  const inPayload = signed({
    payload: `<GetEulaStatus xmlns="http://schemas.servicestack.net/types">${assertion()}</GetEulaStatus>`,
    block: assertion({ nameId: 'root@lab', signedBy: undefined }),
    keyInfo: keyInfoOf(),
  });
  t.is((await send('saml', inPayload)).code, 'wsse:InvalidSecurity');
  const signature = /<Signature xmlns="[^"]*">.*?<\/Signature>/.exec(assertion())?.[0] ?? '';
  const twice = held({}, { block: assertion().replace(signature, signature + signature) });
  t.is((await send('saml', twice)).code, 'wsse:InvalidSecurity');
});

test.serial('X26: an unsigned assertion around a signed one is refused', async (t) => {
  const inner = assertion();
  const evil = assertion({ nameId: 'root@lab', id: '_evil', signedBy: undefined });
  const around = evil.replace('</a:Assertion>', `<a:Advice>${inner}</a:Advice></a:Assertion>`);
  for (const id of ['_a', '_evil'])
    for (const setting of ['saml', 'wide', 'open']) {
      const { code, upstream } = await send(setting, signed({ block: around, keyInfo: keyInfoOf(id) }));
      t.regex(code, /^wsse:(?:InvalidSecurity|FailedAuthentication)$/, `${setting} ${id}`);
      t.is(upstream, undefined);
    }
  const signature = /<Signature xmlns="[^"]*">.*?<\/Signature>/.exec(inner)?.[0] ?? '';
  const borrowed = evil.replace('</a:Issuer>', `</a:Issuer>${signature}`);
  const both = signed({
    block: borrowed,
    header: `<w xmlns="urn:w">${inner}</w>`,
    keyInfo: keyInfoOf('_evil'),
  });
  t.is((await send('saml', both)).code, 'wsse:InvalidSecurity', 'the Reference names another assertion');
});

test.serial('X26: times of the conditions and of the confirmation, with wsseSkewMs', async (t) => {
  const code = async (issued: Issued, at = time): Promise<string> =>
    (await send('saml', held(issued), at)).code;
  t.is(await code({ notBefore: '2026-11-27T18:05:00Z', notOnOrAfter: '2026-11-27T18:06:00Z' }), 'accepted');
  t.is(
    await code({ notBefore: '2026-11-27T18:05:01Z', notOnOrAfter: '2026-11-27T18:06:00Z' }),
    'wsu:MessageExpired',
  );
  t.is(await code({ notOnOrAfter: '2026-11-27T17:55:01Z' }), 'accepted');
  t.is(await code({ notOnOrAfter: '2026-11-27T17:55:00Z' }), 'wsu:MessageExpired');
  t.is(await code({ data: ' NotOnOrAfter="2026-11-27T17:55:00Z"' }), 'wsu:MessageExpired');
  t.is(await code({ data: ' NotBefore="2026-11-27T18:05:01Z"' }), 'wsu:MessageExpired');
  t.is(await code({ notOnOrAfter: 'soon' }), 'wsse:InvalidSecurity');
});

test.serial('X26: each audience restriction must name the audience', async (t) => {
  const code = async (issued: Issued, setting = 'saml'): Promise<string> =>
    (await send(setting, held(issued))).code;
  t.is(await code({ audiences: ['urn:x', 'urn:soapbridge:screening'] }), 'accepted');
  t.is(await code({ audiences: [] }), 'wsse:FailedAuthentication');
  t.is(await code({}, 'saml-audience'), 'wsse:FailedAuthentication');
  const two = '<a:AudienceRestriction><a:Audience>urn:x</a:Audience></a:AudienceRestriction>';
  t.is(await code({ conditions: two }), 'wsse:FailedAuthentication');
  t.is(await code({ version: '1.1', audiences: ['urn:x'] }), 'wsse:FailedAuthentication');
  t.is(await code({ audiences: ['urn:x'] }, 'attribute'), 'accepted', 'no audience is configured');
});

test.serial(
  'X26: unknown conditions, encrypted names, other versions and methods are not supported',
  async (t) => {
    const code = async (issued: Issued): Promise<string> => (await send('saml', held(issued))).code;
    const unsupported = 'wsse:UnsupportedSecurityToken';
    t.is(await code({ conditions: '<x xmlns="urn:x"/>' }), unsupported);
    t.is(await code({ conditions: '<a:Condition/>' }), unsupported);
    t.is(await code({ conditions: '<a:ProxyRestriction Count="1"/>' }), 'accepted');
    t.is(await code({ version: '1.1', conditions: '<a:OneTimeUse/>' }), unsupported);
    t.is(await code({ change: (text) => text.replaceAll('a:NameID', 'a:EncryptedID') }), unsupported);
    t.is(await code({ change: (text) => text.replace('Version="2.0"', 'Version="2.1"') }), unsupported);
    t.is(
      await code({ version: '1.1', change: (text) => text.replace('MinorVersion="1"', 'MinorVersion="0"') }),
      unsupported,
    );
    const encrypted = '<a:EncryptedAssertion xmlns:a="urn:oasis:names:tc:SAML:2.0:assertion"/>';
    t.is((await send('saml', signed({ block: encrypted }))).code, unsupported);
    t.is((await send('wide', vouched({ method: 'other' }))).code, unsupported);
  },
);

test.serial('X26: two subjects, conditions or names are refused, and several statements agree', async (t) => {
  const code = async (issued: Issued): Promise<string> => (await send('saml', held(issued))).code;
  const twice = (element: RegExp) => (text: string) => text.replace(element, '$&$&');
  for (const element of [
    /<a:Subject>.*<\/a:Subject>/,
    /<a:Conditions .*<\/a:Conditions>/,
    /<a:NameID>.*<\/a:NameID>/,
  ])
    t.is(await code({ change: twice(element) }), 'wsse:InvalidSecurity', String(element));
  const differ = (text: string): string => text.replace('alice@lab', 'root@lab');
  t.is(await code({ version: '1.1', change: differ }), 'wsse:InvalidSecurity');
  const many = '<a:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"/>';
  t.is(await code({ confirmations: many.repeat(3) }), 'accepted');
  t.is(await code({ confirmations: many.repeat(4) }), 'wsse:InvalidSecurity');
});

test.serial('X26: Recipient is the address of the request', async (t) => {
  const send1 = async (recipient: string): Promise<Outcome> =>
    send('saml', held({ data: ` Recipient="${recipient}"` }));
  t.is((await send1('https://gateway.example/v2/soap11')).code, 'accepted');
  for (const other of [
    'https://gateway.example/v2/soap12',
    'http://gateway.example/v2/soap11',
    'https://other.example/v2/soap11',
    'https://gateway.example/v2/soap11/',
    'urn:gateway',
    '',
  ]) {
    const { code, upstream, reply } = await send1(other);
    t.is(code, 'wsse:FailedAuthentication', other);
    t.is(upstream, undefined);
    t.true(reply.includes('the Assertion is for another address'), reply);
  }
});

test.serial(
  'X26: a sender that vouches is listed, and covers Body, Timestamp and the assertion',
  async (t) => {
    const accepted = await send('wide', vouched());
    t.is(accepted.code, 'accepted', accepted.reply);
    const refused = async (setting: string, envelope: string): Promise<void> => {
      const { code, upstream } = await send(setting, envelope);
      t.is(code, 'wsse:FailedAuthentication');
      t.is(upstream, undefined);
    };
    await refused('saml', vouched());
    await refused('wide', vouched({}, { signer: 'bob' }));
    await refused('wide', vouched({ issuer: 'urn:other' }));
    await refused('wide', vouched({}, { references: ['body', '_a'] }));
    await refused('wide', vouched({}, { references: ['body', 'time'] }));
    await refused('transport', vouched({}, { references: ['time', '_a'] }));
    await refused('wide', vouched({}, { signatures: [['body', 'time'], ['_a']] }));
    await refused('wide', vouched({ signedBy: 'sts' }, { references: ['body', 'time'] }));
    const wrong = vouched({ signedBy: 'alice', keyInfo: '' });
    t.is((await send('wide', wrong)).code, 'wsse:FailedCheck', 'its own Signature must be valid');
  },
);

test.serial('X26: the holder of a key may not vouch for another assertion', async (t) => {
  const confirmations = '<a:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:sender-vouches"/>';
  const message = held(
    { holder: dataOf('mallory'), method: 'sender-vouches', confirmations },
    { signer: 'mallory', references: ['body', 'time', '_a'] },
  );
  t.is((await send('wide', message)).code, 'wsse:FailedAuthentication');
});

/** A message with a bearer assertion and without a Signature. */
function carried(issued: Issued = {}): string {
  const block = assertion({ method: 'bearer', ...issued });
  return signed({ block }).replace(
    /<Signature xmlns="[^"]*">(?:(?!<Signature ).)*<\/Signature><\/o:Security>/,
    '</o:Security>',
  );
}

test.serial('X26: a bearer assertion needs the setting and the Signature of its issuer', async (t) => {
  t.is((await send('open', carried())).code, 'accepted');
  t.is((await send('open', carried({ version: '1.1' }))).code, 'accepted');
  t.is((await send('open', carried({ signedBy: undefined }))).code, 'wsse:FailedAuthentication');
  t.is((await send('open', carried({ issuer: 'urn:other' }))).code, 'wsse:FailedAuthentication');
  t.is((await send('saml', carried())).code, 'wsse:InvalidSecurity', 'no Signature of the message');
  t.is(
    (await send('saml', signed({ block: assertion({ method: 'bearer' }) }))).code,
    'wsse:FailedAuthentication',
  );
  const expired = await send('open', carried(), '2026-11-27T18:10:00Z');
  t.is(expired.code, 'wsu:MessageExpired');
});

test.serial('X17, X26: a bearer assertion is accepted once, also in another message', async (t) => {
  const message = (second: number, issued: Issued = {}): string =>
    signed({ block: assertion({ method: 'bearer', ...issued }), created: `2026-11-27T17:58:0${second}Z` });
  t.is((await send('replay', message(1))).code, 'accepted');
  const again = await send('replay', message(2));
  t.is(again.code, 'wsse:FailedAuthentication');
  t.regex(again.reply, /this message was received before/);
  t.is((await send('replay', message(3, { id: '_other' }))).code, 'accepted');
  const endless = await send('replay', message(4, { id: '_x', notOnOrAfter: undefined }));
  t.is(endless.code, 'wsse:InvalidSecurity');
});

test.serial('X17, X26: OneTimeUse is remembered also with `replay: allow`', async (t) => {
  const one = held({ id: '_once', conditions: '<a:OneTimeUse/>', audiences: [] });
  t.is((await send('attribute', one)).code, 'accepted');
  t.is((await send('attribute', one)).code, 'wsse:FailedAuthentication');
  const older = held({ id: '_old', version: '1.1', conditions: '<a:DoNotCacheCondition/>' });
  t.is((await send('attribute', older)).code, 'accepted');
  t.is((await send('attribute', older)).code, 'wsse:FailedAuthentication');
  const usual = held({ id: '_many' });
  t.is((await send('attribute', usual)).code, 'accepted');
  t.is((await send('attribute', usual)).code, 'accepted');
});

test.serial('X26: the name or the only value of an attribute is the credential', async (t) => {
  const userOf = async (setting: string, envelope: string): Promise<unknown> => {
    const { upstream, reply, code } = await send(setting, envelope);
    t.is(code, 'accepted', reply);
    return (upstream as { readonly authentication?: { readonly userId?: string } }).authentication?.userId;
  };
  t.is(await userOf('credential', carried()), 'alice@lab');
  t.is(await userOf('credential', vouched({ nameId: 'carol@lab' })), 'carol@lab');
  t.is(await userOf('credential', held({ version: '1.1' })), 'alice@lab');
  t.is(await userOf('credential', carried({ nameId: 'alice@lab<!-- x -->.example' })), 'alice@lab.example');
  t.is(await userOf('attribute', held()), 'officer');
  t.is(await userOf('attribute', held({ version: '1.1' })), 'officer');
  const more = '<a:Attribute Name="role"><a:AttributeValue>admin</a:AttributeValue></a:Attribute>';
  t.is(await userOf('attribute', held({ attributes: more })), undefined);
  const other = { change: (text: string) => text.replace('Name="role"', 'Name="rank"') };
  t.is(await userOf('attribute', held(other)), undefined);
  const nested = { change: (text: string) => text.replace('>officer<', '><b xmlns="urn:x">officer</b><') };
  t.is(await userOf('attribute', held(nested)), undefined);
});

test.serial('X26: the credential of an assertion has no other source', async (t) => {
  const withUser = (envelope: string, user: string): Buffer =>
    Buffer.from(
      requestOf(envelope, type).toString().replace('Host: gateway', `Host: gateway\r\nX-User-Id: ${user}`),
    );
  const spoofed = await sendAt(gatewayOf('credential'), withUser(carried(), 'root'), time);
  t.is(spoofed.code, 'ConflictingCredentials');
  const plain =
    '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><GetEulaStatus xmlns="http://schemas.servicestack.net/types"/></s:Body></s:Envelope>';
  const without = await sendAt(gatewayOf('credential'), withUser(plain, 'root'), time);
  t.is(without.upstream, undefined);
  t.true(without.reply.includes('no assertion was verified'), without.reply);
  t.is((await sendAt(gatewayOf('credential'), withUser(carried(), 'alice@lab'), time)).code, 'accepted');
});

test.serial('X27: an error of a member is reported before an expired assertion', async (t) => {
  const payload = '<GetEulaStatus xmlns="http://schemas.servicestack.net/types"><Nothing/></GetEulaStatus>';
  const message = held({ notOnOrAfter: '2026-11-27T17:00:00Z' }, { payload });
  t.is((await send('saml', message)).code, 'ValidationError');
});

test.serial('X29: the log and the metrics name the assertion, and no text of it', async (t) => {
  const gateway = gatewayOf('open');
  await send('open', carried());
  t.true(gateway.log().includes('"assertion":"urn:test:sts"'));
  await send('wide', held());
  t.true(
    gatewayOf('wide').log().includes('"signature":"rsa-sha256 body+timestamp","assertion":"urn:test:sts"'),
  );
  const outcomes = gateway.running
    .metrics()
    .find(({ name }) => name === 'wsse_total')
    ?.samples.map(({ labels }) => labels);
  t.true(outcomes?.some((labels) => labels.includes('outcome="saml"')));
  await send('wide', held({ nameId: 'secret@lab', audiences: ['urn:x'] }));
  t.true(gatewayOf('wide').log().includes('"wsse":"FailedAuthentication","reason":"audience"'));
  t.false(gatewayOf('wide').log().includes('secret@lab'));
});

const key = (name: string): string => JSON.stringify(join(folder, 'keys', name));
const x509 = `username: apiUserId, password: apiUserKey, x509: { ca: ${key('root.crt')}, credential: { userId: subject } }`;
const issuers = `issuers: { "urn:x/y": ${key('sts.crt')} }`;

for (const [setting, expected] of [
  [`${x509}, saml: {}`, '/wsse/saml/issuers: expected the names of issuers'],
  [`username: apiUserId, password: apiUserKey, saml: { ${issuers} }`, '/wsse/saml: expected /wsse/x509 too'],
  [
    `${x509}, saml: { issuers: { "urn:x/y": none.pem } }`,
    '/wsse/saml/issuers/urn:x~1y: expected a readable file',
  ],
  [
    `${x509}, saml: { issuers: { a: ${key('weak.crt')} } }`,
    '/wsse/saml/issuers/a: expected RSA keys of 2048',
  ],
  [`${x509}, saml: { issuers: { a: soap.yaml } }`, '/wsse/saml/issuers/a: expected certificates in PEM'],
  [`${x509}, saml: { ${issuers}, vouchers: [ab] }`, '/wsse/saml/vouchers/0: expected a SHA-256 fingerprint'],
  [`${x509}, saml: { ${issuers}, credential: { nobody: nameId } }`, '/wsse/saml/credential: expected a name'],
  [
    `${x509}, saml: { ${issuers}, credential: { userId: nameId } }`,
    '/wsse/saml/credential: expected another',
  ],
  [
    `${x509}, saml: { ${issuers}, credential: { apiUserId: nameId } }`,
    '/wsse/saml/credential: expected another',
  ],
  [`${x509}, saml: { ${issuers} }, unverified: [Assertion]`, '/wsse/unverified: expected only elements that'],
  [`${x509}, saml: { ${issuers}, vouchers: ["${fingerprint('alice')}"] }`, ''],
] as const)
  test(`X2: an error at start names the key: ${setting.slice(setting.indexOf('saml')).replaceAll(/"[^"]*\//g, '"')}`, (t) => {
    let problems = '';
    try {
      readContract(contractWith(t, `wsse: { ${setting} }`));
    } catch (error) {
      problems = error instanceof Error ? error.message : '';
    }
    t.true(problems.includes(expected), problems);
    if (expected === '') t.is(problems, '');
  });

test('X2: bearer assertions need an https URL', async (t) => {
  const open = (publicUrl: string) =>
    startSigned(t, 'none', undefined, {}, { publicUrl }, 'saml: { issuers: { a: sts.crt }, bearer: true }');
  await t.throwsAsync(open('http://gateway.example'), {
    message: 'wsse: saml: bearer: expected an https SOAPBRIDGE_PUBLIC_URL, got none',
  });
  await t.notThrowsAsync(open('https://gateway.example'));
});

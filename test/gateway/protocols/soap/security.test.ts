import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { namespaces } from '../../../../mappings/contract/model.ts';
import { ContractError } from '../../../../mappings/loader/document/error.ts';
import { file } from '../../commands/file.ts';
import {
  elementText,
  envelope,
  type Gateway,
  type GatewayOptions,
  type Reply,
  sharedGateway,
  startGateway,
  typesNamespace,
} from '../../gateway.ts';

const gateway = await sharedGateway();
const call = `<GetEulaStatus xmlns="${typesNamespace}"><Request><SubUserName>jane</SubUserName></Request></GetEulaStatus>`;
const profile = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0';

function block(content: string, attributes = ''): string {
  return `<o:Security xmlns:o="${namespaces.wsse}" xmlns:u="${namespaces.wsu}"${attributes}>${content}</o:Security>`;
}

function token(content: string): string {
  return `<o:UsernameToken>${content}</o:UsernameToken>`;
}

function timestamp(created: number, expires?: number): string {
  const end = expires === undefined ? '' : `<u:Expires>${new Date(expires).toISOString()}</u:Expires>`;
  return `<u:Timestamp><u:Created>${new Date(created).toISOString()}</u:Created>${end}</u:Timestamp>`;
}

const user = '<o:Username>demo</o:Username>';
const password = '<o:Password>demo-key</o:Password>';

function digestToken(
  nonce: string,
  { secret = 'demo-key', created = new Date().toISOString() } = {},
): string {
  const hash = createHash('sha1').update(Buffer.from(nonce, 'base64')).update(created).update(secret);
  return token(
    `${user}<o:Password Type="${profile}#PasswordDigest">${hash.digest('base64')}</o:Password><o:Nonce>${nonce}</o:Nonce><u:Created>${created}</u:Created>`,
  );
}

function sendTo(to: Gateway, header: string, version: '1.1' | '1.2' = '1.1', body = call): Promise<Reply> {
  const path = version === '1.1' ? '/soap11' : '/soap12';
  return to.send('POST', path, {}, envelope(version, { header, body }));
}

function codeOf({ text }: Reply): string | undefined {
  return elementText(text, 'faultcode') ?? /<s:Subcode><s:Value>([^<]*)</.exec(text)?.[1];
}

/** A gateway that checks digests with the secrets in a file. */
function checkingGateway(
  t: Pick<ExecutionContext, 'teardown'>,
  options: GatewayOptions = {},
): Promise<Gateway> {
  return startGateway(t, {
    ...options,
    overlay: `wsse: { username: apiUserId, password: apiUserKey, digest: secrets }${options.overlay ?? ''}`,
    serve: { ...options.serve, wsseSecrets: secretsFile(t, 'demo: demo-key\n') },
  });
}

function secretsFile(t: Pick<ExecutionContext, 'teardown'>, text: string, mode = 0o600): string {
  const folder = mkdtempSync(join(tmpdir(), 'wsse-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'secrets.yaml');
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

for (const [what, attributes] of [
  ['mustUnderstand', ' e:mustUnderstand="1"'],
  ['no mustUnderstand', ''],
  ['mustUnderstand in no namespace', ' mustUnderstand="true"'],
] as const) {
  test(`W46: a UsernameToken with ${what} gives the credentials`, async (t) => {
    const { hits, send } = await startGateway(t);
    const header = block(token(user + password), attributes);
    const reply = await send('POST', '/soap11', {}, envelope('1.1', { header, body: call }));
    t.is(reply.status, 200);
    t.like(JSON.parse(hits[0]?.body ?? ''), {
      authentication: { apiUserId: 'demo', apiUserKey: 'demo-key' },
    });
    t.false(reply.text.includes('Security'), 'W53: without a Timestamp the reply has no block');
  });
}

const refusals: readonly (readonly [what: string, code: string, header: string])[] = [
  ['two blocks for us', 'w:InvalidSecurity', block('') + block('')],
  ['two tokens', 'w:InvalidSecurity', block(token(user + password).repeat(2))],
  ['two Timestamps', 'w:InvalidSecurity', block(timestamp(Date.now()).repeat(2))],
  ['text in the block', 'w:InvalidSecurity', block('x')],
  ['a Timestamp without Created', 'w:InvalidSecurity', block('<u:Timestamp/>')],
  [
    'a Created that is no time',
    'w:InvalidSecurity',
    block('<u:Timestamp><u:Created>now</u:Created></u:Timestamp>'),
  ],
  ['Expires before Created', 'w:InvalidSecurity', block(timestamp(Date.now(), Date.now() - 1))],
  ['a token without Username', 'w:InvalidSecurityToken', block(token(password))],
  ['two Passwords', 'w:InvalidSecurityToken', block(token(user + password + password))],
  ['an unknown child of the token', 'w:InvalidSecurityToken', block(token(`${user}<o:Pin/>`))],
  ['an element in Username', 'w:InvalidSecurityToken', block(token('<o:Username><o:b/></o:Username>'))],
  [
    'an unknown Type',
    'w:InvalidSecurityToken',
    block(token(`${user}<o:Password Type="urn:x">p</o:Password>`)),
  ],
  [
    'a derived key',
    'w:UnsupportedSecurityToken',
    block(token(`${user}<s:Salt xmlns:s="${namespaces.wsse11}"/>`)),
  ],
  ['a digest', 'w:UnsupportedSecurityToken', block(digestToken('bm9uY2U='))],
  ['a signature', 'w:UnsupportedSecurityToken', block('<d:Signature xmlns:d="urn:d"/>')],
  [
    'a Timestamp that ended',
    'w:MessageExpired',
    block(timestamp(Date.now() - 700_000, Date.now() - 400_000)),
  ],
];

for (const [what, code, header] of refusals) {
  for (const version of ['1.1', '1.2'] as const) {
    test(`W52: ${what} is ${code.slice(2)} in SOAP ${version}`, async (t) => {
      const reply = await sendTo(gateway, header, version);
      t.is(reply.status, 500);
      t.is(codeOf(reply), code);
      const namespace = code === 'w:MessageExpired' ? namespaces.wsu : namespaces.wsse;
      t.true(reply.text.includes(`<s:Fault xmlns:w="${namespace}">`));
      t.is(reply.text.includes('<u:Timestamp'), header.includes('<u:Timestamp'), 'W53');
      t.is(gateway.hits.length, 0);
    });
  }
}

const reads = 'The gateway reads only a UsernameToken and a Timestamp';
for (const [what, header, text] of [
  [
    'a signature',
    '<d:Signature xmlns:d="urn:d"/>',
    `the gateway does not verify &lt;Signature&gt;. ${reads}`,
  ],
  [
    'a key',
    '<x:EncryptedKey xmlns:x="urn:x"/>',
    `the gateway does not decrypt &lt;EncryptedKey&gt;. ${reads}`,
  ],
  [
    'a digest',
    digestToken('bm9uY2U='),
    'the gateway does not verify PasswordDigest for this contract. Send PasswordText over TLS',
  ],
] as const) {
  test(`W50: the fault for ${what} says what the gateway does not verify`, async (t) => {
    for (const version of ['1.1', '1.2'] as const)
      t.true((await sendTo(gateway, block(header), version)).text.includes(text));
  });
}

test('W51: errors of the block are reported before errors of members', async (t) => {
  const body = `<GetEulaStatus xmlns="${typesNamespace}"><Nothing/></GetEulaStatus>`;
  const reply = await sendTo(gateway, block('<d:Signature xmlns:d="urn:d"/>'), '1.1', body);
  t.is(codeOf(reply), 'w:UnsupportedSecurityToken');
});

test('W53: the Timestamp of a reply is the last block, after those of WS-Addressing', async (t) => {
  const { send } = await startGateway(t);
  const id = '<a:MessageID xmlns:a="http://www.w3.org/2005/08/addressing">urn:1</a:MessageID>';
  const header = id + block(timestamp(Date.now()) + token(user + password));
  const { text } = await send('POST', '/soap12', {}, envelope('1.2', { header, body: call }));
  t.regex(
    text,
    /<w:RelatesTo>urn:1<\/w:RelatesTo><o:Security xmlns:o="[^"]+"><u:Timestamp xmlns:u="[^"]+" u:Id="_0"><u:Created>[^<]{24}<\/u:Created><u:Expires>[^<]{24}<\/u:Expires><\/u:Timestamp><\/o:Security><\/s:Header>/,
  );
});

test('W47: a token that differs from a header is a conflict, an equal one is accepted', async (t) => {
  const { send } = await startGateway(t);
  const text = envelope('1.1', { header: block(token(user + password)), body: call });
  const other = await send('POST', '/soap11', { 'X-Api-Key': 'another-key' }, text);
  t.is(elementText(other.text, 'ErrorCode'), 'ConflictingCredentials');
  t.false(/demo-key|another-key/.test(other.text));
  const same = await send('POST', '/soap11', { 'X-Api-Key': 'demo-key' }, text);
  t.is(same.headers['x-status'], undefined);
});

test('W47: the text of Username and Password is used as written', async (t) => {
  const { hits, send } = await startGateway(t);
  const header = block(token('<o:Username> zoë</o:Username><o:Password>p&lt;&amp;&gt;é漢 x </o:Password>'));
  await send('POST', '/soap11', {}, envelope('1.1', { header, body: call }));
  t.like(JSON.parse(hits[0]?.body ?? ''), {
    authentication: { apiUserId: ' zoë', apiUserKey: 'p<&>é漢 x ' },
  });
});

test('W45: without wsse the 401 of a call with a Security block says that it is not read', async (t) => {
  const { text } = await sendTo(await plainGateway(t), block(token(user + password)));
  t.regex(text, /got none; this contract does not read the header block Security/);
});

/** A gateway for a contract without WS-Security settings. */
async function plainGateway(t: Pick<ExecutionContext, 'teardown'>): Promise<Gateway> {
  return startGateway(t, { overlay: 'wsse:' });
}

test('W48: with timestamp: required a call without one is refused, with or without a header', async (t) => {
  const required = await startGateway(t, {
    overlay: 'wsse: { username: apiUserId, password: apiUserKey, timestamp: required }',
  });
  for (let time = 0; time < 3; time++) {
    const bare = await required.send('POST', '/soap11', {}, envelope('1.1', { body: call }));
    t.is(codeOf(bare), 'w:InvalidSecurity');
    t.is(codeOf(await sendTo(required, block(token(user + password)))), 'w:InvalidSecurity');
  }
  const good = await sendTo(required, block(timestamp(Date.now()) + token(user + password)));
  t.is(codeOf(good), undefined);
  t.is(required.hits.length, 1);
});

for (const { limit, beyond } of [
  { limit: 'wsseSkewMs', beyond: (ms: number) => timestamp(Date.now() + ms) },
  { limit: 'wsseFreshMs', beyond: (ms: number) => timestamp(Date.now() - ms) },
] as const) {
  test(`W48: ${limit} is the maximum clock difference of a Timestamp`, async (t) => {
    const strict = await startGateway(t, { limits: { wsseSkewMs: 60_000, wsseFreshMs: 60_000 } });
    const most = limit === 'wsseSkewMs' ? 60_000 : 120_000;
    const within = await sendTo(strict, block(beyond(most - 5_000) + token(user + password)));
    t.is(codeOf(within), undefined);
    const outside = await sendTo(strict, block(beyond(most + 5_000) + token(user + password)));
    t.is(codeOf(outside), 'w:MessageExpired');
    t.regex(outside.text, /the time of the gateway is .*: \d s too (?:early|late)/);
  });
}

test('W49: a digest is accepted once; a wrong, an unknown and a used one get the same reply', async (t) => {
  const checking = await checkingGateway(t);
  const header = block(digestToken('bm9uY2U='));
  t.is((await sendTo(checking, header)).headers['x-status'], undefined);
  const used = await sendTo(checking, header);
  const wrong = await sendTo(checking, block(digestToken('b3RoZXI=', { secret: 'other-key' })));
  const unknown = await sendTo(checking, block(digestToken('b3RoZXI=').replace('demo<', 'eve<')));
  for (const reply of [used, wrong, unknown]) {
    t.is(elementText(reply.text, 'ErrorCode'), 'FailedAuthentication');
    t.is(elementText(reply.text, 'Message'), elementText(used.text, 'Message'));
    t.is(reply.headers['x-status'], '401');
  }
  t.is(checking.hits.length, 1);
});

test('W49: refuses a digest from before the start, because its nonce may be used', async (t) => {
  const checking = await checkingGateway(t);
  const start = Date.now() - process.uptime() * 1_000;
  const created = new Date(start - 1_001).toISOString();
  const early = await sendTo(checking, block(digestToken('ZWFybHk=', { created })));
  t.is(codeOf(early), 'w:MessageExpired');
  t.is(checking.hits.length, 0);
  // clients may write whole seconds
  const second = `${new Date(start).toISOString().slice(0, 19)}Z`;
  t.is(
    (await sendTo(checking, block(digestToken('bGF0ZQ==', { created: second })))).headers['x-status'],
    undefined,
  );
});

test('W49: the digest of a request read in a worker thread is checked once', async (t) => {
  const checking = await checkingGateway(t, { limits: { readAsideBytes: 100 } });
  const header = block(timestamp(Date.now()) + digestToken('bm9uY2U='));
  const first = await sendTo(checking, header);
  t.is(first.headers['x-status'], undefined);
  t.true(first.text.includes('<u:Timestamp'));
  t.like(JSON.parse(checking.hits[0]?.body ?? ''), {
    authentication: { apiUserId: 'demo', apiUserKey: 'demo-key' },
  });
  t.is(elementText((await sendTo(checking, header)).text, 'ErrorCode'), 'FailedAuthentication');
  t.is(codeOf(await sendTo(checking, block('x'))), 'w:InvalidSecurity');
  t.is(checking.hits.length, 1);
});

test('W52: with soapErrors: fault the 401 of a UsernameToken is wsse:FailedAuthentication', async (t) => {
  const faulting = await startGateway(t, { overlay: 'soapErrors: fault' });
  t.is(codeOf(await sendTo(faulting, block(token(user)))), 'w:FailedAuthentication');
  t.is(codeOf(await sendTo(faulting, '')), 's:Client');
});

test('W49: moving a blank between Nonce and Created makes no new digest', async (t) => {
  const checking = await checkingGateway(t);
  const created = new Date().toISOString();
  const longer = Buffer.from('sixteen letters ');
  for (const [one, other] of [
    [
      { nonce: longer, created },
      { nonce: longer.subarray(0, -1), created: ` ${created}` },
    ],
    [
      { nonce: Buffer.from('nonce'), created: `\n${created}` },
      { nonce: Buffer.from('nonce\n'), created },
    ],
  ] as const) {
    const [first, second] = [one, other].map(({ nonce, created: at }) =>
      block(digestToken(nonce.toString('base64'), { created: at })),
    );
    const replies = [await sendTo(checking, first ?? ''), await sendTo(checking, second ?? '')];
    t.deepEqual(
      replies.map(({ status, headers }) => headers['x-status'] ?? status),
      [200, '401'],
    );
  }
});

test('a used digest consumes none of the caller’s limits', async (t) => {
  const callerLimits = file(t, 'each: { quota: 2 }', 'caller-limits.yaml');
  const checking = await checkingGateway(t, { serve: { callerLimits } });
  const used = block(digestToken('YQ=='));
  const statusOf = async (header: string) => (await sendTo(checking, header)).headers['x-status'];
  t.is(await statusOf(used), undefined);
  for (let time = 0; time < 3; time++) t.is(await statusOf(used), '401');
  t.is(await statusOf(block(digestToken('Yg=='))), undefined);
  t.is(await statusOf(block(digestToken('Yw=='))), '429');
});

test('wsseNonces: remembers that many digests; one more is refused while all are valid', async (t) => {
  const checking = await checkingGateway(t, { limits: { wsseNonces: 2 } });
  for (const nonce of ['YQ==', 'Yg=='])
    t.is((await sendTo(checking, block(digestToken(nonce)))).headers['x-status'], undefined);
  const full = await sendTo(checking, block(digestToken('Yw==')));
  t.is(elementText(full.text, 'ErrorCode'), 'Overloaded');
  const used = await sendTo(checking, block(digestToken('YQ==')));
  t.is(elementText(used.text, 'ErrorCode'), 'FailedAuthentication');
  t.is(checking.hits.length, 2);
});

test('W49: sending a part of a digest upstream as an undeclared credential fails at start', async (t) => {
  const overlay =
    'wsse: { username: apiUserId, password: apiUserKey, digest: { password: d, nonce: n, created: c } }';
  const error = await t.throwsAsync(startGateway(t, { overlay }), { instanceOf: ContractError });
  t.regex(error?.message ?? '', /expected a name from \/credentials\/headers, got "d"/);
});

for (const [what, text, mode, expected] of [
  [
    'that others may read',
    'demo: key\n',
    0o640,
    /expected a file that only its owner can read \(chmod 600\), got mode 640/,
  ],
  ['that is no map', '- a-secret\n', 0o600, /expected a map of usernames to secrets, got another value/],
  ['that is no YAML', 'demo: "a-secret\n', 0o600, /expected valid YAML, got other text/],
  ['with a number', 'demo: 12345678\n', 0o600, /expected a secret, a text in quotes/],
] as const) {
  test(`W49: a file of secrets ${what} fails at start, and the error contains no secret`, async (t) => {
    const wsseSecrets = secretsFile(t, text, mode);
    const error = await t.throwsAsync(startGateway(t, { serve: { wsseSecrets } }), {
      instanceOf: ContractError,
    });
    t.regex(error?.message ?? '', expected);
    t.false(/a-secret|12345678/.test(error?.message ?? ''));
  });
}

test('W49: digest: secrets without a file of secrets fails at start', async (t) => {
  const overlay = 'wsse: { username: apiUserId, password: apiUserKey, digest: secrets }';
  await t.throwsAsync(startGateway(t, { overlay }), {
    message: /expected a file of secrets \(SOAPBRIDGE_WSSE_SECRETS\)/,
  });
});

test('W50: blocks listed as unverified are ignored, logged and counted by name', async (t) => {
  const lenient = await startGateway(t, {
    overlay: 'wsse: { username: apiUserId, password: apiUserKey, unverified: [Signature] }',
  });
  const signature =
    '<d:Signature xmlns:d="http://www.w3.org/2000/09/xmldsig#"><d:X>secret</d:X></d:Signature>';
  const reply = await sendTo(lenient, block(signature + token(user + password)));
  t.is(codeOf(reply), undefined);
  t.is(lenient.hits.length, 1);
  t.regex(lenient.log(), /"unverified":\["Signature"\]/);
  const refused = await sendTo(lenient, block('<o:BinarySecurityToken/>'));
  t.is(codeOf(refused), 'w:UnsupportedSecurityToken');
});

test('W56: blocks are counted by the credentials they gave, and no value is recorded', async (t) => {
  const checking = await checkingGateway(t);
  const nonce = Buffer.from('a nonce of its own').toString('base64');
  const digest = digestToken(nonce);
  await sendTo(checking, block(token(user + password)));
  await sendTo(checking, block(digest));
  const used = await sendTo(checking, block(digest));
  await sendTo(checking, block('<o:Thing/>'));
  await sendTo(checking, block(timestamp(Date.now())));
  const metrics = await checking.running.metrics();
  const counted = Object.fromEntries(
    metrics
      .filter(({ name }) => name === 'wsse_total')
      .flatMap(({ samples }) => samples.map(({ labels, value }) => [labels.split('outcome=')[1], value])),
  );
  t.deepEqual(counted, {
    '"text"': 1,
    '"digest"': 1,
    '"FailedAuthentication"': 1,
    '"UnsupportedSecurityToken"': 1,
    '"none"': 1,
  });
  const hash = elementText(digest, 'Password') ?? '';
  for (const secret of ['demo-key', nonce, hash]) {
    t.false(checking.log().includes(secret));
    t.false(JSON.stringify(metrics).includes(secret));
    t.false(used.text.includes(secret));
  }
});

test('W55: a policy is a separate document, for https if it requires TLS', async (t) => {
  const { send } = await startGateway(t, { serve: { publicUrl: 'https://api.example.com' } });
  const plain = await send('GET', '/soap11?wsdl');
  t.false(/wsp:Policy/.test(plain.text));
  const withTransport = await send('GET', '/soap11?wsdl&policy=transport');
  t.is(withTransport.text.split('<wsp:PolicyReference').length, 3);
  t.regex(withTransport.text, /<wsdl:definitions[^>]*>\s*<wsp:Policy [^>]*wsu:Id="Security">/);
  t.regex(withTransport.text, /<wsdl:binding [^>]*>\s*<wsp:PolicyReference [^>]*URI="#Security"\/>/);
  t.regex(withTransport.text, /<sp:IncludeTimestamp\/>/);
  t.is((await send('GET', '/soap11?wsdl&policy=transport')).text, withTransport.text);
  const message = await send('GET', '/soap11?wsdl&policy=message&operation=GetPdf');
  t.regex(message.text, /<sp:SupportingTokens>/);
  t.false(/TransportBinding|name="GetSearch"/.test(message.text));
  for (const reply of [plain, withTransport, message]) t.is(reply.status, 200);
  t.is((await send('GET', '/soap11?wsdl&policy=other')).status, 404);
  const overHttp = await gateway.send('GET', '/soap11?wsdl&policy=transport');
  t.is(overHttp.status, 404);
  t.regex(overHttp.text, /^policy=transport: expected an https SOAPBRIDGE_PUBLIC_URL, got http\. /);
  t.is((await gateway.send('GET', '/soap11?wsdl&policy=message')).status, 200);
  t.is((await (await plainGateway(t)).send('GET', '/soap11?wsdl&policy=message')).status, 404);
});

test('W54: warns of a public http address that is not this machine’s', async (t) => {
  const named = await startGateway(t, { serve: { publicUrl: 'http://api.example.com' } });
  t.regex(named.log(), /passwords of UsernameTokens are sent unencrypted/);
  t.notRegex(gateway.log(), /unencrypted/);
});

test('W50: refuses an encrypted Body and a WS-Trust session, and names alternatives', async (t) => {
  const encrypted = await sendTo(gateway, '', '1.1', `<x:EncryptedData xmlns:x="${namespaces.xenc}"/>`);
  t.is(codeOf(encrypted), 'w:UnsupportedSecurityToken');
  t.regex(encrypted.text, /the gateway does not decrypt &lt;EncryptedData&gt;/);
  const session = '<t:RequestSecurityToken xmlns:t="http://schemas.xmlsoap.org/ws/2005/02/trust"/>';
  t.regex((await sendTo(gateway, '', '1.2', session)).text, /set establishSecurityContext="false"/);
  const reliable = '<r:CreateSequence xmlns:r="http://schemas.xmlsoap.org/ws/2005/02/rm"/>';
  t.regex((await sendTo(gateway, '', '1.2', reliable)).text, /WS-ReliableMessaging is not supported/);
});

test('W28: refuses WS-ReliableMessaging and WS-SecureConversation blocks, and names alternatives', async (t) => {
  const sequence =
    '<r:Sequence xmlns:r="http://docs.oasis-open.org/ws-rx/wsrm/200702" e:mustUnderstand="1"/>';
  t.regex(
    (await sendTo(gateway, sequence)).text,
    /got (?:&lt;|<)Sequence(?:&gt;|>); [^<]*without a reliable session/,
  );
  const context =
    '<c:SecurityContextToken xmlns:c="http://schemas.xmlsoap.org/ws/2005/02/sc" e:mustUnderstand="1"/>';
  t.regex((await sendTo(gateway, context)).text, /set establishSecurityContext=/);
});

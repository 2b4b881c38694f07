import { chmodSync, cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { adoptedOverlayText } from '../../gateway/commands/adopt-overlay.ts';
import { readContract } from '../../mappings/loader/load.ts';
import { folderOf } from '../mappings/loader/wsdl/wsdl-folder.ts';
import { folder } from './captures.ts';
import { signed } from './sign.ts';
import { requestOf, sendAt, startSigned } from './signed.ts';
import { verifyReply } from './verify-reply.ts';

const pair = 'sign: { key: gateway.key, certificate: gateway.crt }';
const decrypting = `${pair}, decrypt: { cbc: true }`;

/** Returns the policy of a WSDL that real clients configure themselves from. */
function policyIn(wsdl: string): string {
  const dense = wsdl.replaceAll(/>\s+</g, '><').replaceAll(/<([\w:]+)([^>]*)><\/\1>/g, '<$1$2/>');
  const text = /<wsp:Policy .*?<\/wsp:ExactlyOne><\/wsp:Policy>/s.exec(dense)?.[0] ?? 'none';
  return text.replace(/^<wsp:Policy[^>]*>/, '<wsp:Policy>');
}

async function policyOf(
  t: ExecutionContext,
  policy: string,
  { variant = 'default', more = pair, publicUrl = 'https://gateway.example' } = {},
): Promise<{ status: number; text: string }> {
  const gateway = await startSigned(t, variant, undefined, {}, { publicUrl }, more);
  return gateway.send('GET', `/soap11?wsdl&policy=${policy}`);
}

/** The assertion of a UsernameToken, which the contract of the tests reads. */
const token = /<sp:SignedSupportingTokens><wsp:Policy><sp:UsernameToken .*?<\/sp:SignedSupportingTokens>/;

for (const [policy, file] of [
  ['signed', 'p-asym-sign'],
  ['endorsed', 'p-tb-endorsing'],
] as const)
  test(`X35: policy=${policy} has the assertions that CXF, Metro and Rampart obey`, async (t) => {
    const expected = policyIn(readFileSync(join(folder, 'policies', `${file}.wsdl`), 'utf8'));
    const withToken = await policyOf(t, policy, { more: decrypting });
    t.is(withToken.status, 200, withToken.text);
    const found = policyIn(withToken.text);
    t.regex(found, token);
    t.is(found.replace(token, ''), expected);
    t.is(withToken.text.split('<wsp:PolicyReference ').length, 3);
    const other = await policyOf(t, policy, { variant: 'signerOnly' });
    t.is(policyIn(other.text), expected);
  });

test('X35: policy=signed with a UsernameToken has the assertions of the clients', async (t) => {
  const expected = policyIn(readFileSync(join(folder, 'policies/p-asym-sign-ut.wsdl'), 'utf8'));
  t.is(policyIn((await policyOf(t, 'signed', { more: decrypting })).text), expected);
});

test('X32, X35: policy=signed asks for an encrypted Body if the contract requires it', async (t) => {
  const { text } = await policyOf(t, 'signed', { variant: 'signerOnlyEncrypted', more: decrypting });
  t.is(policyIn(text), policyIn(policyFile('p-asym-sign-enc')));
});

test('X35: a policy without the settings that it needs is 404, with the reason', async (t) => {
  const refused = async (policy: string, reason: string, settings: object): Promise<void> => {
    const { status, text } = await policyOf(t, policy, settings);
    t.is(status, 404);
    t.true(text.includes(reason), text);
  };
  await refused('signed', 'policy=signed: expected the key wsse.sign in the overlay, got none', { more: '' });
  const transport = { variant: 'transport' };
  await refused('signed', 'policy=signed: expected body in wsse.x509.require', transport);
  const cbc = 'policy=signed: expected wsse.decrypt with cbc: true (clients encrypt';
  await refused('signed', `${cbc} the UsernameToken with AES-CBC) in the overlay, got none`, {});
  const gcm = { variant: 'signerOnlyEncrypted', more: `${pair}, decrypt: {}` };
  await refused('signed', `${cbc} Body with AES-CBC) in the overlay, got none`, gcm);
  const http = { publicUrl: 'http://gateway.example' };
  await refused('endorsed', 'policy=endorsed: expected an https SOAPBRIDGE_PUBLIC_URL, got http', http);
  await refused('message', 'policy=message: expected the key wsse.username', { variant: 'signerOnly' });
  await refused('secret', 'expected policy to be one of transport, message, signed, endorsed', {});
});

/** The lines of the key `wsse` that `adopt` writes, and the texts of policies that are not met. */
function adoptedWith(
  t: ExecutionContext,
  wsdl: string,
  overlay = '',
): { wsse: readonly string[]; notMet: string } {
  const { contract } = readContract(folderOf(t, { 'service.wsdl': wsdl, 'soap.yaml': overlay }));
  const text = adoptedOverlayText('.', contract, { wsdl: undefined, refs: new Map() });
  const lines = text.split('\n');
  const from = lines.indexOf('wsse:');
  const wsse = from < 0 ? [] : lines.slice(from, lines.indexOf('', from));
  const policies = contract.adopted?.service.policies ?? [];
  return {
    wsse,
    notMet: policies
      .filter(({ served }) => !served)
      .map(({ text }) => text)
      .join('\n'),
  };
}

function policyFile(name: string): string {
  return readFileSync(join(folder, 'policies', `${name}.wsdl`), 'utf8');
}

const sign = '  sign: { key: "", certificate: "" }';

for (const [name, ...wsse] of [
  ['p-asym-sign', '  x509: { ca: "", require: [body, timestamp], sha1: signature }', sign],
  ['p-asym-keyid', '  x509: { ca: "", require: [body, timestamp], sha1: signature }', sign],
  ['p-asym-protect', '  x509: { ca: "", require: [body, timestamp], sha1: signature }', sign],
  ['p-asym-sign-basic256', '  x509: { ca: "", require: [body, timestamp], sha1: true }', sign],
  [
    'p-asym-sigconf',
    '  x509: { ca: "", require: [body, timestamp], sha1: signature }',
    '  sign: { key: "", certificate: "", confirmation: true }',
  ],
  ['p-tb-endorsing', '  x509: { ca: "", require: [timestamp], sha1: signature }'],
] as const)
  test(`X37: adopt writes the settings of the policy ${name}, with empty names of files`, (t) => {
    const found = adoptedWith(t, policyFile(name));
    t.deepEqual(found.wsse, ['wsse:', ...wsse]);
    t.regex(found.notMet, /\(soap\.yaml: wsse\.x509/);
  });

for (const [name, change, line] of [
  ['with CBC', (wsdl: string) => wsdl, 'decrypt: { cbc: true }'],
  ['with GCM', (wsdl: string) => wsdl.replaceAll('Basic256Sha256', 'Basic256GCMSha256'), 'decrypt: {}'],
  [
    'without signed replies',
    (wsdl: string) => wsdl.replaceAll('AsymmetricBinding', 'EndorsingSupportingTokens'),
    'decrypt: { keys: [{ key: "", certificate: "" }], cbc: true }',
  ],
] as const)
  test(`X23, X37: the settings of encryption ${name} start after the files are set`, (t) => {
    const wsdl = change(policyFile('p-asym-sign-enc'));
    const { wsse } = adoptedWith(t, wsdl);
    t.is(wsse.at(-1), `  ${line}`);
    const overlay = wsse.join('\n').replaceAll('ca: ""', 'ca: keys/root.crt');
    const files = overlay
      .replaceAll('key: ""', 'key: gateway.key')
      .replaceAll('certificate: ""', 'certificate: gateway.crt');
    const served = folderOf(t, { 'service.wsdl': wsdl, 'soap.yaml': files });
    cpSync(join(folder, 'keys'), join(served, 'keys'), { recursive: true });
    for (const kind of ['key', 'crt'])
      cpSync(join(folder, `keys/gateway.${kind}`), join(served, `gateway.${kind}`));
    chmodSync(join(served, 'gateway.key'), 0o600);
    const { contract } = readContract(served);
    t.is(contract.wsse?.decrypt?.cbc, line.includes('cbc'));
    t.deepEqual(
      contract.adopted?.service.policies.filter((one) => !one.served),
      [],
    );
  });

test('X37: a policy that the gateway does not support is listed, without settings', (t) => {
  for (const name of ['p-sym-x509', 'p-sym-endorsing']) {
    const found = adoptedWith(t, policyFile(name));
    t.deepEqual(found.wsse, []);
    t.regex(found.notMet, /SymmetricBinding/);
  }
  const rsa15 = adoptedWith(t, policyFile('p-asym-sign').replaceAll('Basic256Sha256', 'Basic256Rsa15'));
  t.regex(rsa15.notMet, /AlgorithmSuite Basic256Rsa15$/m);
});

test('X37: the first alternative that is supported is used', (t) => {
  const wsdl = policyFile('p-asym-sign').replace(
    '<wsp:ExactlyOne>',
    '<wsp:ExactlyOne><wsp:All><sp:SymmetricBinding/></wsp:All>',
  );
  const found = adoptedWith(t, wsdl);
  t.notRegex(found.notMet, /SymmetricBinding/);
  t.is(found.wsse.length, 3);
});

test('X37: policies at a service and at a port are read', (t) => {
  const reference = /<wsp:PolicyReference[^>]*\/>/g;
  const wsdl = policyFile('p-asym-sign');
  const [found = ''] = wsdl.match(reference) ?? [];
  const bare = wsdl.replaceAll(reference, '');
  for (const tag of [/<service name="Svc">/, /<port name="p11"[^>]*>/]) {
    const { wsse, notMet } = adoptedWith(
      t,
      bare.replace(tag, (text) => text + found),
    );
    t.is(wsse.length, 3);
    t.regex(notMet, /^(?:service Svc|port p11): AsymmetricBinding/);
  }
  t.deepEqual(adoptedWith(t, bare), { wsse: [], notMet: '' });
});

const empty = 'wsse:\n  x509: { ca: "", require: [body, timestamp] }\n  sign: { key: "", certificate: "" }\n';

test('X37: until the names of files are set, the contract starts and lists them', (t) => {
  const { warnings, contract } = readContract(
    folderOf(t, { 'service.wsdl': policyFile('p-asym-sign'), 'soap.yaml': empty }),
  );
  t.is(contract.wsse, undefined);
  t.deepEqual(
    warnings.map(({ pointer }) => pointer),
    ['/wsse/x509/ca', '/wsse/sign/key', '/wsse/sign/certificate'],
  );
});

test('X37: an imported WSDL verifies requests and signs replies with the settings of its policy', async (t) => {
  const wsdl = policyFile('p-asym-sign');
  const contract = { folder: folderOf(t, { 'service.wsdl': wsdl, 'soap.yaml': '' }), overlay: '' };
  const setting = 'sha1: signature, replay: allow';
  const gateway = await startSigned(t, setting, undefined, {}, {}, pair, contract);
  gateway.answer({ body: '{"any":[]}' });
  const created = new Date().toISOString();
  const expires = new Date(Date.now() + 60_000).toISOString();
  const send = async (message: string) =>
    sendAt(gateway, requestOf(message, 'text/xml; charset=utf-8'), created);
  const accepted = await send(signed({ created, expires }));
  t.regex(accepted.reply, /GetEulaStatusResponse/);
  t.deepEqual(accepted.upstream, { Request: { SubUserName: 'jane' } });
  t.is(verifyReply(accepted.reply).signer, 'gateway');
  t.is((await send(signed({ created, expires }).replace('>jane<', '>mary<'))).code, 'wsse:FailedCheck');
});

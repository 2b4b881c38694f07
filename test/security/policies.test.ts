import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { folder } from './captures.ts';
import { startSigned } from './signed.ts';

const pair = 'sign: { key: gateway.key, certificate: gateway.crt }';

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
    const withToken = await policyOf(t, policy);
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
  t.is(policyIn((await policyOf(t, 'signed')).text), expected);
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
  const http = { publicUrl: 'http://gateway.example' };
  await refused('endorsed', 'policy=endorsed: expected an https SOAPBRIDGE_PUBLIC_URL, got http', http);
  await refused('message', 'policy=message: expected the key wsse.username', { variant: 'signerOnly' });
  await refused('secret', 'expected policy to be one of transport, message, signed, endorsed', {});
});

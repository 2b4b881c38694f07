import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { createDoctor } from '../../gateway/doctor/explain.ts';
import { compileContract } from '../../mappings/compile.ts';
import { readContract } from '../../mappings/loader/load.ts';
import { contractWith } from '../gateway/gateway.ts';
import { assertion, keyInfoOf } from './assertion.ts';
import { folder } from './captures.ts';
import { type Message, signed } from './sign.ts';

// Explanations of signed messages.

function findingsOf(t: ExecutionContext, envelope: string): string {
  const at = (name: string): string => JSON.stringify(join(folder, 'keys', name));
  const x509 = `x509: { ca: [${at('issuing.crt')}, ${at('root.crt')}], replay: allow }`;
  const saml = `saml: { issuers: { "urn:test:sts": ${at('sts.crt')} } }`;
  const contract = contractWith(t, `wsse: { username: apiUserId, password: apiUserKey, ${x509}, ${saml} }`);
  const doctor = createDoctor(compileContract(readContract(contract).contract));
  const { findings } = doctor.explain({
    body: Buffer.from(envelope),
    headers: { 'content-type': 'text/xml' },
  });
  return findings.map(({ message }) => message).join('\n');
}

function now(message: Message = {}): string {
  const [created = '', expires = ''] = [0, 300_000].map((more) => new Date(Date.now() + more).toISOString());
  return signed({ created, expires, ...message });
}

test('X29: an explanation lists the References of a refused message with their digests', (t) => {
  const changed = now().replace('>jane<', '>mary<');
  const told = findingsOf(t, changed);
  t.true(told.includes('the digest of Body differs: the content or its whitespace changed in transit'), told);
  t.true(told.includes('References: Body (the digest differs), Timestamp (the digest matches)'), told);
  t.false(told.includes('mary'));
});

test('X29: an explanation names the first rule that fails', (t) => {
  const lone = findingsOf(t, now({ references: ['body'] }));
  t.true(
    lone.includes('expected Timestamp to be signed, got only Body. References: Body (the digest matches)'),
    lone,
  );
  const unsigned = findingsOf(t, now().replace(/<Signature .*<\/Signature>/, ''));
  t.true(unsigned.includes('expected Body and Timestamp to be signed, got none'), unsigned);
});

test('X29: an explanation of an assertion names its problem, and an accepted message has none', (t) => {
  const block = assertion({ issuer: 'urn:other' });
  const told = findingsOf(t, now({ block, keyInfo: keyInfoOf() }));
  t.true(told.includes('the issuer of the Assertion is not trusted'), told);
  t.true(told.includes('Assertion (the digest matches)'), told);
  t.false(findingsOf(t, now()).includes('References'));
});

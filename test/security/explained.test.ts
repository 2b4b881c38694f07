import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { createDoctor } from '../../gateway/doctor/explain.ts';
import { createPreview } from '../../gateway/protocols/preview.ts';
import { type CompiledContract, compileContract } from '../../mappings/compile.ts';
import { readContract } from '../../mappings/loader/load.ts';
import { contractWith } from '../gateway/gateway.ts';
import { related } from '../gateway/protocols/soap/related.ts';
import { assertion, keyInfoOf } from './assertion.ts';
import { folder } from './captures.ts';
import { signedThenEncrypted } from './encrypt.ts';
import { type Message, signed } from './sign.ts';

// Explanations of signed messages.

function compiledFor(t: ExecutionContext): CompiledContract {
  const at = (name: string): string => JSON.stringify(join(folder, 'keys', name));
  const x509 = `x509: { ca: [${at('issuing.crt')}, ${at('root.crt')}], replay: allow }`;
  const decrypt = `decrypt: { keys: [{ key: gateway.key, certificate: ${at('gateway.crt')} }] }`;
  const saml = `saml: { issuers: { "urn:test:sts": ${at('sts.crt')} } }`;
  const contract = contractWith(
    t,
    `wsse: { username: apiUserId, password: apiUserKey, ${x509}, ${saml}, ${decrypt} }`,
  );
  const key = readFileSync(join(folder, 'keys/gateway.key'));
  writeFileSync(join(contract, 'gateway.key'), key, { mode: 0o600 });
  return compileContract(readContract(contract).contract);
}

function findingsOf(t: ExecutionContext, envelope: string, decrypts = false): string {
  const doctor = createDoctor(compiledFor(t), decrypts);
  const { findings } = doctor.explain({
    body: Buffer.from(envelope),
    headers: { 'content-type': 'text/xml' },
  });
  return findings.map(({ message }) => message).join('\n');
}

function fresh(): Message {
  const [created = '', expires = ''] = [0, 300_000].map((more) => new Date(Date.now() + more).toISOString());
  return { created, expires };
}

function now(message: Message = {}): string {
  return signed({ ...fresh(), ...message });
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

test('X22, X29: an explanation of a multipart message compares the digests of its parts', (t) => {
  const cid = 'cid:photo@lab';
  const references = ['body', 'time', cid];
  const envelope = signed({ ...fresh(), references, parts: { [cid]: 'a photo' } });
  const explained = (root: string, photo: string): string => {
    const { headers, body } = related({ form: 'swa', root, parts: [{ id: 'photo@lab', bytes: photo }] });
    const doctor = createDoctor(compiledFor(t));
    const { findings } = doctor.explain({ body, headers: { 'content-type': headers['Content-Type'] } });
    return findings.map(({ message }) => message).join('\n');
  };
  const changed = explained(envelope, 'b photo');
  t.true(changed.includes('the digest of a part differs'), changed);
  const shown =
    'References: Body (the digest matches), Timestamp (the digest matches), a part (the digest differs)';
  t.true(changed.includes(shown), changed);
  const other = explained(envelope.replace('>jane<', '>mary<'), 'a photo');
  t.true(other.includes('Body (the digest differs)'), other);
  t.true(other.includes('a part (the digest matches)'), other);
  t.false(explained(envelope, 'a photo').includes('References'));
});

const notHere = 'encrypted messages are not decrypted here. Use the command soapbridge explain';

test('X24, X29: only the command explains what an encrypted message contains', (t) => {
  const message = signedThenEncrypted({}, fresh());
  const told = findingsOf(t, message);
  t.true(told.includes(notHere), told);
  t.false(findingsOf(t, message, true).includes(notHere));
});

test('X24: the preview refuses an encrypted message', (t) => {
  const preview = createPreview(compiledFor(t));
  const show = (body: string) => preview({ operation: '', format: 'soap11', headers: {}, body });
  const told = show(signedThenEncrypted({}, fresh()));
  t.true(told.includes(notHere), told);
  t.false(show(now()).includes(notHere));
});

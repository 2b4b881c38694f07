import { X509Certificate } from 'node:crypto';
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { signingLinesOf } from '../../gateway/commands/check-signing.ts';
import { run } from '../gateway/commands/run.ts';
import { contractWith } from '../gateway/gateway.ts';
import { folder } from './captures.ts';

const settings = [
  'username: apiUserId, password: apiUserKey',
  'x509: { ca: root.crt, certificates: [alice.crt, expired.crt], replay: allow }',
  'sign: { key: gateway.key, certificate: gateway.crt }',
  'decrypt: {}',
  'saml: { issuers: { "urn:test:sts": sts.crt } }',
];

/** Creates a contract that verifies signatures, with its files in its folder. */
function contractOf(t: ExecutionContext): string {
  const contract = contractWith(t, `wsse: { ${settings.join(', ')} }`);
  for (const name of ['root.crt', 'alice.crt', 'expired.crt', 'gateway.crt', 'gateway.key', 'sts.crt'])
    copyFileSync(join(folder, 'keys', name), join(contract, name));
  chmodSync(join(contract, 'gateway.key'), 0o600);
  return contract;
}

const certificateOf = (name: string): X509Certificate =>
  new X509Certificate(readFileSync(join(folder, 'keys', `${name}.crt`)));
const subjectOf = (name: string): string => certificateOf(name).subject.split('\n').toReversed().join(',');
const endOf = (name: string): string => certificateOf(name).validToDate.toISOString();

test('X29: check prints the CAs, certificates and key pairs of a contract, until when they are valid, and warns', async (t) => {
  const { code, out, err } = await run(t, ['check', '--contract', contractOf(t)]).ended;
  t.is(code, 0, err);
  for (const line of [
    'signed calls: body, timestamp required',
    `trusted CA: ${subjectOf('root')}, valid until ${endOf('root')}`,
    `known certificate: ${subjectOf('alice')}, valid until ${endOf('alice')}`,
    `known certificate: ${subjectOf('expired')}, expired at ${endOf('expired')}`,
    `certificate for signed replies: ${subjectOf('gateway')}, valid until ${endOf('gateway')}`,
    `certificate for encrypted requests: ${subjectOf('gateway')}, valid until ${endOf('gateway')}`,
    `issuer of assertions urn:test:sts: ${subjectOf('sts')}, valid until ${endOf('sts')}`,
    `warning: certificate expired: ${subjectOf('expired')} (signer of /v2), valid until ${endOf('expired')}`,
  ])
    t.true(out.split('\n').includes(line), `${line}\n${out}`);
});

test('X29: check --json has the certificates with their fingerprints, and no key', async (t) => {
  const contract = contractOf(t);
  const { code, out } = await run(t, ['check', '--contract', contract, '--json']).ended;
  t.is(code, 0);
  const { signing } = JSON.parse(out);
  t.deepEqual(signing.require, ['body', 'timestamp']);
  t.deepEqual(
    signing.certificates.map(({ use }: { use: string }) => use),
    ['ca', 'signer', 'signer', 'sign', 'decrypt', 'issuer'],
  );
  t.is(
    signing.certificates[1].fingerprint,
    certificateOf('alice').fingerprint256.replaceAll(':', '').toLowerCase(),
  );
  const [, start = ''] = readFileSync(join(contract, 'gateway.key'), 'latin1').split('\n');
  t.true(start.length > 50);
  t.false(out.includes(start));
});

test('X29: check of a contract without signatures says nothing about them', async (t) => {
  const contract = contractOf(t);
  writeFileSync(
    join(contract, 'soap.yaml'),
    readFileSync(join(contract, 'soap.yaml'), 'utf8').replace(/, x509: .*/, ' }'),
  );
  const { code, out } = await run(t, ['check', '--contract', contract]).ended;
  t.is(code, 0);
  t.notRegex(out, /signed calls|certificate|CA:/);
});

test('X29: lines of check for a certificate that is not valid yet, a CRL, and calls that need no signature', (t) => {
  const at = (year: number): string => `${year}-01-01T00:00:00.000Z`;
  const certificate = { subject: 'CN=a', fingerprint: '', notBefore: at(2030), notAfter: at(2031) };
  const lines = signingLinesOf(
    {
      require: [],
      certificates: [{ use: 'ca', ...certificate }],
      crls: [
        { thisUpdate: at(2026), nextUpdate: at(2027) },
        { thisUpdate: undefined, nextUpdate: undefined },
      ],
    },
    Date.parse(at(2029)),
  );
  t.deepEqual(lines, [
    'signed calls: not required',
    `trusted CA: CN=a, valid from ${at(2030)}`,
    `CRL: of ${at(2026)}, next update ${at(2027)}`,
    'CRL: of an unknown time, next update not stated',
  ]);
});

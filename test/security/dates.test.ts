import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { warnOfCrls, warnOfSigners } from '../../gateway/process/signing-dates.ts';
import type { Wsse } from '../../mappings/contract/credentials.ts';
import { nextUpdateOf } from '../../mappings/security/crl.ts';
import { derTag } from '../../mappings/security/der.ts';
import { contractWith } from '../gateway/gateway.ts';
import { until } from '../until.ts';
import { folder } from './captures.ts';
import { startSigned } from './signed.ts';

const dayMs = 24 * 60 * 60 * 1_000;
const keys = join(folder, 'keys');
const alice = new X509Certificate(readFileSync(join(keys, 'alice.crt')));
const crl = Buffer.from(
  readFileSync(join(keys, 'issuing.crl'), 'latin1').replaceAll(/-----[^-]*-----/g, ''),
  'base64',
);
const gatewayCertificate = new X509Certificate(readFileSync(join(keys, 'gateway.crt')));
const all: ReadonlyMap<string, Pick<Wsse, 'x509'>> = new Map([
  [
    '/v2',
    {
      x509: {
        cas: [],
        certificates: [alice.raw.toString('base64')],
        crls: [crl.toString('base64')],
        require: ['body', 'timestamp'],
        credential: undefined,
        sha1: false,
        replay: 'allow',
        files: [],
      },
    },
  ],
]);

/** Returns the lines that a function logs. */
function logged(run: (log: Parameters<typeof warnOfCrls>[1]) => void): readonly unknown[] {
  const lines: unknown[] = [];
  const line = (level: string) => (fields: object, message: string) => lines.push([level, fields, message]);
  run({ info: line('info'), warn: line('warn'), error: line('error') });
  return lines;
}

test('X3: a certificate of a caller is logged 30 days before it expires, and after', (t) => {
  const end = alice.validToDate.getTime();
  const at = (now: number) => logged((log) => warnOfSigners(all, log, now));
  const certificate = {
    use: 'signer',
    contract: '/v2',
    subject: alice.subject.split('\n').toReversed().join(','),
    notAfter: alice.validToDate.toISOString(),
  };
  t.deepEqual(at(end - 30 * dayMs), []);
  t.deepEqual(at(end - 30 * dayMs + 1), [
    ['warn', { certificate }, 'certificate expires in less than 30 days'],
  ]);
  t.deepEqual(at(end + 1), [['error', { certificate }, 'certificate expired']]);
});

test('X3: a certificate of the gateway is logged 30 days before it expires', (t) => {
  const sign = {
    key: '',
    certificates: [gatewayCertificate.raw.toString('base64')],
    confirmation: false,
    files: [],
  };
  const end = gatewayCertificate.validToDate.getTime();
  const lines = logged((log) =>
    warnOfSigners(new Map([['', { sign }]]) as typeof all, log, end - 29 * dayMs),
  );
  const certificate = {
    use: 'sign',
    contract: '/',
    subject: 'CN=gateway,O=lab',
    notAfter: gatewayCertificate.validToDate.toISOString(),
  };
  t.deepEqual(lines, [['warn', { certificate }, 'certificate expires in less than 30 days']]);
});

test('X3: the gateway logs an expired certificate of a caller at the start, and none of a removed setting', async (t) => {
  const usual = 'username: apiUserId, password: apiUserKey';
  const expired = JSON.stringify(join(keys, 'expired.crt'));
  const contract = contractWith(t, `wsse: { ${usual}, x509: { certificates: ${expired} } }`);
  const gateway = await startSigned(t, 'default', undefined, {}, { contract });
  await until(() => gateway.log().includes('"use":"signer"'));
  t.is(gateway.log().split('"use":"signer"').length, 2);
  t.regex(gateway.log(), /"use":"signer","contract":"\/v2","subject":"[^"]*CN=expired.*certificate expired/);
  const overlay = join(contract, 'soap.yaml');
  writeFileSync(overlay, readFileSync(overlay, 'utf8').replace(/, x509: .*\}/, ' }'));
  await gateway.running.reload();
  t.is(gateway.log().split('"use":"signer"').length, 2);
});

test('X3: a CRL is logged after its next update', (t) => {
  const next = Date.parse('2036-11-24T17:16:33Z');
  t.is(nextUpdateOf(crl), next);
  t.deepEqual(
    logged((log) => warnOfCrls(all, log, next)),
    [],
  );
  t.deepEqual(
    logged((log) => warnOfCrls(all, log, next + 1)),
    [
      [
        'warn',
        { crl: { contract: '/v2', nextUpdate: new Date(next).toISOString() } },
        'CRL is after its next update',
      ],
    ],
  );
});

for (const [tag, text, expected] of [
  [0x17, '490102030405Z', '2049-01-02T03:04:05Z'],
  [0x17, '500102030405Z', '1950-01-02T03:04:05Z'],
  [0x18, '20500102030405Z', '2050-01-02T03:04:05Z'],
  [0x18, '20500102030405.5Z', undefined],
  [0x17, '490102030405+0100', undefined],
  [0x17, '4901020304Z', undefined],
] as const)
  test(`X3: the time ${text} of a CRL`, (t) => {
    const der = (own: number, content: Buffer): Buffer =>
      Buffer.concat([Buffer.from([own, content.length]), content]);
    const times = Buffer.concat([der(0x17, Buffer.from('260101000000Z')), der(tag, Buffer.from(text))]);
    const list = der(derTag.sequence, der(derTag.sequence, times));
    t.is(nextUpdateOf(list), expected === undefined ? undefined : Date.parse(expected));
    t.is(nextUpdateOf(der(derTag.sequence, der(derTag.sequence, times.subarray(0, 15)))), undefined);
  });

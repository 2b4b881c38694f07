import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { signingMetrics, warnOfCrls, warnOfSigners } from '../../gateway/process/signing-dates.ts';
import type { Snapshot } from '../../gateway/telemetry/metrics.ts';
import type { Wsse } from '../../mappings/contract/credentials.ts';
import { crlTimesOf } from '../../mappings/security/crl.ts';
import { derTag } from '../../mappings/security/der.ts';
import { contractWith, startGateway } from '../gateway/gateway.ts';
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
  t.is(crlTimesOf(crl).nextUpdate, next);
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
    t.is(crlTimesOf(list).nextUpdate, expected === undefined ? undefined : Date.parse(expected));
    t.is(crlTimesOf(der(derTag.sequence, der(derTag.sequence, times.subarray(0, 15)))).nextUpdate, undefined);
  });

/** Returns the samples of a metric as `labels value`. */
function samplesOf(snapshot: Snapshot, name: string): readonly string[] {
  return snapshot.flatMap((family) =>
    family.name === name ? family.samples.map(({ labels, value }) => `${labels} ${value}`) : [],
  );
}

test('X29: metrics have the time left of the first certificate of each use, and the age of the oldest CRL', (t) => {
  const base64 = (name: string): string =>
    new X509Certificate(readFileSync(join(keys, `${name}.crt`))).raw.toString('base64');
  const pair = (name: string) => ({ key: '', certificates: [base64(name)] as const, files: [] });
  const end = gatewayCertificate.validToDate.getTime();
  const endOfExpired = new X509Certificate(readFileSync(join(keys, 'expired.crt'))).validToDate.getTime();
  const settings: Pick<Wsse, 'x509' | 'sign' | 'decrypt'> = {
    ...all.get('/v2'),
    sign: { ...pair('gateway'), confirmation: false },
    decrypt: { keys: [pair('gateway'), pair('expired')], cbc: false },
  };
  const both = new Map([
    ['/v2', settings],
    ['', { sign: settings.sign }],
  ]) as Parameters<typeof signingMetrics>[0];
  const made = Date.parse('2026-11-27T17:16:33Z');
  t.is(crlTimesOf(crl).thisUpdate, made);
  const now = made + 5_000;
  const snapshot = signingMetrics(both, now);
  t.deepEqual(samplesOf(snapshot, 'wsse_certificate_expiry_seconds'), [
    `use="sign",contract="/v2" ${(end - now) / 1_000}`,
    `use="decrypt",contract="/v2" ${(Math.min(end, endOfExpired) - now) / 1_000}`,
    `use="sign",contract="/" ${(end - now) / 1_000}`,
  ]);
  t.true(endOfExpired < now);
  t.deepEqual(samplesOf(snapshot, 'wsse_crl_age_seconds'), ['contract="/v2" 5']);
});

test('X29: a gateway has the metrics of dates while a contract has such files', async (t) => {
  const gateway = await startSigned(
    t,
    'default',
    undefined,
    {},
    {},
    'sign: { key: gateway.key, certificate: gateway.crt }',
  );
  const read = () => gateway.running.metrics();
  t.regex(samplesOf(read(), 'wsse_certificate_expiry_seconds').join(), /^use="sign",contract="\/v2" [1-9]/);
  t.is(samplesOf(read(), 'wsse_crl_age_seconds').length, 1);
});

test('X29: a contract without signatures has no such metrics', async (t) => {
  const { running } = await startGateway(t);
  const names = running.metrics().map(({ name }) => name);
  t.false(names.includes('wsse_certificate_expiry_seconds'));
  t.false(names.includes('wsse_crl_age_seconds'));
});

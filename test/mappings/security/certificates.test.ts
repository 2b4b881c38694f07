import { X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { type Certificate, parseCertificate, parsePath } from '../../../mappings/security/certificate.ts';
import { readCrl } from '../../../mappings/security/crl.ts';
import { DerError, derTag, integerOf, oidOf, readDer } from '../../../mappings/security/der.ts';
import { isNameOf } from '../../../mappings/security/distinguished-name.ts';
import { type Distrust, Trust, tokenOf, trustCache } from '../../../mappings/security/trust.ts';
import { folder } from '../../security/captures.ts';

const now = Date.parse('2026-11-27T18:00:00Z');
const minute = 60_000;
const noBytes = Buffer.alloc(0);

function derOf(name: string): Buffer {
  return new X509Certificate(readFileSync(join(folder, `keys/${name}.crt`))).raw;
}

function certificate(name: string): Certificate {
  const parsed = parseCertificate(derOf(name));
  if (parsed === undefined) throw new RangeError(name);
  return parsed;
}

function crlBytes(): Buffer {
  const text = readFileSync(join(folder, 'keys/issuing.crl'), 'latin1');
  return Buffer.from(text.replaceAll(/-----[^-]*-----/g, ''), 'base64');
}

/** Returns a DER value with a short or long length. */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

test('X10: the fields of all certificates equal those that OpenSSL reads', (t) => {
  const files = readdirSync(join(folder, 'keys')).filter((file) => file.endsWith('.crt'));
  t.true(files.length > 10);
  for (const file of files) {
    const one = certificate(file.slice(0, -4));
    const text = one.serial < 0n ? `-${(-one.serial).toString(16)}` : one.serial.toString(16);
    t.is(text.toUpperCase().padStart(2, '0'), one.x509.serialNumber.padStart(2, '0'), file);
    t.is(one.isCa, one.x509.ca, file);
  }
  t.is(certificate('noski').keyId, undefined);
});

test('X10: bytes that are not exactly one certificate in DER are refused', (t) => {
  const bytes = derOf('alice');
  t.is(parseCertificate(Buffer.concat([bytes, Buffer.alloc(1)])), undefined);
  t.is(parseCertificate(bytes.subarray(0, -1)), undefined);
  t.is(parseCertificate(Buffer.from('not a certificate')), undefined);
  for (let at = 0; at < bytes.length; at += 7) t.notThrows(() => parseCertificate(bytes.subarray(0, at)));
});

for (const [what, hex] of [
  ['an indefinite length', '3080020101'],
  ['a length that is not the shortest', '30810302010100'],
  ['a length with a leading zero', '3082000302010100'],
  ['more bytes than there are', '300502'],
  ['a tag of several bytes', '1f8101'],
  ['bytes after the value', '02010100'],
] as const)
  test(`X10: DER with ${what} is refused`, (t) => {
    t.throws(() => readDer(Buffer.from(hex, 'hex')), { instanceOf: DerError });
  });

test('X10: integers and object identifiers in DER', (t) => {
  t.is(integerOf(readDer(Buffer.from('0201ff', 'hex'))), -1n);
  t.is(integerOf(readDer(Buffer.from('02020080', 'hex'))), 128n);
  t.is(oidOf(readDer(Buffer.from('06092a864886f70d01010b', 'hex'), derTag.oid)), '1.2.840.113549.1.1.11');
  t.throws(() => oidOf(readDer(Buffer.from('060180', 'hex'))), { instanceOf: DerError });
});

test('X10: an object identifier has at most 64 bytes, and each arc its shortest form', (t) => {
  const oid = (content: string): string =>
    oidOf({ tag: 6, bytes: noBytes, content: Buffer.from(content, 'hex') });
  t.is(oid('2b'), '1.3');
  t.is(oid('883703'), '2.999.3');
  t.is(oid(`2a${'01'.repeat(63)}`), `1.2${'.1'.repeat(63)}`);
  t.throws(() => oid(`2a${'01'.repeat(64)}`), { instanceOf: DerError });
  t.throws(() => oid('2a8001'), { instanceOf: DerError });
  const large = `6984${'80'.repeat(15)}01`;
  t.is(oid(large), `hex ${large}`);
});

test('X10: a long object identifier is refused before its arcs are read', (t) => {
  let reads = 0;
  const content = new Proxy(Buffer.alloc(11_000, 0x81), {
    get(target, name) {
      if (name === Symbol.iterator) reads++;
      return name === 'length' ? target.length : name === 'at' ? () => 1 : Reflect.get(target, name);
    },
  });
  t.throws(() => oidOf({ tag: 6, bytes: noBytes, content }), { instanceOf: DerError });
  t.is(reads, 0);
});

for (const [text, isSame] of [
  ['CN=soapbridge test issuing CA,O=lab', true],
  ['O=lab, CN=soapbridge test issuing CA', true],
  ['o=LAB,cn=SoapBridge  Test Issuing CA', true],
  ['2.5.4.3=soapbridge test issuing CA,OID.2.5.4.10=lab', true],
  ['CN="soapbridge test issuing CA",O=l\\61b', true],
  ['CN=#0c1a736f6170627269646765207465737420697373756e672043,O=lab', false],
  ['CN=soapbridge test issuing CA', false],
  ['CN=soapbridge test issuing CA,O=lab,C=AT', false],
  ['CN=soapbridge test root,O=lab', false],
  ['X=soapbridge test issuing CA,O=lab', false],
  ['CN="soapbridge test issuing CA,O=lab', false],
  ['', false],
] as const)
  test(`X10: an issuer name is compared by its attributes: ${text}`, (t) => {
    t.is(isNameOf(text, certificate('alice').issuer), isSame);
  });

function trust(cas: readonly string[], certificates: readonly string[] = [], withCrl = false): Trust {
  const anchors = cas.map(certificate);
  const crl = withCrl ? readCrl(crlBytes(), anchors) : undefined;
  const crls = crl === undefined || typeof crl === 'string' ? [] : [crl];
  return new Trust({ cas: anchors, certificates: certificates.map(certificate), crls });
}

function check(by: Trust, name: string, at = now, others: readonly string[] = []): Distrust | undefined {
  const signer = certificate(name);
  return by.check({ ...tokenOf(signer), others: others.map(certificate) }, at);
}

for (const [name, problem] of [
  ['alice', undefined],
  ['alice-ec', undefined],
  ['expired', 'expired'],
  ['revoked', 'revoked'],
  ['weak', 'short key'],
  ['nosign', 'not for signatures'],
  ['issuing', 'not for signatures'],
  ['mallory', 'unknown CA'],
  ['under-notca', 'unknown CA'],
] as const)
  test(`X11: ${name} is ${problem ?? 'trusted'}`, (t) => {
    t.is(check(trust(['issuing', 'root'], [], true), name), problem);
  });

test('X11: a certificate is trusted by itself, by its issuer, or by a path of the message', (t) => {
  t.is(check(trust([], ['alice']), 'alice'), undefined);
  t.is(check(trust([], ['bob']), 'alice'), 'unknown CA');
  t.is(check(trust(['issuing']), 'alice'), undefined);
  t.is(check(trust(['root']), 'alice'), 'unknown CA');
  t.is(check(trust(['root']), 'alice', now, ['issuing']), undefined);
  t.is(check(trust(['root']), 'alice', now, ['root', 'issuing']), undefined);
  t.is(check(trust(['root']), 'under-notca', now, ['issuing', 'notca']), 'unknown CA');
  t.is(check(trust(['root']), 'mallory', now, ['other-root']), 'unknown CA');
  t.is(check(trust([], ['expired']), 'expired'), 'expired');
  t.is(check(trust([], ['weak']), 'weak'), 'short key');
});

const later = Date.parse('2027-01-01T00:00:00Z');

/** Checks a certificate of the folder `issued`. Its CA is `ca`. */
function checkIssued(
  name: string,
  others: readonly string[] = [],
  acceptsSha1 = false,
): Distrust | undefined {
  const issued = (one: string): Certificate => {
    const { raw } = new X509Certificate(readFileSync(join(folder, `issued/${one}.crt`)));
    return parseCertificate(raw) as Certificate;
  };
  const by = new Trust({ cas: [issued('ca')], certificates: [], crls: [], acceptsSha1 });
  const signer = issued(name);
  return by.check({ ...tokenOf(signer), others: others.map(issued) }, later);
}

for (const [name, usual, withSha1] of [
  ['md5', 'weak signature', 'weak signature'],
  ['sha1', 'weak signature', undefined],
  ['pss-sha1', 'weak signature', undefined],
  ['sha224', undefined, undefined],
  ['sha256', undefined, undefined],
  ['pss-sha256', undefined, undefined],
] as const)
  test(`X11: a certificate that was signed with ${name} is ${usual ?? 'trusted'}`, (t) => {
    t.is(checkIssued(name), usual);
    t.is(checkIssued(name, [], true), withSha1);
  });

test('X11: an issuer that was signed with SHA-1 makes its path weak', (t) => {
  t.is(checkIssued('under-sha1-ca', ['sha1-ca']), 'weak signature');
  t.is(checkIssued('under-sha1-ca', ['sha1-ca'], true), undefined);
});

for (const [name, problem] of [
  ['eku-server', undefined],
  ['eku-server-soft', undefined],
  ['eku-client', undefined],
  ['eku-mail', undefined],
  ['eku-any', undefined],
  ['policies', undefined],
  ['policies-critical', 'not for signatures'],
] as const)
  test(`X11: a signer with the extensions ${name} is ${problem ?? 'trusted'}`, (t) => {
    t.is(checkIssued(name), problem);
  });

test('X11: an issuer with name constraints is refused, critical or not', (t) => {
  t.is(checkIssued('under-plain-ca', ['plain-ca']), undefined);
  t.is(checkIssued('under-names', ['names']), 'unknown CA');
  t.is(checkIssued('under-names-critical', ['names-critical']), 'unknown CA');
});

test('X11: a remembered result ends after a minute, and with the certificate', (t) => {
  const { from } = certificate('alice');
  const { to } = certificate('issuing');
  const by = trust(['issuing']);
  t.is(check(by, 'alice', from), undefined);
  t.is(check(by, 'alice', from - 1), 'not yet valid');
  t.is(check(by, 'alice', to - minute / 2), undefined);
  t.is(check(by, 'alice', to), undefined);
  t.is(check(by, 'alice', to + 1), 'expired');
  t.is(trustCache.ms, minute);
});

test('X11: a path has one to five certificates', (t) => {
  const path = (names: readonly string[]): Buffer => der(derTag.sequence, Buffer.concat(names.map(derOf)));
  t.is(parsePath(path(['root', 'issuing', 'alice']))?.length, 3);
  t.is(parsePath(path(['root', 'root', 'root', 'issuing', 'alice']))?.length, 5);
  t.is(parsePath(path(['root', 'root', 'root', 'root', 'issuing', 'alice'])), undefined);
  t.is(parsePath(path([])), undefined);
  t.is(parsePath(derOf('alice')), undefined);
});

test('X2: a CRL is used only with the signature of a CA', (t) => {
  const bytes = crlBytes();
  const crl = readCrl(bytes, [certificate('issuing')]);
  t.true(typeof crl !== 'string' && crl.revoked.has(String(certificate('revoked').serial)));
  t.is(readCrl(bytes, [certificate('root')]), 'a CRL that a certificate of ca signed');
  const changed = Buffer.from(bytes);
  changed[bytes.length - 10] = (changed[bytes.length - 10] ?? 0) ^ 1;
  t.is(readCrl(changed, [certificate('issuing')]), 'a CRL that a certificate of ca signed');
  t.is(readCrl(Buffer.from('300330010'), [certificate('issuing')]), 'a CRL');
});

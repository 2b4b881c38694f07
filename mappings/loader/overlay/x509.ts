// Reads the key `wsse.x509` of an overlay: settings for verifying signatures, and the files of certificates and CRLs.
import type { Signing } from '../../contract/credentials.ts';
import type { OverlayValues } from '../../contract/overlay-keys.ts';
import type { Certificate } from '../../security/certificate.ts';
import { readCrl } from '../../security/crl.ts';
import type { ReadBytes } from '../document/bytes-reader.ts';
import type { Report } from '../document/error.ts';
import { shown } from '../document/node.ts';
import { NamedFiles } from './named-files.ts';

/** The key `wsse.x509`. */
type X509Keys = NonNullable<NonNullable<OverlayValues<'openapi'>['wsse']>['x509']>;

/** Reads the settings for verifying signatures. Errors are reported (X2). */
export function readX509(
  keys: X509Keys,
  timestamp: 'optional' | 'required' | undefined,
  report: Report,
  readBytes: ReadBytes,
): Signing {
  const files = new NamedFiles(readBytes, report);
  const { require = ['body', 'timestamp'], replay = 'refuse' } = keys;
  const cas = files.certificates('/wsse/x509/ca', keys.ca);
  const certificates = files.certificates('/wsse/x509/certificates', keys.certificates);
  for (const { isCa } of cas)
    if (!isCa) report('/wsse/x509/ca', 'expected certificates of CAs (CA:TRUE), got another certificate');
  const crls = files.read('/wsse/x509/crl', 'X509 CRL', 'a CRL', keys.crl);
  for (const bytes of crls) {
    const crl = readCrl(bytes, cas);
    if (typeof crl === 'string') report('/wsse/x509/crl', `expected ${crl}, got another file`);
  }
  if (keys.ca === undefined && keys.certificates === undefined && require.length > 0)
    report('/wsse/x509', 'expected ca or certificates, got none');
  if (require.includes('timestamp') && timestamp === 'optional')
    report('/wsse/timestamp', 'expected required, because /wsse/x509/require has timestamp');
  if (replay === 'refuse' && !require.includes('timestamp'))
    report(
      '/wsse/x509/replay',
      'expected allow, because /wsse/x509/require lacks timestamp and no replay is recognized without it',
    );
  const [name, from] = [...(keys.credential ?? [])][0] ?? [];
  if ((keys.credential?.size ?? 0) > 1)
    report('/wsse/x509/credential', 'expected one credential, got several');
  refuseAmbiguous(certificates, from, report);
  return {
    cas: cas.map(({ bytes }) => bytes.toString('base64')),
    certificates: certificates.map(({ bytes }) => bytes.toString('base64')),
    crls: crls.map((bytes) => bytes.toString('base64')),
    require,
    credential: name === undefined || from === undefined ? undefined : { name, from },
    sha1: sha1Of(keys.sha1, report),
    replay,
    files: files.paths,
  };
}

function sha1Of(given: unknown, report: Report): Signing['sha1'] {
  if (given === 'signature' || given === true) return given;
  if (given !== undefined && given !== false)
    report('/wsse/x509/sha1', `expected false, signature or true, got ${shown(given)}`);
  return false;
}

/**
 * Reports two certificates with one key and different subjects, or with different values of the credential. KeyInfo is
 * usually not signed, so a caller could choose between them (X2, X20).
 */
function refuseAmbiguous(
  certificates: readonly Certificate[],
  from: NonNullable<Signing['credential']>['from'] | undefined,
  report: Report,
): void {
  const byKey = new Map<string, Certificate>();
  for (const certificate of certificates) {
    const known = byKey.get(certificate.keyHash);
    byKey.set(certificate.keyHash, certificate);
    if (known === undefined) continue;
    if (!known.subject.equals(certificate.subject))
      report('/wsse/x509/certificates', 'expected one subject for each key, got two');
    else if (
      (from === 'fingerprint' && !known.bytes.equals(certificate.bytes)) ||
      (from === 'san' && known.x509.subjectAltName !== certificate.x509.subjectAltName)
    )
      report('/wsse/x509/certificates', `expected one ${from} for each key, got two`);
  }
}

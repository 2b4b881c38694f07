import type { X509Certificate } from 'node:crypto';

/** Parts of a certificate that can be a credential. */
export type CertificatePart = 'subject' | 'commonName' | 'san' | 'fingerprint' | 'serial';

/**
 * Characters that are percent-encoded in a part. A subject may contain `%`, so `%` is encoded to keep `Acme%20Ltd` and
 * `Acme Ltd` distinct; URIs are already encoded.
 */
export function encodedCharacters(from: CertificatePart, isWritten: boolean): RegExp {
  return isWritten && (from === 'subject' || from === 'commonName')
    ? /[^\x21-\x24\x26-\x7e]+/g
    : /[^\x21-\x7e]+/g;
}

/** Percent-encodes characters that a credential cannot contain. */
export function encodePart(value: string, characters: RegExp): string {
  return value.replace(characters, (text) => encodeURIComponent(text.toWellFormed()));
}

/** Returns a part of a certificate as a credential, percent-encoded; undefined for none. */
export function certificatePart(certificate: X509Certificate, from: CertificatePart): string | undefined {
  const value = partOf(certificate, from);
  return value === undefined || value === '' ? undefined : encodePart(value, encodedCharacters(from, true));
}

/** Returns a part of a certificate as it is written. */
export function partOf(certificate: X509Certificate, from: CertificatePart): string | undefined {
  const subject = certificate.subject.split('\n').toReversed(); // the order of RFC 4514, which proxies use too
  switch (from) {
    case 'subject':
      return subject.join(',');
    case 'commonName':
      return subject.find((part) => part.startsWith('CN='))?.slice('CN='.length);
    case 'fingerprint':
      return certificate.fingerprint256.replaceAll(':', '').toLowerCase();
    case 'serial':
      return certificate.serialNumber.toLowerCase();
    case 'san': {
      const names = certificate.subjectAltName?.split(', ') ?? [];
      const ofKind = (kind: string): string | undefined =>
        names.find((name) => name.startsWith(kind))?.slice(kind.length);
      return ofKind('URI:') ?? ofKind('DNS:');
    }
  }
}

import { verify } from 'node:crypto';
import { type Certificate, extensionsOf, keyUsageBit } from './certificate.ts';
import { bitsOf, childrenOf, type Der, DerError, derTag, integerOf, oidOf, readDer } from './der.ts';

/** A list of revoked certificates whose signature was verified. */
export interface Crl {
  /** The Name of the issuer in DER, as hex. */
  readonly issuer: string;
  /** Serial numbers in decimal digits. */
  readonly revoked: ReadonlySet<string>;
}

/** Hashes of signature algorithms by OID: RSA with PKCS #1 padding, and ECDSA. */
const hashes: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
};

const utcTime = 0x17;
const generalizedTime = 0x18;

/**
 * Reads a CertificateList (RFC 5280, 5.1) that one of the CAs signed. Lists and entries with a critical extension are
 * refused, because they may cover only some certificates.
 *
 * @returns the list, or what was expected
 */
export function readCrl(bytes: Buffer, cas: readonly Certificate[]): Crl | string {
  try {
    const [tbs, algorithm, signature] = childrenOf(readDer(bytes, derTag.sequence));
    if (tbs === undefined || algorithm === undefined) return 'a CRL';
    const hash = hashes[oidOf(childrenOf(algorithm)[0])];
    if (hash === undefined) return 'a CRL with an RSA or ECDSA signature over SHA-256, SHA-384 or SHA-512';
    const all = childrenOf(tbs);
    const fields = all[0]?.tag === derTag.integer ? all.slice(1) : all;
    const issuer = fields[1];
    if (issuer === undefined) return 'a CRL';
    const value = bitsOf(signature);
    const isSigned = cas.some(
      ({ subject, publicKey, keyUsage }) =>
        subject.equals(issuer.bytes) &&
        (keyUsage === undefined || (keyUsage & keyUsageBit.cRLSign) !== 0) &&
        verify(hash, tbs.bytes, publicKey, value),
    );
    if (!isSigned) return 'a CRL that a certificate of ca signed';
    const rest = fields.slice(2).filter(({ tag }) => tag !== utcTime && tag !== generalizedTime);
    const isCritical = [...extensionsOf(rest.find(({ tag }) => tag === 0xa0)).values()].some(
      (one) => one.isCritical,
    );
    if (isCritical) return 'a CRL without critical extensions';
    const entries = rest.find(({ tag }) => tag === derTag.sequence);
    const revoked = (entries === undefined ? [] : childrenOf(entries)).map((entry) => {
      const [serial, , extensions] = childrenOf(entry);
      if (extensions !== undefined && hasCritical(extensions.bytes))
        throw new DerError('expected an entry without critical extensions');
      return String(integerOf(serial));
    });
    return { issuer: issuer.bytes.toString('hex'), revoked: new Set(revoked) };
  } catch (error) {
    if (error instanceof DerError) return 'a CRL';
    throw error;
  }
}

/**
 * Returns thisUpdate and nextUpdate of a CertificateList, in ms since 1970; undefined for none, or another form than that
 * of RFC 5280, 5.1.2.4. Throws DerError.
 */
export function crlTimesOf(bytes: Buffer): Readonly<Record<'thisUpdate' | 'nextUpdate', number | undefined>> {
  const [tbs] = childrenOf(readDer(bytes, derTag.sequence));
  const times = (tbs === undefined ? [] : childrenOf(tbs)).filter(
    ({ tag }) => tag === utcTime || tag === generalizedTime,
  );
  const [thisUpdate, nextUpdate] = times.map(timeOf);
  return { thisUpdate, nextUpdate };
}

/** Reads UTCTime (years 1950 to 2049) or GeneralizedTime, in seconds and with Z. */
function timeOf({ tag, content }: Der): number | undefined {
  const text = content.toString('latin1');
  const digits = tag === generalizedTime ? text : `${Number(text.slice(0, 2)) < 50 ? 20 : 19}${text}`;
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits)?.slice(1).map(Number);
  if (parts === undefined) return undefined;
  const [year = 0, month = 0, ...rest] = parts;
  return Date.UTC(year, month - 1, ...rest);
}

function hasCritical(extensions: Buffer): boolean {
  const value = readDer(extensions, derTag.sequence);
  const wrapper = { tag: 0xa0, bytes: value.bytes, content: value.bytes };
  return [...extensionsOf(wrapper).values()].some(({ isCritical }) => isCritical);
}

import { hash, type KeyObject, X509Certificate } from 'node:crypto';
import {
  bitsOf,
  booleanOf,
  childrenOf,
  type Der,
  DerError,
  derTag,
  integerOf,
  oidOf,
  readDer,
} from './der.ts';

/** Maximum size of a certificate or a path of certificates in bytes (X39). */
export const maxCertificateBytes = 16_384;

/** Maximum number of certificates of a path (X11). */
export const maxPathCertificates = 5;

/** OIDs of the extensions that are supported (X11). A certificate with another critical extension is refused. */
const extension = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  extendedKeyUsage: '2.5.29.37',
} as const;

const supportedExtensions: ReadonlySet<string> = new Set(Object.values(extension));

/** Name constraints of an issuer. They are not evaluated, so a path with such an issuer is refused. */
const nameConstraints = '2.5.29.30';

/** Signature algorithms by OID with a hash of SHA-2, or without a separate hash (EdDSA). */
const strongAlgorithms: ReadonlySet<string> = new Set([
  '1.2.840.113549.1.1.11', // RSA with PKCS #1 padding: SHA-256, SHA-384, SHA-512, SHA-224
  '1.2.840.113549.1.1.12',
  '1.2.840.113549.1.1.13',
  '1.2.840.113549.1.1.14',
  '1.2.840.10045.4.3.1', // ECDSA: SHA-224, SHA-256, SHA-384, SHA-512
  '1.2.840.10045.4.3.2',
  '1.2.840.10045.4.3.3',
  '1.2.840.10045.4.3.4',
  '1.3.101.112', // Ed25519, Ed448
  '1.3.101.113',
]);

/** Signature algorithms by OID with SHA-1: RSA with PKCS #1 padding, its old name, and ECDSA. */
const sha1Algorithms: ReadonlySet<string> = new Set([
  '1.2.840.113549.1.1.5',
  '1.3.14.3.2.29',
  '1.2.840.10045.4.1',
]);

/** RSASSA-PSS. Its hash is a parameter: SHA-1, or one of SHA-2. */
const pss = '1.2.840.113549.1.1.10';
const sha1Oid = '1.3.14.3.2.26';
const sha2Oids: ReadonlySet<string> = new Set(
  ['1', '2', '3', '4'].map((arc) => `2.16.840.1.101.3.4.2.${arc}`),
);

/** Strength of the signature of a certificate. `weak`: MD5, or an algorithm that is not known. */
export type Strength = 'strong' | 'sha1' | 'weak';

/** A certificate with the fields that node:crypto does not return. */
export interface Certificate {
  readonly x509: X509Certificate;
  readonly publicKey: KeyObject;
  /** The whole certificate in DER. */
  readonly bytes: Buffer;
  readonly serial: bigint;
  /** The Names in DER. */
  readonly issuer: Buffer;
  readonly subject: Buffer;
  /** SHA-256 of SubjectPublicKeyInfo, one character per byte. */
  readonly keyHash: string;
  /** SubjectKeyIdentifier in hex; undefined for none. */
  readonly keyId: string | undefined;
  /** The first byte of keyUsage (RFC 5280, 4.2.1.3); undefined for none. */
  readonly keyUsage: number | undefined;
  /** True if basicConstraints permit the subject to issue certificates. */
  readonly isCa: boolean;
  /** Maximum number of CAs below this one in a path, from basicConstraints; undefined for no maximum. */
  readonly pathLength: number | undefined;
  /** True for a critical extension that is not supported. */
  readonly hasUnknownCritical: boolean;
  readonly hasNameConstraints: boolean;
  /** Strength of the signature of the issuer. */
  readonly strength: Strength;
  /** Start and end of the validity, in ms since 1970. */
  readonly from: number;
  readonly to: number;
}

/** Bits of the first byte of keyUsage. */
export const keyUsageBit = {
  digitalSignature: 0x80,
  nonRepudiation: 0x40,
  keyEncipherment: 0x20,
  keyCertSign: 0x04,
  cRLSign: 0x02,
} as const;

/** Parses a certificate in DER; undefined for bytes that are not one. */
export function parseCertificate(given: Buffer): Certificate | undefined {
  try {
    const bytes = Buffer.from(given); // a part of the request would keep all of it in memory
    const fields = fieldsOf(bytes);
    const x509 = new X509Certificate(bytes);
    if (!x509.raw.equals(bytes)) return undefined;
    const from = x509.validFromDate.getTime();
    const to = x509.validToDate.getTime();
    return { ...fields, x509, publicKey: x509.publicKey, bytes, from, to };
  } catch {
    // the errors of OpenSSL have no common class, and each means that the bytes are not a certificate that it can use
    return undefined;
  }
}

/** Identifier octets of the optional fields of TBSCertificate: `[0] version` and `[3] extensions`. */
const versionTag = 0xa0;
const extensionsTag = 0xa3;

/** Reads the fields of a Certificate (RFC 5280, 4.1). Throws DerError. */
function fieldsOf(bytes: Buffer): Omit<Certificate, 'x509' | 'publicKey' | 'bytes' | 'from' | 'to'> {
  const [tbs, algorithm] = childrenOf(readDer(bytes, derTag.sequence));
  if (tbs === undefined) throw new DerError('expected a certificate');
  const all = childrenOf(tbs);
  const fields = all[0]?.tag === versionTag ? all.slice(1) : all;
  const [serial, , issuer, , subject, key] = fields;
  if (issuer === undefined || subject === undefined || key === undefined)
    throw new DerError('expected a certificate');
  const extensions = extensionsOf(fields.find(({ tag }) => tag === extensionsTag));
  const keyId = extensions.get(extension.subjectKeyIdentifier)?.value;
  const usage = extensions.get(extension.keyUsage)?.value;
  const constraints = extensions.get(extension.basicConstraints)?.value;
  const [ca, length] = constraints === undefined ? [] : childrenOf(readDer(constraints, derTag.sequence));
  const pathLength = length === undefined ? undefined : Number(integerOf(length));
  return {
    serial: integerOf(serial),
    issuer: issuer.bytes,
    subject: subject.bytes,
    keyHash: hash('sha256', key.bytes, 'latin1'),
    keyId: keyId === undefined ? undefined : readDer(keyId, derTag.octetString).content.toString('hex'),
    keyUsage: usage === undefined ? undefined : (bitsOf(readDer(usage), true)[0] ?? 0),
    isCa: ca !== undefined && booleanOf(ca),
    pathLength,
    hasNameConstraints: extensions.has(nameConstraints),
    strength: strengthOf(algorithm),
    hasUnknownCritical: [...extensions].some(
      ([oid, { isCritical }]) => isCritical && !supportedExtensions.has(oid),
    ),
  };
}

/**
 * Returns the strength of the AlgorithmIdentifier next to the signature. The signed part of the certificate repeats it,
 * and OpenSSL refuses a certificate if the two differ.
 */
function strengthOf(algorithm: Der | undefined): Strength {
  const [oid, parameters] = algorithm === undefined ? [] : childrenOf(algorithm);
  const name = oidOf(oid);
  if (name === pss) return strengthOfPss(parameters);
  return strongAlgorithms.has(name) ? 'strong' : sha1Algorithms.has(name) ? 'sha1' : 'weak';
}

/** Identifier octet of the field `[0] hashAlgorithm` of RSASSA-PSS-params. */
const hashTag = 0xa0;

/** Returns the strength of RSASSA-PSS-params (RFC 4055, 3.1). The default hash is SHA-1. */
function strengthOfPss(parameters: Der | undefined): Strength {
  const fields = parameters === undefined ? [] : childrenOf(parameters);
  const given = fields.find(({ tag }) => tag === hashTag);
  const [algorithm] = given === undefined ? [] : childrenOf(given);
  const hashOid = algorithm === undefined ? sha1Oid : oidOf(childrenOf(algorithm)[0]);
  return sha2Oids.has(hashOid) ? 'strong' : hashOid === sha1Oid ? 'sha1' : 'weak';
}

interface Extension {
  readonly isCritical: boolean;
  readonly value: Buffer;
}

/** Reads Extensions in a context-specific value (RFC 5280, 4.1). Each occurs once. Throws DerError. */
export function extensionsOf(value: Der | undefined): ReadonlyMap<string, Extension> {
  const extensions = new Map<string, Extension>();
  const [list] = value === undefined ? [] : childrenOf(value);
  for (const one of list === undefined ? [] : childrenOf(list)) {
    const [oid, ...rest] = childrenOf(one);
    const octets = rest.at(-1);
    if (octets?.tag !== derTag.octetString || rest.length > 2) throw new DerError('expected an extension');
    const name = oidOf(oid);
    if (extensions.has(name)) throw new DerError('expected each extension once');
    extensions.set(name, { isCritical: rest.length === 2 && booleanOf(rest[0]), value: octets.content });
  }
  return extensions;
}

/** Parses a PkiPath: certificates from the CA to the signer (X.509, 11.2). Returns undefined for other bytes. */
export function parsePath(bytes: Buffer): readonly Certificate[] | undefined {
  let values: readonly Der[];
  try {
    values = childrenOf(readDer(bytes, derTag.sequence));
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
  if (values.length === 0 || values.length > maxPathCertificates) return undefined;
  const certificates = values.flatMap((value) => parseCertificate(value.bytes) ?? []);
  return certificates.length === values.length ? certificates : undefined;
}

import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { KeyPair } from '../../contract/credentials.ts';
import { parseCertificate } from '../../security/certificate.ts';
import { curveBytes, rsaBits } from '../../security/key-size.ts';
import type { ReadBytes } from '../document/bytes-reader.ts';
import type { Report } from '../document/error.ts';
import { shown } from '../document/node.ts';
import { NamedFiles } from './named-files.ts';

/** The keys of an overlay that name a key pair. */
export interface KeyPairKeys {
  readonly key?: string | undefined;
  readonly certificate?: string | undefined;
}

/**
 * Reads a private key of the gateway and its certificate. Returns undefined for files with an error. Errors are reported
 * below `at` (X2).
 */
export function readKeyPair(
  at: string,
  { key: keyFile, certificate: certificateFile }: KeyPairKeys,
  report: Report,
  readBytes: ReadBytes,
): KeyPair | undefined {
  const files = new NamedFiles(readBytes, report);
  for (const [name, file] of [
    ['key', keyFile],
    ['certificate', certificateFile],
  ] as const)
    if (file === undefined) report(`${at}/${name}`, 'expected the path of a file, got none');
  const key = keyFile === undefined ? undefined : readKey(`${at}/key`, keyFile, report, files);
  const [own, ...issuers] = files.certificates(`${at}/certificate`, certificateFile);
  if (own === undefined || key === undefined) return undefined;
  if (!own.x509.checkPrivateKey(key)) {
    const expected = 'expected the private key of the first certificate';
    report(`${at}/key`, `${expected}, got another key: ${shown(keyFile)}`);
  }
  const base64Of = (bytes: Buffer): string => bytes.toString('base64');
  return {
    key: base64Of(key.export({ type: 'pkcs8', format: 'der' })),
    certificates: [base64Of(own.bytes), ...issuers.map(({ bytes }) => base64Of(bytes))],
    files: files.paths,
  };
}

/** Returns true for a pair of RSA keys, which can decrypt. */
export function isRsaPair({ certificates: [certificate] }: KeyPair): boolean {
  const parsed = parseCertificate(Buffer.from(certificate, 'base64'));
  return parsed !== undefined && rsaBits(parsed.publicKey) !== undefined;
}

/** Reads a private key without a passphrase. An error message contains nothing of the file. */
function readKey(at: string, name: string, report: Report, files: NamedFiles): KeyObject | undefined {
  const bytes = files.bytes(at, name, true);
  if (bytes === undefined) return undefined;
  const pem = bytes.toString('latin1');
  if (pem.includes('-----BEGIN ENCRYPTED PRIVATE KEY-----') || pem.includes('Proc-Type: 4,ENCRYPTED')) {
    report(at, `expected a private key without a passphrase, got ${shown(name)}`);
    return undefined;
  }
  let key: KeyObject;
  try {
    key = createPrivateKey(bytes);
  } catch {
    // the errors of OpenSSL have no common class, and each means that the file is not a key that it can use
    report(at, `expected a private key in PEM, got ${shown(name)}`);
    return undefined;
  }
  if (key.asymmetricKeyType === 'rsa' || curveBytes(key) !== undefined) return key;
  report(at, `expected an RSA key, or an EC key on P-256, P-384 or P-521, got ${shown(name)}`);
  return undefined;
}

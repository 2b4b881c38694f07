import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { Decrypting } from '../contract/credentials.ts';
import { type Certificate, parseCertificate } from './certificate.ts';
import { Trust } from './trust.ts';

/** A private key for decryption with its certificate. */
export interface DecryptionKey {
  readonly privateKey: KeyObject;
  readonly certificate: Certificate;
  /** Finds only this certificate by its names. */
  readonly trust: Trust;
}

/** Returns the keys of a contract. The loader has checked them. */
export function decryptionKeysOf(keys: Decrypting['keys']): readonly DecryptionKey[] {
  return keys.map(({ key, certificates: [bytes] }) => {
    const certificate = parseCertificate(Buffer.from(bytes, 'base64'));
    if (certificate === undefined)
      throw new RangeError('wsse: decrypt: expected certificates that the loader checked');
    const privateKey = createPrivateKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'pkcs8' });
    return { privateKey, certificate, trust: new Trust({ cas: [], certificates: [certificate], crls: [] }) };
  });
}

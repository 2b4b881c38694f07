import { constants, type KeyObject, verify } from 'node:crypto';
import { curveOf } from './certificate.ts';
import type { SignatureMethod } from './names.ts';

/** Returns true if a SignatureValue is the signature of a text by a key. A key of another kind than the method gives false (X9). */
export function isSignedBy(text: string, value: Buffer, method: SignatureMethod, key: KeyObject): boolean {
  const { hash, isPss } = method;
  const type = key.asymmetricKeyType;
  const data = Buffer.from(text);
  if (method.key === 'ec') {
    const size = curveOf(key);
    if (size === undefined || value.length !== 2 * size) return false;
    return verify(hash, data, { key, dsaEncoding: 'ieee-p1363' }, value);
  }
  if (type !== 'rsa' && !(type === 'rsa-pss' && isPss)) return false;
  if (!isPss) return verify(hash, data, { key, padding: constants.RSA_PKCS1_PADDING }, value);
  const salt = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  return verify(hash, data, { key, ...salt }, value);
}

import { constants, hash, type KeyObject, timingSafeEqual, verify } from 'node:crypto';
import { curveBytes } from './key-size.ts';
import type { SignatureMethod } from './names.ts';
import { SecurityProblem } from './problem.ts';
import type { Reference } from './signed-info.ts';

/**
 * Compares the digest of a Reference with that of some octets. Throws SecurityProblem.
 *
 * @param name what the digest is of, for the error
 */
export function compareDigest(
  { hash: method, digest }: Pick<Reference, 'hash' | 'digest'>,
  octets: string | Buffer,
  name: string,
): void {
  const computed = hash(method, octets, 'buffer');
  if (computed.length === digest.length && timingSafeEqual(computed, digest)) return;
  const detail = `the digest of ${name} differs: the content or its whitespace changed in transit`;
  throw new SecurityProblem('FailedCheck', { detail }, 'digest');
}

/** Returns true if a SignatureValue is the signature of a text by a key. A key of another kind than the method gives false (X9). */
export function isSignedBy(text: string, value: Buffer, method: SignatureMethod, key: KeyObject): boolean {
  const { hash: digest, isPss } = method;
  const type = key.asymmetricKeyType;
  const data = Buffer.from(text);
  if (method.key === 'ec') {
    const size = curveBytes(key);
    if (size === undefined || value.length !== 2 * size) return false;
    return verify(digest, data, { key, dsaEncoding: 'ieee-p1363' }, value);
  }
  if (type !== 'rsa' && !(type === 'rsa-pss' && isPss)) return false;
  if (!isPss) return verify(digest, data, { key, padding: constants.RSA_PKCS1_PADDING }, value);
  const salt = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  return verify(digest, data, { key, ...salt }, value);
}

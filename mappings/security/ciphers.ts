import {
  type CipherGCM,
  constants,
  createCipheriv,
  createDecipheriv,
  type DecipherGCM,
  hash,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
  randomBytes,
} from 'node:crypto';
import { names, type SignatureMethod } from './names.ts';

/** A data algorithm (X9). */
export interface DataCipher {
  readonly uri: string;
  /** Name for logs and messages, for example `aes128-gcm`. */
  readonly name: string;
  readonly id: string;
  readonly keyBytes: number;
  readonly isCbc: boolean;
}

const sizes = [128, 192, 256] as const;

/** Data algorithms by URI (X9). */
export const dataCiphers: ReadonlyMap<string, DataCipher> = new Map(
  sizes.flatMap((bits) =>
    ([['gcm', names.xenc11] as const, ['cbc', names.xenc] as const] as const).map(([mode, namespace]) => {
      const name = `aes${bits}-${mode}`;
      const uri = `${namespace}${name}`;
      return [uri, { uri, name, id: `aes-${bits}-${mode}`, keyBytes: bits / 8, isCbc: mode === 'cbc' }];
    }),
  ),
);

/** Parameters of RSA-OAEP. */
export interface KeyTransport {
  readonly hash: SignatureMethod['hash'];
  /** Hash of the mask generation function (MGF1). */
  readonly mask: SignatureMethod['hash'];
  readonly label: Buffer;
}

/** URIs of the key transport algorithms (X9). */
export const keyTransports = {
  /** RSA-OAEP with MGF1 of SHA-1. */
  mgf1p: `${names.xenc}rsa-oaep-mgf1p`,
  oaep: `${names.xenc11}rsa-oaep`,
} as const;

/** Hashes of MGF1 by URI (X9). */
export const maskHashes: ReadonlyMap<string, SignatureMethod['hash']> = new Map(
  (['sha1', 'sha256', 'sha384', 'sha512'] as const).map((one) => [`${names.xenc11}mgf1${one}`, one]),
);

/**
 * Decrypts a key with RSA-OAEP (RFC 8017, 7.1.2). OpenSSL supports only equal hashes, so the mask is removed here. The
 * steps do not depend on the value, and there is one result for every failure (X24).
 *
 * @returns undefined for a failure
 */
export function unwrapKey(
  wrapped: Buffer,
  key: KeyObject,
  { hash: method, mask, label }: KeyTransport,
): Buffer | undefined {
  let block: Buffer;
  try {
    block = privateDecrypt({ key, padding: constants.RSA_NO_PADDING }, wrapped);
  } catch {
    return undefined; // the number is not below the modulus
  }
  const labelHash = hash(method, label, 'buffer');
  const size = labelHash.length;
  const data = Buffer.from(block.subarray(1 + size));
  if (data.length < size + 1) return undefined;
  const seed = Buffer.from(block.subarray(1, 1 + size));
  unmask(seed, data, mask);
  unmask(data, seed, mask);
  let bad = block[0] ?? 1;
  for (let at = 0; at < size; at++) bad |= (data[at] ?? 0) ^ (labelHash[at] ?? 0);
  let found = 0;
  let end = 0;
  for (let at = size; at < data.length; at++) {
    const byte = data[at] ?? 0;
    const isOne = ((byte ^ 1) - 1) >>> 31;
    const isZero = (byte - 1) >>> 31;
    const isBefore = 1 ^ found;
    bad |= isBefore & (1 ^ isOne) & (1 ^ isZero);
    end |= -(isBefore & isOne) & at;
    found |= isOne;
  }
  bad |= 1 ^ found;
  return bad === 0 ? data.subarray(end + 1) : undefined;
}

/** Applies the mask that MGF1 makes of a seed (RFC 8017, B.2.1). */
function unmask(bytes: Buffer, seed: Buffer, method: SignatureMethod['hash']): void {
  const counter = Buffer.alloc(4);
  for (let at = 0, count = 0; at < bytes.length; count++) {
    counter.writeUInt32BE(count);
    for (const byte of hash(method, Buffer.concat([seed, counter]), 'buffer')) {
      if (at === bytes.length) break;
      bytes[at] = (bytes[at] ?? 0) ^ byte;
      at++;
    }
  }
}

/** Size of a GCM nonce and its tag, and of a CBC block, in bytes (XML Encryption 1.1, 5.2). */
const nonceBytes = 12;
const tagBytes = 16;
const blockBytes = 16;

/** Decrypts data (XML Encryption 1.1, 5.2). Returns undefined for every failure. */
export function decryptData({ id, isCbc }: DataCipher, key: Buffer, bytes: Buffer): Buffer | undefined {
  if (!isCbc) {
    if (bytes.length < nonceBytes + tagBytes) return undefined;
    const decipher = createDecipheriv(id, key, bytes.subarray(0, nonceBytes)) as DecipherGCM;
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    const plain = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
    try {
      decipher.final();
    } catch {
      return undefined;
    }
    return plain;
  }
  if (bytes.length < 2 * blockBytes || bytes.length % blockBytes !== 0) return undefined;
  const decipher = createDecipheriv(id, key, bytes.subarray(0, blockBytes)).setAutoPadding(false);
  const padded = decipher.update(bytes.subarray(blockBytes));
  // only the last byte of the padding has a fixed value
  const padding = padded.at(-1) ?? 0;
  return padding < 1 || padding > blockBytes ? undefined : padded.subarray(0, -padding);
}

/** Encrypts a text with a new key. Returns the key and the encrypted data. */
export function encryptData(
  { id, isCbc, keyBytes }: DataCipher,
  text: string,
): { readonly key: Buffer; readonly data: Buffer } {
  const key = randomBytes(keyBytes);
  const start = randomBytes(isCbc ? blockBytes : nonceBytes);
  const cipher = createCipheriv(id, key, start);
  const parts = [start, cipher.update(text, 'utf8'), cipher.final()];
  if (!isCbc) parts.push((cipher as CipherGCM).getAuthTag());
  return { key, data: Buffer.concat(parts) };
}

/** Encrypts a key with RSA-OAEP with SHA-1, which all clients support (X32). */
export function wrapKey(key: Buffer, publicKey: KeyObject): Buffer {
  return publicEncrypt({ key: publicKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha1' }, key);
}

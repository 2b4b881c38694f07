import {
  type CipherGCM,
  constants,
  createCipheriv,
  hash,
  publicEncrypt,
  randomBytes,
  X509Certificate,
} from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folder } from './captures.ts';
import { type Message, signed } from './sign.ts';

// Encrypts messages of the tests with OpenSSL, for the gateway's key.

const xenc = 'http://www.w3.org/2001/04/xmlenc#';
const xenc11 = 'http://www.w3.org/2009/xmlenc11#';
const ds = 'http://www.w3.org/2000/09/xmldsig#';
const wsse = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd';
const profile = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-x509-token-profile-1.0';
const gateway = new X509Certificate(readFileSync(join(folder, 'keys/gateway.crt')));

/** References to the certificate of the gateway. */
export const keyNames = {
  issuer: `<d:X509Data><d:X509IssuerSerial><d:X509IssuerName>O=lab,CN=soapbridge test issuing CA</d:X509IssuerName><d:X509SerialNumber>${BigInt(`0x${gateway.serialNumber}`)}</d:X509SerialNumber></d:X509IssuerSerial></d:X509Data>`,
  thumbprint: `<o:KeyIdentifier ValueType="http://docs.oasis-open.org/wss/oasis-wss-soap-message-security-1.1#ThumbprintSHA1">${hash('sha1', gateway.raw, 'base64')}</o:KeyIdentifier>`,
  keyId: `<o:KeyIdentifier ValueType="${profile}#X509SubjectKeyIdentifier">7Xaq4oK57ps9M8aCmovKznll3zI=</o:KeyIdentifier>`,
  certificate: `<o:KeyIdentifier ValueType="${profile}#X509v3">${gateway.raw.toString('base64')}</o:KeyIdentifier>`,
} as const;

/** Algorithms and keys of an encryption. */
export interface Encryption {
  readonly cipher?: string;
  /** Reference in the KeyInfo of the EncryptedKey. */
  readonly named?: string;
  readonly certificate?: X509Certificate;
  /** The bytes to wrap; undefined for a new key. */
  readonly key?: Buffer;
  readonly type?: 'Content' | 'Element';
  readonly id?: string;
  readonly keyId?: string;
  /** Changes the encrypted data, or the wrapped key. */
  readonly damage?: (data: Buffer) => Buffer;
  readonly damageKey?: (wrapped: Buffer) => Buffer;
}

/** An EncryptedData, and an EncryptedKey with a ReferenceList to it. */
export interface Encrypted {
  readonly data: string;
  readonly key: string;
  readonly wrapped: string;
}

const same = (bytes: Buffer): Buffer => bytes;

/** Encrypts a text. */
export function encrypt(text: string | Buffer, options: Encryption = {}): Encrypted {
  const { cipher: name = 'aes128-gcm', named = keyNames.issuer, certificate = gateway } = options;
  const { type = 'Content', id = 'data', keyId = 'key', damage = same, damageKey = same } = options;
  const bits = Number(name.slice(3, 6));
  const isCbc = name.endsWith('cbc');
  const session = randomBytes(bits / 8);
  const start = randomBytes(isCbc ? 16 : 12);
  const cipher = createCipheriv(`aes-${bits}-${isCbc ? 'cbc' : 'gcm'}`, session, start);
  const parts = [start, cipher.update(text), cipher.final()];
  if (!isCbc) parts.push((cipher as CipherGCM).getAuthTag());
  const bytes = damage(Buffer.concat(parts));
  const padding = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha1' };
  const wrapped = damageKey(
    publicEncrypt({ key: certificate.publicKey, ...padding }, options.key ?? session),
  ).toString('base64');
  const algorithm = `${isCbc ? xenc : xenc11}${name}`;
  const value = (base64: string) => `<x:CipherData><x:CipherValue>${base64}</x:CipherValue></x:CipherData>`;
  return {
    wrapped,
    data: `<x:EncryptedData xmlns:x="${xenc}" Id="${id}" Type="${xenc}${type}"><x:EncryptionMethod Algorithm="${algorithm}"/>${value(bytes.toString('base64'))}</x:EncryptedData>`,
    key: `<x:EncryptedKey xmlns:x="${xenc}" Id="${keyId}"><x:EncryptionMethod Algorithm="${xenc}rsa-oaep-mgf1p"/><d:KeyInfo xmlns:d="${ds}" xmlns:o="${wsse}"><o:SecurityTokenReference>${named}</o:SecurityTokenReference></d:KeyInfo>${value(wrapped)}<x:ReferenceList><x:DataReference URI="#${id}"/></x:ReferenceList></x:EncryptedKey>`,
  };
}

/** Puts text at the start of the Security block, or at its end. */
export function inBlock(message: string, added: string, at: 'start' | 'end' = 'start'): string {
  return at === 'end'
    ? message.replace('</o:Security>', () => `${added}</o:Security>`)
    : message.replace(/<o:Security [^>]*>/, (tag) => tag + added);
}

/** Returns a message that Alice signed, with the content of Body then encrypted. */
export function signedThenEncrypted(
  options: Encryption = {},
  message: Message = {},
  content?: string | Buffer,
): string {
  const text = signed(message);
  const [, before = '', body = '', after = ''] = /^(.*<s:Body[^>]*>)(.*)(<\/s:Body>.*)$/s.exec(text) ?? [];
  const { data, key } = encrypt(content ?? body, options);
  return inBlock(before + data + after, key);
}

/** Returns a message with an encrypted Body that Alice then signed. */
export function encryptedThenSigned(
  content: string,
  options: Encryption = {},
  message: Message = {},
): string {
  const { data, key } = encrypt(content, options);
  return inBlock(signed({ ...message, payload: data }), key, 'end');
}

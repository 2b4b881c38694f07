import { X509Certificate } from 'node:crypto';
import { escapeXml } from '../codec/scalars/text.ts';
import { type Certificate, keyUsageBit } from './certificate.ts';
import { dataCiphers, encryptData, keyTransports, wrapKey } from './ciphers.ts';
import { rsaBits } from './key-size.ts';
import { names } from './names.ts';

/** For whom and how a reply is encrypted (X32). It is plain data, because a worker thread may read a request. */
export interface ReplyEncryption {
  /** The certificate of the signer of the request, DER in base64. */
  readonly certificate: string;
  /** URI of the data algorithm. */
  readonly algorithm: string;
}

/** Returns true if a reply can be encrypted for a certificate (X32). */
export function canEncrypt({ keyUsage, publicKey }: Certificate): boolean {
  const isPermitted = keyUsage === undefined || (keyUsage & keyUsageBit.keyEncipherment) !== 0;
  return isPermitted && rsaBits(publicKey) !== undefined;
}

/** Ids of the elements of an encrypted reply. */
const ids = { key: '_ek', data: '_ed' } as const;

/**
 * Encrypts the content of Body (X32). Returns the EncryptedKey for the Security block, which has the prefix `o` for its
 * namespace, and the EncryptedData in place of the content.
 */
export function encryptContent(
  content: string,
  { certificate, algorithm }: ReplyEncryption,
): { readonly key: string; readonly data: string } {
  const x509 = new X509Certificate(Buffer.from(certificate, 'base64'));
  const cipher = dataCiphers.get(algorithm);
  if (cipher === undefined) throw new RangeError('a data algorithm that the request did not use');
  const { key, data } = encryptData(cipher, content);
  const wrapped = wrapKey(key, x509.publicKey);
  const issuer = escapeXml(x509.issuer.split('\n').toReversed().join(','), { replaced: 0 });
  const serial = BigInt(`0x${x509.serialNumber}`);
  const keyInfo = (child: string): string =>
    `<d:KeyInfo xmlns:d="${names.ds}"><o:SecurityTokenReference xmlns:o="${names.wsse}">${child}</o:SecurityTokenReference></d:KeyInfo>`;
  const cipherData = (bytes: Buffer): string =>
    `<x:CipherData><x:CipherValue>${bytes.toString('base64')}</x:CipherValue></x:CipherData>`;
  const named = `<d:X509Data><d:X509IssuerSerial><d:X509IssuerName>${issuer}</d:X509IssuerName><d:X509SerialNumber>${serial}</d:X509SerialNumber></d:X509IssuerSerial></d:X509Data>`;
  return {
    key: `<x:EncryptedKey xmlns:x="${names.xenc}" Id="${ids.key}"><x:EncryptionMethod Algorithm="${keyTransports.mgf1p}"/>${keyInfo(named)}${cipherData(wrapped)}<x:ReferenceList><x:DataReference URI="#${ids.data}"/></x:ReferenceList></x:EncryptedKey>`,
    data: `<x:EncryptedData xmlns:x="${names.xenc}" Id="${ids.data}" Type="${names.xenc}Content"><x:EncryptionMethod Algorithm="${algorithm}"/>${keyInfo(`<o:Reference URI="#${ids.key}"/>`)}${cipherData(data)}</x:EncryptedData>`,
  };
}

import type { Signing } from '../contract/credentials.ts';
import { parseCertificate } from './certificate.ts';
import { readCrl } from './crl.ts';
import { Trust } from './trust.ts';

/** Returns the trusted certificates of a contract. The loader has checked all files. */
export function trustOf({ cas, certificates, crls, sha1 }: Signing): Trust {
  const parsed = (list: readonly string[]) =>
    list.map((bytes) => {
      const certificate = parseCertificate(Buffer.from(bytes, 'base64'));
      if (certificate === undefined)
        throw new RangeError('wsse: x509: expected certificates that the loader checked');
      return certificate;
    });
  const anchors = parsed(cas);
  const lists = crls.map((bytes) => {
    const crl = readCrl(Buffer.from(bytes, 'base64'), anchors);
    if (typeof crl === 'string') throw new RangeError('wsse: x509: expected CRLs that the loader checked');
    return crl;
  });
  return new Trust({
    cas: anchors,
    certificates: parsed(certificates),
    crls: lists,
    acceptsSha1: sha1 === true,
  });
}

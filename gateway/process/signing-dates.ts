import { X509Certificate } from 'node:crypto';
import type { Wsse } from '../../mappings/contract/credentials.ts';
import { nextUpdateOf } from '../../mappings/security/crl.ts';
import { shownPath } from '../core/contract-app.ts';
import type { Log } from '../core/core-options.ts';
import { subjectOf, warnBeforeMs } from './certificates.ts';

// Log messages about files of certificates (X3). The files stay in effect.

/** Settings with certificates, by the base paths of the contracts. */
export type SigningByPath = ReadonlyMap<string, Pick<Wsse, 'x509' | 'sign' | 'decrypt' | 'saml'>>;

/**
 * Logs each certificate of a caller (`signer`), of the gateway (`sign`, `decrypt`) or of an issuer of assertions (`issuer`)
 * that expired or expires in less than 30 days.
 *
 * @param now time in ms since 1970
 */
export function warnOfSigners(all: SigningByPath, log: Log, now = Date.now()): void {
  for (const [path, { x509, sign, decrypt, saml }] of all)
    for (const [use, bytes] of [
      ...(x509?.certificates ?? []).map((bytes) => ['signer', bytes] as const),
      ...(sign?.certificates ?? []).map((bytes) => ['sign', bytes] as const),
      ...(saml?.issuers ?? []).flatMap((one) => one.certificates.map((bytes) => ['issuer', bytes] as const)),
      ...(decrypt?.keys ?? [])
        .filter(({ key }) => key !== sign?.key)
        .map(({ certificates: [bytes] }) => ['decrypt', bytes] as const),
    ]) {
      const certificate = new X509Certificate(Buffer.from(bytes, 'base64'));
      const { validToDate } = certificate;
      const leftMs = validToDate.getTime() - now;
      const subject = subjectOf(certificate);
      const notAfter = validToDate.toISOString();
      const fields = { certificate: { use, contract: shownPath(path), subject, notAfter } };
      if (leftMs < 0) log.error(fields, 'certificate expired');
      else if (leftMs < warnBeforeMs) log.warn(fields, 'certificate expires in less than 30 days');
    }
}

/**
 * Logs each CRL after its next update.
 *
 * @param now time in ms since 1970
 */
export function warnOfCrls(all: SigningByPath, log: Log, now = Date.now()): void {
  for (const [path, { x509 }] of all)
    for (const bytes of x509?.crls ?? []) {
      const next = nextUpdateOf(Buffer.from(bytes, 'base64'));
      if (next === undefined || next >= now) continue;
      const nextUpdate = new Date(next).toISOString();
      log.warn({ crl: { contract: shownPath(path), nextUpdate } }, 'CRL is after its next update');
    }
}

import { X509Certificate } from 'node:crypto';
import type { Wsse } from '../../mappings/contract/credentials.ts';
import { shownPath } from '../../mappings/http-mapping/paths.ts';
import { crlTimesOf } from '../../mappings/security/crl.ts';
import type { Log } from '../core/core-options.ts';
import { perWorkerGauge, type Snapshot } from '../telemetry/metrics.ts';
import { warnOfExpiry } from './certificates.ts';

// Dates of the files for signed messages, for the log (X3), metrics and `check` (X29). The files stay in effect.

/** Settings with certificates of one contract. */
export type SigningSettings = Pick<Wsse, 'x509' | 'sign' | 'decrypt' | 'saml'>;

/** Settings with certificates, by the base paths of the contracts. */
export type SigningByPath = ReadonlyMap<string, SigningSettings>;

/**
 * A certificate of a contract. `ca`: it issues those of callers. `signer`: of a caller. `sign`, `decrypt`: of the gateway.
 * `issuer`: of an issuer of assertions.
 */
export interface SigningCertificate {
  readonly use: 'ca' | 'signer' | 'sign' | 'decrypt' | 'issuer';
  readonly certificate: X509Certificate;
  /** Name of the issuer of assertions; undefined for another use. */
  readonly issuer?: string;
}

/** Returns the certificates of a contract, and for each key pair also those of its issuers. */
export function certificatesOf({
  x509,
  sign,
  decrypt,
  saml,
}: SigningSettings): readonly SigningCertificate[] {
  const parsed = (use: SigningCertificate['use'], list: readonly string[]): readonly SigningCertificate[] =>
    list.map((bytes) => ({ use, certificate: new X509Certificate(Buffer.from(bytes, 'base64')) }));
  return [
    ...parsed('ca', x509?.cas ?? []),
    ...parsed('signer', x509?.certificates ?? []),
    ...parsed('sign', sign?.certificates ?? []),
    ...(decrypt?.keys ?? []).flatMap(({ certificates: [own] }) => parsed('decrypt', [own])),
    ...(saml?.issuers ?? []).flatMap(({ name, certificates }) =>
      parsed('issuer', certificates).map((one) => ({ ...one, issuer: name })),
    ),
  ];
}

/**
 * Logs each certificate of a caller (`signer`), of the gateway (`sign`, `decrypt`) or of an issuer of assertions (`issuer`)
 * that expired or expires in less than 30 days. A certificate with two uses is logged once.
 *
 * @param now time in ms since 1970
 */
export function warnOfSigners(all: SigningByPath, log: Log, now = Date.now()): void {
  for (const [path, settings] of all) {
    const logged = new Set<string>();
    for (const { use, certificate } of certificatesOf(settings)) {
      const { fingerprint256 } = certificate;
      if (use === 'ca' || logged.has(fingerprint256)) continue;
      logged.add(fingerprint256);
      warnOfExpiry(certificate, { use, contract: shownPath(path) }, log, now);
    }
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
      const { nextUpdate: next } = crlTimesOf(Buffer.from(bytes, 'base64'));
      if (next === undefined || next >= now) continue;
      const nextUpdate = new Date(next).toISOString();
      log.warn({ crl: { contract: shownPath(path), nextUpdate } }, 'CRL is after its next update');
    }
}

/** Uses of certificates that have a metric. */
const measured = ['sign', 'decrypt', 'issuer'] as const;

/**
 * Returns the time left of the certificates of each contract by use, and the age of its CRLs. Several certificates or
 * CRLs have one sample: the first one to expire, and the oldest one (X29).
 *
 * @param now time in ms since 1970
 */
export function signingMetrics(all: SigningByPath, now = Date.now()): Snapshot {
  const expiries = [...all].flatMap(([path, settings]) => {
    const certificates = certificatesOf(settings);
    return measured.flatMap((use) => {
      const ends = certificates.filter((one) => one.use === use).map((one) => one.certificate.validToDate);
      if (ends.length === 0) return [];
      const labels = `use="${use}",contract="${shownPath(path)}"`;
      return [[labels, (Math.min(...ends.map(Number)) - now) / 1_000] as const];
    });
  });
  const ages = [...all].flatMap(([path, { x509 }]) => {
    const updates = (x509?.crls ?? []).flatMap(
      (bytes) => crlTimesOf(Buffer.from(bytes, 'base64')).thisUpdate ?? [],
    );
    if (updates.length === 0) return [];
    return [[`contract="${shownPath(path)}"`, (now - Math.min(...updates)) / 1_000] as const];
  });
  return [
    perWorkerGauge(
      'wsse_certificate_expiry_seconds',
      'Time until the first certificate of a use expires; negative after it.',
      expiries,
    ),
    perWorkerGauge('wsse_crl_age_seconds', 'Time since the issuer made the oldest CRL of a contract.', ages),
  ];
}

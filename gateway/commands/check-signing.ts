import type { Wsse } from '../../mappings/contract/credentials.ts';
import { crlTimesOf } from '../../mappings/security/crl.ts';
import { subjectOf } from '../process/certificates.ts';
import { certificatesOf, type SigningCertificate } from '../process/signing-dates.ts';

/** The files and requirements of a contract with signed messages, for `check` (X29). It has no keys. */
export interface SigningSummary {
  /** The parts that one signature of each call must cover (X4). */
  readonly require: readonly string[];
  readonly certificates: readonly {
    readonly use: SigningCertificate['use'];
    readonly issuer?: string | undefined;
    readonly subject: string;
    /** SHA-256, hex digits. */
    readonly fingerprint: string;
    readonly notBefore: string;
    readonly notAfter: string;
  }[];
  readonly crls: readonly {
    readonly thisUpdate: string | undefined;
    readonly nextUpdate: string | undefined;
  }[];
}

/** Returns the summary of a contract with `wsse.x509`; undefined for any other. */
export function signingSummaryOf(wsse: Wsse | undefined): SigningSummary | undefined {
  if (wsse?.x509 === undefined) return undefined;
  const { require, crls } = wsse.x509;
  const text = (time: number | undefined): string | undefined =>
    time === undefined ? undefined : new Date(time).toISOString();
  return {
    require,
    certificates: certificatesOf(wsse).map(({ use, issuer, certificate }) => ({
      use,
      issuer,
      subject: subjectOf(certificate),
      fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
      notBefore: certificate.validFromDate.toISOString(),
      notAfter: certificate.validToDate.toISOString(),
    })),
    crls: crls.map((bytes) => {
      const { thisUpdate, nextUpdate } = crlTimesOf(Buffer.from(bytes, 'base64'));
      return { thisUpdate: text(thisUpdate), nextUpdate: text(nextUpdate) };
    }),
  };
}

const titles: Readonly<Record<SigningCertificate['use'], string>> = {
  ca: 'trusted CA',
  signer: 'known certificate',
  sign: 'certificate for signed replies',
  decrypt: 'certificate for encrypted requests',
  issuer: 'issuer of assertions',
};

/**
 * Returns the lines of a summary for the terminal.
 *
 * @param now time in ms since 1970
 */
export function signingLinesOf(
  { require, certificates, crls }: SigningSummary,
  now = Date.now(),
): readonly string[] {
  return [
    `signed calls: ${require.length === 0 ? 'not required' : `${require.join(', ')} required`}`,
    ...certificates.map(({ use, issuer, subject, notBefore, notAfter }) => {
      const of = issuer === undefined ? '' : ` ${issuer}`;
      return `${titles[use]}${of}: ${subject}, ${validityOf(Date.parse(notBefore), Date.parse(notAfter), now)}`;
    }),
    ...crls.map(
      ({ thisUpdate = 'an unknown time', nextUpdate = 'not stated' }) =>
        `CRL: of ${thisUpdate}, next update ${nextUpdate}`,
    ),
  ];
}

function validityOf(from: number, to: number, now: number): string {
  if (to < now) return `expired at ${new Date(to).toISOString()}`;
  if (from > now) return `valid from ${new Date(from).toISOString()}`;
  return `valid until ${new Date(to).toISOString()}`;
}

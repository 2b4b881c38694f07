import { X509Certificate } from 'node:crypto';
import type { TlsOptions } from 'node:tls';
import { dayMs } from '../../mappings/contract/times.ts';
import { shownPath } from '../../mappings/http-mapping/paths.ts';
import { ContractError, type ContractProblem, pointerSegment } from '../../mappings/loader/document/error.ts';
import { withLines } from '../../mappings/loader/document/yaml.ts';
import type { Log } from '../core/core-options.ts';
import { perWorkerGauge, type Snapshot } from '../telemetry/metrics.ts';
import type { SitePlan } from './sites.ts';
import type { TlsPlan } from './tls.ts';
import { certificatesInPem, type UpstreamPlan } from './upstream-plan.ts';

/**
 * Use of the certificates of a file. `server` and `ca`: `tls` towards callers. `client` and `upstream`: the certificate
 * and the CAs of `tls` towards an upstream. `legacy_client` and `legacy_ca`: the same towards a legacy service. `admin` and
 * `admin_ca`: `admin.tls`.
 */
export type CertificateUse =
  | 'server'
  | 'ca'
  | 'client'
  | 'upstream'
  | 'legacy_client'
  | 'legacy_ca'
  | 'admin'
  | 'admin_ca';

/** A file of certificates in use. */
export interface UsedCertificates {
  readonly use: CertificateUse;
  /** Path of the contract, for a certificate towards an upstream. */
  readonly contract: string | undefined;
  readonly certificates: readonly X509Certificate[];
  /** Position of the setting that names the file. */
  readonly file: string;
  readonly pointer: string;
}

/** Certificates that expire in less than this time are logged, in ms. */
const warnBeforeMs = 30 * dayMs;

/**
 * Logs a certificate that expired or expires in less than 30 days.
 *
 * @param now time in ms since 1970
 */
export function warnOfExpiry(
  certificate: X509Certificate,
  of: { readonly use: string; readonly contract: string | undefined },
  log: Log,
  now: number,
): void {
  const { validToDate } = certificate;
  const leftMs = validToDate.getTime() - now;
  const fields = {
    certificate: { ...of, subject: subjectOf(certificate), notAfter: validToDate.toISOString() },
  };
  if (leftMs < 0) log.error(fields, 'certificate expired');
  else if (leftMs < warnBeforeMs) log.warn(fields, 'certificate expires in less than 30 days');
}

/** All certificates of a process. An expired certificate does not replace a valid one. */
export class Certificates {
  readonly #groups = new Map<string, readonly UsedCertificates[]>();

  /** Throws ContractError if an invalid certificate would replace a valid one of its group. */
  check(group: string, next: readonly UsedCertificates[], now = Date.now()): void {
    const problems = next.flatMap((each) => {
      const former = this.#groups
        .get(group)
        ?.find(({ use, contract }) => use === each.use && contract === each.contract);
      if (former === undefined || !isValid(former, now) || isValid(each, now)) return [];
      return [problemOf(each, now)];
    });
    if (problems.length > 0) throw new ContractError(withLines(problems));
  }

  /** Throws ContractError if a certificate is not valid now. */
  require(now = Date.now()): void {
    const problems = this.#all().flatMap((each) => (isValid(each, now) ? [] : [problemOf(each, now)]));
    if (problems.length > 0) throw new ContractError(withLines(problems));
  }

  /** Replaces the certificates of a group. */
  use(group: string, certificates: readonly UsedCertificates[]): void {
    this.#groups.set(group, certificates);
  }

  /** Returns the end of validity of each file: the earliest of its certificates. */
  read(): Snapshot {
    const ends = this.#all().flatMap(({ use, contract, certificates }) => {
      const first = earliest(certificates);
      if (first === undefined) return [];
      const of = contract === undefined ? '' : `,contract="${contract}"`;
      return [[`use="${use}"${of}`, first.validToDate.getTime() / 1_000] as const];
    });
    const help = 'End of validity of a certificate as Unix time, by use.';
    return [perWorkerGauge('certificate_not_after_seconds', help, ends)];
  }

  /** Logs each file with a certificate that expired or expires in less than 30 days. */
  warn(log: Log, now = Date.now()): void {
    for (const { use, contract, certificates } of this.#all()) {
      const first = earliest(certificates);
      if (first !== undefined) warnOfExpiry(first, { use, contract }, log, now);
    }
  }

  #all(): readonly UsedCertificates[] {
    return [...this.#groups.values()].flat();
  }
}

/** Returns the subject of a certificate in the order of RFC 4514: `CN=ann,O=Acme`. */
export function subjectOf({ subject }: X509Certificate): string {
  return subject.split('\n').toReversed().join(',');
}

/** Returns the certificates of a listener. */
export function certificatesOfListener(
  uses: readonly [own: CertificateUse, ca: CertificateUse],
  { position: { file, pointer } }: TlsPlan,
  { cert, ca }: TlsOptions,
): readonly UsedCertificates[] {
  return [
    { use: uses[0], contract: undefined, certificates: parse(cert), file, pointer: `${pointer}/certificate` },
    { use: uses[1], contract: undefined, certificates: parse(ca), file, pointer: `${pointer}/ca` },
  ];
}

/** Returns the certificates towards the upstreams and legacy services of contracts. */
export function certificatesOfPlans(file: string, plans: readonly SitePlan[]): readonly UsedCertificates[] {
  return plans.flatMap(({ basePath = '', upstream, legacy }) => {
    const contract = shownPath(basePath);
    const certificatesOf = (
      [client, cas]: readonly [CertificateUse, CertificateUse],
      setting: 'upstream' | 'legacy',
      plan: UpstreamPlan | undefined,
    ): readonly UsedCertificates[] => {
      const pointer = `/contracts${pointerSegment(contract)}/${setting}/tls`;
      const { cert, ca } = plan?.tls ?? {};
      return [
        { use: client, contract, certificates: parse(cert), file, pointer: `${pointer}/certificate` },
        { use: cas, contract, certificates: parse(ca), file, pointer: `${pointer}/ca` },
      ];
    };
    return [
      ...certificatesOf(['client', 'upstream'], 'upstream', upstream),
      ...certificatesOf(['legacy_client', 'legacy_ca'], 'legacy', legacy?.service),
    ];
  });
}

/** Parses all certificates of a PEM text that was checked before. */
function parse(pem: TlsOptions['cert']): readonly X509Certificate[] {
  return certificatesInPem(String(pem ?? '')).map((certificate) => new X509Certificate(certificate));
}

function earliest(certificates: readonly X509Certificate[]): X509Certificate | undefined {
  return certificates.toSorted((a, b) => a.validToDate.getTime() - b.validToDate.getTime())[0];
}

/** A chain is valid if all its certificates are. A file of CAs is valid if one of them is. */
function isValid({ use, certificates }: UsedCertificates, now: number): boolean {
  const isNow = ({ validFromDate, validToDate }: X509Certificate): boolean =>
    validFromDate.getTime() <= now && now <= validToDate.getTime();
  if (certificates.length === 0) return true;
  const areCas = use === 'upstream' || use === 'ca' || use.endsWith('_ca');
  return areCas ? certificates.some(isNow) : certificates.every(isNow);
}

function problemOf(certificates: UsedCertificates, now: number): ContractProblem {
  const { file, pointer } = certificates;
  const message = `expected a certificate that is valid now, got a certificate that ${invalidity(certificates, now)}`;
  return { file, pointer, message };
}

function invalidity({ certificates }: UsedCertificates, now: number): string {
  const expired = certificates.find(({ validToDate }) => validToDate.getTime() < now);
  if (expired !== undefined) return `expired at ${expired.validToDate.toISOString()}`;
  const early = certificates.find(({ validFromDate }) => validFromDate.getTime() > now);
  return `is valid from ${early?.validFromDate.toISOString()}`;
}

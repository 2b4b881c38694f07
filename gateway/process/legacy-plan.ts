import type { Limits } from '../../mappings/contract/limits.ts';
import type { ValueOf } from '../../mappings/contract/setting.ts';
import type { Report } from '../../mappings/loader/document/error.ts';
import type { CertificatePart, ClientCertificateOptions } from '../http/client-certificate.ts';
import type { legacySetting, StatedMigration } from './migration-setting.ts';
import {
  checkAddress,
  legacyLimits,
  readOwnLimits,
  readUpstreamPlan,
  type UpstreamPlan,
} from './upstream-plan.ts';

/** The settings `legacy` and `migration` of a contract, with the contents of the files they name (G2, G3). */
export interface LegacyPlan {
  /** The configuration file, and the JSON pointer of the contract in it. */
  readonly file: string;
  readonly at: string;
  readonly url: string;
  readonly service: UpstreamPlan | undefined;
  readonly limits: Partial<Limits>;
  readonly identity: { readonly header: string; readonly from: 'caller' | CertificatePart } | undefined;
  readonly others: 'forward' | 'refuse';
  /** True if the file has the setting `store`. */
  readonly hasStore: boolean;
  /** `migration` as written in the file. It is checked when the contract is loaded. */
  readonly stated: StatedMigration;
  /** Settings of the listener for client certificates. */
  readonly clientCertificate: ClientCertificateOptions | undefined;
}

type StatedLegacy = ValueOf<typeof legacySetting>;

/** Settings of the listener that `identity` depends on. */
interface ListenerCertificates {
  readonly clientCertificate: ClientCertificateOptions | undefined;
  /** True if the listener asks for client certificates. */
  readonly isRequested: boolean;
}

/** Reads `legacy` and the files it names, and reports problems. Problems never contain secrets. */
export function readLegacyPlan(
  stated: StatedLegacy,
  migration: StatedMigration,
  place: {
    readonly file: string;
    readonly at: string;
    readonly limits: Partial<Limits> | undefined;
    readonly hasStore: boolean;
  },
  { clientCertificate, isRequested }: ListenerCertificates,
  inFolder: (name: string) => string,
  report: Report,
): LegacyPlan {
  const { file, at, limits, hasStore } = place;
  const pointer = `${at}/legacy`;
  const url = typeof stated === 'string' ? stated : stated.url;
  if (url === undefined) report(pointer, 'expected url, the URL of the legacy service, got none', 'url');
  checkAddress(url, typeof stated === 'string' ? pointer : `${pointer}/url`, report);
  const plan = {
    file,
    at,
    url: url ?? 'http://localhost',
    stated: migration,
    clientCertificate,
    others: 'forward' as const,
    hasStore,
    limits: limits ?? {},
    identity: undefined,
    service: undefined,
  };
  if (typeof stated === 'string') return plan;
  const { identity, others = 'forward', limits: own = new Map(), oauth2 } = stated;
  if (oauth2?.grant === 'tokenExchange')
    report(`${pointer}/oauth2/grant`, 'expected clientCredentials, got tokenExchange');
  const { header, from = 'caller' } = identity ?? {};
  if (identity !== undefined && header === undefined)
    report(`${pointer}/identity`, 'expected header, the name of the header, got none', 'header');
  if (from !== 'caller' && !isRequested && clientCertificate === undefined)
    report(
      `${pointer}/identity/from`,
      `expected tls with clientCertificates, or clientCertificate, for ${from}, got neither key`,
    );
  return {
    ...plan,
    service: readUpstreamPlan(stated, pointer, inFolder, report),
    limits: { ...limits, ...readOwnLimits(own, `${pointer}/limits`, report, legacyLimits) },
    identity: header === undefined ? undefined : { header, from },
    others,
  };
}

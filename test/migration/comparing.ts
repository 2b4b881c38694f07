import type { ExecutionContext } from 'ava';
import { until } from '../until.ts';
import { contractFolder, type Site, type SiteOptions, startSite } from './scenario.ts';

export const zip = 'GetApplicationZip';
export const path = '/agency/services/v2/AgencyPort';
export const headers = { 'Content-Type': 'text/xml' };

/** Returns a call of `zip`. */
export function message(number: string): string {
  return `<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><a:GetApplicationZipRequest xmlns:a="http://desk.example/services/Agency-V2"><c:GrantsGovTrackingNumber xmlns:c="http://desk.example/system/Common-V1">${number}</c:GrantsGovTrackingNumber></a:GetApplicationZipRequest></soap:Body></soap:Envelope>`;
}

const replies = {
  legacy:
    '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><a:GetApplicationZipResponse xmlns:a="http://desk.example/services/Agency-V2"><a:FileDataHandler>UEsDBA==</a:FileDataHandler></a:GetApplicationZipResponse></soap:Body></soap:Envelope>',
  new: '{"FileDataHandler":"UEsDBA=="}',
};

/** A gateway that compares the calls of `zip`. Both services give equal replies. */
export interface ComparingSite extends Site {
  readonly replies: typeof replies;
  /** Returns the configuration for a rule. */
  readonly configOf: (rule: object) => object;
}

/** Settings of the contract. */
interface Settings {
  /** `migration.compare`. */
  readonly compare?: object;
  /** `migration.replies`. */
  readonly replies?: object;
  /** Settings or URLs of services. Default: the stubs. */
  readonly legacy?: string | object;
  readonly upstream?: string;
}

export async function startComparing(
  t: ExecutionContext,
  rule: object = {},
  more: Partial<SiteOptions> & Settings = {},
): Promise<ComparingSite> {
  const { compare, replies: written, legacy = '{legacy}', upstream = '{new}', ...options } = more;
  const configOf = (own: object): object => ({
    legacy,
    upstream,
    migration: {
      routes: [{ name: 'c', operations: [zip], mode: 'compare', ...own }],
      ...(compare === undefined ? {} : { compare }),
      ...(written === undefined ? {} : { replies: written }),
    },
  });
  const site = await startSite(t, {
    contract: contractFolder('contracts/agency'),
    config: configOf(rule),
    callers: ['acme', 'tester'],
    ...options,
  });
  site.legacy.answer = { status: 200, headers: { 'content-type': 'text/xml' }, body: replies.legacy };
  site.upstream.answer = { status: 200, headers: { 'content-type': 'application/json' }, body: replies.new };
  return { ...site, replies, configOf };
}

/** Returns the results of comparisons in the log. */
export function comparedIn(site: Site): readonly unknown[] {
  return site.log().flatMap(({ compared }) => (compared === undefined ? [] : [compared]));
}

/** Waits until the log has a number of results, and returns them. */
export async function results(site: Site, count: number): Promise<readonly unknown[]> {
  await until(() => comparedIn(site).length >= count);
  return comparedIn(site);
}

/** Returns the value of a metric of the contract; 0 if it has no sample with these labels. */
export function metricOf(site: Site, name: string, labels: string): number {
  const samples = site.running.metrics().find((family) => family.name === name)?.samples ?? [];
  return samples.find((sample) => sample.labels === `contract="/",${labels}`)?.value ?? 0;
}

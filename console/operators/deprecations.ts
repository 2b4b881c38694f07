import type { ExemptionView, UsageView } from '../../gateway/admin/api-types.ts';
import { type Html, html } from '../server/html.ts';
import { table } from '../server/layout.ts';
import { actionForm, reason } from './action.ts';
import { maxUsageRows, usageTable } from './callers.ts';
import { figures, warning } from './layout.ts';
import { apiPath, href, settingName, time } from './links.ts';
import { type ConsolePage, ifAvailable, sumOf, type Visit } from './visit.ts';

/** An entry of `migration.deprecate` as it is in the file. */
interface Stated {
  readonly operations?: readonly string[];
  readonly since?: string;
  readonly sunset?: string;
  readonly link?: string;
  readonly brownouts?: readonly { readonly at: string; readonly for: string }[];
}

/** `/{c}/deprecations`: sunsets, the callers that they affect, and exemptions (G64, G65). */
export const deprecations: ConsolePage = {
  path: '/:c/deprecations',
  render: async (visit) => {
    const name = settingName(visit.contract, 'migration/deprecate');
    const stated = visit.settings().find((setting) => setting.name === name)?.value ?? [];
    const entries = stated as readonly Stated[];
    const { value, why } = await ifAvailable(
      Promise.all([
        visit.all<UsageView>('/contracts/:c/usage'),
        visit.all<ExemptionView>('/contracts/:c/exemptions'),
        visit.samples(),
      ]),
    );
    const [usage, exemptions, samples] = value ?? [[], [], []];
    const refused = sumOf(
      samples,
      'deprecated_refused_total',
      (labels) => labels.get('contract') === visit.contract,
    );
    return {
      title: 'Deprecations',
      body: html`<h1>Deprecations</h1>
        ${entries.length === 0 && html`<p>No operation is deprecated. <code>migration.deprecate</code> in soapbridge.yaml lists the operations with their sunsets.</p>`}
        ${entries.length > 0 && html`<p>Refused calls since the start: ${refused}</p>`}
        ${warning('Callers and exemptions are not known', why)}
        ${entries.map((entry) => entryOf(visit, entry, usage))}
        ${exemptionsOf(visit, exemptions)}`,
    };
  },
};

function entryOf(
  visit: Visit,
  { operations, since, sunset, link, brownouts = [] }: Stated,
  usage: readonly UsageView[],
): Html {
  const affected = usage.filter(({ operation }) => operations?.includes(operation) ?? true);
  return html`<h2>${operations?.join(', ') ?? 'All operations'}</h2>
    ${figures({
      'Deprecated since': since ?? 'none',
      Sunset: sunset ?? 'none',
      'Brown-outs': brownouts.map((one) => `${one.at} for ${one.for}`).join(', ') || 'none',
      Link: link === undefined ? 'none' : html`<a href=${link} rel="noreferrer">${link}</a>`,
    })}
    <h3>Callers in the last 30 days</h3>
    ${usageTable(visit, affected)}
    ${affected.length > maxUsageRows && html`<p>The <a href=${href('/:c/callers', visit.contract)}>page of callers</a> has all rows.</p>`}`;
}

function exemptionsOf(visit: Visit, exemptions: readonly ExemptionView[]): Html {
  const rows = exemptions.map(({ id, caller, operation, until, reason: why, actor }) => [
    caller,
    operation ?? 'all',
    time(until),
    actor,
    why,
    actionForm(
      {
        id: `end-${id}`,
        label: `End the exemption of ${caller}`,
        method: 'DELETE',
        path: apiPath('/contracts/:c/exemptions/:id', visit.contract, id),
        fields: [],
        done: 'The exemption has ended.',
      },
      visit,
    ),
  ]);
  return html`<h2>Exemptions</h2>
    ${rows.length === 0 ? html`<p>No caller is exempt here. The file can exempt callers, too.</p>` : table(['Caller', 'Operation', 'Until', 'Who', 'Reason', 'End'], rows, 'Exemptions')}
    <h3>Exempt a caller</h3>
    <p>The caller is served after the sunset and during brown-outs, until the time.</p>
    ${actionForm(
      {
        id: 'exempt',
        label: 'Exempt',
        method: 'POST',
        path: apiPath('/contracts/:c/exemptions', visit.contract),
        fields: [
          { name: 'caller', label: 'Caller', kind: 'text', hint: 'name, pseudonym or id' },
          {
            name: 'operation',
            label: 'Operation',
            kind: 'text',
            isOptional: true,
            hint: 'empty for all operations',
          },
          { name: 'until', label: 'Until', kind: 'time', hint: 'a time such as 2027-01-31T00:00:00Z' },
          reason,
        ],
        done: '{caller} is exempt until {until}.',
      },
      visit,
    )}`;
}

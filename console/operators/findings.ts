import type { FindingView, VerdictView } from '../../gateway/admin/api-types.ts';
import { type Html, html } from '../server/html.ts';
import { codeBlock, table } from '../server/layout.ts';
import { actionForm, reason } from './action.ts';
import { figures } from './layout.ts';
import { apiPath, href, operationHref, time } from './links.ts';
import { markedTexts } from './marks.ts';
import { suggestedRule } from './suggestion.ts';
import type { ConsolePage, Visit } from './visit.ts';

const path = '/:c/findings';

/** `/{c}/findings`: all findings, or with `id` one of them with its examples and actions. */
export const findings: ConsolePage = {
  path,
  render: async (visit) => {
    const id = visit.query('id');
    const verdicts = await visit.all<VerdictView>('/contracts/:c/verdicts');
    if (id !== '') {
      const finding = await visit.get<FindingView>('/contracts/:c/findings/:id', { id });
      return { title: finding.name, body: findingPage(visit, finding, verdicts) };
    }
    const all = await visit.all<FindingView>('/contracts/:c/findings');
    const of = visit.query('operation');
    const shown = of === '' ? all : all.filter(({ operation }) => operation === of);
    return {
      title: 'Findings',
      body: html`<h1>Findings${of !== '' && ` of ${of}`}</h1>
        ${of !== '' && html`<p><a href=${href(path, visit.contract)}>All findings</a></p>`}
        ${findingTable(visit, shown, verdicts)}
        <p><a href=${apiPath('/contracts/:c/report', visit.contract)} download="report.json">Download the report</a></p>`,
    };
  },
};

/** Renders findings as a table. */
export function findingTable(
  { contract }: Visit,
  shown: readonly FindingView[],
  verdicts: readonly VerdictView[],
): Html {
  if (shown.length === 0) return html`<p>No findings. Differences of compared calls appear here.</p>`;
  const rows = shown.map((finding) => [
    html`<a href=${href(path, contract, { id: finding.id })}>${finding.name}</a>`,
    finding.operation,
    stateText(finding),
    countText(finding, verdicts),
    finding.callers,
    time(finding.last),
  ]);
  return table(['Finding', 'Operation', 'State', 'Differences', 'Callers', 'Last'], rows, 'Findings');
}

function stateText({ state }: FindingView): Html {
  return html`<span class=${`badge verdict-${state}`}>${state}</span>`;
}

/** Returns the number of differences next to the noise of the legacy service against itself (G46). */
function countText(
  { operation, count, calls, noise }: FindingView,
  verdicts: readonly VerdictView[],
): string {
  const { calls: compared = calls, noisePairs = 0 } =
    verdicts.find((one) => one.operation === operation) ?? {};
  const own = `${count} in ${calls} of ${compared} calls`;
  return noisePairs === 0 ? own : `${own}; noise ${noise} of ${noisePairs}`;
}

function findingPage(visit: Visit, finding: FindingView, verdicts: readonly VerdictView[]): Html {
  const { contract } = visit;
  const { name, operation, first, last, callers, examples, id } = finding;
  const split = name.lastIndexOf(' ');
  const rule = suggestedRule({
    operation,
    path: name.slice(0, split),
    kind: name.slice(split + 1),
    examples,
  });
  return html`<h1>${name}</h1>
    ${figures({
      Operation: html`<a href=${operationHref(contract, operation)}>${operation}</a>`,
      State: stateText(finding),
      Differences: countText(finding, verdicts),
      Callers: callers,
      First: time(first),
      Last: time(last),
    })}
    ${finding.reason !== undefined && html`<p>Explained: ${finding.reason}</p>`}
    <h2>Examples</h2>
    ${examples.map(exampleOf)}
    <p><a href=${apiPath('/contracts/:c/findings/:id', contract, id)} download=${`finding-${operation}.json`}>Download as JSON</a></p>
    <h2>Suggested rule</h2>
    ${
      rule === undefined
        ? html`<p>No rule can explain this difference. Correct the new service.</p>`
        : html`<p>If the difference is correct, add this rule to <code>migration.compare.rules</code> in soapbridge.yaml. Check the action, and replace the reason.</p>
            ${codeBlock(rule, 'Suggested rule')}`
    }
    <h2>Decide</h2>
    ${decisions(visit, finding)}`;
}

function exampleOf({
  path: at,
  class: kind,
  legacy,
  new: other,
  requestId,
  caller,
  at: when,
}: FindingView['examples'][number]): Html {
  const [first, second] = markedTexts(legacy, other);
  return html`<div class="example">
    <p><code>${at}</code>${kind !== undefined && html` <span class="badge">${kind}</span>`}</p>
    <div class="columns">
      <div><h3>Legacy</h3>${first}</div>
      <div><h3>New</h3>${second}</div>
    </div>
    <p class="facts">${time(when)}, request <code>${requestId}</code>${caller !== undefined && `, caller ${caller}`}</p>
  </div>`;
}

/** The decisions about a finding that are possible in its state. */
function decisions(visit: Visit, { id, state: current }: FindingView): Html {
  const isDecided = current === 'explained' || current === 'closed';
  const all = [
    ['accepted', 'Accept', 'The difference counts as explained.', current !== 'explained'],
    [
      'fixed',
      'Mark as fixed',
      'The finding is closed until the difference occurs again.',
      current !== 'closed',
    ],
    ['open', 'Reopen', 'The difference counts again, unless a rule explains it.', isDecided],
  ] as const;
  return all
    .filter(([, , , isPossible]) => isPossible)
    .map(
      ([state, label, effect]) => html`<h3>${label}</h3>
        <p>${effect}</p>
        ${actionForm(
          {
            id: state,
            label,
            method: 'POST',
            path: apiPath('/contracts/:c/findings/:id/state', visit.contract, id),
            fields: [{ name: 'state', label: 'State', kind: 'hidden', value: state }, reason],
            done: `The finding is ${state}.`,
          },
          visit,
        )}`,
    );
}

import type {
  RouteChangeInput,
  RouteChangeView,
  RoutesView,
  VerdictView,
} from '../../gateway/admin/api-types.ts';
import type { Report } from '../../gateway/admin/operator-pages.ts';
import { type Html, html } from '../server/html.ts';
import { actionForm, type Field } from './action.ts';
import { history, missingText } from './contract.ts';
import { findingTable } from './findings.ts';
import { ladder, stepOf } from './ladder.ts';
import { apiPath, operationHref, share, time } from './links.ts';
import { trafficOf, verdictBadge } from './overview.ts';
import { type ConsolePage, ifAvailable, type Visit } from './visit.ts';

/** `/{c}/operations/{Op}`: the route, the evidence and the actions of one operation. */
export const operation: ConsolePage = {
  path: '/:c/operations/:operation',
  needs: ['/contracts/:c/routes', '/contracts/:c/report'],
  render: async (visit) => {
    const { contract, operation: name } = visit;
    const routes = await visit.get<RoutesView>('/contracts/:c/routes');
    const route = routes.sentences.find((one) => one.operation === name);
    if (route === undefined)
      throw visit.missing(`operation: expected an operation of ${contract}, got another name`);
    const [{ value: report, why }, samples] = await Promise.all([
      ifAvailable(visit.get<Report>('/contracts/:c/report')),
      visit.samples(),
    ]);
    const verdict = report?.operations.find((one) => one.operation === name);
    const own = (verdict?.findings ?? []).map((one) => ({ ...one, operation: name, id: one.id ?? '' }));
    const { calls, errors, byNew, routed } = trafficOf(samples, contract, name);
    const change = routes.changes.find((one) => one.operation === name && one.isActive);
    return {
      title: name,
      body: html`<h1 dir="auto">${name}</h1>
        ${ladder(stepOf(routes, name), route.isRead)}
        <p><strong>Route:</strong> ${route.sentence}</p>
        ${change !== undefined && changeText(visit, change)}
        <dl id="figures" data-live class="figures">
          <div><dt>Calls</dt><dd>${calls}</dd></div>
          <div><dt>Errors</dt><dd>${errors}</dd></div>
          <div><dt>Share of new</dt><dd>${share(byNew, routed)}</dd></div>
          <div><dt>Verdict</dt><dd>${
            verdict === undefined
              ? route.isRead
                ? '–'
                : 'none, a write is never compared'
              : html`${verdictBadge(verdict.verdict)} ${missingText(verdict)}`
          }</dd></div>
          ${
            verdict !== undefined &&
            html`<div><dt>Compared calls</dt><dd>${verdict.calls}: ${verdict.equal} equal, ${verdict.explained} explained, ${verdict.different} different</dd></div>
              <div><dt>Latency</dt><dd>${latency(verdict)}</dd></div>`
          }
        </dl>
        ${why !== undefined && html`<p class="warning">The verdict is not available: ${why}</p>`}
        ${route.isRead && html`<h2>Findings</h2>${findingTable(visit, own, verdict === undefined ? [] : [verdict])}`}
        ${await switchForms(visit, routes, route.isRead, verdict)}
        ${explainForm(visit)} ${history(visit, routes, name)}`,
    };
  },
};

/** Renders the latency of both sides. */
function latency(verdict: Pick<VerdictView, 'legacy' | 'new'>): Html {
  const sides = (['legacy', 'new'] as const).flatMap((side) => {
    const of = verdict[side];
    return of === undefined
      ? []
      : [html`<span class="nowrap">${side}: p50 ${of.p50} ms, p99 ${of.p99} ms</span>`];
  });
  return sides.length === 0 ? '–' : sides.flatMap((side, at) => (at === 0 ? [side] : [html`<br />`, side]));
}

function changeText(
  visit: Visit,
  { id, mode, percent, actor, at, reason, until, isForced }: RouteChangeView,
): Html {
  const share = percent < 100 && ` for ${percent} % of the callers`;
  return html`<p class="facts">Changed to ${mode}${share} by ${actor} at ${time(at)}${isForced && ', forced'}: ${reason}${
    until !== null && html`. Ends at ${time(until)}`
  }</p>
    ${actionForm(
      {
        id: 'end',
        label: 'End this change',
        method: 'DELETE',
        path: apiPath('/contracts/{c}/routes/{id}', visit.contract, id),
        fields: [],
        done: 'The change has ended. Version {version} is in use.',
      },
      visit,
    )}`;
}

/** Renders the selection of another route. With a selection, renders the sentence before and after, and the action. */
async function switchForms(
  visit: Visit,
  routes: RoutesView,
  isRead: boolean,
  verdict: VerdictView | undefined,
): Promise<Html> {
  const { contract, operation: name, query } = visit;
  const mode = query('mode');
  const [percent, answer, until] = [query('percent'), query('answer'), query('until')];
  const modes = isRead ? ['legacy', 'compare', 'new', 'blend', 'fallback'] : ['legacy', 'new'];
  const input = (id: string, label: string, value: string, hint: string): Html =>
    html`<div class="field"><label for=${id}>${label}</label><input type="text" id=${id} name=${id} value=${value} aria-describedby=${`${id}-hint`} /><span class="facts" id=${`${id}-hint`}>${hint}</span></div>`;
  const select = (id: string, label: string, value: string, choices: readonly string[]): Html =>
    html`<div class="field"><label for=${id}>${label}</label><select id=${id} name=${id}>${choices.map(
      (one) => html`<option value=${one} selected=${one === value}>${one}</option>`,
    )}</select></div>`;
  return html`<h2 id="switch">Switch</h2>
    <form class="form" method="get" action=${`${operationHref(contract, name)}#switch`}>
      <div class="columns">
        ${select('mode', 'Mode', mode, modes)}
        ${isRead && select('answer', 'Answering service in mode compare', answer || 'legacy', ['legacy', 'new'])}
        ${input('percent', 'Percent of callers', percent || '100', '100 for all callers')}
        ${input('until', 'Until (optional)', until, 'a time such as 2027-01-31T00:00:00Z, after which the file decides again')}
      </div>
      <div class="buttons"><button type="submit">Show the route before and after</button></div>
    </form>
    ${mode !== '' && (await confirmation(visit, routes, verdict, { mode, percent, answer, until }))}`;
}

async function confirmation(
  visit: Visit,
  routes: RoutesView,
  verdict: VerdictView | undefined,
  { mode, percent, answer, until }: Readonly<Record<'mode' | 'percent' | 'answer' | 'until', string>>,
): Promise<Html> {
  const { contract, operation: name } = visit;
  const before = routes.sentences.find((one) => one.operation === name)?.sentence;
  const after = visit.sentenceAfter({
    operation: name,
    mode: mode as RouteChangeInput['mode'],
    ...(percent === '' ? {} : { percent: Number(percent) }),
    ...(mode === 'compare' && answer === 'new' ? { answer } : {}),
  });
  const hidden = (field: string, value: string, type?: 'number'): readonly Field[] =>
    value === '' ? [] : [{ name: field, label: field, kind: 'hidden', value, ...(type && { type }) }];
  const needsForce = mode === 'new' && verdict !== undefined && verdict.verdict !== 'ready';
  return html`<dl class="change">
      <dt>Before</dt><dd>${before}</dd>
      <dt>After</dt><dd>${after}</dd>
    </dl>
    ${needsForce && html`<p class="warning">The verdict is ${verdict.verdict}. ${missingText(verdict)}</p>`}
    ${actionForm(
      {
        id: 'route',
        label: `Switch ${name}`,
        method: 'POST',
        path: apiPath('/contracts/{c}/routes', contract),
        fields: [
          ...hidden('operation', name),
          ...hidden('mode', mode),
          ...hidden('percent', percent === '100' ? '' : percent, 'number'),
          ...hidden('answer', mode === 'compare' ? answer : ''),
          ...hidden('until', until),
          ...hidden('ifVersion', String(routes.version), 'number'),
          {
            name: 'reason',
            label: 'Reason',
            kind: 'reason',
            hint: '3 to 500 characters, stored in the audit',
          },
          ...(needsForce
            ? [{ name: 'force', label: 'Switch although it is not ready', kind: 'flag' } as const]
            : []),
        ],
        done: 'The route has changed. Version {version} is in use.',
      },
      visit,
    )}`;
}

function explainForm(visit: Visit): Html {
  return html`<h2>Explain a message</h2>
    <p>Paste a request to see its operation, rule and mode. Nothing is sent or stored.</p>
    ${actionForm(
      {
        id: 'explain',
        label: 'Explain',
        method: 'POST',
        path: apiPath('/contracts/{c}/routes/explain', visit.contract),
        role: 'read',
        fields: [
          { name: 'body', label: 'Message', kind: 'message' },
          {
            name: 'caller',
            label: 'Caller',
            kind: 'text',
            isOptional: true,
            hint: 'name in callers.yaml, or an id',
          },
          {
            name: 'headers',
            label: 'HTTP headers',
            kind: 'message',
            isOptional: true,
            type: 'headers',
            hint: 'one per line, such as X-Branch: north',
          },
        ],
        done: '{operation}: {mode}, by the rule “{rule}”.',
        stays: true,
      },
      visit,
    )}`;
}

import type {
  RouteChangeInput,
  RouteChangeView,
  RoutesView,
  VerdictView,
} from '../../gateway/admin/api-types.ts';
import { Problem, type Report } from '../../gateway/admin/operator-pages.ts';
import { type Html, html } from '../server/html.ts';
import { actionForm, type Field, fieldOf, reason } from './action.ts';
import { history, missingText } from './contract.ts';
import { findingTable } from './findings.ts';
import { ladder, stepOf } from './ladder.ts';
import { figures, warning } from './layout.ts';
import { apiPath, operationHref, share, time } from './links.ts';
import { trafficOf, verdictBadge } from './overview.ts';
import { type ConsolePage, ifAvailable, type Visit } from './visit.ts';

/** `/{c}/operations/{Op}`: the route, the evidence and the actions of one operation. */
export const operation: ConsolePage = {
  path: '/:c/operations/:operation',
  render: async (visit) => {
    const { contract, operation: name } = visit;
    const routes = await visit.get<RoutesView>('/contracts/:c/routes');
    const route = routes.sentences.find((one) => one.operation === name);
    if (route === undefined)
      throw new Problem(404, `operation: expected an operation of ${contract}, got another name`);
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
        <div id="figures" data-live>
          ${figures({
            Calls: calls,
            Errors: errors,
            'Share of new': share(byNew, routed),
            Verdict: verdictText(route, verdict),
            'Compared calls':
              verdict &&
              `${verdict.calls}: ${verdict.equal} equal, ${verdict.explained} explained, ${verdict.different} different`,
            Latency: verdict && latency(verdict),
          })}
        </div>
        ${warning('The verdict is not available', why)}
        ${route.isRead && html`<h2>Findings</h2>${findingTable(visit, own, verdict === undefined ? [] : [verdict])}`}
        ${await switchForms(visit, routes, route.isRead, verdict)}
        ${explainForm(visit)} ${history(visit, routes, name)}`,
    };
  },
};

function verdictText({ isRead }: RoutesView['sentences'][number], verdict: VerdictView | undefined): Html {
  if (verdict !== undefined) return html`${verdictBadge(verdict.verdict)} ${missingText(verdict)}`;
  return isRead ? '–' : 'none, a write is never compared';
}

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
  { id, mode, percent, actor, at, reason: why, until, isForced }: RouteChangeView,
): Html {
  const share = percent < 100 && ` for ${percent} % of the callers`;
  return html`<p class="facts">Changed to ${mode}${share} by ${actor} at ${time(at)}${isForced && ', forced'}: ${why}${
    until !== null && html`. Ends at ${time(until)}`
  }</p>
    ${actionForm(
      {
        id: 'end',
        label: 'End this change',
        method: 'DELETE',
        path: apiPath('/contracts/:c/routes/:id', visit.contract, id),
        fields: [],
        done: 'The change has ended. Version {version} is in use.',
      },
      visit,
    )}`;
}

function answering(value: string): Field {
  const label = 'Answering service in mode compare';
  return { name: 'answer', label, kind: 'choice', value: value || 'legacy', choices: ['legacy', 'new'] };
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
  const fields: readonly Field[] = [
    { name: 'mode', label: 'Mode', kind: 'choice', value: mode, choices: modes },
    ...(isRead ? [answering(answer)] : []),
    {
      ...{ name: 'percent', label: 'Percent of callers', kind: 'text', value: percent || '100' },
      hint: '100 for all callers',
    },
    {
      ...{ name: 'until', label: 'Until', kind: 'time', value: until, isOptional: true },
      hint: 'a time such as 2027-01-31T00:00:00Z, after which the file decides again',
    },
  ];
  return html`<h2 id="switch">Switch</h2>
    <form class="form" method="get" action=${`${operationHref(contract, name)}#switch`}>
      <div class="columns">${fields.map((field) => fieldOf('switch', field))}</div>
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
        path: apiPath('/contracts/:c/routes', contract),
        fields: [
          ...hidden('operation', name),
          ...hidden('mode', mode),
          ...hidden('percent', percent === '100' ? '' : percent, 'number'),
          ...hidden('answer', mode === 'compare' ? answer : ''),
          ...hidden('until', until),
          ...hidden('ifVersion', String(routes.version), 'number'),
          reason,
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
        path: apiPath('/contracts/:c/routes/explain', visit.contract),
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

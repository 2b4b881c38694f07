import type { FindingView, RoutesView, VerdictView } from '../../gateway/admin/api-types.ts';
import { type Html, html } from '../server/html.ts';
import { table } from '../server/layout.ts';
import { actionForm, reason } from './action.ts';
import { stepOf } from './ladder.ts';
import { warning } from './layout.ts';
import { apiPath, href, operationHref, time } from './links.ts';
import { trafficOf, verdictBadge } from './overview.ts';
import { type ConsolePage, ifAvailable, type Visit } from './visit.ts';

/** `/{c}`: the operations of a contract, and the history of its routes. */
export const contract: ConsolePage = {
  path: '/:c',
  render: async (visit) => {
    const { contract: path } = visit;
    const [routes, { value: evidence, why }, samples] = await Promise.all([
      visit.get<RoutesView>('/contracts/:c/routes'),
      ifAvailable(
        Promise.all([
          visit.all<VerdictView>('/contracts/:c/verdicts'),
          visit.all<FindingView>('/contracts/:c/findings'),
        ]),
      ),
      visit.samples(),
    ]);
    const [verdicts, findings] = evidence ?? [[], []];
    const verdictOf = new Map(verdicts.map((one) => [one.operation, one]));
    const rows = routes.sentences.map(({ operation, isRead, sentence }) => {
      const { calls, errors } = trafficOf(samples, path, operation);
      const verdict = verdictOf.get(operation);
      const open = findings.filter((one) => one.operation === operation && isOpen(one)).length;
      return [
        html`<a href=${operationHref(path, operation)}>${operation}</a> <span class="badge">${isRead ? 'read' : 'write'}</span>`,
        stepOf(routes, operation),
        sentence,
        calls,
        errors,
        verdict === undefined ? '–' : html`${verdictBadge(verdict.verdict)} ${missingText(verdict)}`,
        open === 0
          ? 0
          : html`<a href=${href('/:c/findings', path, { operation })} aria-label=${`${open} open findings of ${operation}`}>${open}</a>`,
      ];
    });
    const headings = ['Operation', 'Step', 'Route', 'Calls', 'Errors', 'Verdict', 'Open findings'];
    return {
      title: path,
      body: html`<h1 dir="auto">${path}</h1>
        ${warning('Routes cannot be changed', routes.readOnlyReason)}
        ${warning('Verdicts are not available', why)}
        <div id="operations" data-live>${table(headings, rows, 'Operations')}</div>
        ${history(visit, routes)}
        <h2>Replicas</h2>
        ${table(
          ['Replica', 'Version of the routes', 'Last seen'],
          routes.replicas.map(({ id, version, seenAt }) => [html`<code>${id}</code>`, version, time(seenAt)]),
          'Replicas',
        )}`,
    };
  },
};

/** Returns true for a finding that counts as a difference. */
export function isOpen({ state }: Pick<FindingView, 'state'>): boolean {
  return state === 'different' || state === 'undecided';
}

/** Renders the conditions of `ready` that are not met. */
export function missingText({ missing, calls, callers, days, unanswered }: VerdictView): Html {
  const now: Readonly<Record<string, string>> = {
    calls: `more compared calls (now ${calls})`,
    callers: `more callers (now ${callers})`,
    days: `more days without a difference (now ${days})`,
    unanswered: `fewer shadow requests without a reply (now ${unanswered})`,
  };
  return (
    missing.length > 0 &&
    html`<span class="facts">Missing: ${missing.map((name) => now[name] ?? name).join(', ')}</span>`
  );
}

/** Renders the versions of the routes, and the rollback. */
export function history(
  { contract: path, origin, viewer }: Visit,
  routes: RoutesView,
  operation?: string,
): Html {
  const shown = routes.history.filter(
    (one) => operation === undefined || [operation, null].includes(one.operation),
  );
  const [latest] = routes.history;
  const rows = shown.map(({ version, at, actor, action, operation: of, toVersion, ...more }) => [
    version,
    time(at),
    actor,
    action === 'rollback' ? `rollback to version ${toVersion}` : `${action === 'end' ? 'ended: ' : ''}${of}`,
    more.reason,
  ]);
  const before = String(Math.max(0, (latest?.version ?? routes.version) - 1));
  return html`<h2>History</h2>
    <p>Version ${routes.version} of the routes is in use. Version 0 has only the rules of the file.</p>
    ${rows.length > 0 && table(['Version', 'Time', 'Who', 'Change', 'Reason'], rows, 'History of the routes')}
    ${
      routes.version > 0 &&
      html`<h3>Roll back</h3>
        <p>A rollback restores the routes of all operations as they were at a version. It takes effect within two seconds.</p>
        ${actionForm(
          {
            id: 'rollback',
            label: 'Roll back',
            method: 'POST',
            path: apiPath('/contracts/:c/routes/rollback', path),
            fields: [
              { name: 'toVersion', label: 'Version to restore', kind: 'text', value: before, type: 'number' },
              reason,
            ],
            done: 'Rolled back. Version {version} is in use.',
          },
          { origin, viewer },
        )}`
    }`;
}

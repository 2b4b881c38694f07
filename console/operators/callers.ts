import type { CallerView, UsageView } from '../../gateway/admin/api-types.ts';
import { quoted } from '../command.ts';
import { type Html, html } from '../server/html.ts';
import { codeLine, table } from '../server/layout.ts';
import { actionForm, reason } from './action.ts';
import { figures, warning } from './layout.ts';
import { apiPath, href, operationHref, time } from './links.ts';
import { type ConsolePage, ifAvailable, type Visit } from './visit.ts';

const path = '/:c/callers';

/** `/{c}/callers`: operations and callers with their last call, stack and side (G61 to G63). */
export const callers: ConsolePage = {
  path,
  render: async (visit) => {
    const { contract, query } = visit;
    const since = query('since') || '30d';
    const id = query('caller');
    if (id !== '') {
      const caller = await visit.get<CallerView>('/contracts/:c/callers/:caller', { id });
      return { title: caller.caller, body: callerPage(visit, caller) };
    }
    const { value: usage = [], why } = await ifAvailable(
      visit.all<UsageView>('/contracts/:c/usage', { since }),
    );
    const from = /^\d{1,5}$/.test(query('from')) ? Number(query('from')) : 0;
    const next = from + maxUsageRows;
    const exported = `${apiPath('/contracts/:c/usage', contract)}?since=${encodeURIComponent(since)}`;
    return {
      title: 'Callers',
      body: html`<h1>Callers</h1>
        <form class="line since" method="get">
          <label for="since">Calls since</label>
          <input type="text" id="since" name="since" value=${since} size="6" />
          <button type="submit">Show</button>
        </form>
        ${warning('The callers are not known', why)}
        ${usageTable(visit, usage, from)}
        ${usage.length > next && html`<p><a href=${href(path, contract, { since, from: String(next) })}>Next page</a></p>`}
        <p><a href=${exported} download="usage.json">Export as JSON</a>. As CSV:</p>
        ${codeLine(csvCommand(contract, since), 'Command that writes CSV')}
        ${forgetForm(visit, '')}`,
    };
  },
};

function csvCommand(contract: string, since: string): string {
  const selection = `--contract ${quoted(contract)} --since ${quoted(since)}`;
  return `soapbridge usage --config soapbridge.yaml ${selection} --format csv`;
}

/** Maximum number of rows of a table of operations and callers, so that calls do not wait for a long page. */
export const maxUsageRows = 200;

/** Renders operations and callers from a position, those with most calls first. */
export function usageTable({ contract }: Visit, usage: readonly UsageView[], from = 0): Html {
  if (usage.length === 0) return html`<p>No calls in this time.</p>`;
  const rows = usage
    .toSorted((a, b) => b.calls - a.calls)
    .slice(from, from + maxUsageRows)
    .map(({ operation, caller, stack, calls, faults, lastAt, sides, bindings }) => [
      html`<a href=${operationHref(contract, operation)}>${operation}</a>`,
      html`<a href=${href(path, contract, { caller })} dir="auto">${caller}</a>`,
      stack,
      countsText(sides),
      countsText(bindings),
      calls,
      faults,
      time(lastAt),
    ]);
  const headings = ['Operation', 'Caller', 'Stack', 'Answered by', 'Format', 'Calls', 'Faults', 'Last call'];
  return table(headings, rows, 'Operations and callers');
}

function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}

function callerPage(visit: Visit, view: CallerView): Html {
  const { caller, stack, userAgent, subject, network, firstAt, lastAt, operations } = view;
  return html`<h1 dir="auto">${caller}</h1>
    <p><a href=${href(path, visit.contract)}>All callers</a></p>
    ${figures({
      Stack: stack,
      'User-Agent': userAgent ?? '–',
      Certificate: subject ?? '–',
      Network: network ?? '–',
      'First call': time(firstAt),
      'Last call': time(lastAt),
    })}
    ${usageTable(visit, operations)} ${forgetForm(visit, caller)}`;
}

function forgetForm(visit: Visit, caller: string): Html {
  return html`<h2>Forget a caller</h2>
    <p>This deletes the recordings, examples and usage of the caller in all contracts. It cannot be undone.</p>
    ${actionForm(
      {
        id: 'forget',
        label: 'Forget',
        method: 'POST',
        path: '/api/v1/forget',
        fields: [
          { name: 'caller', label: 'Caller', kind: 'text', value: caller, hint: 'name, id or pseudonym' },
          reason,
        ],
        done: 'The data of {caller} is deleted.',
        stays: true,
      },
      visit,
    )}`;
}

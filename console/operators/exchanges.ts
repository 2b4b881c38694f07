import type { ExchangeBody, ExchangeSummary, ExchangeView } from '../../gateway/admin/api-types.ts';
import { type Html, html } from '../server/html.ts';
import { codeBlock, table } from '../server/layout.ts';
import { fieldOf } from './action.ts';
import { figures } from './layout.ts';
import { apiPath, href, nextPage, operationHref, time } from './links.ts';
import type { ConsolePage, List, Visit } from './visit.ts';

const path = '/:c/exchanges';

/** `/{c}/exchanges`: recorded exchanges as stored, or with `id` one of them (G56, G57). */
export const exchanges: ConsolePage = {
  path,
  access: 'change',
  render: async (visit) => {
    const { contract, get, query } = visit;
    const id = query('id');
    if (id !== '') {
      const exchange = await get<ExchangeView>('/contracts/:c/exchanges/:id', { id });
      return { title: exchange.id, body: exchangePage(visit, exchange) };
    }
    const selection = Object.fromEntries(
      ['operation', 'caller'].map((name) => [name, query(name)] as const).filter(([, value]) => value !== ''),
    );
    const cursor = query('cursor');
    const list = await get<List<ExchangeSummary>>('/contracts/:c/exchanges', {
      ...selection,
      limit: '50',
      ...(cursor === '' ? {} : { cursor }),
    });
    return {
      title: 'Exchanges',
      body: html`<h1>Exchanges</h1>
        <form class="form" method="get">
          <div class="columns">
            ${fieldOf('select', { name: 'operation', label: 'Operation', kind: 'text', value: query('operation') })}
            ${fieldOf('select', { name: 'caller', label: 'Caller', kind: 'text', value: query('caller') })}
          </div>
          <div class="buttons"><button type="submit">Show</button></div>
        </form>
        ${exchangeTable(contract, list.items)} ${nextPage(path, contract, selection, list.cursor)}`,
    };
  },
};

function exchangeTable(contract: string, items: readonly ExchangeSummary[]): Html {
  if (items.length === 0)
    return html`<p>No recorded exchanges. <code>migration.record</code> in soapbridge.yaml turns on recording.</p>`;
  const rows = items.map(({ id, at, operation, caller, mode, rule, details }) => [
    html`<a href=${href(path, contract, { id })}>${time(at)}</a>`,
    operation,
    caller ?? '–',
    `${mode} (“${rule}”)`,
    sideText(details.legacy),
    sideText(details.new),
  ]);
  return table(['Time', 'Operation', 'Caller', 'Mode', 'Legacy', 'New'], rows, 'Recorded exchanges');
}

function sideText(side: ExchangeSummary['details']['legacy']): string {
  if (side === undefined) return 'not called';
  return side.status === 0 ? 'no reply' : `${side.status}, ${Math.round(side.ms)} ms, ${side.size} bytes`;
}

function exchangePage({ contract }: Visit, exchange: ExchangeView): Html {
  const { id, at, operation, caller, mode, rule, details, bodies } = exchange;
  return html`<h1>${operation} at ${time(at)}</h1>
    ${figures({
      Operation: html`<a href=${operationHref(contract, operation)}>${operation}</a>`,
      Caller: caller ?? '–',
      Mode: `${mode} (“${rule}”)`,
      Request: html`<code>${details.requestId}</code>`,
    })}
    <p><a href=${apiPath('/contracts/:c/exchanges/:id', contract, id)} download=${`exchange-${operation}.json`}>Download as JSON</a></p>
    <h2>Request</h2>
    ${bodyOf(bodies.request, 'Request')}
    <div class="columns">
      <div><h2>Legacy</h2><p>${sideText(details.legacy)}</p>${details.legacy !== undefined && bodyOf(bodies.legacy, 'Reply of legacy')}</div>
      <div><h2>New</h2><p>${sideText(details.new)}</p>${details.new !== undefined && bodyOf(bodies.new, 'Reply of new')}</div>
    </div>`;
}

function bodyOf(body: ExchangeBody | null, label: string): Html {
  if (body === null) return html`<p>The body is not recorded.</p>`;
  return codeBlock(body.content, body.encoding === 'utf8' ? label : `${label}, in base64`);
}

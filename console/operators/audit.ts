import type { AuditView } from '../../gateway/admin/api-types.ts';
import { html } from '../server/html.ts';
import { table } from '../server/layout.ts';
import { nextPage, time } from './links.ts';
import type { ConsolePage, List } from './visit.ts';

/** `/audit`: changes, refused changes and sign-ins, newest first (G72). */
export const audit: ConsolePage = {
  path: '/audit',
  access: 'change',
  render: async ({ get, query }) => {
    const cursor = query('cursor');
    const list = await get<List<AuditView>>('/audit', { limit: '100', ...(cursor === '' ? {} : { cursor }) });
    const rows = list.items.map((one) => [
      time(one.at),
      one.actor ?? `unknown, from ${one.network}`,
      one.action,
      one.status < 300
        ? html`<span class="status good">done</span>`
        : html`<span class="status bad">refused (${one.status})</span>`,
      [one.contract, one.subject].filter((text) => text !== null).join(' '),
      html`${one.reason ?? ''}${one.detail !== null && html`<br /><span class="facts">${one.detail}</span>`}`,
      [one.verdict, one.force ? 'forced' : null].filter((text) => text !== null).join(', '),
    ]);
    const headings = ['Time', 'Who', 'Action', 'Result', 'Object', 'Reason', 'Verdict'];
    return {
      title: 'Audit',
      body: html`<h1>Audit</h1>
        <p class="facts">Rows are only added. The product never changes or deletes one.</p>
        ${rows.length === 0 ? html`<p>No entries yet.</p>` : table(headings, rows, 'Audit')}
        ${nextPage('/audit', '', {}, list.cursor)}`,
    };
  },
};

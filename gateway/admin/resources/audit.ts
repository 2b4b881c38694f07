import type { AdminState } from '../../process/admin.ts';
import { auditOf, selectAudit } from '../../store/tables/audit.ts';
import type { AuditView } from '../api-types.ts';
import { storeOf } from '../contract-at.ts';
import { timeOf } from '../members.ts';
import { type Page, readPageQuery } from '../page.ts';
import { invalid } from '../problem.ts';
import type { AdminRequest } from '../route.ts';

/** Returns a page of the audit, newest first (G72). Throws Problem 400 and 409. Rejects with StoreError. */
export async function readAudit(state: AdminState, query: AdminRequest['query']): Promise<Page<AuditView>> {
  const { most, after } = readPageQuery(query);
  if (after !== undefined && !/^[\da-f]{19}$/.test(after))
    throw invalid(400, [{ pointer: '/cursor', message: 'expected the cursor of the page before' }]);
  const rows = (await storeOf(state).all(selectAudit(after, most + 1))).map(auditOf);
  const items = rows.slice(0, most);
  const last = rows.length > most ? items.at(-1) : undefined;
  return {
    items: items.map(({ id, at, network, action, status, force = false, ...of }) => ({
      ...{ id, at: timeOf(at), actor: of.actor ?? null, network, action, status },
      ...{ contract: of.contract ?? null, subject: of.subject ?? null, force },
      ...{ verdict: of.verdict ?? null, reason: of.reason ?? null, detail: of.detail ?? null },
    })),
    cursor: last === undefined ? null : Buffer.from(last.id).toString('base64url'),
  };
}

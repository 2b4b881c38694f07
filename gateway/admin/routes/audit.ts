import type { AdminState } from '../../process/admin.ts';
import { auditOf, selectAudit } from '../../store/tables/audit.ts';
import type { AuditView } from '../api-types.ts';
import { storeOf } from '../contract-at.ts';
import { viewOf } from '../members.ts';
import { cursorOf, type Page, readPageQuery } from '../page.ts';
import { type AdminRequest, type AdminRoute, listParameters, stateRoute } from '../route.ts';

/** Returns a page of the audit, newest first (G72). Throws Problem 400 and 409. Rejects with StoreError. */
async function readAudit(state: AdminState, query: AdminRequest['query']): Promise<Page<AuditView>> {
  const { most, after } = readPageQuery(query, /^[\da-f]{19}$/);
  const rows = await storeOf(state).all(selectAudit(after, most + 1));
  const items = rows.slice(0, most).map((row) => viewOf(auditOf(row), 'at'));
  return { items, cursor: rows.length > most ? cursorOf(items.at(-1)?.id) : null };
}

/** Entries of the audit. */
export const audit: readonly AdminRoute[] = [
  stateRoute(
    '/api/v1/audit',
    'Changes, refused changes and sign-ins, newest first.',
    (state, { query }) => readAudit(state, query),
    { access: 'change', parameters: listParameters },
  ),
];

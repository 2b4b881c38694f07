import test from 'ava';
import { insertAudit } from '../../../gateway/store/tables/audit.ts';

const idOf = (insert: typeof insertAudit, now: number): string =>
  String(insert({ network: 'local', action: 'forget', status: 200 }, now).values?.[0]);

test('G72: ids of rows ascend, and those of processes in the same millisecond differ', async (t) => {
  // another instance of the module has the state of another process
  const other = await import(`${new URL('../../../gateway/store/tables/audit.ts', import.meta.url)}?other`);
  const now = Date.parse('2026-11-27T12:00:00Z');
  const ids = [idOf(insertAudit, now), idOf(insertAudit, now), idOf(insertAudit, now + 1)];
  t.deepEqual(ids, ids.toSorted());
  for (const id of ids) t.regex(id, /^[0-9a-f]{19}$/);
  t.not(idOf(other.insertAudit, now), ids[0]);
});

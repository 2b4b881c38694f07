import { join } from 'node:path';
import test from 'ava';
import { deleteCaller } from '../../../gateway/store/forget.ts';
import type { Store } from '../../../gateway/store/store.ts';
import { folderOf, opened } from './opened.ts';

test('G55: examples are deleted from a finding that gets another one meanwhile', async (t) => {
  const { store } = await opened(t, `sqlite:${join(folderOf(t), 'store.db')}`);
  const example = (caller: string): string => `${JSON.stringify({ caller })}\n`;
  await store.write([
    {
      sql: `INSERT INTO findings (id, contract, operation, path, kind, count, calls, noise, first_at, last_at, callers,
        examples, example_count) VALUES ('f', '/', 'Op', 'A', 'value', 2, 2, 0, 1, 1, '', $1, 2)`,
      values: [example('acme') + example('beta')],
    },
  ]);
  let isAdded = false;
  const write: Store['write'] = async (statements) => {
    if (!isAdded && statements[0]?.sql.startsWith('UPDATE findings')) {
      isAdded = true;
      const sql = 'UPDATE findings SET examples = examples || $1, example_count = 4';
      await store.write([{ sql, values: [example('acme') + example('gamma')] }]);
    }
    return store.write(statements);
  };
  const rows = await deleteCaller({ all: store.all, close: store.close, isUp: true, write }, ['acme']);
  t.true(isAdded);
  t.is(rows.get('findings'), 1);
  const found = await store.all({ sql: 'SELECT examples, example_count AS n FROM findings' });
  t.deepEqual([...found], [{ examples: example('beta') + example('gamma'), n: 2 }]);
});

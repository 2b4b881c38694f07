import { join } from 'node:path';
import test from 'ava';
import { folderOf, opened } from './opened.ts';
import { tableTests } from './tables.ts';

for (const [title, run] of Object.entries(tableTests))
  test(`${title}, on SQLite`, async (t) => {
    const { store } = await opened(t, `sqlite:${join(folderOf(t), 'store.db')}`, { storeMs: 60_000 });
    await run(t, store);
  });

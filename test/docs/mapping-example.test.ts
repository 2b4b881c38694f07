import test from 'ava';
import { readPage, runPage } from './page.ts';

test('docs/mapping.md: every command on the example prints what the page shows', async (t) => {
  t.deepEqual(await runPage(t, readPage('mapping.md'), new Map()), { served: 0, compared: 3 });
});

import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { checkFiles, readPage, runPage } from './page.ts';

const page = readPage('adopt.md');
const [, overlay = ''] = /^```yaml overlay\n(.*?)^```/ms.exec(page) ?? [];

test('docs/adopt.md: every command works as the page shows', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'adopt-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const orders = join(directory, 'orders');
  const places = new Map([
    ['--out orders', `--out ${orders}`],
    ['--contract orders', `--contract ${orders}`],
  ]);
  const result = await runPage(t, page, places, (command) => {
    // the page asks the reader to write the overlay before regenerating the derived document
    if (command.endsWith(' --force')) appendFileSync(join(orders, 'soap.yaml'), overlay);
  });
  t.deepEqual(result, { served: 2, compared: 3 });
});

test('docs/adopt.md names existing files', (t) => {
  checkFiles(t, page);
});

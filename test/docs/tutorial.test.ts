import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { checkFiles, readPage, runPage } from './page.ts';

const page = readPage('tutorial.md');

test('docs/tutorial.md: every command works as the page shows', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'tutorial-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  // replaces the overlay's path by the temporary one
  const places = new Map([['--overlay soap.yaml', `--overlay ${join(directory, 'soap.yaml')}`]]);
  t.deepEqual(await runPage(t, page, places), { served: 2, compared: 6 });
});

test('docs/tutorial.md names existing files', (t) => {
  checkFiles(t, page);
});

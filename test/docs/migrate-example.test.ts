import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { walkMigration } from './migration-walk.ts';
import { checkFiles, clone, readPage } from './page.ts';

const page = readPage('migrate.md');

/** Returns the number of lines of the files that a pattern selects. */
function linesOf(pattern: string): readonly number[] {
  return globSync(`examples/migration/${pattern}`).map(
    (file) => readFileSync(file, 'utf8').split('\n').length - 1,
  );
}

test('docs/migrate.md: every command of the example works as the page shows', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'migrate-example-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  cpSync('examples', join(folder, 'examples'), { recursive: true });
  t.deepEqual(await walkMigration(t, page, { ...clone, folder }), { served: 6, compared: 7 });
});

test('docs/migrate.md names existing files', (t) => {
  checkFiles(t, page);
});

test('the example has at most 150 lines of configuration and 120 lines per service', (t) => {
  const configuration = linesOf('**/*.yaml');
  t.is(configuration.length, 7);
  t.true(configuration.reduce((sum, count) => sum + count, 0) <= 150);
  const services = linesOf('*.mjs');
  t.is(services.length, 2);
  t.true(Math.max(...services) <= 120);
});

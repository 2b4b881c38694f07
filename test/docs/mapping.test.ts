import { readFileSync } from 'node:fs';
import test from 'ava';
import { defaultLimits } from '../../mappings/contract/limits.ts';
import { compileModule } from '../../mappings/mapping/code.ts';
import { checkFiles, readPage } from './page.ts';

const page = readPage('mapping.md');
const block = (fence: string): string =>
  new RegExp(`^\`\`\`${fence}\\n(.*?)^\`\`\`$`, 'ms').exec(page)?.[1] ?? '';

test('docs/mapping.md shows the mapping that is tested with Grants.gov’s documents', (t) => {
  const file = readFileSync(new URL('../adopt/grants-gov/mapping.yaml', import.meta.url), 'utf8');
  const lines = block('yaml');
  t.is(lines, file.slice(file.indexOf('\n') + 1));
  t.regex(page, new RegExp(`is ${lines.trimEnd().split('\n').length} lines:`));
  checkFiles(t, page);
});

test('docs/mapping.md: the module loads, and its function works as described', (t) => {
  const { functions } = compileModule(block('ts'), 'ship.ts', defaultLimits);
  t.is(functions.get('filter')?.(['a', 'b'], 'q'), "subject eq 'a' or subject eq 'b'");
});

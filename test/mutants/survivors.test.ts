import { readFileSync } from 'node:fs';
import test from 'ava';

const survivors: Readonly<Record<string, Readonly<Record<string, string>>>> = JSON.parse(
  readFileSync(new URL('./survivors.json', import.meta.url), 'utf8'),
);

test('each listed survivor names a line of its file', (t) => {
  for (const [file, names] of Object.entries(survivors)) {
    const source = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
    const lines = new Set(source.split('\n').map((line) => line.trim()));
    for (const name of Object.keys(names)) {
      const [line = ''] = name.split(' ⟶ ');
      t.true(lines.has(line), `${file}: expected the line ${line}, got none`);
    }
  }
});

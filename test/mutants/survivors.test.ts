import { readFileSync } from 'node:fs';
import test from 'ava';
import { mutantsOf } from './mutate.ts';

const survivors: Readonly<Record<string, Readonly<Record<string, string>>>> = JSON.parse(
  readFileSync(new URL('./survivors.json', import.meta.url), 'utf8'),
);

test('each listed survivor is a mutant of its file', (t) => {
  const mutants = new Set(mutantsOf(Object.keys(survivors)).map(({ file, name }) => `${file}: ${name}`));
  const listed = Object.entries(survivors).flatMap(([file, names]) =>
    Object.keys(names).map((name) => `${file}: ${name}`),
  );
  t.deepEqual(
    listed.filter((name) => !mutants.has(name)),
    [],
  );
});

import { existsSync, globSync } from 'node:fs';
import { dirname } from 'node:path';
import test from 'ava';

const root = new URL('..', import.meta.url);
const { sets }: { sets: Record<string, { readonly files: readonly string[] }> } = await import(
  new URL('ava.config.js', root).href
);

for (const [name, { files }] of Object.entries(sets)) {
  test(`every pattern of the set ${name} matches files`, (t) => {
    for (const pattern of files) {
      const path = pattern.replace(/^!/, '');
      t.true(existsSync(new URL(path, root)) || globSync(path, { cwd: root }).length > 0, pattern);
    }
  });
}

/** Returns the files of a set. */
function filesOf({ files }: { readonly files: readonly string[] }): Set<string> {
  const taken = files.filter((pattern) => !pattern.startsWith('!'));
  const left = files.filter((pattern) => pattern.startsWith('!')).map((pattern) => pattern.slice(1));
  const names = new Set(left.filter((pattern) => !/[*{]/.test(pattern)));
  const exclude = left.filter((pattern) => /[*{]/.test(pattern));
  return new Set(globSync(taken, { cwd: root, exclude }).filter((file) => !names.has(file)));
}

test('every file of tests is in a set', (t) => {
  const inSets = Object.values(sets).map(filesOf);
  for (const file of globSync('test/**/*.test.ts', { cwd: root }))
    t.is(inSets.filter((set) => set.has(file)).length, 1, file);
});

test('npm test has a test in each folder of product code', (t) => {
  const files = globSync('test/{console,gateway,mappings,upstream,wsdl}/**/*.test.ts', { cwd: root });
  const tested = new Set([...filesOf(sets.quick ?? { files: [] })].map((file) => dirname(file)));
  t.deepEqual(
    [...new Set(files.map((file) => dirname(file)))].filter((folder) => !tested.has(folder)),
    [],
  );
});

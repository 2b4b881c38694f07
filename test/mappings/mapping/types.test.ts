import { stripTypeScriptTypes } from 'node:module';
import test from 'ava';
import { writeTestSkeleton, writeTypes } from '../../../mappings/mapping/types.ts';
import { mappingOf } from './documents.ts';

/** The output of `map types` is valid TypeScript for any names of documents and files (M5). */

test('a path with the end of a comment stays in the comment', (t) => {
  const mapping = mappingOf({ old: 'type: object', path: '/files/*/content', rules: '{}' });
  t.deepEqual(mapping.problems, []);
  const written = writeTypes(mapping);
  t.notThrows(() => stripTypeScriptTypes(written));
  t.regex(written, /The body of POST \/files\/\*\\\/content/);
});

test('operations whose names differ only in case or punctuation have separate types', (t) => {
  const { operations } = mappingOf({ old: 'type: object', rules: '{}' });
  const one = operations.get('Do');
  if (one === undefined) throw new Error('no operation');
  const written = writeTypes({
    operations: new Map([...['a-b', 'A.b', 'a_b'].map((name) => [name, one] as const)]),
  });
  const names = [...written.matchAll(/^export type (\w+Request) /gm)].map(([, name]) => name);
  t.deepEqual(names, ['A_bRequest', 'A_b2Request', 'A_b3Request']);
});

test('a module with a quote in its name is imported', (t) => {
  const written = writeTestSkeleton("./it's.ts", ['code']);
  t.notThrows(() => stripTypeScriptTypes(written));
  t.regex(written, /from '\.\/it\\'s\.ts'/);
});

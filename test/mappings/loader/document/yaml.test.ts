import { serialize } from 'node:v8';
import test from 'ava';
import type { ContractProblem } from '../../../../mappings/loader/document/error.ts';
import { readYamlFile } from '../../../../mappings/loader/document/yaml.ts';
import { file } from '../../../gateway/commands/file.ts';

test('a numeric key is its text', (t) => {
  const path = file(
    t,
    '{ 01: a, 1: b, 1.10: c, 12345678901234567890: d, 0x1F: e, 200: f, "02": g, &n 03: h, x: { *n : i } }\n',
  );
  const problems: ContractProblem[] = [];
  const root = readYamlFile(path, problems)?.root;
  t.deepEqual(problems, []);
  t.deepEqual(root, {
    '01': 'a',
    '1': 'b',
    '1.10': 'c',
    '12345678901234567890': 'd',
    '0x1F': 'e',
    '200': 'f',
    '02': 'g',
    '03': 'h',
    x: { '3': 'i' }, // an alias has the value of its anchor
  });
});

test('a key that is true, false or null is its text', (t) => {
  const path = file(t, '{ True: a, false: b, Null: c, null: d, ~: e }\n');
  t.deepEqual(readYamlFile(path, [])?.root, { True: 'a', false: 'b', Null: 'c', null: 'd', '~': 'e' });
});

for (const [written, value] of [
  ['1.10', '1.1'],
  ['01', '1'],
  ['0x1F', '31'],
  ['1e3', '1000'],
  ['+1', '1'],
  ['True', 'true'],
] as const)
  test(`refuses a scalar that reads differently than written where text matters: ${written}`, (t) => {
    for (const text of [`a: ${written}`, `{ "a": ${written} }`, `a: [x, ${written}]`]) {
      const path = file(t, text);
      const problems: ContractProblem[] = [];
      t.is(readYamlFile(path, problems, undefined, 'asWritten'), undefined);
      t.regex(problems[0]?.message ?? '', /^line 1, column \d+: /);
      t.true(
        problems[0]?.message.endsWith(
          `expected ${value}, or '${written}' in quotes for a text, got ${written}`,
        ),
      );
      t.truthy(readYamlFile(path, problems));
    }
  });

test('accepts a scalar that reads as written; keys and texts are unchanged', (t) => {
  const path = file(
    t,
    '{ a: [1, -1.5, 0, true, false, null, ~, \'1.10\', "True", 1.10.1, yes], 1.10: x, True: y }\n',
  );
  const problems: ContractProblem[] = [];
  t.deepEqual(readYamlFile(path, problems, undefined, 'asWritten')?.root, {
    a: [1, -1.5, 0, true, false, null, null, '1.10', 'True', '1.10.1', 'yes'],
    '1.10': 'x',
    True: 'y',
  });
  t.deepEqual(problems, []);
});

test('texts of a file with characters beyond Latin-1 are separate one-byte strings', (t) => {
  const path = file(
    t,
    'path: /json/reply/UpdateSubUser\n"a long name": &name [a plain text, "漢字 and more"]\nagain: *name\n',
  );
  const root = readYamlFile(path, [])?.root as {
    readonly path: string;
    readonly again: readonly string[];
  };
  const hasOneByte = (text: string | undefined): boolean => serialize(text)[2] === '"'.charCodeAt(0); // V8's tag for one-byte strings
  t.is(root.path, '/json/reply/UpdateSubUser');
  t.true(hasOneByte(root.path));
  t.true(hasOneByte(root.again[0]));
  t.is(root.again[1], '漢字 and more');
  for (const name of Object.keys(root)) t.true(hasOneByte(name), name);
});

import { serialize } from 'node:v8';
import test from 'ava';
import type { ContractProblem } from '../../../../mappings/loader/document/error.ts';
import { readYamlFile } from '../../../../mappings/loader/document/yaml.ts';
import { file } from '../../../gateway/commands/file.ts';

test('a key that is a number is the text that stands there', (t) => {
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
    x: { '3': 'i' }, // an alias is the value that its anchor names
  });
});

test('texts of a file with characters beyond Latin-1 are texts by themselves, one byte for each character', (t) => {
  const path = file(
    t,
    'path: /json/reply/UpdateSubUser\n"a long name": &name [a plain text, "漢字 and more"]\nagain: *name\n',
  );
  const root = readYamlFile(path, [])?.root as {
    readonly path: string;
    readonly again: readonly string[];
  };
  const hasOneByte = (text: string | undefined): boolean => serialize(text)[2] === '"'.charCodeAt(0); // V8's tag of them
  t.is(root.path, '/json/reply/UpdateSubUser');
  t.true(hasOneByte(root.path));
  t.true(hasOneByte(root.again[0]));
  t.is(root.again[1], '漢字 and more');
  for (const name of Object.keys(root)) t.true(hasOneByte(name), name);
});

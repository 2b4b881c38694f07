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

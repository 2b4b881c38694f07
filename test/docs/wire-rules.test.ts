import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/wire-rules.md'), 'utf8');
const rules = new Set([...page.matchAll(/^### ([WAMR]\d+) \S/gm)].map(([, rule = '']) => rule));

/** Files about adopted services. In other files, `A4` may be a paper size. */
const adopting = /adopt|mapping\/|commands\/map|loader\/wsdl|type-graph|contract\/members|built-in-types/;

/** Returns every rule cited in the TypeScript of these folders, with the citing files. */
function citations(folders: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const folder of folders) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.ts') || name.includes('node_modules')) continue;
      const file = join(folder, name);
      // longer numbers, for example "R1126", are requirements of the Basic Profile
      const citation = adopting.test(file) ? /\b(?:[WAR]\d{1,2}|M\d)\b/g : /\b[WR]\d{1,2}\b/g;
      for (const [rule] of readFileSync(join(root, file), 'utf8').matchAll(citation)) {
        const files = found.get(rule);
        if (files === undefined) found.set(rule, [file]);
        else if (files.at(-1) !== file) files.push(file);
      }
    }
  }
  return found;
}

test('docs/wire-rules.md has W1 to the last, rules of adopted services and R1 to R10, each once and in order', (t) => {
  const numbers = (letter: string, last: number) =>
    Array.from({ length: last }, (_, index) => `${letter}${index + 1}`);
  const named = [...page.matchAll(/^### ([WAMR]\d+) /gm)].map(([, rule]) => rule);
  const last = Math.max(...named.map((rule) => (rule?.startsWith('W') ? Number(rule.slice(1)) : 0)));
  t.true(last >= 56);
  const adopted = [...numbers('A', 34), ...numbers('M', 7)].filter((rule) => rules.has(rule));
  t.deepEqual(named, [...numbers('W', last), ...adopted, ...numbers('R', 10)]);
});

test('every rule that code or a test cites stands in docs/wire-rules.md', (t) => {
  const cited = citations(['gateway', 'mappings', 'wsdl', 'upstream', 'bench', 'test']);
  for (const [rule, files] of cited) t.true(rules.has(rule), `${rule}, cited by ${files.join(', ')}`);
});

test('every rule of docs/wire-rules.md is cited by a test', (t) => {
  const cited = citations(['test']);
  for (const rule of rules) t.true(cited.has(rule), rule);
});

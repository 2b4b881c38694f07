import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { defaultLimits, type Limits } from '../../../mappings/contract/limits.ts';
import type { contractConstants } from '../../../mappings/loader/document/allowance.ts';
import { ContractError } from '../../../mappings/loader/document/error.ts';
import { readContract } from '../../../mappings/loader/load.ts';
import { documentOf, ref } from '../contract/shapes.ts';

/** Creates a folder with these files. Its path does not appear in problems. */
function folder(t: ExecutionContext, files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), 'contract-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}

function problemsOf(directory: string, limits: Partial<Limits>): readonly string[] {
  try {
    readContract(directory, { ...defaultLimits, ...limits });
    return [];
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return error.message.split('\n').map((line) => line.replace(`${directory}/`, ''));
  }
}

const text = { type: 'string' };
const small = documentOf({ Root: { properties: { it: text } } });
const yaml = (notes: string): string =>
  `openapi: 3.0.3\ninfo: {title: Small}\npaths: {/it: {get: {responses: {200: {description: it}}}}}\n${notes}`;

/** Returns nested lists. */
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

/** Returns a document with a chain of references that starts at a member. */
function chain(length: number): string {
  const links = Array.from({ length }, (_, at) => [`S${at}`, at === 0 ? text : ref(`S${at - 1}`)]);
  return documentOf({ ...Object.fromEntries(links), Root: { properties: { it: ref(`S${length - 1}`) } } });
}

type ContractConstant = keyof typeof contractConstants;

const rows: readonly {
  readonly limit: ContractConstant;
  readonly value: number;
  readonly within: Readonly<Record<string, string>>;
  readonly beyond: Readonly<Record<string, string>>;
  readonly says: string;
}[] = [
  {
    limit: 'contractBytes',
    value: small.length,
    within: { 'openapi.yaml': small },
    beyond: { 'openapi.yaml': `${small} ` },
    says: `openapi.yaml#: expected at most ${small.length} bytes, got ${small.length + 1}`,
  },
  {
    limit: 'contractBytes',
    value: small.length + 2,
    within: { 'openapi.yaml': small, 'soap.yaml': '{}' },
    beyond: { 'openapi.yaml': small, 'soap.yaml': '{ }' },
    says: `soap.yaml#: expected at most ${small.length + 2} bytes in all files together, got ${small.length + 3}`,
  },
  {
    limit: 'contractFiles',
    value: 1,
    within: { 'openapi.json': documentOf({ Root: { $ref: 'a.yaml' } }), 'a.yaml': 'type: string' },
    beyond: {
      'openapi.json': documentOf({ Root: { properties: { a: { $ref: 'a.yaml' }, b: { $ref: 'b.yaml' } } } }),
      'a.yaml': 'type: string',
      'b.yaml': 'type: string',
    },
    says: 'openapi.json:1#/components/schemas/Root/properties/b/$ref: "b.yaml" exceeds the maximum of 1 files',
  },
  {
    limit: 'contractAliases',
    value: 3,
    within: { 'openapi.yaml': yaml('x-it: [&a b, *a, *a, *a]\n') },
    beyond: { 'openapi.yaml': yaml('x-it: [&a b, *a, *a, *a, *a]\n') },
    says: 'openapi.yaml#: line 4, column 26: expected at most 3 uses of an anchor, got more uses. Use a $ref instead',
  },
  {
    limit: 'contractDepth',
    value: 20,
    within: { 'openapi.yaml': yaml(`x-it: ${nested(19)}\n`) },
    beyond: { 'openapi.yaml': yaml(`x-it: ${nested(20)}\n`) },
    says: 'openapi.yaml#: line 4, column 26: expected at most 20 levels of nested lists and objects, got more levels',
  },
  {
    limit: 'contractDepth',
    value: 20,
    within: { 'openapi.yaml': small.replace('{', `{"x-it":${nested(19)},`) },
    beyond: { 'openapi.yaml': small.replace('{', `{"x-it":${nested(20)},`) },
    says: 'openapi.yaml#: line 1, column 28: expected at most 20 levels of nested lists and objects, got more levels',
  },
  {
    limit: 'contractKey',
    value: 20,
    within: { 'openapi.yaml': yaml(`${'k'.repeat(20)}: 1\n`) },
    beyond: { 'openapi.yaml': yaml(`${'k'.repeat(21)}: 1\n`) },
    says: 'openapi.yaml#: line 4, column 1: expected at most 20 characters in a key, got 21',
  },
  {
    limit: 'contractReferences',
    value: 4,
    within: { 'openapi.yaml': chain(4) },
    beyond: { 'openapi.yaml': chain(5) },
    says: 'openapi.yaml:1#/components/schemas/Root/properties/it/$ref: expected at most 4 references in a chain, got more references',
  },
];

for (const { limit, value, within, beyond, says } of rows) {
  test(`${limit}: ${Object.keys(within).join(' and ')} at the limit loads, beyond it fails: ${says.slice(0, 60)}`, (t) => {
    t.deepEqual(problemsOf(folder(t, within), { [limit]: value }), []);
    t.deepEqual(problemsOf(folder(t, beyond), { [limit]: value }), [says]);
  });
}

for (const [what, line] of [
  ['maps without a key', `x-it: ${': '.repeat(24_000)}`],
  ['lists on one line', `x-it:\n ${'- '.repeat(24_000)}1`],
  ['flow lists', `x-it: ${'['.repeat(24_000)}`],
] as const) {
  test(`thousands of nested ${what} are refused as too deep, with their line`, (t) => {
    const [says = '', ...more] = problemsOf(folder(t, { 'openapi.yaml': yaml(`${line}\n`) }), {});
    t.regex(
      says,
      /^openapi\.yaml#: line [45]: expected at most 500 levels of nested lists and objects, got more levels$/,
    );
    t.deepEqual(more, []);
  });
}

/** Returns the smallest limit with which a contract loads. */
function leastOf(directory: string, limit: ContractConstant): number {
  let [no, yes] = [0, 100_000];
  while (yes - no > 1) {
    const middle = Math.floor((no + yes) / 2);
    if (problemsOf(directory, { [limit]: middle }).length === 0) yes = middle;
    else no = middle;
  }
  return yes;
}

test('contractTokens: the YAML nodes are counted, one more is refused', (t) => {
  const least = leastOf(folder(t, { 'openapi.yaml': yaml('x-it: 1\n') }), 'contractTokens');
  const more = folder(t, { 'openapi.yaml': yaml('x-it: 1\n\n') });
  t.deepEqual(problemsOf(more, { contractTokens: least }), [
    `openapi.yaml#: expected at most ${least} YAML tokens, got more tokens`,
  ]);
  t.deepEqual(problemsOf(more, { contractTokens: least + 1 }), []);
});

test('contractSteps: members of a base count eight per schema that uses them, as each has codecs', (t) => {
  const many = 40;
  const members = Object.fromEntries(Array.from({ length: many }, (_, at) => [`m${at}`, text]));
  const taking = Array.from({ length: many }, (_, at) => [
    `T${at}`,
    { allOf: [ref('Base')], properties: { own: text } },
  ]);
  const properties = Object.fromEntries(taking.map(([name]) => [name, ref(String(name))]));
  const document = documentOf({
    Base: { properties: members },
    ...Object.fromEntries(taking),
    Root: { properties },
  });
  const files = folder(t, { 'openapi.yaml': document });
  const [problem = ''] = problemsOf(files, { contractSteps: many * many * 8 });
  t.regex(problem, /expected a contract of at most 12800 steps/);
  t.deepEqual(problemsOf(files, { contractSteps: many * many * 8 * 2 }), []);
});

test('contractSteps: an inline type counts like a member, equal to others or not', (t) => {
  const inner = (type: string) => ({ type, properties: { a: text }, additionalProperties: false });
  const of = (type: string) =>
    documentOf({
      Root: {
        properties: Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`m${at}`, inner(type)])),
      },
    });
  const [least, ofTypes] = ['string', 'object'].map((type) =>
    leastOf(folder(t, { 'openapi.yaml': of(type) }), 'contractSteps'),
  );
  // each has a member too
  t.true((ofTypes ?? 0) - (least ?? 0) >= 100 * (8 + 8), `${ofTypes} ${least}`);
});

test('contractSteps: members count at each reference, and the error names the place', (t) => {
  const least = leastOf(folder(t, { 'openapi.yaml': small }), 'contractSteps');
  const more = folder(t, { 'openapi.yaml': documentOf({ Root: { properties: { it: text, more: text } } }) });
  t.true(leastOf(more, 'contractSteps') > least);
  const [problem = ''] = problemsOf(more, { contractSteps: least });
  t.regex(problem, /^openapi\.yaml:1#\/\S+: expected a contract of at most \d+ steps, got more steps/);
});

test('contractProblems: that many are reported, and the number of the others', (t) => {
  const directory = folder(t, { 'openapi.yaml': small, 'soap.yaml': 'a: 1\nb: 2\nc: 3\n' });
  t.is(problemsOf(directory, { contractProblems: 3 }).length, 3);
  const told = problemsOf(directory, { contractProblems: 2 });
  t.is(told.length, 3);
  t.is(told[2], 'soap.yaml#: 1 more problems, not listed');
});

test('contractPattern: a longer one is not checked, and that is reported', (t) => {
  const pattern = { type: 'string', pattern: 'abcd' };
  const files = {
    'openapi.yaml': documentOf({ Root: { properties: { it: pattern } } }),
    'soap.yaml': 'validate: strict',
  };
  const uncheckedAt = (contractPattern: number) =>
    readContract(folder(t, files), { ...defaultLimits, contractPattern }).unchecked;
  t.deepEqual(uncheckedAt(4), []);
  t.deepEqual(uncheckedAt(3), [
    {
      pointer: '/components/schemas/Root/properties/it/pattern',
      why: 'expected at most 3 characters, got 4',
    },
  ]);
});

test('contractExample: a longer one is in no sample', (t) => {
  const it = { type: 'object', properties: { a: {} }, example: { a: 'bc' } };
  const files = { 'openapi.yaml': documentOf({ Root: { properties: { it } } }) };
  const exampleAt = (contractExample: number) => {
    const { contract } = readContract(folder(t, files), { ...defaultLimits, contractExample });
    const records = contract.types.filter((type) => type.kind === 'record');
    return records.flatMap(({ fields }) => fields).find(({ json }) => json === 'it')?.example;
  };
  // the object, its member's name and value: 1 + 1 + 1 + 4
  t.is(exampleAt(7), '{"a":"bc"}');
  t.is(exampleAt(6), undefined);
});

test('an example of 64 levels is in samples, one of 65 levels is not', (t) => {
  const exampleOf = (levels: number): string | undefined => {
    let example: unknown = 1;
    for (let level = 1; level < levels; level++) example = [example];
    const files = { 'openapi.yaml': documentOf({ Root: { properties: { it: { example } } } }) };
    const { contract } = readContract(folder(t, files), defaultLimits);
    const records = contract.types.filter((type) => type.kind === 'record');
    return records.flatMap(({ fields }) => fields).find(({ json }) => json === 'it')?.example;
  };
  t.is(exampleOf(64), `${'['.repeat(63)}1${']'.repeat(63)}`);
  t.is(exampleOf(65), undefined);
});

test('keys that differ in YAML and not in JSON are one key', (t) => {
  t.deepEqual(problemsOf(folder(t, { 'openapi.yaml': yaml(`x-it: {200: a, '200': b}\n`) }), {}), [
    'openapi.yaml#: line 4, column 16: expected each key once, got this key again',
  ]);
  t.deepEqual(problemsOf(folder(t, { 'openapi.yaml': yaml('x-it: {[a]: b}\n') }), {}), [
    'openapi.yaml#: line 4, column 8: expected a text as key, got a list or an object',
  ]);
});

for (const [what, says, make] of [
  ['a pipe', 'expected a file, got a pipe', (path: string) => execFileSync('mkfifo', [path])],
  ['a directory', 'expected a file, got a directory', (path: string) => mkdirSync(path)],
  [
    'a sparse file of terabytes',
    /^expected at most 67108864 bytes( in all files together)?, got \d+$/,
    (path: string) => {
      writeFileSync(path, '');
      truncateSync(path, 2 ** 41);
    },
  ],
] as const) {
  test(`${what} as document, overlay, names.lock or $ref target is reported at once`, (t) => {
    for (const name of ['openapi.yaml', 'soap.yaml', 'names.lock', 'other.yaml']) {
      const directory = folder(
        t,
        name === 'openapi.yaml' ? {} : { 'openapi.yaml': documentOf({}, { $ref: 'other.yaml' }) },
      );
      if (name !== 'other.yaml') writeFileSync(join(directory, 'other.yaml'), 'type: string');
      else rmSync(join(directory, name), { force: true });
      make(join(directory, name));
      const [problem = ''] = problemsOf(directory, {});
      const told =
        /(expected (?:a file, got a \w+|at most \d+ bytes.*?got \d+))\)?$/.exec(problem)?.[1] ?? problem;
      if (typeof says === 'string') t.is(told, says);
      else t.regex(told, says);
    }
  });
}

test('a device is not read as a file', (t) => {
  const error = t.throws(() => readContract({ openapi: '/dev/zero', overlay: undefined }), {
    instanceOf: ContractError,
  });
  t.is(error.message, '/dev/zero#: expected a file, got a device');
});

const deep = (levels: number, around: (inner: unknown) => unknown): Record<string, unknown> => {
  let inner: unknown = text;
  for (let level = 0; level < levels; level++) inner = around(inner);
  return { Root: inner as Record<string, unknown> };
};

for (const [what, schemas] of [
  [
    'an allOf that sums up thousands in turn',
    Object.fromEntries([
      ...Array.from({ length: 20_000 }, (_, at) => [
        at === 0 ? 'Root' : `S${at}`,
        { allOf: [ref(`S${at + 1}`), { properties: { [`m${at}`]: text } }] },
      ]),
      ['S20000', text],
    ]),
  ],
  ['arrays without end', deep(600, (items) => ({ type: 'array', items }))],
] as const) {
  test(`${what} is reported with its position, without a stack`, (t) => {
    const [problem = ''] = problemsOf(folder(t, { 'openapi.json': documentOf(schemas) }), {});
    t.regex(
      problem,
      /^openapi\.json\S*: (?:line 1, column \d+: )?expected (?:schemas with less nesting|at most \d+)/,
    );
  });
}

test('two kilobytes of doubled allOf load', (t) => {
  const schemas = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [
      `S${at}`,
      at === 0 ? { properties: { it: text } } : { allOf: [ref(`S${at - 1}`), ref(`S${at - 1}`)] },
    ]),
  );
  const { contract } = readContract(folder(t, { 'openapi.json': documentOf(schemas, 'S39') }));
  t.deepEqual(
    contract.types.map((type) => (type.kind === 'record' ? type.fields.map(({ json }) => json) : [])),
    [['it']],
  );
});

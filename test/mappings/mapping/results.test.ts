import test from 'ava';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { compileModule } from '../../../mappings/mapping/code.ts';
import { bodyOf } from './documents.ts';

/** The size of results of functions (M5, mappingValues). */

const resultOf = (expression: string, most: number) => {
  const source = `export const f = (value: string): unknown => { ${expression.includes('return') ? expression : `return ${expression}`} };`;
  const run = compileModule(source, 'do.ts', { ...defaultLimits, mappingValues: most }).functions.get('f');
  return run?.('v', 'x');
};

for (const [what, of] of [
  ['a text', (n: number) => `'x'.repeat(64).repeat(${n} - 1)`],
  [
    'a joined text',
    (n: number) => `let s = ''; for (let i = 0; i < 64 * (${n} - 1); i++) s += 'x'; return s`,
  ],
  ['a list', (n: number) => `Array.from({ length: ${n} - 1 }, () => 1)`],
  [
    'a list of lists',
    (n: number) => `let a: unknown[] = []; for (let i = 1; i < ${n}; i++) a = [a]; return a`,
  ],
  ['an object', (n: number) => `Object.fromEntries([...Array(${n} - 1).keys()].map((i) => [i, 'x']))`],
  ['nested objects', (n: number) => `let o: unknown = 1; for (let i = 1; i < ${n}; i++) o = { o }; return o`],
  ['names', (n: number) => `({ ['k'.repeat(64 * (${n} - 2))]: 1 })`],
] as const)
  test(`mappingValues: ${what} of 20 values passes, 21 are an error`, (t) => {
    t.truthy(resultOf(of(20), 20));
    t.throws(() => resultOf(of(21), 20), {
      message: /f\(\) for x: expected a result within the limit of values/,
    });
  });

test('mappingValues: doubling lists end like one large result', (t) => {
  const doubling = 'let a: unknown = [1]; for (let i = 0; i < 60; i++) a = [a, a]; return a';
  t.throws(() => resultOf(doubling, 1_000), { message: /expected a result within the limit of values/ });
});

for (const [what, at, beyond] of [
  ['repeat', "'ab'.repeat(320)", "'ab'.repeat(321)"],
  ['padStart', "'a'.padStart(640)", "'a'.padStart(641)"],
  ['padEnd', "'a'.padEnd(640, 'bc')", "'a'.padEnd(5e8, 'bc')"],
  ['new Array', 'new Array(10).length', 'new Array(11).length'],
  ['Array', 'Array(10).length', 'Array(1e8).length'],
  ['fill', 'new Array(10).fill(0).length', 'const a: number[] = []; a.length = 1e8; return a.fill(0).length'],
  ['Array.from', 'Array.from({ length: 10 }).length', 'Array.from({ length: 1e8 }).length'],
  ['Uint8Array', 'new Uint8Array(640).length', 'new Uint8Array(641).length'],
  ['ArrayBuffer', 'new ArrayBuffer(640).byteLength', 'new ArrayBuffer(2e9).byteLength'],
] as const)
  test(`mappingValues: ${what} accepts a size of 10 values, and no larger one`, (t) => {
    t.notThrows(() => resultOf(`(${at}).toString().length`, 10));
    t.throws(() => resultOf(beyond, 10), {
      message: /expected a size of at most \d+ \(mappingValues\), got \d+$/,
    });
  });

test('M5: functions with limited sizes work as in standard JavaScript', (t) => {
  for (const [expression, result] of [
    ["'x'.padStart(3, '0') + 'x'.padEnd(2) + '|' + 'ab'.repeat(2)", '00xx |abab'],
    ['Array.from(new Set([1, 2]), (x) => x + 1).concat(new Array(1).fill(7)).join()', '2,3,7'],
    ['[Array.isArray([]), [] instanceof Array, Array.of(1, 2).length].join()', 'true,true,2'],
    [
      'class Own extends Array<number> {}; return [new Own(2).length, Own.from([1]) instanceof Own].join()',
      '2,true',
    ],
    [
      "[new Uint8Array([1, 2]).join(), String.prototype.repeat.name, Object.keys(Array).length].join(';')",
      '1,2;repeat;0',
    ],
  ] as const)
    t.is(resultOf(expression, 1_000), result);
});

test('mappingValues: the results of all functions of a message count together', (t) => {
  const rules = `
    code: ./do.ts
    request: { a: { from: n, code: f }, b: { from: n, code: f } }
  `;
  const sides = {
    old: 'type: object\nproperties: { n: { type: string } }',
    body: 'type: object\nproperties: { a: { type: string }, b: { type: string } }',
    code: "export const f = (size: string): string => 'x'.repeat(Number(size));",
    limits: { mappingValues: 10 },
    rules,
  };
  t.truthy(bodyOf(sides, '{"n":"255"}')); // four values each, and two members
  t.throws(() => bodyOf(sides, '{"n":"320"}'), {
    message: /result within the limit of values|at most 10 values/,
  });
});

import test from 'ava';
import { startReading, TooManySteps } from '../../../../mappings/codec/problem.ts';
import { operationOf } from '../codec-calls.ts';
import { memberOf } from './member.ts';

/** A union of values of each kind, each with a rule for its JSON. */
const kinds = [
  { type: 'string', maxLength: 2 },
  { type: 'number', maximum: 5 },
  { type: 'boolean', enum: [true] },
  { type: 'array', items: { type: 'integer' }, maxItems: 1 },
  {
    title: 'Point',
    type: 'object',
    properties: { x: { type: 'integer' } },
    required: ['x'],
    maxProperties: 1,
  },
];
const strict = { validate: 'strict' };
const ofAnyKind = memberOf({ oneOf: kinds }, strict);
const integers = memberOf({ oneOf: [kinds[0], { type: 'integer', maximum: 4 }] }, strict);
const lists = memberOf(
  {
    oneOf: [
      { type: 'array', items: { type: 'integer' }, minItems: 1 },
      { type: 'array', items: { type: 'string' }, minItems: 2 },
      { type: 'array', items: { type: 'boolean' }, minItems: 3 },
    ],
  },
  strict,
);

const least = memberOf(
  {
    oneOf: [
      { type: 'object', properties: { x: { type: 'integer' } }, minProperties: 2 },
      { type: 'boolean', enum: [false] },
    ],
  },
  strict,
);
const two = memberOf(
  {
    oneOf: [
      { type: 'array', items: { type: 'integer' }, minItems: 1 },
      { type: 'array', items: { type: 'string' }, minItems: 2 },
    ],
  },
  strict,
);

for (const [member, json, becomes] of [
  [two, '[ ]', '[ ]'],
  [ofAnyKind, '"ab"', '"ab"'],
  [ofAnyKind, '"abc"', 'OutOfRange m: expected at most 2 characters, got 3'],
  [ofAnyKind, '5', '5'],
  [ofAnyKind, '6', 'OutOfRange m: expected at most 5, got 6'],
  [ofAnyKind, '-5.5', '-5.5'],
  [ofAnyKind, '5.5', 'OutOfRange m: expected at most 5, got 5.5'],
  [ofAnyKind, 'true', 'true'],
  [ofAnyKind, 'false', 'InvalidEnum m: expected true, got "false"'],
  [ofAnyKind, '[1]', '[1]'],
  [ofAnyKind, '[1,2]', 'OutOfRange m: expected at most 1 items, got 2'],
  [ofAnyKind, '["a","b"]', '["a","b"]'],
  [ofAnyKind, '{"x":1}', '{"x":1}'],
  [ofAnyKind, '{"x":"a"}', '{"x":"a"}'],
  [ofAnyKind, 'null', 'null'],
  [least, '{"x":1}', 'OutOfRange m: expected at least 2 members, got 1'],
  [least, 'true', 'InvalidEnum m: expected false, got "true"'],
  [integers, '7', 'OutOfRange m: expected at most 4, got 7'],
  [integers, '6.5', '6.5'],
  [lists, '[]', '[]'],
  [lists, '["a"]', 'OutOfRange m: expected at least 2 items, got 1'],
  [lists, '[true]', 'OutOfRange m: expected at least 3 items, got 1'],
] as const)
  test(`validate: strict checks the JSON ${json} as ${becomes} by the single matching type`, (t) =>
    t.is(member.pass(json), becomes));

test('problems of values with one matching type each are limited like errors', (t) => {
  const list = memberOf({ type: 'array', items: { oneOf: kinds } }, strict, {}, {}, { errors: 2 });
  t.is(
    list.pass('["abc","abcd","abcde"]'),
    'OutOfRange m[0]: expected at most 2 characters, got 3; OutOfRange m[1]: expected at most 2 characters, got 4',
  );
});

const pattern = { type: 'string', pattern: '^a', maxLength: 3 };
for (const [schema, json, steps, patternSteps] of [
  [{ oneOf: [kinds[0], kinds[1]] }, '"ab"', 12 + 64, 8],
  [{ oneOf: [kinds[0], kinds[1]] }, 'null', 0, 0],
  [{ oneOf: [kinds[1], kinds[2]] }, '"ab"', 4, 4],
  [{ oneOf: [pattern, kinds[1]] }, '"ab"', 28 + 2 * 64, 20],
  [
    { oneOf: [{ type: 'array', items: { oneOf: [pattern, kinds[1]] } }, kinds[1]] },
    '["ab","ac"]',
    78 + 4 * 64,
    62,
  ],
] as const)
  test(`${JSON.stringify(schema)} takes ${steps} steps for ${json}, of which ${patternSteps} for patterns`, (t) => {
    const read = (limits: { readonly patternSteps?: number }, mostSteps = Number.POSITIVE_INFINITY) => {
      const { compiled } = memberOf(schema, strict, {}, {}, limits);
      const reading = startReading(5, mostSteps);
      operationOf(compiled, 'put').readJson(`{"Body":{"m":${json}}}`, reading);
      return reading;
    };
    t.deepEqual([read({}).steps, read({}).patternSteps], [steps, patternSteps]);
    t.deepEqual(read({ patternSteps }).problems, []);
    t.is(read({ patternSteps: patternSteps - 1 }).problems.length, patternSteps === 0 ? 0 : 1);
    t.notThrows(() => read({}, steps));
    if (steps > 0) t.throws(() => read({}, steps - 1), { instanceOf: TooManySteps });
  });

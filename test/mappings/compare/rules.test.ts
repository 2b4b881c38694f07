import test from 'ava';
import { matches, parsePattern, type ReplyPath, replyPathText } from '../../../mappings/compare/paths.ts';
import {
  type CompareRule,
  compileRules,
  hasEffect,
  maxCompareRules,
} from '../../../mappings/compare/rules.ts';
import { readContract } from '../../../mappings/loader/load.ts';
import { contractFolder } from '../../migration/scenario.ts';

// G33, G34, G35, G36, G37, G38, G39, G41 and G42 describe the comparison itself.

const { contract } = readContract(contractFolder('contracts/orders'));

function compile(stated: readonly unknown[]) {
  const problems: string[] = [];
  const rules = compileRules(stated, '/rules', { contract }, (at, message) =>
    problems.push(`${at}: ${message}`),
  );
  return { rules, problems };
}

const reason = 'because';

for (const path of [
  'GetOrderResult.version',
  '**.Line[].Price',
  'GetOrderResult.*',
  'GetOrderResult.*.VatId',
  'GetOrderResult.Line[]',
  'GetOrderResult.Labels[]',
  'GetOrderResult.Customer.Phone.value',
  '@headers.**',
  '@headers.QuotaHeader.callsLeft',
  '@headers.QuotaHeader.@attributes.anything',
  '@fault',
  '@fault.code',
  '@fault.OrderNotFound.hint',
  '@status',
  '@frame',
  '@reply',
  'GetOrderResult.@any',
])
  test(`a rule may have the path ${path} (G43)`, (t) => {
    t.deepEqual(compile([{ path, reason, ignore: true }]).problems, []);
  });

const wrong: readonly (readonly [unknown, ...string[]])[] = [
  [{ path: '**.Status', ignore: true }, ': expected reason, got none'],
  [{ path: '**.Status', reason: ' ', ignore: true }, ': expected reason, got " "'],
  [{ reason, ignore: true }, ': expected path, got none'],
  ['x', ': expected an object with path, reason and an action, got "x"'],
  [
    { path: '**.Status', reason },
    ': expected exactly one of ignore, tolerance, map, absence, text, sameSet, timeZone, got none',
  ],
  [
    { path: '**.Status', reason, ignore: true, map: { a: 'b' } },
    ': expected exactly one of ignore, tolerance, map, absence, text, sameSet, timeZone, got ignore and map',
  ],
  [
    { path: 'GetOrderResult.Stauts', reason, ignore: true },
    '/path: expected a path in the reply of GetOrder, PlaceOrder, CancelOrder, got GetOrderResult.Stauts',
  ],
  [
    { path: '**.Stauts', reason, ignore: true },
    '/path: expected a path in the reply of GetOrder, PlaceOrder, CancelOrder, got **.Stauts',
  ],
  [
    { operation: 'PlaceOrder', path: '**.Status', reason, ignore: true },
    '/path: expected a path in the reply of PlaceOrder, got **.Status',
  ],
  [
    { path: 'GetOrderResult.Line.Price', reason, ignore: true },
    '/path: expected a path in the reply of GetOrder, PlaceOrder, CancelOrder, got GetOrderResult.Line.Price',
  ],
  [
    { path: '**.Line[0].Price', reason, ignore: true },
    '/path: expected a path without positions, such as Line[].Price, got "**.Line[0].Price"',
  ],
  [
    { operation: 'GetOrders', path: '**.Status', reason, ignore: true },
    '/operation: expected an operation of the contract, got GetOrders, did you mean GetOrder?',
  ],
  [{ path: '**.Status', reason, ignore: false }, '/ignore: expected true, got false'],
  [
    { path: '**.Total', reason, tolerance: 'much' },
    '/tolerance: expected a number, a percentage or a duration, got "much"',
  ],
  [
    { path: '**.Total', reason, map: {} },
    '/map: expected an object with `legacy value: new value`, got an object',
  ],
  [
    { path: '**.Labels', reason, absence: ['absent'] },
    '/absence: expected a list of at least two of absent, nil, empty, got a list',
  ],
  [
    { path: '**.Invoice', reason, text: ['spaces'] },
    '/text: expected a list of lineEnds, whitespace, case, normalization, truncated, empty, got a list',
  ],
  [{ path: '**.Line', reason, sameSet: 1n }, '/sameSet: expected true or a member of the items, got 1'],
  [{ path: '**.Status', reason, sameSet: true }, '/sameSet: expected a path to a list, got **.Status'],
  [
    { path: '**.Line', reason, sameSet: 'Artikle' },
    '/sameSet: expected a member of the items, got Artikle, did you mean Article?',
  ],
  [{ path: '**.Placed', reason, timeZone: 'Mars' }, '/timeZone: expected an IANA time zone, got "Mars"'],
  [
    { path: '**.Status', reason, until: '2027-01-01', ignore: true },
    '/until: expected a time with an offset, such as 2027-01-31T00:00:00Z, got "2027-01-01"',
  ],
];

for (const [stated, ...expected] of wrong)
  test(`wrong rules are reported: ${expected.join(' ')} (G3, G43)`, (t) => {
    t.deepEqual(
      compile([stated]).problems,
      expected.map((message) => `/rules/0${message}`),
    );
  });

test('an unknown key of a rule is reported with the nearest one (G3)', (t) => {
  const [problem = ''] = compile([{ path: '**.Status', reason, ignore: true, resaon: 'x' }]).problems;
  t.true(problem.startsWith('/rules/0/resaon: ') && problem.endsWith('got resaon, did you mean reason?'));
});

test('a contract has at most 1,000 rules (G43)', (t) => {
  const rule = { path: '**.Status', reason, ignore: true };
  t.deepEqual(compile(Array.from({ length: maxCompareRules }, () => rule)).problems, []);
  t.deepEqual(compile(Array.from({ length: maxCompareRules + 1 }, () => rule)).problems, [
    '/rules: expected at most 1000 rules, got 1001',
  ]);
});

const key = { key: 'Article', text: 'B' };
const matching: readonly (readonly [string, ReplyPath, boolean])[] = [
  ['a.b', ['a', 'b'], true],
  ['a.b', ['a', 'b', 'c'], false],
  ['a.*', ['a', 'b'], true],
  ['a.*', ['a'], false],
  ['a.*', ['a', 0], false],
  ['**', [], true],
  ['**.b', ['b'], true],
  ['**.b', ['a', 0, 'b'], true],
  ['**.b', ['b', 'c'], false],
  ['a.**', ['a'], true],
  ['a.**', ['a', 'b', 3], true],
  ['a[].b', ['a', 7, 'b'], true],
  ['a[].b', ['a', key, 'b'], true],
  ['a[].b', ['a', 'b'], false],
  ['a[][]', ['a', 1, 2], true],
  ['"a.b"', ['a.b'], true],
];
for (const [pattern, path, expected] of matching)
  test(`the path ${pattern} ${expected ? 'matches' : 'does not match'} ${replyPathText(path)} (G40, G43)`, (t) => {
    t.is(matches(parsePattern(pattern) ?? [], path), expected);
  });

test('many wildcards take linear time (G43)', (t) => {
  const pattern = parsePattern(`${'**.a.'.repeat(40)}b`) ?? [];
  t.false(
    matches(
      pattern,
      Array.from({ length: 200 }, () => 'a'),
    ),
  );
});

test('a rule applies to its operation until its time (G43, G44)', (t) => {
  const { rules, problems } = compile([
    { operation: 'GetOrder', path: '**.Status', reason, until: '2027-01-01T00:00:00+01:00', ignore: true },
  ]);
  t.deepEqual(problems, []);
  const rule = rules[0] as CompareRule;
  const end = Date.parse('2026-12-31T23:00:00Z');
  t.true(hasEffect(rule, 'GetOrder', end));
  t.false(hasEffect(rule, 'GetOrder', end + 1));
  t.false(hasEffect(rule, 'PlaceOrder', end));
});

test('paths of differences have positions and keys (G40)', (t) => {
  t.is(replyPathText(['GetOrderResult', 'Line', 0, 'Price']), 'GetOrderResult.Line[0].Price');
  t.is(replyPathText(['Line', key]), 'Line[Article=B]');
  t.is(replyPathText(['a.b', '@any']), '"a.b".@any');
});

import test from 'ava';
import { findingName, findingPath, pathWithoutValues } from '../../mappings/compare/findings.ts';
import { replyPathText } from '../../mappings/compare/paths.ts';
import {
  judge,
  type OperationCounts,
  type Weight,
  weigh,
  wilsonBounds,
} from '../../mappings/compare/verdict.ts';
import { readScenario } from './scenario.ts';

interface Noise {
  readonly different: number;
  readonly compared: number;
  readonly noiseDifferent: number;
  readonly noisePairs: number;
  readonly expect: Weight;
}

test('scenario S32: a finding is weighed by the differences of legacy against itself (G46)', (t) => {
  const { noise } = readScenario<{ readonly noise: readonly Noise[] }>('S32');
  t.true(noise.length > 4);
  for (const { expect, ...counts } of noise) t.is(weigh(counts), expect, JSON.stringify(counts));
});

interface Verdicts {
  readonly config: {
    readonly migration: {
      readonly ready: { readonly calls: number; readonly callers: number; readonly days: number };
    };
  };
  readonly verdicts: readonly (OperationCounts & {
    readonly expect: string;
    readonly missing?: readonly string[];
  })[];
}

test('scenario S36: the first condition that holds decides about the verdict (G47)', (t) => {
  const { config, verdicts } = readScenario<Verdicts>('S36');
  const ready = { ...config.migration.ready, unanswered: 0.01 };
  t.true(verdicts.length > 7);
  for (const { expect, missing = [], ...counts } of verdicts)
    t.deepEqual(judge(counts, ready) as object, { verdict: expect, missing }, JSON.stringify(counts));
});

test('G47: a verdict lists all missing conditions, and each condition includes its bound', (t) => {
  const ready = { calls: 10, callers: 2, days: 7, unanswered: 0.29 };
  const counts = { calls: 9, callers: 1, days: 6.99, unexplained: 0, unanswered: 9 };
  t.deepEqual(judge(counts, ready).missing, ['calls', 'callers', 'days', 'unanswered']);
  t.is(judge({ ...counts, unexplained: 1 }, ready).verdict, 'different');
  t.is(judge({ calls: 100, callers: 2, days: 7, unexplained: 0, unanswered: 29 }, ready).verdict, 'ready');
  t.deepEqual(judge({ calls: 100, callers: 2, days: 7, unexplained: 0, unanswered: 30 }, ready).missing, [
    'unanswered',
  ]);
});

test('G46: the weight changes at 30 noise comparisons', (t) => {
  const counts = { different: 10, compared: 1_000, noiseDifferent: 2 };
  t.is(weigh({ ...counts, noisePairs: 29 }), 'undecided');
  t.is(weigh({ ...counts, noisePairs: 30 }), 'noise');
  t.is(weigh({ ...counts, noiseDifferent: 0, noisePairs: 30 }), 'different');
});

test('G46: the Wilson interval has the published bounds', (t) => {
  // E. B. Wilson, 1927: (81, 263) and (15, 148) are the examples of R. G. Newcombe, 1998, table I, method 3
  for (const [count, all, lower, upper] of [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ] as const) {
    const bounds = wilsonBounds(count, all);
    t.is(bounds.lower.toFixed(4), lower.toFixed(4));
    t.is(bounds.upper.toFixed(4), upper.toFixed(4));
  }
});

const pathOf = (text: string) => replyPathText(['Line', { key: 'Article', text }, 'Price']);

test('G45: differences at other positions and keys have one path', (t) => {
  for (const [path, expected] of [
    ['GetOrderResult.Line[0].Price', 'GetOrderResult.Line[].Price'],
    ['GetOrderResult.Line[Article=B]', 'GetOrderResult.Line[]'],
    [pathOf('a].b'), 'Line[].Price'],
    [pathOf('a\\].b\\'), 'Line[].Price'],
    [pathOf('"].x="[0]'), 'Line[].Price'],
    ['Line[Article=a\nb].Tags[3]', 'Line[].Tags[]'],
    ['"a[1].b"[2]."c.d"', '"a[1].b"[]."c.d"'],
    ['Line[]', 'Line[]'],
    ['@fault.OrderNotFound.hint', '@fault.OrderNotFound.hint'],
  ] as const)
    t.is(findingPath(path), expected);
  t.is(findingName('GetOrderResult.Line[7].Price', 'value'), 'GetOrderResult.Line[].Price value');
  t.is(pathOf('a]\\b'), 'Line[Article=a\\]\\\\b].Price');
  t.is(pathWithoutValues(pathOf('a].b')), 'Line[Article=***].Price');
  t.is(pathWithoutValues('A.Line[Article=B].Tags[3]'), 'A.Line[Article=***].Tags[3]');
  t.is(findingPath('x'.repeat(501)).length, 500);
});

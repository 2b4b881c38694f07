import test from 'ava';
import type { ReplyStep } from '../../../mappings/compare/paths.ts';
import { parsePattern, replyPathText } from '../../../mappings/compare/paths.ts';
import type { CompareRule } from '../../../mappings/compare/rules.ts';
import { maxCompareSteps, maxDifferences, Sink, TooMuchWork } from '../../../mappings/compare/sink.ts';

const rule: CompareRule = {
  operation: undefined,
  path: parsePattern('x') ?? [],
  pathText: 'x',
  reason: 'r',
  until: undefined,
  action: { kind: 'ignore' },
};

function sinkAt(path: readonly ReplyStep[], rules: readonly CompareRule[]): Sink {
  const sink = new Sink('Get', { rules, strict: false }, [], 0);
  sink.path.push(...path);
  return sink;
}

test('a match of a rule takes as many steps as its path and the value\u2019s path have (G40)', (t) => {
  const path = Array.from({ length: 1_999 }, () => 'a');
  const ofMatch = 2_000;
  const adding = (): (() => void) => {
    const sink = sinkAt(path, [rule]);
    sink.take(maxCompareSteps - 1 - ofMatch);
    return () => sink.add({ kind: 'order' });
  };
  t.notThrows(adding());
  const sink = sinkAt([...path, 'a'], [rule]);
  sink.take(maxCompareSteps - 1 - ofMatch);
  t.throws(() => sink.add({ kind: 'order' }), { instanceOf: TooMuchWork });
});

test('the key of an item is cut in a path (G40)', (t) => {
  const textOf = (size: number): string => replyPathText(['L', { key: 'K', text: ']'.repeat(size) }, 'P']);
  t.is(textOf(256), `L[K=${'\\]'.repeat(256)}].P`);
  t.is(textOf(257), textOf(256));
});

/** Adds a difference at each path. */
function addAll(sink: Sink, paths: readonly (readonly ReplyStep[])[]): void {
  for (const path of paths) {
    sink.path.push(...path);
    sink.add({ kind: 'value', class: 'other' });
    sink.path.length = 0;
  }
}

const noise = (count: number) => Array.from({ length: count }, (_, index) => ['L', index, 'P']);

test('the first difference of a finding is kept after 200 others (G40, G45)', (t) => {
  const sink = sinkAt([], []);
  addAll(sink, [...noise(maxDifferences), ['Total'], ['L', 7, 'Q'], ['L', 8, 'Q'], ['L', 9, 'P']]);
  const { differences, more } = sink.comparison();
  t.is(differences.length, maxDifferences);
  t.is(more, 4);
  t.deepEqual(
    differences.slice(-3).map(({ path }) => path),
    ['L[197].P', 'Total', 'L[7].Q'],
  );
});

test('at most 200 findings are kept, and each has a difference (G40, G45)', (t) => {
  const sink = sinkAt([], []);
  const names = Array.from({ length: maxDifferences }, (_, index) => [`N${index}`]);
  addAll(sink, [...noise(maxDifferences), ...names, ['Last']]);
  const { differences, more } = sink.comparison();
  t.is(more, maxDifferences + 1);
  t.is(new Set(differences.map(({ path }) => path.replace(/\d+/, ''))).size, 2);
  t.deepEqual(
    [differences.length, differences[0]?.path, differences.at(-1)?.path],
    [maxDifferences, 'L[0].P', `N${maxDifferences - 2}`],
  );
});

test('explained differences keep their first of each finding, too (G44, G45)', (t) => {
  const all = { ...rule, path: parsePattern('**') ?? [] };
  const sink = sinkAt([], [all]);
  addAll(sink, [...noise(maxDifferences), ['Total']]);
  const { result, explained, more } = sink.comparison();
  t.deepEqual([result, explained.at(-1)?.path, explained.at(-1)?.rule, more], ['explained', 'Total', 0, 1]);
});

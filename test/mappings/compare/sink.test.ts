import test from 'ava';
import type { ReplyStep } from '../../../mappings/compare/paths.ts';
import { parsePattern, replyPathText } from '../../../mappings/compare/paths.ts';
import type { CompareRule } from '../../../mappings/compare/rules.ts';
import { maxCompareSteps, Sink, TooMuchWork } from '../../../mappings/compare/sink.ts';

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

import test from 'ava';
import { tableOf } from '../../../gateway/commands/usage.ts';

test('G63: a table of 200,000 rows has columns of equal width', (t) => {
  const rows = Array.from({ length: 200_000 }, (_, index) => [String(index), 'end']);
  const lines = tableOf([['caller', 'last'], ...rows]);
  t.is(lines.length, 200_001);
  t.is(lines[0], '  caller  last');
  t.is(lines.at(-1), '  199999  end');
});

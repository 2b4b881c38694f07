import test from 'ava';
import { prepareEntries, searchEntries } from '../../console/search.ts';

test('the search in 1,223 operations takes no noticeable time', (t) => {
  const many = prepareEntries(
    Array.from({ length: 1223 }, (_, at) => ({
      n: `Operation${at}`,
      t: ['tag'],
      w: `What operation ${at} does, in a sentence of usual length.`,
      m: Array.from({ length: 40 }, (_each, member) => `member${at}x${member}`).join(' '),
    })),
  );
  const began = process.cpuUsage();
  for (let round = 0; round < 10; round++) t.is(searchEntries(many, 'member1222x39').length, 1);
  t.true(process.cpuUsage(began).user / 10 < 50_000, 'µs of a search');
});

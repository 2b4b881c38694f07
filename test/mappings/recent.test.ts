import test from 'ava';
import { moveForward, rememberLast } from '../../mappings/recent.ts';

test('the last answer is given again for the same text alone, an undefined one too, and an error is none', (t) => {
  const asked: string[] = [];
  const find = rememberLast((text) => {
    asked.push(text);
    if (text === 'bad') throw new RangeError(text);
    return text === '' ? undefined : text.toUpperCase();
  });
  const given = ['a', 'a', 'b', 'a', '', ''].map(find);
  t.deepEqual(given, ['A', 'A', 'B', 'A', undefined, undefined]);
  t.deepEqual(asked, ['a', 'b', 'a', '']);
  t.throws(() => find('bad'), { instanceOf: RangeError });
  t.throws(() => find('bad'), { instanceOf: RangeError });
  t.is(find(''), undefined);
  t.deepEqual(asked, ['a', 'b', 'a', '', 'bad', 'bad']);
});

test('an item changes places with the one before it, and the first stays', (t) => {
  const items = ['a', 'b', 'c'];
  moveForward(items, 2);
  t.deepEqual(items, ['a', 'c', 'b']);
  moveForward(items, 0);
  t.deepEqual(items, ['a', 'c', 'b']);
});

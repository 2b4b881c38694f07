import test from 'ava';
import { moveForward } from '../../mappings/recent.ts';

test('an item changes places with the one before it, and the first stays', (t) => {
  const items = ['a', 'b', 'c'];
  moveForward(items, 2);
  t.deepEqual(items, ['a', 'c', 'b']);
  moveForward(items, 0);
  t.deepEqual(items, ['a', 'c', 'b']);
});

import { hash } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { createNonces } from '../../../gateway/call/nonces.ts';

const keyOf = (number: number): string => hash('sha256', String(number), 'latin1');

test('W49: nonces that have ended make room, and those that are live are kept', (t) => {
  const nonces = createNonces(2);
  const [a, b, c] = [keyOf(1), keyOf(2), keyOf(3)];
  t.is(nonces.keep(a, 100, 0), 'new');
  t.is(nonces.keep(b, 5_000, 0), 'new');
  t.is(nonces.keep(c, 5_000, 50), 'full');
  t.is(nonces.keep(c, 5_000, 1_100), 'new');
  t.is(nonces.keep(b, 5_000, 1_100), 'used');
  t.is(nonces.keep(b, 9_000, 5_001), 'new');
});

test('W49: a nonce is used while it is live, new before and afterwards, and refused where all places are taken by others', (t) => {
  const most = 20;
  const step = fc.record({
    later: fc.constantFrom(0, 0, 0, 1_000, 5_000),
    number: fc.nat({ max: 40 }),
    lives: fc.integer({ min: 1, max: 8 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const nonces = createNonces(most);
      const ends = new Map<number, number>();
      let now = 1_764_000_000_000;
      for (const { later, number, lives } of steps) {
        now += later;
        const live = [...ends.values()].filter((end) => end >= now).length;
        const expected = (ends.get(number) ?? 0) >= now ? 'used' : live >= most ? 'full' : 'new';
        const until = now + lives * 1_000;
        t.is(nonces.holds(keyOf(number), now), expected === 'used');
        t.is(nonces.keep(keyOf(number), until, now), expected);
        if (expected === 'new') ends.set(number, until);
      }
    }),
    { numRuns: 200 },
  );
});

test('W49: a nonce whose time ended while its message was read is used, as it may have been forgotten', (t) => {
  const nonces = createNonces(2);
  t.is(nonces.keep(keyOf(1), 5_000, 0), 'new');
  t.is(nonces.keep(keyOf(1), 5_000, 5_001), 'used');
  t.is(nonces.keep(keyOf(2), 5_000, 5_000), 'new');
  t.is(nonces.keep(keyOf(2), 5_000, 5_001), 'used');
});

test('W49: many nonces are told apart, each that was new is used from then on', (t) => {
  const count = 20_000;
  const nonces = createNonces(count);
  const numbers = Array.from({ length: count }, (_, number) => number);
  t.true(numbers.every((number) => nonces.keep(keyOf(number), 10_000, 0) === 'new'));
  t.is(nonces.keep(keyOf(count), 10_000, 0), 'full');
  t.true(numbers.every((number) => nonces.keep(keyOf(number), 10_000, 1) === 'used'));
  t.is(nonces.keep(keyOf(count), 30_000, 10_001), 'new');
  t.is(nonces.keep(keyOf(0), 30_000, 10_001), 'new');
});

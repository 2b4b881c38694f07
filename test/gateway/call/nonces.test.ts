import { hash } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { Nonces } from '../../../gateway/call/nonces.ts';

const keyOf = (number: number): string => hash('sha256', String(number), 'latin1');

test('W49: expired nonces are evicted, valid ones are kept', (t) => {
  const nonces = new Nonces(2);
  const [a, b, c] = [keyOf(1), keyOf(2), keyOf(3)];
  t.is(nonces.keep(a, 100, 0, 'jo'), 'new');
  t.is(nonces.keep(b, 5_000, 0, 'jo'), 'new');
  t.is(nonces.keep(c, 5_000, 50, 'jo'), 'full');
  t.is(nonces.keep(c, 5_000, 1_100, 'jo'), 'new');
  t.is(nonces.keep(b, 5_000, 1_100, 'jo'), 'used');
  t.is(nonces.keep(b, 9_000, 5_001, 'jo'), 'new');
});

test('X17: several keys are kept together or not at all', (t) => {
  const now = Date.parse('2026-11-27T18:00:00Z');
  const entry = (number: number, lives = 5_000) => ({
    key: keyOf(number),
    until: now + lives,
    caller: 'jo',
  });
  const nonces = new Nonces(100);
  t.is(nonces.keepAll([entry(1), entry(2)], now), 'new');
  t.is(nonces.keepAll([entry(3), entry(2)], now), 'used');
  t.false(nonces.holds(keyOf(3), now));
  t.is(nonces.keepAll([entry(3), entry(4, -1)], now), 'used');
  t.false(nonces.holds(keyOf(3), now));
  t.is(nonces.keepAll([entry(5), entry(5)], now), 'new');
  t.is(nonces.keepAll([entry(3)], now), 'new');
  t.true([1, 2, 3, 5].every((number) => nonces.holds(keyOf(number), now)));
  const small = new Nonces(2);
  t.is(small.keepAll([entry(1), entry(2), entry(3)], now), 'full');
  t.false([1, 2, 3].some((number) => small.holds(keyOf(number), now)));
  t.is(small.keepAll([entry(1), entry(2)], now + 1_000), 'new');
  t.is(small.keep(keyOf(3), now + 5_000, now + 2_000, 'jo'), 'full');
});

test('X17: callers are forgotten with their nonces', (t) => {
  const nonces = new Nonces(100_000);
  const start = 1_764_000_000_000;
  let most = 0;
  for (let number = 0; number < 20_000; number++) {
    const now = start + number * 1_000;
    t.is(nonces.keep(keyOf(number), now + 1_000, now, `caller ${number}`), 'new');
    most = Math.max(most, nonces.callers);
  }
  t.true(most <= 1_024, String(most));
  const now = start + 20_000_000;
  const small = new Nonces(10);
  for (let number = 0; number < 10; number++) small.keep(keyOf(number), now + 9_000, now, `caller ${number}`);
  for (let number = 10; number < 5_000; number++)
    t.is(small.keep(keyOf(number), now + 9_000, now, `caller ${number}`), 'full');
  t.is(small.callers, 10);
});

test('X17: the share of a caller counts after others were forgotten', (t) => {
  const now = 1_764_000_000_000;
  const nonces = new Nonces(20);
  for (let number = 0; number < 3; number++) nonces.keep(keyOf(number), now + 1_000, now, `gone ${number}`);
  for (let number = 3; number < 15; number++)
    t.is(nonces.keep(keyOf(number), now + 90_000, now, 'jo'), 'new', String(number));
  const later = now + 10_000;
  for (let number = 15; number < 19; number++)
    t.is(nonces.keep(keyOf(number), now + 90_000, later, 'jo'), 'new', String(number));
  t.is(nonces.keep(keyOf(19), now + 90_000, later, 'jo'), 'full');
  t.is(nonces.callers, 1);
  t.is(nonces.keep(keyOf(20), now + 90_000, later, 'other'), 'new');
});

test('W49: a nonce is used while it is valid, and refused if its caller has too many', (t) => {
  const most = 20;
  const step = fc.record({
    later: fc.constantFrom(0, 0, 0, 1_000, 5_000),
    number: fc.nat({ max: 40 }),
    lives: fc.integer({ min: 1, max: 8 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const nonces = new Nonces(most);
      const ends = new Map<number, number>();
      // Half of the nonces belong to one caller, a quarter to the next one, and so on.
      const callerOf = (number: number): string => String(Math.clz32(number));
      let now = 1_764_000_000_000;
      for (const { later, number, lives } of steps) {
        now += later;
        const live = [...ends].filter(([, end]) => end >= now).map(([of]) => of);
        const own = live.filter((of) => callerOf(of) === callerOf(number)).length;
        const isFull = own >= 4 * (most - live.length);
        const expected = live.includes(number) ? 'used' : isFull ? 'full' : 'new';
        const until = now + lives * 1_000;
        t.is(nonces.holds(keyOf(number), now), expected === 'used');
        t.is(nonces.keep(keyOf(number), until, now, callerOf(number)), expected);
        if (expected === 'new') ends.set(number, until);
      }
    }),
    { numRuns: 200 },
  );
});

test('W49: one caller leaves capacity for nonces of others, and regains its own as they expire', (t) => {
  const nonces = new Nonces(20);
  const keep = (from: number, caller: string, now = 0) =>
    Array.from({ length: 20 }, (_, index) => nonces.keep(keyOf(from + index), now + 5_000, now, caller));
  t.is(keep(0, 'jo').filter((answer) => answer === 'new').length, 16);
  t.is(keep(100, 'max').filter((answer) => answer === 'new').length, 4);
  t.is(keep(200, 'jo', 6_000).filter((answer) => answer === 'new').length, 16);
});

test('W49: a nonce that expires while its message is read counts as used', (t) => {
  const nonces = new Nonces(2);
  t.is(nonces.keep(keyOf(1), 5_000, 0, 'jo'), 'new');
  t.is(nonces.keep(keyOf(1), 5_000, 5_001, 'jo'), 'used');
  t.is(nonces.keep(keyOf(2), 5_000, 5_000, 'jo'), 'new');
  t.is(nonces.keep(keyOf(2), 5_000, 5_001, 'jo'), 'used');
});

test('W49: many nonces are distinguished, and each is used from then on', (t) => {
  const count = 20_000;
  const nonces = new Nonces(1.25 * count);
  const numbers = Array.from({ length: count }, (_, number) => number);
  t.true(numbers.every((number) => nonces.keep(keyOf(number), 10_000, 0, 'jo') === 'new'));
  t.is(nonces.keep(keyOf(count), 10_000, 0, 'jo'), 'full');
  t.true(numbers.every((number) => nonces.keep(keyOf(number), 10_000, 1, 'jo') === 'used'));
  t.is(nonces.keep(keyOf(count), 30_000, 10_001, 'jo'), 'new');
  t.is(nonces.keep(keyOf(0), 30_000, 10_001, 'jo'), 'new');
});

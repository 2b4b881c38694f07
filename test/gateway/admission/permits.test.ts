import test from 'ava';
import { Permits } from '../../../gateway/admission/permits.ts';
import { CallError } from '../../../gateway/call/error.ts';

const permitsOf = (most: number, mostWaiting: number): Permits =>
  new Permits(most, mostWaiting, 60_000, () => new CallError('Overloaded'));

test('a parked caller frees its permit and counts as waiting', async (t) => {
  const permits = permitsOf(1, 2);
  t.true(permits.take());
  const second = permits.wait();
  t.true(permits.park());
  await second;
  t.is(permits.taken, 1);
  t.is(permits.waiting, 1);
  t.false(permits.isFull);
  const third = permits.wait();
  t.true(permits.isFull);
  t.throws(() => permits.wait(), { message: 'too many requests are waiting' });
  permits.give();
  await third;
  permits.unpark();
  t.is(permits.waiting, 0);
  t.is(permits.taken, 2);
  permits.give();
  permits.give();
  t.is(permits.taken, 0);
});

test('no caller is parked if the queue is full', (t) => {
  const permits = permitsOf(2, 1);
  t.true(permits.take());
  t.true(permits.take());
  t.true(permits.park());
  t.false(permits.park());
  t.is(permits.taken, 1);
});

test('a caller is parked although the queue is full if a waiting caller gets its permit', async (t) => {
  const permits = permitsOf(1, 1);
  t.true(permits.take());
  const second = permits.wait();
  t.true(permits.park());
  await second;
  t.is(permits.waiting, 1);
  t.false(permits.park());
});

test('a permit beyond the maximum is not passed on', async (t) => {
  const permits = permitsOf(1, 2);
  t.true(permits.take());
  t.true(permits.park());
  t.true(permits.take());
  permits.unpark();
  let isIn = false;
  const waiting = permits.wait().then(() => {
    isIn = true;
  });
  permits.give();
  await Promise.resolve();
  t.false(isIn);
  permits.give();
  await waiting;
  t.is(permits.taken, 1);
});

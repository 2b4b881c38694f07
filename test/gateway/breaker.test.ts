import test from 'ava';
import { createBreaker } from '../../gateway/breaker.ts';
import { createRetryBudget } from '../../gateway/retry-budget.ts';
import { defaultLimits, type Limits } from '../../mappings/limits.ts';

const limits: Limits = {
  ...defaultLimits,
  breakerCalls: 20,
  breakerFailurePercent: 50,
  breakerWindowMs: 10_000,
  breakerProbeMs: 5_000,
};

/** A breaker that met so many calls at a time, the failures among them last. */
function after(calls: number, failures: number, at = 100_000) {
  const breaker = createBreaker(limits);
  for (let call = 0; call < calls; call++) breaker.settle(call < calls - failures, at, at);
  return breaker;
}

test('19 failures of 19 calls leave it closed, the twentieth opens it', (t) => {
  const breaker = after(19, 19);
  t.is(breaker.refusal(100_000), undefined);
  breaker.settle(false, 100_000, 100_000);
  t.true(breaker.isOpen());
  t.is(breaker.refusal(100_000), 5);
});

test('11 failures of 23 calls leave it closed, 12 of 24 open it', (t) => {
  const breaker = after(23, 11);
  t.false(breaker.isOpen());
  breaker.settle(false, 100_000, 100_000);
  t.true(breaker.isOpen());
});

test('failures of more than ten seconds ago don’t count', (t) => {
  const breaker = after(19, 19, 100_000);
  breaker.settle(false, 110_000, 110_000);
  t.false(breaker.isOpen());
  const sooner = after(19, 19, 100_000);
  sooner.settle(false, 108_999, 108_999);
  t.true(sooner.isOpen());
  const long = after(19, 19, 100_000);
  long.settle(false, 9_000_000, 9_000_000);
  t.false(long.isOpen());
});

test('while open, one call in five seconds is a probe and the others are told when the next one is due', (t) => {
  const breaker = after(20, 20);
  t.is(breaker.refusal(100_001), 5);
  t.is(breaker.refusal(104_999), 1);
  t.is(breaker.refusal(105_000), undefined);
  t.is(breaker.refusal(105_000), 5);
  breaker.settle(false, 105_000, 105_100);
  t.is(breaker.refusal(109_000), 1);
  t.is(breaker.refusal(110_000), undefined);
});

test('a probe that succeeds closes it, and what failed before is forgotten', (t) => {
  const breaker = after(20, 20);
  t.is(breaker.refusal(105_000), undefined);
  breaker.settle(true, 105_000, 105_100);
  t.false(breaker.isOpen());
  t.is(breaker.refusal(105_100), undefined);
  breaker.settle(false, 105_100, 105_200);
  t.false(breaker.isOpen());
});

test('a call that went out before it opened doesn’t close it', (t) => {
  const breaker = after(20, 20);
  breaker.settle(true, 99_000, 100_500);
  t.true(breaker.isOpen());
});

test('retries are a share of the calls, with some saved up', (t) => {
  const budget = createRetryBudget({ ...defaultLimits, retryPercent: 10, retrySavings: 3 });
  t.deepEqual(
    Array.from({ length: 4 }, () => budget.spend()),
    [true, true, true, false],
  );
  for (let call = 0; call < 9; call++) budget.earn();
  t.false(budget.spend());
  budget.earn();
  t.true(budget.spend());
  for (let call = 0; call < 1_000; call++) budget.earn();
  t.deepEqual(
    Array.from({ length: 4 }, () => budget.spend()),
    [true, true, true, false],
  );
});

import test from 'ava';
import { Breaker, type Evidence } from '../../../gateway/upstream/breaker.ts';
import { createRetryBudget } from '../../../gateway/upstream/retry-budget.ts';
import { defaultLimits, type Limits } from '../../../mappings/contract/limits.ts';

const limits: Limits = {
  ...defaultLimits,
  breakerCalls: 20,
  breakerFailingMs: 5_000,
  breakerWindowMs: 10_000,
  breakerProbeMs: 5_000,
  breakerNetworks: 3,
};

const start = 100_000;

/** A call by a caller of a network; `GetSearch` by default. */
const callOf = (network: string, caller = 'u', operation = 'GetSearch') => ({
  operation,
  keys: { network, caller: `${network} ${caller}`, operation },
});

const here = callOf('192.0.2.1');
const elsewhere = callOf('192.0.2.2');

/** Creates a circuit breaker after `calls` results, evenly distributed over `ms` from `start`. */
function after(evidence: Evidence, calls: number, ms = 5_000, callers = [here]) {
  const changes: string[] = [];
  const breaker = new Breaker(limits, (open, operation) =>
    changes.push(`${open ? 'open' : 'closed'} ${operation ?? 'all'}`),
  );
  for (let call = 0; call < calls; call++) {
    const at = start + (ms * call) / (calls - 1);
    for (const caller of callers) breaker.settle(caller, evidence, at, at);
  }
  return { breaker, changes };
}

test('19 calls without a connection keep the breaker closed, the twentieth opens it for all', (t) => {
  const { breaker, changes } = after('unreached', 19);
  t.is(breaker.refusal(here, 105_000), undefined);
  breaker.settle(here, 'unreached', 105_000, 105_000);
  t.true(breaker.isOpen(105_000));
  t.is(breaker.refusal(elsewhere, 105_000), 5);
  t.is(breaker.refusal(callOf('192.0.2.3', 'u', 'GetPdf'), 105_000), 5);
  t.deepEqual(changes, ['open all']);
});

test('a hundred calls without a connection in less than five seconds keep it closed', (t) => {
  t.false(after('unreached', 100, 4_999).breaker.isOpen(start + 4_999));
  t.true(after('unreached', 100, 5_000).breaker.isOpen(start + 5_000));
});

test('one successful connection among many failures keeps it closed', (t) => {
  const { breaker } = after('unreached', 19);
  breaker.connected(104_999);
  for (let at = 105_000; at < 110_000; at += 100) breaker.settle(here, 'unreached', at, at);
  t.false(breaker.isOpen(109_900));
  breaker.settle(here, 'unreached', 110_000, 110_000);
  t.true(breaker.isOpen(110_000));
});

test('after failures of all calls of an operation only the caller that made them is refused', (t) => {
  const { breaker, changes } = after('failed', 20);
  t.deepEqual(changes, ['open GetSearch']);
  t.is(breaker.refusal(here, 105_000), 5);
  t.is(breaker.refusal(callOf('192.0.2.1', 'u', 'GetPdf'), 105_000), undefined);
  t.is(breaker.refusal(callOf('192.0.2.1', 'another'), 105_000), undefined);
  t.is(breaker.refusal(elsewhere, 105_000), undefined);
  t.false(breaker.isOpen(105_000));
  t.is(breaker.openOperations(105_000).length, 1);
});

test('another caller may send one call; its others are refused until that one returned', (t) => {
  const { breaker, changes } = after('failed', 20);
  t.is(breaker.refusal(elsewhere, 105_000), undefined);
  t.is(breaker.refusal(elsewhere, 105_001), 5);
  breaker.settle(elsewhere, 'answered', 105_000, 105_100);
  t.is(breaker.refusal(elsewhere, 105_100), undefined);
  t.is(breaker.refusal(here, 105_100), undefined);
  t.deepEqual(changes, ['open GetSearch', 'closed GetSearch']);
});

test('with failing callers of three networks a fourth is refused; networks count once', (t) => {
  const callers = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((network) => callOf(network));
  t.is(after('failed', 20, 5_000, callers).breaker.refusal(callOf('192.0.2.4'), 105_000), 5);
  const names = Array.from({ length: 50 }, (_, index) => callOf('192.0.2.1', `invented${index}`));
  const { breaker } = after('failed', 20, 5_000, names);
  t.is(breaker.refusal(callOf('192.0.2.1', 'invented50'), 105_000), 5);
  t.is(breaker.refusal(elsewhere, 105_000), undefined);
});

test('ten successes a second prevent one caller’s hundred failures from opening an operation', (t) => {
  const { breaker } = after('answered', 2);
  for (let ms = 0; ms < 60_000; ms += 10) {
    const at = start + 5_000 + ms;
    breaker.settle(here, 'failed', at, at);
    t.is(breaker.refusal(here, at), undefined);
    if (ms % 100 === 0) breaker.settle(elsewhere, 'answered', at, at);
  }
});

test('concurrent timeouts open it only if no other call was answered in that time', (t) => {
  const met = (answered: boolean): number => {
    const { breaker } = after('answered', 2, 1);
    if (answered) breaker.settle(elsewhere, 'answered', start + 29_000, start + 29_500);
    for (let call = 0; call < 64; call++) breaker.settle(here, 'failed', start + 10, start + 30_010);
    return breaker.openOperations(start + 30_010).length;
  };
  t.is(met(true), 0);
  t.is(met(false), 1);
});

test('failures more than ten seconds old do not count, and an unused operation is called again', (t) => {
  const { breaker } = after('failed', 19);
  breaker.settle(here, 'failed', 115_001, 115_001);
  t.is(breaker.openOperations(115_001).length, 0);
  const open = after('failed', 20);
  t.is(open.breaker.refusal(here, 105_000), 5);
  t.is(open.breaker.openOperations(115_001).length, 0);
  t.is(open.breaker.refusal(here, 115_001), undefined);
  t.is(open.breaker.refusal(here, 115_001), undefined);
  t.deepEqual(open.changes, ['open GetSearch', 'closed GetSearch']);
});

test('while open, one call in five seconds is a probe; others get the time of the next one', (t) => {
  for (const evidence of ['unreached', 'failed'] as const) {
    const { breaker } = after(evidence, 20);
    t.is(breaker.refusal(here, 105_001), 5);
    t.is(breaker.refusal(here, 109_999), 1);
    t.is(breaker.refusal(here, 110_000), undefined);
    t.is(breaker.refusal(here, 110_000), 5);
    breaker.settle(here, evidence, 110_000, 110_100);
    t.is(breaker.refusal(here, 114_000), 1);
    // the probe at 115 s never ends, so the next one is due at 120 s
    t.is(breaker.refusal(here, 115_000), undefined);
    t.is(breaker.refusal(here, 119_999), 1);
    t.is(breaker.refusal(here, 120_000), undefined);
  }
});

test('a successful probe closes it, and earlier failures are forgotten', (t) => {
  const { breaker } = after('unreached', 20);
  t.is(breaker.refusal(here, 110_000), undefined);
  breaker.settle(here, 'answered', 110_000, 110_100);
  t.false(breaker.isOpen(110_100));
  breaker.settle(here, 'unreached', 115_200, 115_200);
  t.is(breaker.refusal(here, 115_200), undefined);
});

test('after connection failures the first connection closes it, whatever its response', (t) => {
  const { breaker, changes } = after('unreached', 20);
  breaker.connected(105_500);
  t.is(breaker.refusal(here, 105_500), undefined);
  t.deepEqual(changes, ['open all', 'closed all']);
});

test('a call sent before it opened does not close it', (t) => {
  for (const evidence of ['unreached', 'failed'] as const) {
    const { breaker } = after(evidence, 20);
    breaker.settle(here, 'answered', 104_000, 105_500);
    t.is(breaker.refusal(here, 105_500), 5);
  }
});

test('retries are limited to a share of calls, with some saved', (t) => {
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

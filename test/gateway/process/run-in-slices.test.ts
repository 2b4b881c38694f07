import test from 'ava';
import { runInSlices } from '../../../gateway/process/run-in-slices.ts';
import { compileInSteps } from '../../../mappings/compile.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { readContract, screeningContract } from '../../../mappings/loader/load.ts';
import type { Steps } from '../../../mappings/steps.ts';

function* longSteps(count: number): Steps<string> {
  for (let step = 0; step < count; step++) {
    const until = performance.now() + 6; // ms; exceeds the limit per event-loop iteration
    while (performance.now() < until);
    yield;
  }
  return 'done';
}

test('work in steps leaves event-loop iterations to other work', async (t) => {
  let turns = 0;
  const watch = (): void => {
    turns++;
    watching = setImmediate(watch);
  };
  let watching = setImmediate(watch);
  t.is(await runInSlices(longSteps(10)), 'done');
  clearImmediate(watching);
  t.true(turns >= 10, `${turns} turns`);
});

test('an error of a step rejects the work', async (t) => {
  const failing = function* (): Steps<never> {
    yield;
    throw new RangeError('no such type');
  };
  await t.throwsAsync(runInSlices(failing()), { instanceOf: RangeError, message: 'no such type' });
});

test('a contract is compiled one operation per step', async (t) => {
  const { contract } = readContract(screeningContract);
  const steps = compileInSteps(contract, defaultLimits);
  let count = 0;
  for (const _ of steps) count++;
  t.is(count, contract.operations.length);
  const { operations } = await runInSlices(compileInSteps(contract, defaultLimits));
  t.deepEqual(
    [...operations.keys()],
    contract.operations.map(({ name }) => name),
  );
});

import { readFileSync } from 'node:fs';
import test from 'ava';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { contractConstants } from '../../../mappings/loader/document/allowance.ts';
import { readContract, screeningContract } from '../../../mappings/loader/load.ts';
import { readShippedContract, shippedFile } from '../../../mappings/loader/shipped-contract.ts';

test('the contract that ships loaded is the contract of its files (npm run golden)', (t) => {
  t.deepEqual(readShippedContract(screeningContract, defaultLimits), readContract(screeningContract));
});

test('the file of the loaded contract has the version of V8’s format that Node 22 reads', (t) => {
  t.deepEqual([...readFileSync(shippedFile).subarray(0, 2)], [0xff, 15]);
});

test('the loaded contract is not used for another folder', (t) => {
  t.is(readShippedContract('test/fixtures/contracts/parcels', defaultLimits), undefined);
  t.is(readShippedContract({ openapi: `${screeningContract}/openapi.yaml` }, defaultLimits), undefined);
});

test('the loaded contract is used at the usual limits, and not at lower ones', (t) => {
  for (const [name, usual] of Object.entries({
    ...contractConstants,
    contractMs: defaultLimits.contractMs,
  })) {
    const at = (limit: number) => readShippedContract(screeningContract, { ...defaultLimits, [name]: limit });
    t.not(at(usual), undefined, name);
    t.is(at(usual - 1), undefined, name);
  }
});

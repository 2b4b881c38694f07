import { join } from 'node:path';
import test from 'ava';
import { compileContract } from '../../../mappings/compile.ts';
import { type LimitName, limitsWith } from '../../../mappings/contract/limits.ts';
import { readContract } from '../../../mappings/loader/load.ts';
import { Kits } from '../../../wsdl/kits/kits.ts';
import { createSampler } from '../../../wsdl/samples/samples.ts';

const root = join(import.meta.dirname, '../../..');

/** Limits that apply to parsed text. */
const names: readonly LimitName[] = ['jsonDepth', 'jsonMembers', 'xmlDepth', 'xmlElements', 'xmlText'];

for (const [kind, folder] of [
  ['an OpenAPI document', 'test/fixtures/contracts/parcels'],
  ['an adopted WSDL', 'test/fixtures/adopt/catalogue'],
] as const) {
  const { contract } = readContract(join(root, folder));
  for (const name of names)
    test(`${kind}: samples and kits exist when ${name} allows none of them`, (t) => {
      const compiled = compileContract(contract, limitsWith({ [name]: 1 }));
      for (const isSparse of [false, true]) {
        const sampler = createSampler(compiled, isSparse);
        for (const operation of compiled.operations.keys())
          t.true((sampler.samplesOf(operation)?.requests.length ?? 0) > 0, operation);
      }
      const [first = ''] = compiled.operations.keys();
      t.true(new Kits(compiled, 'https://api.example').filesOf(first).size > 0);
    });
}

test('a sample that the limits refuse is the one of the default limits', (t) => {
  const { contract } = readContract(join(root, 'test/fixtures/contracts/parcels'));
  const jsonOf = (jsonDepth: number): string => {
    const sampler = createSampler(compileContract(contract, limitsWith({ jsonDepth })));
    return sampler.samplesOf('BookParcel')?.requests.find(({ format }) => format === 'json')?.text ?? '';
  };
  t.not(jsonOf(1), '');
  t.is(jsonOf(1), jsonOf(64));
});

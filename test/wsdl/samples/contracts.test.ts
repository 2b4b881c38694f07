import { join } from 'node:path';
import test from 'ava';
import { documents } from '../../documents/documents.ts';
import { capabilities } from '../../plain/folders.ts';
import { checkSamples } from './check-samples.ts';

const root = join(import.meta.dirname, '../../..');

/** Every test contract that is served without changes. */
const contracts = [
  ...capabilities.map((name) => `test/plain/${name}`),
  ...documents.map((name) => `test/documents/${name}`),
  'docs/tutorial',
  'test/fixtures/contracts/parcels',
  'test/fixtures/mtom/contract',
  'test/fixtures/uploads',
  'test/fixtures/kits/session',
  'test/gateway/doctor/contract',
];

for (const contract of contracts)
  test.serial(`${contract}: the gateway accepts every sample of a request`, (t) =>
    checkSamples(t, join(root, contract), 60),
  );

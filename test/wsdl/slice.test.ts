import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { Operation } from '../../mappings/contract/model.ts';
import { readContract, screeningContract } from '../../mappings/loader/load.ts';
import { sliceContract, UnknownName } from '../../wsdl/slice.ts';
import { writeWsdl } from '../../wsdl/wsdl.ts';
import { describeSoap } from './importers.ts';
import { parcels } from './parcels.ts';

const [send, track] = parcels.operations as readonly [Operation, Operation];
const tagged = {
  ...parcels,
  operations: [
    { ...send, tags: ['Booking', 'all'] },
    { ...track, tags: ['all'] },
  ],
};

for (const [title, names, expected] of [
  ['one operation', { operations: ['SendParcel'], tags: [] }, ['SendParcel']],
  ['an operation in another case', { operations: ['sendparcel'], tags: [] }, ['SendParcel']],
  ['a tag', { operations: [], tags: ['booking'] }, ['SendParcel']],
  ['a tag of two', { operations: [], tags: ['all'] }, ['SendParcel', 'TrackParcel']],
  [
    'a tag and an operation, in the contract’s order',
    { operations: ['TrackParcel'], tags: ['Booking'] },
    ['SendParcel', 'TrackParcel'],
  ],
] as const) {
  test(`a slice by ${title} has the requested operations`, (t) => {
    t.deepEqual(
      sliceContract(tagged, names).operations.map(({ name }) => name),
      expected,
    );
  });
}

test('a slice has only the types and routes of its operations, and can be imported', async (t) => {
  const screening = readContract(screeningContract).contract;
  const slice = sliceContract(screening, { operations: ['DeleteClient'], tags: [] });
  t.true(slice.types.length > 0 && slice.types.length < screening.types.length / 2);
  t.true(slice.routes.every(({ operation }) => operation.name === 'DeleteClient'));
  const wsdl = writeWsdl(slice, { address: 'http://127.0.0.1/v2' });
  const whole = writeWsdl(screening, { address: 'http://127.0.0.1/v2' });
  for (const [line] of wsdl.matchAll(/^ *<xs:complexType name=.*$/gm)) t.true(whole.includes(line));
  const directory = mkdtempSync(join(tmpdir(), 'slice-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'slice.wsdl');
  writeFileSync(path, wsdl);
  t.deepEqual((await describeSoap(path)).ScreeningApi?.Soap11, ['DeleteClient']);
});

for (const [names, message] of [
  [{ operations: ['Send'], tags: [] }, 'operation: expected one of SendParcel, TrackParcel, got "Send"'],
  [
    { operations: ['SendParcl'], tags: [] },
    'operation: expected one of SendParcel, TrackParcel, got "SendParcl". Did you mean SendParcel?',
  ],
  [{ operations: [], tags: ['none'] }, 'tag: expected one of Booking, all, got "none"'],
] as const) {
  test(`a slice by an unknown name is refused: ${message}`, (t) => {
    t.throws(() => sliceContract(tagged, names), { instanceOf: UnknownName, message });
  });
}

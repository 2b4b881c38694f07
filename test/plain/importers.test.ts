import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { readContract } from '../../mappings/loader/load.ts';
import { writeWsdl } from '../../wsdl/wsdl.ts';
import { fc } from '../property.ts';
import { describeSoap, describeStrongSoap } from '../wsdl/importers.ts';
import { compileSchema, findInvalid } from '../wsdl/libxml2.ts';
import { documents, load } from './documents.ts';
import { exchangesIn } from './exchange-files.ts';
import { capabilities, folderOf } from './folders.ts';

const address = 'http://soapbridge.example';

test('libxml2 compiles the schema of any document', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(documents, (document) => {
        compileSchema(load(document).contract).dispose();
      }),
      { numRuns: 50 },
    ),
  );
});

/** Folders whose replies intentionally violate their type. */
const untrue = new Set(['dates-that-lie', 'enums']);

for (const capability of capabilities) {
  test(`${capability}: replies are valid against the schema`, (t) => {
    using validator = compileSchema(readContract(folderOf(capability)).contract);
    for (const { name, reply } of exchangesIn(folderOf(capability))) {
      if (reply.startsWith('<s:Fault') || untrue.has(capability)) continue;
      t.is(findInvalid(validator, reply), undefined, name);
    }
    t.pass();
  });
}

test('soap and strong-soap read the WSDL of any document, and find its operations', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'wsdl-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const contracts = [
    ...capabilities.map((capability) => readContract(folderOf(capability)).contract),
    ...fc.sample(documents, { numRuns: 10 }).map((document) => load(document).contract),
  ];
  for (const [index, contract] of contracts.entries()) {
    const path = join(directory, `${index}.wsdl`);
    writeFileSync(path, writeWsdl(contract, { address }));
    const names = contract.operations.map(({ name }) => name).toSorted();
    for (const describe of [describeSoap, describeStrongSoap]) {
      const { [contract.service]: ports } = await describe(path);
      t.deepEqual(ports?.Soap11?.toSorted(), names, contract.service);
    }
  }
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { XsdValidator } from 'libxml2-wasm';
import type { LoadedContract } from '../../mappings/loader/build-contract.ts';
import { readContract } from '../../mappings/loader/load.ts';
import { sliceContract } from '../../wsdl/slice.ts';
import { writeWsdl } from '../../wsdl/wsdl.ts';
import { type Gateway, startGateway } from '../gateway/gateway.ts';
import { exchangesIn, readText } from '../plain/exchange-files.ts';
import { makeExchange } from '../plain/exchanges.ts';
import { describeSoap, describeStrongSoap } from '../wsdl/importers.ts';
import { compileSchema, findInvalid } from '../wsdl/libxml2.ts';
import { countsFile, countsOf, documents, folderOf, writeCounts } from './documents.ts';

const address = 'http://soapbridge.example';
/** Number of operations of a document that the JavaScript clients load. Larger WSDLs take them too long. */
const sliceSize = 25;

const loaded = new Map<string, LoadedContract>();
const schemas = new Map<string, XsdValidator>();
const gateways = new Map<string, Gateway>();
const ends: (() => unknown)[] = [];

function contractOf(document: string): LoadedContract {
  const known = loaded.get(document) ?? readContract(folderOf(document));
  loaded.set(document, known);
  return known;
}

/** Returns the schema of a document's WSDL, compiled by libxml2. */
function schemaOf(document: string): XsdValidator {
  const known = schemas.get(document);
  if (known !== undefined) return known;
  const schema = compileSchema(contractOf(document).contract);
  schemas.set(document, schema);
  ends.push(() => schema.dispose());
  return schema;
}

async function gatewayOf(document: string): Promise<Gateway> {
  const known = gateways.get(document);
  if (known !== undefined) return known;
  const gateway = await startGateway(
    { teardown: (end) => ends.push(end) },
    { serve: { contract: folderOf(document) } },
  );
  gateways.set(document, gateway);
  return gateway;
}

test.after.always(async () => {
  for (const end of ends.toReversed()) await end();
});

test('counts.txt lists the served operations per document, at least 99 % of all', (t) => {
  const counts = documents.map((document) => countsOf(document, contractOf(document)));
  t.is(readText(countsFile), writeCounts(counts).trimEnd());
  const served = counts.reduce((sum, count) => sum + count.served, 0);
  const notServed = counts.reduce((sum, count) => sum + count.notServed, 0);
  t.true(served >= 0.99 * (served + notServed), `${served} served, ${notServed} not`);
});

for (const document of documents) {
  test.serial(`${document}: libxml2 compiles the schema of its WSDL`, (t) => {
    t.notThrows(() => schemaOf(document));
  });

  test.serial(`${document}: node-soap and strong-soap find its operations at both ports`, async (t) => {
    const { contract } = contractOf(document);
    const operations = contract.operations.slice(0, sliceSize).map(({ name }) => name);
    const directory = await mkdtemp(join(tmpdir(), 'document-'));
    t.teardown(() => rm(directory, { recursive: true }));
    const file = join(directory, 'slice.wsdl');
    await writeFile(file, writeWsdl(sliceContract(contract, { operations, tags: [] }), { address }));
    for (const describe of [describeSoap, describeStrongSoap]) {
      const [service = {}] = Object.values(await describe(file));
      t.deepEqual(
        Object.values(service).map((port) => [...port].toSorted()),
        [operations.toSorted(), operations.toSorted()],
      );
    }
  });

  test.serial(`${document}: its fixtures include at least three calls`, (t) => {
    t.true(exchangesIn(folderOf(document)).length >= 3);
  });

  for (const fixture of exchangesIn(folderOf(document))) {
    test.serial(`${document}: ${fixture.name.replaceAll('-', ' ')}`, async (t) => {
      const { calls, reply } = await makeExchange(await gatewayOf(document), fixture);
      t.deepEqual(calls, fixture.call === undefined ? [] : [fixture.call]);
      t.is(reply, fixture.reply);
      for (const message of [fixture.request, fixture.reply]) {
        // the document's schema does not define SOAP faults
        if (!message.includes('<faultcode>')) t.is(findInvalid(schemaOf(document), message), undefined);
      }
    });
  }
}

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import test from 'ava';
import { parse } from 'yaml';
import type { Settings } from '../../../mappings/contract/model.ts';
import { buildContract } from '../../../mappings/loader/build-contract.ts';
import { ContractError } from '../../../mappings/loader/document/error.ts';
import { schemaFiles } from '../../../mappings/loader/load.ts';
import { type Dialect, dialects } from '../../../mappings/loader/overlay/dialects.ts';
import { overlaySettings } from '../../../mappings/loader/overlay/overlay-keys.ts';
import { configSchema, mappingSchema, overlaySchema } from '../../golden/write.ts';

const page = readFileSync(new URL('../../../docs/contract.md', import.meta.url), 'utf8');

/** The blocks of YAML on the page whose fence says this. */
function blocks(fence: string): unknown[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${fence}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, text]) =>
    parse(text ?? ''),
  );
}

const [openapi] = blocks('yaml openapi');
const [overlay] = blocks('yaml overlay');

function build(soap: unknown) {
  return buildContract({ openapi, openapiName: 'openapi.yaml', overlay: soap, overlayName: 'soap.yaml' });
}

test('docs/contract.md: the walk-through’s pair is a contract', (t) => {
  const { contract, notes } = build(overlay);
  t.deepEqual(
    contract.operations.map(({ name, input, upstream }) => [
      name,
      input.fields.map(({ xml }) => xml),
      upstream.path,
    ]),
    [
      ['TrackParcel', ['number'], '/parcels/{number}'],
      ['BookParcel', ['Body'], '/parcels'],
    ],
  );
  t.is(contract.types.length, 2);
  t.deepEqual(notes, []);
});

for (const key of Object.keys(overlaySettings.keys)) {
  test(`docs/contract.md tells of the overlay’s ${key}`, (t) => {
    t.regex(page, new RegExp(`^(?:### ${key}$|\\| \`${key}\` +\\|)`, 'm'));
  });
}

for (const [index, example] of blocks('yaml').entries()) {
  const [key] = Object.keys(example as object);
  test(`docs/contract.md: example ${index + 1}, of ${key}, is of the overlay’s form`, (t) => {
    try {
      build({ ...(overlay as object), ...(example as object) });
    } catch (error) {
      if (!(error instanceof ContractError)) throw error;
      // the examples of credentials, dialects and servers need another document
      t.deepEqual(
        error.problems
          .map(({ pointer }) => pointer)
          .filter((pointer) => !/^\/(?:credentials\/member|soapErrors|servers\/.*)$/.test(pointer)),
        [],
      );
    }
    t.pass();
  });
}

test('docs/contract.md has the settings’ defaults as the dialects have them', (t) => {
  const table = [...page.matchAll(/^\| `(\w+)` +\| .*? +\| `([\w-]+)` +\| `([\w-]+)` +\|/gm)];
  // a list or a zone is told in words
  const inTable = ({ upstreamTimeZone, cors, replyHeaders, ...words }: Settings): object => {
    t.deepEqual([upstreamTimeZone, cors, replyHeaders], [undefined, [], []]);
    return words;
  };
  const told = (column: 2 | 3) => Object.fromEntries(table.map((row) => [row[1], row[column]]));
  const said = (settings: object) =>
    Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]));
  const face = ({ names, order, equalTypes, optionalValues }: Dialect) => ({
    names,
    order,
    equalTypes,
    optionalValues,
  });
  t.deepEqual(told(2), { ...face(dialects.servicestack), ...said(inTable(dialects.servicestack.settings)) });
  t.deepEqual(told(3), { ...face(dialects.plain), ...said(inTable(dialects.plain.settings)) });
});

for (const [file, schema] of [
  [schemaFiles.overlay, overlaySchema],
  [schemaFiles.config, configSchema],
  [schemaFiles.mapping, mappingSchema],
] as const) {
  test(`schemas/${basename(file)} says what the reader takes`, (t) => {
    t.is(readFileSync(file, 'utf8'), schema);
  });
}

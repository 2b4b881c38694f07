import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import test from 'ava';
import { parse } from 'yaml';
import { buildContract } from '../../../mappings/loader/build-contract.ts';
import { ContractError } from '../../../mappings/loader/document/error.ts';
import { schemaFiles } from '../../../mappings/loader/load.ts';
import { overlayRows, overlayTableForm } from '../../docs/overlay-rows.ts';
import { adoptedOverlaySchema, configSchema, mappingSchema, overlaySchema } from '../../golden/write.ts';

const readPage = (name: string) => readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), 'utf8');
const guide = readPage('contract');
const reference = readPage('overlay-keys');

/** Returns the YAML blocks of a page with this fence. */
function blocks(page: string, fence: string): unknown[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${fence}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, text]) =>
    parse(text ?? ''),
  );
}

const [openapi] = blocks(guide, 'yaml openapi');
const [overlay] = blocks(guide, 'yaml overlay');

function build(soap: unknown) {
  return buildContract({ openapi, openapiName: 'openapi.yaml', overlay: soap, overlayName: 'soap.yaml' });
}

test('docs/contract.md: the files of the walk-through are a contract', (t) => {
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

for (const [name, kind] of [
  ['overlay-keys', 'openapi'],
  ['adopt', 'adopted'],
] as const) {
  test(`docs/${name}.md lists the overlay keys of the kind ${kind}`, (t) => {
    t.is(overlayTableForm.exec(readPage(name))?.[0], overlayRows(kind), 'npm run golden rewrites the table');
  });
}

for (const [index, example] of blocks(reference, 'yaml').entries()) {
  const [key] = Object.keys(example as object);
  test(`docs/overlay-keys.md: example ${index + 1}, of ${key}, is a valid overlay`, (t) => {
    try {
      build({ ...(overlay as object), ...(example as object) });
    } catch (error) {
      if (!(error instanceof ContractError)) throw error;
      // the examples of credentials, dialects, servers and certificates need another document or files
      t.deepEqual(
        error.problems
          .map(({ pointer }) => pointer)
          .filter(
            (pointer) =>
              !/^\/(?:credentials\/member|soapErrors|servers\/.*|wsse\/(?:x509\/(?:ca|crl)|sign).*)$/.test(
                pointer,
              ),
          ),
        [],
      );
    }
    t.pass();
  });
}

for (const [file, schema] of [
  [schemaFiles.overlay, overlaySchema],
  [schemaFiles.adoptedOverlay, adoptedOverlaySchema],
  [schemaFiles.config, configSchema],
  [schemaFiles.mapping, mappingSchema],
] as const) {
  test(`schemas/${basename(file)} describes what the reader accepts`, (t) => {
    t.is(readFileSync(file, 'utf8'), schema);
  });
}

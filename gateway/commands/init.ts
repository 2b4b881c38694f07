import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import type { LoadedContract } from '../../mappings/loader/build-contract.ts';
import { readContract, schemaFiles } from '../../mappings/loader/load.ts';
import { helpEnd } from './help.ts';
import { type ContractFlags, contractAction, contractCommand } from './options.ts';
import { jsonOption, printJson, printLine } from './output.ts';
import { commentedKeys, type KeyLines, schemaLine } from './overlay-text.ts';
import { writeWhole } from './write-file.ts';

interface InitFlags extends ContractFlags {
  readonly force: boolean;
  readonly json: boolean;
}

/** Creates the command `soapbridge init`. */
export function initCommand(): Command {
  return contractCommand('init')
    .description('write an overlay for an OpenAPI document, with all keys and defaults')
    .addOption(new Option('--force', 'replace an existing overlay').default(false))
    .addOption(jsonOption())
    .addHelpText(
      'after',
      helpEnd(
        'soapbridge init parcels.yaml',
        { 0: 'the overlay was written', 2: 'the overlay exists already, or the input is wrong' },
        'Without --overlay, the file is soap.yaml in the folder of the document.',
      ),
    )
    .action(contractAction(writeOverlay));
}

function writeOverlay({ openapi, overlay, force, json, limits }: InitFlags): void {
  if (openapi === undefined)
    throw new RangeError('expected an OpenAPI document as argument or --openapi, got none');
  const path = overlay ?? join(dirname(openapi), 'soap.yaml');
  if (existsSync(path) && !force)
    throw new RangeError(`${path}: expected no file, got a file. Replace it with --force`);
  const loaded = readContract({ openapi, overlay: undefined }, limits);
  writeWhole(path, overlayText(loaded, openapi, path));
  if (json) printJson({ written: path });
  else
    printLine(`wrote ${path}; review it, then run: soapbridge check --openapi ${openapi} --overlay ${path}`);
}

/** Returns the text of an overlay that describes each key in a comment, with its default or an example. */
function overlayText(loaded: LoadedContract, openapi: string, path: string): string {
  const { contract } = loaded;
  return [
    schemaLine(dirname(path), schemaFiles.overlay),
    `# Overlay of ${relative(resolve(dirname(path)), resolve(openapi)).replaceAll('\\', '/')}.`,
    '# Commented-out keys show their defaults or examples. docs/overlay-keys.md of soapbridge describes each key.',
    '',
    '# Clients compile these values in. Decide before the first client imports the WSDL.',
    'dialect: plain',
    `service: ${contract.service}`,
    'namespaces:',
    `  types: ${JSON.stringify(contract.namespaces.types)}`,
    '',
    ...commentedKeys('openapi', contract.settings, linesOf(loaded)),
    ...remarks(loaded),
  ].join('\n');
}

/** Returns lines that replace the defaults: empty for keys that the file sets, otherwise examples from the contract. */
function linesOf({ contract: { operations, types } }: LoadedContract): KeyLines {
  const [example = 'Operation'] = operations.map(({ name }) => name);
  const record = types.find((type) => type.kind === 'record');
  const members = record?.fields.map(({ json }) => JSON.stringify(json)) ?? [];
  return {
    dialect: [],
    service: [],
    namespaces: [],
    routes: ['routes:', `  POST /${example.toLowerCase()}: ${example}`],
    operations: [
      'operations:',
      ...operations.map(({ name, readOnly }) => `  ${name}: { readOnly: ${readOnly} }`),
    ],
    types: ['types:', `  ${JSON.stringify(record?.name ?? 'Type')}: { order: [${members.join(', ')}] }`],
  };
}

/** Returns comments about the parts of the document that are not served, or only as JSON text. */
function remarks({ notes, notServed }: LoadedContract): string[] {
  return [
    ...remark('Sent as JSON text in an xs:string, because no closed type fits:', notes),
    ...remark(
      'Not served:',
      notServed.flatMap(({ reasons }) => reasons),
    ),
  ];
}

function remark(
  title: string,
  places: readonly { readonly pointer: string; readonly why: string }[],
): string[] {
  if (places.length === 0) return [];
  return [`# ${title}`, ...places.map(({ pointer, why }) => `#   ${pointer}: ${why}`), ''];
}

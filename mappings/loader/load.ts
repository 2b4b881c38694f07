// From the files of a contract to the model: this folder reads OpenAPI documents and overlays, finds all that is wrong
// with them, and keeps names for good. What is read goes from `document/` over `schema/` and `operations/` to the frozen
// contract. No codec, no socket, no request; no I/O but that of this file and `document/yaml.ts`.
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { defaultLimits } from '../contract/limits.ts';
import { buildContract, type ContractSource, type LoadedContract } from './build-contract.ts';
import { Allowance, type ContractLimits, contractError } from './document/allowance.ts';
import { ContractError, type ContractProblem } from './document/error.ts';
import { isNode, withoutUrlSecrets } from './document/node.ts';
import { PatchFiles } from './document/patch-files.ts';
import { readYamlFile, withLines } from './document/yaml.ts';
import { readNamesLock } from './names/names-lock.ts';
import { loadAdoptedContract } from './wsdl/adopted-contract.ts';
import { hasWsdl } from './wsdl/load-adopted.ts';

/** The package's folder; a build in `dist/` finds files other than code in the package it is part of. */
const root = join(
  import.meta.dirname,
  import.meta.dirname.endsWith(join('dist', 'mappings', 'loader')) ? '../../..' : '../..',
);

/** Where the contract that ships with soapbridge lies. */
export const screeningContract: string = join(root, 'mappings', 'screening');

/** The JSON Schemas of overlays, of `soapbridge.yaml` and of mappings, for editors. */
export const schemaFiles = {
  overlay: join(root, 'schemas', 'overlay.schema.json'),
  adoptedOverlay: join(root, 'schemas', 'adopted-overlay.schema.json'),
  config: join(root, 'schemas', 'soapbridge.schema.json'),
  mapping: join(root, 'schemas', 'mapping.schema.json'),
} as const;

/** The documents of a contract by their paths. */
export interface ContractFiles {
  readonly openapi: string;
  /** Undefined: the plain dialect, all defaults. */
  readonly overlay?: string | undefined;
}

/**
 * A folder with `openapi.yaml` (or `.yml`, `.json`), or with the WSDL of an existing service, and, unless all defaults do, the
 * overlay `soap.yaml`; or files by name.
 */
export type ContractPlace = string | ContractFiles;

/**
 * Reads the contract at a place, without the mapping that may be next to it. Throws ContractError with all problems, each with file,
 * line, JSON pointer and what to do. A document over a limit is a problem there.
 */
export function readContract(place: ContractPlace, limits: ContractLimits = defaultLimits): LoadedContract {
  if (typeof place === 'string' && isAdopted(place))
    return loadAdoptedContract(place, findFile(place, 'soap'), limits);
  const allowance = new Allowance(limits);
  refuseUrl(place);
  const files = typeof place === 'string' ? filesIn(place) : place;
  const problems: ContractProblem[] = [];
  const openapi = readYamlFile(files.openapi, problems, allowance);
  const overlay =
    files.overlay === undefined
      ? { path: join(dirname(files.openapi), 'soap.yaml'), root: undefined }
      : readYamlFile(files.overlay, problems, allowance);
  const names = readNamesLock(namesLockOf(files), problems, allowance);
  if (openapi === undefined || overlay === undefined || problems.length > 0)
    throw new ContractError(withLines(problems));
  const patches = new PatchFiles(overlay, openapi.path, problems, allowance);
  const root = patches.apply(openapi);
  if (problems.length > 0) throw new ContractError(withLines(problems));
  const explained = (found: readonly ContractProblem[]): ContractError =>
    new ContractError(patches.explain(withLines(found)));
  const source: ContractSource = {
    openapi: root,
    openapiName: openapi.path,
    overlay: overlay.root,
    overlayName: overlay.path,
    names,
    allowance,
    readFile: fileReader(dirname(openapi.path), dirname(overlay.path), patches, allowance),
  };
  let loaded: LoadedContract;
  try {
    loaded = buildContract(source);
  } catch (error) {
    throw error instanceof ContractError ? explained([...problems, ...error.problems]) : error;
  }
  patches.finish();
  // part of the document is missing, which its author wants to know before its callers do
  const missing = [...problems, ...loaded.brokenReferences];
  if (missing.length > 0) throw explained(contractError(missing, limits).problems);
  return { ...loaded, warnings: withLines(loaded.warnings) };
}

/** Throws ContractError for a URL in the place of a path; its message has no password and no query. */
function refuseUrl(place: ContractPlace): void {
  const isFolder = typeof place === 'string';
  const path = isFolder ? place : place.openapi;
  if (!isDocumentUrl(path)) return;
  const message = isFolder
    ? 'expected a folder, got a URL'
    : 'is a URL, and none is fetched by itself; expected a file, or --fetch to store it in one';
  throw new ContractError([{ file: withoutUrlSecrets(path), pointer: '', message }]);
}

/** True for the URL of a document, in the place of its path. */
export function isDocumentUrl(path: string): boolean {
  return /^https?:\/\//i.test(path);
}

/** Reads files below a folder, whatever links lead out of it. */
function fileReader(
  documents: string,
  overlays: string,
  patches: PatchFiles,
  allowance: Allowance,
): NonNullable<ContractSource['readFile']> {
  return (folder, path) => {
    try {
      const root = realpathSync(folder === undefined ? documents : resolve(overlays, folder));
      const file = realpathSync(join(root, path));
      if (!file.startsWith(root + sep)) return { why: 'got one that lies elsewhere' };
      const problems: ContractProblem[] = [];
      const read = readYamlFile(file, problems, allowance);
      if (read !== undefined) return { root: patches.apply(read) };
      return { why: `got one that can't be read (${problems.map(({ message }) => message).join('; ')})` };
    } catch (error) {
      if (error instanceof Error && 'code' in error) return { why: `got none (${error.code})` };
      throw error;
    }
  };
}

/** Whether a folder's contract is a WSDL: it has one, and no OpenAPI document, or a mapping between the two (A1). */
export function isAdopted(folder: string): boolean {
  if (findFile(folder, 'openapi') !== undefined && findFile(folder, 'mapping') === undefined) return false;
  const overlay = findFile(folder, 'soap');
  return hasWsdl(folder) || (overlay !== undefined && namesWsdl(overlay));
}

/** The files of a folder whose WSDL is mapped onto an OpenAPI document beside it (M1); undefined for any other. */
export function mappingIn(
  folder: string,
): { readonly mapping: string; readonly openapi: string } | undefined {
  const mapping = findFile(folder, 'mapping');
  if (mapping === undefined || !isAdopted(folder)) return undefined;
  return { mapping, openapi: findFile(folder, 'openapi') ?? join(folder, 'openapi.yaml') };
}

/** Whether an overlay names a WSDL, which may lie below its folder. */
function namesWsdl(overlay: string): boolean {
  const root = readYamlFile(overlay, [])?.root;
  return isNode(root) && root.wsdl !== undefined;
}

/** Where the names of a contract are kept: beside its overlay, or beside its document where there is none. */
export function namesLockOf(place: ContractPlace): string {
  if (typeof place === 'string' && isAdopted(place)) return join(place, 'names.lock');
  const { openapi, overlay } = typeof place === 'string' ? filesIn(place) : place;
  return join(dirname(overlay ?? openapi), 'names.lock');
}

function filesIn(directory: string): ContractFiles {
  const openapi = findFile(directory, 'openapi');
  if (openapi !== undefined) return { openapi, overlay: findFile(directory, 'soap') };
  const message =
    'no such file; a contract is a folder with openapi.yaml, or with the WSDL of an existing service, and, where the defaults do not fit, soap.yaml (or .yml, .json)';
  throw new ContractError([{ file: join(directory, 'openapi.yaml'), pointer: '', message }]);
}

/** A contract's file in a folder, whatever it is written in; undefined where there is none. */
export function findFile(directory: string, name: 'openapi' | 'soap' | 'mapping'): string | undefined {
  return ['yaml', 'yml', 'json']
    .map((extension) => join(directory, `${name}.${extension}`))
    .find((path) => existsSync(path));
}

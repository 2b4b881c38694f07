import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ContractError } from './document/error.ts';
import { isNode } from './document/node.ts';
import { readYamlFile } from './document/yaml.ts';
import { wsdlsIn } from './wsdl/wsdls-in.ts';

/** The package's folder. A build in `dist/` uses the other files of the package that contains it. */
export const packageRoot: string = join(
  import.meta.dirname,
  import.meta.dirname.endsWith(join('dist', 'mappings', 'loader')) ? '../../..' : '../..',
);

/** Path of the contract that ships with soapbridge. */
export const screeningContract: string = join(packageRoot, 'mappings', 'screening');

/** Paths of the documents of a contract. */
export interface ContractFiles {
  readonly openapi: string;
  /** Undefined: the plain dialect with all defaults. */
  readonly overlay?: string | undefined;
}

/**
 * A folder or the files of a contract. The folder contains `openapi.yaml` (or `.yml`, `.json`) or a legacy WSDL, and
 * the overlay `soap.yaml` if the defaults do not fit.
 */
export type ContractPlace = string | ContractFiles;

/** Returns true for the URL of a document instead of its path. */
export function isDocumentUrl(path: string): boolean {
  return /^https?:\/\//i.test(path);
}

/**
 * Returns true if the contract of a folder is a WSDL: the folder has a WSDL, and no OpenAPI document or a mapping (A1).
 */
export function isAdopted(folder: string): boolean {
  if (findFile(folder, 'openapi') !== undefined && findFile(folder, 'mapping') === undefined) return false;
  const overlay = findFile(folder, 'soap');
  return wsdlsIn(folder).length > 0 || (overlay !== undefined && namesWsdl(overlay));
}

/**
 * Returns the files of a folder with a WSDL that is mapped to an OpenAPI document (M1); undefined for any other folder.
 */
export function mappingIn(
  folder: string,
): { readonly mapping: string; readonly openapi: string } | undefined {
  const mapping = findFile(folder, 'mapping');
  if (mapping === undefined || !isAdopted(folder)) return undefined;
  return { mapping, openapi: findFile(folder, 'openapi') ?? join(folder, 'openapi.yaml') };
}

/** Returns true if an overlay names a WSDL, which may be in a subfolder. */
function namesWsdl(overlay: string): boolean {
  const root = readYamlFile(overlay, [])?.root;
  return isNode(root) && root.wsdl !== undefined;
}

/** Returns the path of a contract's `names.lock`: in the folder of the overlay, or else of the document. */
export function namesLockOf(place: ContractPlace): string {
  if (typeof place === 'string' && isAdopted(place)) return join(place, 'names.lock');
  const { openapi, overlay } = typeof place === 'string' ? filesIn(place) : place;
  return join(dirname(overlay ?? openapi), 'names.lock');
}

export function filesIn(directory: string): ContractFiles {
  const openapi = findFile(directory, 'openapi');
  if (openapi !== undefined) return { openapi, overlay: findFile(directory, 'soap') };
  if (statSync(directory, { throwIfNoEntry: false })?.isFile() === true) {
    const message =
      'expected a folder, got a file. For an OpenAPI document, use `openapi:` in soapbridge.yaml, or --openapi';
    throw new ContractError([{ file: directory, pointer: '', message }]);
  }
  const message =
    'no such file; a contract is a folder with openapi.yaml or a legacy WSDL, and an optional soap.yaml (or .yml, .json)';
  throw new ContractError([{ file: join(directory, 'openapi.yaml'), pointer: '', message }]);
}

/** Returns the path of a contract's file in a folder, in any supported format; undefined if it does not exist. */
export function findFile(directory: string, name: 'openapi' | 'soap' | 'mapping'): string | undefined {
  return ['yaml', 'yml', 'json']
    .map((extension) => join(directory, `${name}.${extension}`))
    .find((path) => existsSync(path));
}

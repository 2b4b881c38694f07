// Reads the files of a contract and builds the model. This folder reads OpenAPI documents and overlays, reports their
// problems and keeps names. The steps are in `document/`, `schema/` and `operations/`. It has no codecs and no network
// code; only this file and `document/yaml.ts` do I/O.
import { dirname, join, resolve } from 'node:path';
import { defaultLimits } from '../contract/limits.ts';
import { buildContract, type ContractSource, type LoadedContract } from './build-contract.ts';
import { type ContractPlace, filesIn, isDocumentUrl, namesLockOf } from './contract-files.ts';
import { Allowance, type ContractLimits, contractError } from './document/allowance.ts';
import { bytesReader } from './document/bytes-reader.ts';
import { ContractError, type ContractProblem } from './document/error.ts';
import { withoutUrlSecrets } from './document/node.ts';
import { PatchFiles } from './document/patch-files.ts';
import { pathInside, readYamlFile, withLines } from './document/yaml.ts';
import { readNamesLock } from './names/names-lock.ts';
import { type OwnWsse, placedIn, withOwnWsse } from './overlay/own-wsse.ts';

/**
 * Reads an OpenAPI contract. Throws ContractError with all problems, each with file, line, JSON pointer and remedy. An
 * exceeded limit is also a problem.
 *
 * @param own replaces the key `wsse` of the overlay
 */
export function readOpenapiContract(
  place: ContractPlace,
  limits: ContractLimits = defaultLimits,
  own?: OwnWsse,
): LoadedContract {
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
  const placed = (problem: ContractProblem): ContractProblem => placedIn(overlay.path, own, problem);
  const explained = (found: readonly ContractProblem[]): ContractError =>
    new ContractError(patches.explain(withLines(found.map(placed))));
  const source: ContractSource = {
    openapi: root,
    openapiName: openapi.path,
    overlay: withOwnWsse(overlay.root, own),
    overlayName: overlay.path,
    names,
    allowance,
    readBytes: bytesReader(dirname(own?.file ?? overlay.path), allowance),
    readFile: fileReader(dirname(openapi.path), dirname(overlay.path), patches, allowance),
  };
  let loaded: LoadedContract;
  try {
    loaded = buildContract(source);
  } catch (error) {
    throw error instanceof ContractError ? explained([...problems, ...error.problems]) : error;
  }
  patches.finish();
  if (problems.length > 0) throw explained(contractError(problems, limits).problems);
  return { ...loaded, warnings: withLines(loaded.warnings) };
}

/** Throws ContractError for a URL instead of a path. The message contains no password or query. */
function refuseUrl(place: ContractPlace): void {
  const isFolder = typeof place === 'string';
  const path = isFolder ? place : place.openapi;
  if (!isDocumentUrl(path)) return;
  const message = isFolder
    ? 'expected a folder, got a URL'
    : 'is a URL. Expected a file, or --fetch to download the document to a file';
  throw new ContractError([{ file: withoutUrlSecrets(path), pointer: '', message }]);
}

/**
 * Returns a function that reads files in a folder. Files outside the folder, including targets of links, are rejected.
 */
function fileReader(
  documents: string,
  overlays: string,
  patches: PatchFiles,
  allowance: Allowance,
): NonNullable<ContractSource['readFile']> {
  return (folder, path) => {
    const file = pathInside(folder === undefined ? documents : resolve(overlays, folder), path);
    if (typeof file === 'object') return file;
    const problems: ContractProblem[] = [];
    const read = readYamlFile(file, problems, allowance);
    if (read !== undefined) return { root: patches.apply(read) };
    return { why: `got an unreadable file (${problems.map(({ message }) => message).join('; ')})` };
  };
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LineCounter, parseDocument } from 'yaml';
import { buildContract, type LoadedContract } from './load/contract.ts';
import { ContractError } from './load/error.ts';

/** Where the contract that ships with soapbridge lies; a build in `dist/` finds it beside itself. */
export const screeningContract: string = join(
  import.meta.dirname,
  import.meta.dirname.endsWith(join('dist', 'mappings')) ? '../../mappings/screening' : 'screening',
);

/**
 * The contract in a folder: `openapi.yaml` (or `.yml`, `.json`) and the overlay `soap.yaml`.
 * Throws ContractError with all that is wrong, each with file, JSON pointer and what to do.
 */
export function loadContract(directory: string): LoadedContract {
  const openapiName = findFile(directory, ['openapi.yaml', 'openapi.yml', 'openapi.json']);
  const overlayName = findFile(directory, ['soap.yaml', 'soap.yml', 'soap.json']);
  return buildContract({
    openapi: readDocument(openapiName),
    openapiName,
    overlay: readDocument(overlayName),
    overlayName,
  });
}

function findFile(directory: string, names: readonly [string, ...string[]]): string {
  for (const name of names) {
    const path = join(directory, name);
    try {
      readFileSync(path);
      return path;
    } catch (error) {
      if (!isMissing(error)) throw unreadable(path, error);
    }
  }
  throw new ContractError([
    {
      file: join(directory, names[0]),
      pointer: '',
      message: 'no such file; a contract is a folder with openapi.yaml and soap.yaml',
    },
  ]);
}

function readDocument(path: string): unknown {
  const lines = new LineCounter();
  const document = parseDocument(readFileSync(path, 'utf8'), {
    uniqueKeys: true,
    strict: true,
    lineCounter: lines,
  });
  const [problem] = document.errors;
  if (problem !== undefined) {
    const { line, col } = lines.linePos(problem.pos[0]);
    const [sentence = ''] = problem.message.split('\n');
    throw new ContractError([
      {
        file: path,
        pointer: '',
        message: `line ${line}, column ${col}: ${sentence.replace(/ at line \d+.*$/, '')}`,
      },
    ]);
  }
  return document.toJS({ maxAliasCount: 100 });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function unreadable(path: string, error: unknown): ContractError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  return new ContractError([{ file: path, pointer: '', message: `can't be read (${code})` }]);
}

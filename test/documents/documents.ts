import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadedContract } from '../../mappings/loader/build-contract.ts';
import { readContract } from '../../mappings/loader/load.ts';

/**
 * Published third-party OpenAPI documents, one folder each; `README.md` lists the publishers:
 *
 * - `openapi.yaml` or `openapi.json`, served without overlay except for `refs`, and other files that it references
 * - `LICENSE`, if one was included
 * - `exchanges/{name}/`: one call each, as in `test/plain`
 *
 * `counts.txt` lists how many operations of each document are served. `npm run golden` writes it.
 */

const root = import.meta.dirname;

export const countsFile: string = join(root, 'counts.txt');

/** Names of the documents. The name of a document in a nested folder includes both folders. */
export const documents: readonly string[] = foldersIn(root)
  .flatMap((name) => {
    if (hasDocument(name)) return [name];
    return foldersIn(join(root, name)).map((inner) => `${name}/${inner}`);
  })
  .filter(hasDocument)
  .toSorted();

function foldersIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

function hasDocument(name: string): boolean {
  return readdirSync(join(root, name)).some((file) => /^openapi\.(?:yaml|json)$/.test(file));
}

export function folderOf(document: string): string {
  return join(root, document);
}

/** Number of served operations of a document. */
export interface Counts {
  readonly document: string;
  readonly served: number;
  readonly notServed: number;
  /** Number of members sent as JSON text, each noted at start. */
  readonly jsonText: number;
}

export function countsOf(document: string, { contract, notServed, notes }: LoadedContract): Counts {
  return {
    document,
    served: contract.operations.length,
    notServed: notServed.length,
    jsonText: notes.length,
  };
}

/** Returns the expected content of `counts.txt`. */
export function writeCounts(all: readonly Counts[]): string {
  const rows = all.map(({ document, served, notServed, jsonText }) => [
    document,
    ...[served, notServed, jsonText].map(String),
  ]);
  return [['document', 'served', 'not served', 'JSON text'], ...rows]
    .map(
      ([name = '', ...counts]) => `${name.padEnd(22)}${counts.map((count) => count.padStart(12)).join('')}\n`,
    )
    .join('');
}

/** Returns the current content of `counts.txt`. */
export function countAll(): string {
  return writeCounts(documents.map((document) => countsOf(document, readContract(folderOf(document)))));
}

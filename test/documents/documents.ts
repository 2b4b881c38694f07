import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadedContract } from '../../mappings/loader/build-contract.ts';
import { readContract } from '../../mappings/loader/load.ts';

/**
 * OpenAPI documents of others, a folder each, as they were published; `README.md` says by whom:
 *
 * - `openapi.yaml` or `openapi.json`, served with no overlay but for `refs`, and the other files of a document of several
 * - `LICENSE`, where one came with it
 * - `exchanges/{name}/`: one call each, as in `test/plain`
 *
 * `counts.txt` says of each how much of it is served; `npm run golden` writes it.
 */

const root = import.meta.dirname;

export const countsFile: string = join(root, 'counts.txt');

/** The names of the documents; one that is in a folder of a folder is called after both. */
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

/** How much of a document is served. */
export interface Counts {
  readonly document: string;
  readonly served: number;
  readonly notServed: number;
  /** Places that travel as JSON text, each noted at start. */
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

/** What `counts.txt` has to hold. */
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

/** `counts.txt` as it is today. */
export function countAll(): string {
  return writeCounts(documents.map((document) => countsOf(document, readContract(folderOf(document)))));
}

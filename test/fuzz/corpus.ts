import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Returns the inputs saved for a target: one file each, named by the hash of its bytes. */
export function readCorpus(target: string): readonly Buffer[] {
  const folder = folderOf(target);
  return readdirSync(folder)
    .toSorted()
    .map((name) => readFileSync(new URL(name, folder)));
}

export function saveInput(target: string, input: Buffer): void {
  const folder = folderOf(target);
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL(createHash('sha256').update(input).digest('hex').slice(0, 12), folder), input);
}

function folderOf(target: string): URL {
  return new URL(`corpus/${target}/`, import.meta.url);
}

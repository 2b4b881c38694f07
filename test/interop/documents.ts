import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readContract } from '../../mappings/loader/load.ts';
import { writeWsdl } from '../../wsdl/wsdl.ts';
import { documents, folderOf } from '../documents/documents.ts';
import { run } from './run-command.ts';
import type { Stack } from './stacks.ts';

/** Result of importing a document's WSDL with a stack's own tool. */
export interface Import {
  readonly stack: Stack;
  readonly document: string;
  /** The problem, or undefined if the import succeeded. */
  readonly why: string | undefined;
}

/** Imports the WSDL of every document of test/documents with each stack that has an `import.sh`. */
export async function importDocuments(stacks: readonly Stack[]): Promise<readonly Import[]> {
  const importers = stacks.filter(({ folder }) => existsSync(join(folder, 'import.sh')));
  if (importers.length === 0) return [];
  const directory = await mkdtemp(join(tmpdir(), 'documents-'));
  const imports: Import[] = [];
  for (const document of documents) {
    const wsdl = join(directory, `${document.replace('/', '-')}.wsdl`);
    const { contract } = readContract(folderOf(document));
    await writeFile(wsdl, writeWsdl(contract, { address: 'http://127.0.0.1' }));
    for (const stack of importers) imports.push(await importOne(stack, document, wsdl));
  }
  await rm(directory, { recursive: true });
  return imports;
}

async function importOne(stack: Stack, document: string, wsdl: string): Promise<Import> {
  const out = `${wsdl}-${stack.name}`;
  await mkdir(out);
  const finished = await run('bash', ['import.sh', wsdl, out], { folder: stack.folder, limitMs: 300_000 });
  return { stack, document, why: finished.ok ? undefined : finished.errors.trim().slice(-500) };
}

/** Formats one line per import, like a test runner. */
export function importLines(imports: readonly Import[]): string {
  return imports
    .map(({ stack, document, why }) => {
      const outcome = why === undefined ? '✔' : '✘';
      return `  ${outcome} interop › ${stack.title} › imports ${document}${why === undefined ? '' : `: ${why}`}\n`;
    })
    .join('');
}

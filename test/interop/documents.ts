import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readContract } from '../../mappings/loader/load.ts';
import { writeWsdl } from '../../wsdl/wsdl.ts';
import { documents, folderOf } from '../documents/documents.ts';
import { run } from './run-command.ts';
import type { Stack } from './stacks.ts';

/** What became of one document's WSDL in one stack's own tool. */
export interface Import {
  readonly stack: Stack;
  readonly document: string;
  /** What was wrong; undefined where it was taken in. */
  readonly why: string | undefined;
}

/** Lets each stack that has an `import.sh` take in the whole WSDL of every document of test/documents. */
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

/** A line for each, as a test runner prints it. */
export function importLines(imports: readonly Import[]): string {
  return imports
    .map(({ stack, document, why }) => {
      const outcome = why === undefined ? '✔' : '✘';
      return `  ${outcome} interop › ${stack.title} › imports ${document}${why === undefined ? '' : `: ${why}`}\n`;
    })
    .join('');
}

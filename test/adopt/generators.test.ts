import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { loadAdoptedService } from '../../mappings/loader/wsdl/load-adopted.ts';
import { deriveOpenapi, writeDerivedOpenapi } from '../../wsdl/derived-openapi/document.ts';
import { firstWsdls } from './corpus.ts';

/** Generates stubs from derived documents with third-party generators (A32). */

const execute = promisify(execFile);
const tools = join(import.meta.dirname, 'generators');
const corpus = process.env.WSDL_CORPUS;
const hasCorpus = corpus !== undefined && existsSync(corpus);

/** The example of the documentation, and folders of the corpus. */
const example = join(import.meta.dirname, '../../docs/adopt');
const folders = (names: readonly string[]): readonly string[] => [
  example,
  ...(hasCorpus ? names.map((name) => join(corpus, name)) : []),
];

/** Input of a generator, and its output folder. */
interface Work {
  readonly document: string;
  readonly made: (name: string) => string;
}

async function withDocument(folder: string, work: (given: Work) => Promise<void>): Promise<void> {
  const { service } = loadAdoptedService(folder, { wsdl: firstWsdls(folder)[0] });
  const out = mkdtempSync(join(tmpdir(), 'generated-'));
  const made = (name: string): string => join(out, name);
  try {
    writeFileSync(made('derived.openapi.yaml'), writeDerivedOpenapi(deriveOpenapi(service).document));
    await work({ document: made('derived.openapi.yaml'), made });
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

const typescript = join(tools, 'node_modules/.bin/openapi-typescript');
if (!existsSync(typescript)) {
  test.skip('A32: derived documents become TypeScript (npm ci --prefix test/adopt/generators)', () => {});
} else {
  const names = ['sf-partner', 'axis1-types', 'groupwise', 'travelport-air', 'netsuite', 'workday-revenue'];
  for (const folder of folders(names))
    test.serial(
      `A32: the document of ${folder.split('/').at(-1)} becomes TypeScript that compiles`,
      async (t) => {
        await withDocument(folder, async ({ document, made }) => {
          await execute(typescript, [document, '-o', made('stubs.ts')]);
          await t.notThrowsAsync(
            execute(join(tools, 'node_modules/.bin/tsc'), ['--noEmit', '--strict', made('stubs.ts')], {
              maxBuffer: 2 ** 24,
            }),
          );
        });
      },
    );
}

const python = join(tools, 'python/bin');
if (!existsSync(join(python, 'datamodel-codegen'))) {
  test.skip('A32: derived documents become Python (pip install -r test/adopt/generators/requirements.txt)', () => {});
} else {
  for (const folder of folders(['sf-partner', 'groupwise']))
    test.serial(
      `A32: the document of ${folder.split('/').at(-1)} becomes Python that can be imported`,
      async (t) => {
        await withDocument(folder, async ({ document, made }) => {
          const model = ['--output-model-type', 'pydantic_v2.BaseModel', '--disable-warnings'];
          const input = ['--input', document, '--input-file-type', 'openapi', '--output', made('stubs.py')];
          await execute(join(python, 'datamodel-codegen'), [...input, ...model]);
          await t.notThrowsAsync(execute(join(python, 'python'), [made('stubs.py')]));
        });
      },
    );
}

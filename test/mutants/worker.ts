import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Mutant, root } from './mutate.ts';

/** What a worker is asked: whether tests notice a mutant, or without one, whether they hold. */
export interface Question {
  readonly mutant: Mutant | undefined;
  readonly tests: readonly string[];
}

/** What it answers: the test that failed, or nothing. */
export interface Answer {
  readonly failed: string | undefined;
}

const ava = new URL('./ava.ts', import.meta.url).href;

/** JavaScript of each file that was read, and what it imports. */
const sources = new Map<string, { readonly code: string; readonly imports: readonly string[] }>();

function sourceOf(path: string): { readonly code: string; readonly imports: readonly string[] } {
  const known = sources.get(path);
  if (known !== undefined) return known;
  const text = readFileSync(path, 'utf8');
  const code = stripTypeScriptTypes(text);
  const imports = [...code.matchAll(/(?:from|import)\s+'(\.[^']+\.ts)'/g)].map(([, file = '']) =>
    resolve(dirname(path), file),
  );
  const source = { code, imports };
  sources.set(path, source);
  return source;
}

let mutated = '';
let mutatedCode = '';
let round = 0;
/** Whether a file is the mutated one or imports it by some way: those are loaded anew. */
let reaches = new Map<string, boolean>();

function isStale(path: string): boolean {
  const known = reaches.get(path);
  if (known !== undefined) return known;
  reaches.set(path, false); // while it is looked at
  const stale = path === mutated || sourceOf(path).imports.some(isStale);
  reaches.set(path, stale);
  return stale;
}

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'ava') return { url: ava, shortCircuit: true };
    const found = next(specifier, context);
    if (!found.url.startsWith('file:') || !found.url.endsWith('.ts') || found.url === ava) return found;
    const path = fileURLToPath(found.url);
    const isTest = path.endsWith('.test.ts');
    if (path.startsWith(`${root}node_modules/`) || !(isTest || isStale(path))) return found;
    return { ...found, url: `${found.url}?round=${round}` };
  },
  load(url, context, next) {
    if (!url.startsWith('file:') || !/\.ts(?:\?|$)/.test(url) || url.includes('/node_modules/'))
      return next(url, context);
    const path = fileURLToPath(url.replace(/\?.*/, ''));
    const source = path === mutated && url.includes('?') ? mutatedCode : sourceOf(path).code;
    return { format: 'module', source, shortCircuit: true };
  },
});

const { runTests } = (await import(ava)) as typeof import('./ava.ts');

async function judge({ mutant, tests }: Question): Promise<Answer> {
  round++;
  reaches = new Map();
  mutated = mutant === undefined ? '' : `${root}${mutant.file}`;
  try {
    if (mutant !== undefined) {
      const text = readFileSync(mutated, 'utf8');
      mutatedCode = stripTypeScriptTypes(text.slice(0, mutant.start) + mutant.text + text.slice(mutant.end));
    }
    for (const file of tests) {
      await import(`${pathToFileURL(root + file).href}?file=${round}`);
      const failed = await runTests();
      if (failed !== undefined) return { failed: `${file}: ${failed}` };
    }
    return { failed: undefined };
  } catch (error) {
    return { failed: String(error) };
  }
}

process.on('message', async (question: Question) => {
  process.send?.(await judge(question));
});
process.send?.('ready');

import { readFileSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector/promises';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Mutant, root } from './mutate.ts';

/** A request to a worker: which tests detect a mutant? */
export interface Question {
  readonly mutant: Mutant;
  readonly tests: readonly Reaching[];
}

/** Tests of a file that execute a mutant: all, or those with these indices. */
export interface Reaching {
  readonly file: string;
  readonly places: readonly number[] | 'all';
}

/** A request to run a test file without a mutant, and to report the mutants that it executes. */
export interface Survey {
  readonly test: string;
  readonly mutants: readonly Mutant[];
}

/** Sent before each test file, so that a time limit can be applied. */
export interface Begun {
  readonly begun: string;
}

/** The test file and the test that failed, or undefined. */
export interface Answer {
  readonly failed: string | undefined;
  readonly by?: string;
  /** For a survey: the tests that execute each mutant, or undefined if none does. */
  readonly reached?: readonly (Reaching['places'] | undefined)[];
}

const ava = new URL('./ava.ts', import.meta.url).href;

/** JavaScript and imports of each file read. */
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
/** During a survey all modules are reloaded, so that the coverage of a test file does not depend on earlier ones. */
let isSurvey = false;
/** Cache: true for files that are the mutated file or import it, directly or not. These are reloaded. */
let reaches = new Map<string, boolean>();

function isStale(path: string): boolean {
  const known = reaches.get(path);
  if (known !== undefined) return known;
  reaches.set(path, false); // for import cycles
  const stale = isSurvey || path === mutated || sourceOf(path).imports.some(isStale);
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

/** Groups V8's counts by file path, since a reloaded file occurs more than once. */
function scriptsByFile(
  counted: readonly Profiler.ScriptCoverage[],
): ReadonlyMap<string, readonly Profiler.ScriptCoverage[]> {
  return Map.groupBy(counted, ({ url }) => url.replace(/^file:\/\/|\?.*/g, ''));
}

/** Returns true if an offset of a file is in an executed block. Offsets match the file, since types are blanked. */
function isReached({ reach, isTop }: Mutant, { functions }: Profiler.ScriptCoverage): boolean {
  if (isTop) return true;
  let innermost: Profiler.CoverageRange | undefined;
  for (const { ranges } of functions)
    for (const range of ranges) {
      const isInside = range.startOffset <= reach && reach < range.endOffset;
      const size = range.endOffset - range.startOffset;
      if (isInside && (innermost === undefined || size <= innermost.endOffset - innermost.startOffset))
        innermost = range;
    }
  return innermost !== undefined && innermost.count > 0;
}

async function survey({ test, mutants }: Survey): Promise<Answer> {
  round++;
  reaches = new Map();
  isSurvey = true;
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    await import(`${pathToFileURL(root + test).href}?file=${round}`);
    const reached: (number[] | 'all' | undefined)[] = mutants.map(() => undefined);
    const failed = await runTests(undefined, async (place) => {
      // counts restart with each call
      const { result } = await session.post('Profiler.takePreciseCoverage');
      const counted = scriptsByFile(result);
      for (const [index, mutant] of mutants.entries()) {
        const known = reached[index];
        const scripts = counted.get(root + mutant.file) ?? [];
        if (known === 'all' || !scripts.some((script) => isReached(mutant, script))) continue;
        if (place === undefined || mutant.isTop) reached[index] = 'all';
        else if (known === undefined) reached[index] = [place];
        else known.push(place);
      }
    });
    return { failed, reached };
  } catch (error) {
    return { failed: String(error) };
  } finally {
    session.disconnect();
    isSurvey = false;
  }
}

async function judge({ mutant, tests }: Question): Promise<Answer> {
  round++;
  reaches = new Map();
  mutated = `${root}${mutant.file}`;
  let by = '';
  try {
    const text = readFileSync(mutated, 'utf8');
    mutatedCode = stripTypeScriptTypes(text.slice(0, mutant.start) + mutant.text + text.slice(mutant.end));
    for (const { file, places } of tests) {
      by = file;
      process.send?.({ begun: file } satisfies Begun);
      await import(`${pathToFileURL(root + file).href}?file=${round}`);
      const failed = await runTests(places === 'all' ? undefined : new Set(places));
      if (failed !== undefined) return { failed, by };
    }
    return { failed: undefined };
  } catch (error) {
    return { failed: String(error), by };
  }
}

process.on('message', async (question: Question | Survey) => {
  process.send?.(await ('test' in question ? survey(question) : judge(question)));
});
process.send?.('ready');

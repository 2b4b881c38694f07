import { existsSync, readFileSync } from 'node:fs';
import {
  type ErrorCode,
  isMap,
  isScalar,
  isSeq,
  isNode as isYamlNode,
  LineCounter,
  parseDocument,
} from 'yaml';
import { JsonError, JsonReader } from '../json/reader.ts';
import { defaultLimits } from '../limits.ts';
import type { ContractProblem } from './error.ts';

/** In bytes: twice the largest OpenAPI document that is published. Reading YAML takes some hundred times as much memory. */
const largest = 64 * 1024 * 1024;

/** Uses of one anchor, those within what it names multiplied: enough to write by hand, too few for a "billion laughs". */
const mostAliases = 100;

/** Faults told of one file's syntax: the first ones; the rest mostly follow from them. */
const mostProblems = 10;

/** A file of YAML or JSON as JavaScript values. */
export interface YamlFile {
  readonly path: string;
  readonly root: unknown;
}

/** The file at `path`; undefined once it is noted what keeps it from being read. */
export function readYamlFile(path: string, problems: ContractProblem[]): YamlFile | undefined {
  const messages: string[] = [];
  try {
    const root = readYaml(readFileSync(path), messages);
    if (messages.length === 0) return { path, root };
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    messages.push(code === 'ENOENT' ? 'no such file' : `can't be read (${code})`);
  }
  problems.push(...messages.map((message) => ({ file: path, pointer: '', message })));
  return undefined;
}

/** In bytes: a file above is not read once more to say in which line something is. */
const largestWithLines = 1024 * 1024;

/** The problems with the lines of their files that they are about, as far as the files can be read. */
export function withLines(problems: readonly ContractProblem[]): ContractProblem[] {
  const files = new Map<string, (pointer: string) => number | undefined>();
  return problems.map((problem) => {
    const { file, pointer } = problem;
    if (pointer === '') return problem;
    const lineAt = files.get(file) ?? linesOf(file);
    files.set(file, lineAt);
    return { ...problem, line: lineAt(pointer) };
  });
}

/** The line in which what a pointer names begins, or the nearest that is there around it. */
function linesOf(path: string): (pointer: string) => number | undefined {
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  if (bytes.length === 0 || bytes.length > largestWithLines) return () => undefined;
  const lineCounter = new LineCounter();
  const { contents } = parseDocument(bytes.toString('utf8'), { lineCounter });
  return (pointer) => {
    let node: unknown = contents;
    let offset: number | undefined;
    for (const segment of pointer.slice(1).split('/')) {
      const key = segment.replaceAll('~1', '/').replaceAll('~0', '~');
      const inner = childNode(node, key);
      if (inner === undefined) break;
      offset = inner.offset;
      node = inner.node;
    }
    return offset === undefined ? undefined : lineCounter.linePos(offset).line;
  };
}

/** The value under a key or index, and where the key, or the item, begins. */
function childNode(
  node: unknown,
  key: string,
): { readonly node: unknown; readonly offset: number } | undefined {
  if (isMap(node)) {
    const pair = node.items.find(({ key: own }) => isScalar(own) && String(own.value) === key);
    return isScalar(pair?.key) ? { node: pair.value, offset: pair.key.range?.[0] ?? 0 } : undefined;
  }
  const item = isSeq(node) ? node.items[Number(key)] : undefined;
  return isYamlNode(item) ? { node: item, offset: item.range?.[0] ?? 0 } : undefined;
}

/** YAML 1.2, of which JSON is a part, as JavaScript values; what is wrong is added to `messages`. */
function readYaml(bytes: Buffer, messages: string[]): unknown {
  if (bytes.length > largest) {
    messages.push(`expected at most ${largest} bytes, got ${bytes.length}`);
    return undefined;
  }
  const lines = new LineCounter();
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (isPlainJson(text)) return JSON.parse(text);
    const document = parseDocument(text, { uniqueKeys: true, strict: true, lineCounter: lines });
    for (const { code, pos, message } of [...document.errors, ...document.warnings].slice(0, mostProblems)) {
      const { line, col } = lines.linePos(pos[0]);
      const [sentence = ''] = message.split('\n');
      const says = sentences[code] ?? sentence.replace(/ at line \d+.*$/, '');
      messages.push(`line ${line}, column ${col}: ${says}`);
    }
    return messages.length > 0 ? undefined : document.toJS({ maxAliasCount: mostAliases });
  } catch (error) {
    messages.push(unreadable(error));
    return undefined;
  }
}

/** JSON without a key given twice: read some fifty times as fast as YAML, whose reader has the words for all else. */
function isPlainJson(text: string): boolean {
  if (!/^\s*\{\s*"/.test(text)) return false;
  try {
    const json = new JsonReader(text, { ...defaultLimits, jsonDepth: 500, jsonMembers: 20_000_000 });
    const unique = hasUniqueKeys(json);
    json.end();
    return unique;
  } catch (error) {
    if (error instanceof JsonError) return false;
    throw error;
  }
}

/** Reads the value that starts here; false as soon as an object has a key twice. */
function hasUniqueKeys(json: JsonReader): boolean {
  const code = json.peek();
  if (code !== 123 && code !== 91) {
    json.skip();
    return true;
  }
  const keys = new Set<string>();
  json.enter();
  for (let first = true; json.next(first, code + 2); first = false) {
    if (code === 123) {
      const key = json.name();
      if (keys.has(key)) return false;
      keys.add(key);
    }
    if (!hasUniqueKeys(json)) return false;
  }
  return true;
}

/** What the YAML reader says in words of its own. */
const sentences: { readonly [code in ErrorCode]?: string } = {
  DUPLICATE_KEY: 'expected each key once, got this one again',
  MULTIPLE_DOCS: 'expected one document, got another',
  RESOURCE_EXHAUSTION: 'expected fewer lists and objects in one another',
};

/** What the reader threw, in words an author can act on. */
function unreadable(error: unknown): string {
  if (codeOf(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'expected UTF-8, got other bytes';
  if (!(error instanceof ReferenceError)) throw error;
  const unknown = /^Unresolved alias .*: (.*)$/s.exec(error.message)?.[1];
  return unknown === undefined
    ? `expected at most ${mostAliases} uses of an anchor, got more; write a $ref instead`
    : `expected an anchor before its alias *${unknown}, got none`;
}

/** What the system calls an error; undefined for one of another making. */
function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

// Reads the files of a contract as values with locations. This folder handles YAML and JSON, other files, `$ref`s,
// settings files, problems with their lines, and limits. It does not depend on schemas, operations or names.
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import type { CST, Document, ErrorCode, LineCounter, Pair, Scalar, YAMLMap } from 'yaml';
import { defaultLimits } from '../../contract/limits.ts';
import { JsonError } from '../../json/grammar.ts';
import { JsonReader } from '../../json/reader.ts';
import { Allowance, OverLimit } from './allowance.ts';
import { type ContractProblem, unescapedSegment } from './error.ts';
import { define } from './node.ts';

type YamlLibrary = typeof import('yaml');

const require = createRequire(import.meta.url);

/** The YAML library, loaded at its first use: it has 70 modules, and JSON files do not need it. */
let library: YamlLibrary | undefined;

function yaml(): YamlLibrary {
  library ??= require('yaml') as YamlLibrary;
  return library;
}

/** Maximum number of syntax errors reported for one file. Later errors are mostly consequences. */
const mostProblems = 10;

/** A parsed YAML or JSON file. */
export interface YamlFile {
  readonly path: string;
  readonly root: unknown;
}

/**
 * Reads the file at `path`. If it cannot be read, adds problems and returns undefined.
 *
 * @param allowance remaining limits, shared with the other files of the contract
 * @param scalars `asWritten` rejects numbers and booleans that are not in canonical form: `1.10`, `True`
 */
export function readYamlFile(
  path: string,
  problems: ContractProblem[],
  allowance: Allowance = new Allowance(defaultLimits),
  scalars: 'asWritten' | 'byValue' = 'byValue',
): YamlFile | undefined {
  const messages: string[] = [];
  try {
    const root = readYaml(readWhole(path, allowance), messages, allowance, scalars === 'asWritten');
    if (messages.length === 0) return { path, root };
  } catch (error) {
    messages.push(unreadable(error));
  }
  problems.push(...messages.map((message) => ({ file: path, pointer: '', message })));
  return undefined;
}

/** Returns the reason why a file cannot be read. Rethrows unexpected errors. */
function unreadable(error: unknown): string {
  if (error instanceof OverLimit) return error.message;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code !== 'string') throw error;
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'expected UTF-8, got other bytes';
  return code === 'ENOENT' ? 'no such file' : `unreadable (${code})`;
}

/** Returns the path of a file in a folder with links resolved, or the reason why it cannot be read. */
export function pathInside(root: string, path: string): string | { readonly why: string } {
  try {
    const folder = realpathSync(root);
    const real = realpathSync(join(folder, path));
    return real.startsWith(folder + sep) ? real : { why: 'got a file outside the folder' };
  } catch (error) {
    if (error instanceof Error && 'code' in error) return { why: `got none (${error.code})` };
    throw error;
  }
}

/** Kinds of files that may have no end. */
const otherKinds = [
  ['isDirectory', 'a directory'],
  ['isFIFO', 'a pipe'],
  ['isSocket', 'a socket'],
  ['isCharacterDevice', 'a device'],
  ['isBlockDevice', 'a device'],
] as const;

/** Reads a regular file. Throws OverLimit and system errors. */
export function readWhole(path: string, allowance: Allowance): Buffer {
  // With O_NONBLOCK, opening a pipe without a writer does not block.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    const other = otherKinds.find(([is]) => stats[is]());
    if (other !== undefined) throw new OverLimit(`expected a file, got ${other[1]}`);
    if (stats.size > allowance.bytesLeft) allowance.takeBytes(stats.size);
    const bytes = readToEnd(file, stats.size, allowance.bytesLeft);
    allowance.takeContent(bytes);
    return bytes;
  } finally {
    closeSync(file);
  }
}

/**
 * Reads a file up to one byte more than the limit. The file may grow during the read, and some files report a size of
 * 0.
 */
function readToEnd(file: number, size: number, limit: number): Buffer {
  let bytes = Buffer.allocUnsafe(Math.min(size, limit) + 1);
  let length = 0;
  for (;;) {
    const read = readSync(file, bytes, length, bytes.length - length, null);
    length += read;
    if (read === 0 || length > limit) return bytes.subarray(0, length);
    if (length < bytes.length) continue;
    const larger = Buffer.allocUnsafe(Math.min(bytes.length * 2, limit + 1));
    bytes.copy(larger);
    bytes = larger;
  }
}

/** Maximum total size, in bytes, of files that are read again to find the lines of problems. */
const largestWithLines = 1024 * 1024;

/** Adds line numbers to problems if their files can be read. */
export function withLines(problems: readonly ContractProblem[]): ContractProblem[] {
  const files = new Map<string, (pointer: string) => number | undefined>();
  const allowance = new Allowance({ ...defaultLimits, contractBytes: largestWithLines });
  return problems.map((problem) => {
    const { file, pointer } = problem;
    if (pointer === '') return problem;
    const lineAt = files.get(file) ?? linesOf(file, allowance);
    files.set(file, lineAt);
    return { ...problem, line: lineAt(pointer) };
  });
}

/** Returns a function that finds the line of a JSON pointer, or else of the nearest enclosing value. */
function linesOf(path: string, allowance: Allowance): (pointer: string) => number | undefined {
  const lines = new (yaml().LineCounter)();
  let contents: unknown;
  try {
    contents = parse(readWhole(path, allowance).toString('utf8'), lines, allowance).contents;
  } catch (error) {
    unreadable(error); // rethrows errors unrelated to the file
    return () => undefined;
  }
  const keys = new WeakMap<YAMLMap, ReadonlyMap<string, ChildNode>>();
  return (pointer) => {
    let node: unknown = contents;
    let offset: number | undefined;
    for (const segment of pointer.slice(1).split('/')) {
      const inner = childNode(node, unescapedSegment(segment), keys);
      if (inner === undefined) break;
      offset = inner.offset;
      node = inner.node;
    }
    return offset === undefined ? undefined : lines.linePos(offset).line;
  };
}

/** A value under a key or index, and the offset of the key or item. */
interface ChildNode {
  readonly node: unknown;
  readonly offset: number;
}

function childNode(
  node: unknown,
  key: string,
  keys: WeakMap<YAMLMap, ReadonlyMap<string, ChildNode>>,
): ChildNode | undefined {
  if (yaml().isMap(node)) {
    const known = keys.get(node) ?? childNodes(node);
    keys.set(node, known);
    return known.get(key);
  }
  const item = yaml().isSeq(node) ? node.items[Number(key)] : undefined;
  return yaml().isNode(item) ? { node: item, offset: item.range?.[0] ?? 0 } : undefined;
}

function childNodes({ items }: YAMLMap): ReadonlyMap<string, ChildNode> {
  const children = new Map<string, ChildNode>();
  for (const { key, value } of items)
    if (yaml().isScalar(key))
      children.set(keyText(key, key.value), { node: value, offset: key.range?.[0] ?? 0 });
  return children;
}

const foreignTag: ErrorCode = 'TAG_RESOLVE_FAILED';

/** Tags that YAML writers of other languages leave, for example `!!python/object/apply:`. The tags are ignored. */
const ofLanguage = /^Unresolved tag: tag:yaml\.org,2002:[a-z]+\//;

/** Parses YAML 1.2 or JSON. Errors are added to `messages`. Throws OverLimit. */
function readYaml(bytes: Buffer, messages: string[], allowance: Allowance, isAsWritten: boolean): unknown {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  if (!isAsWritten && isPlainJson(text, allowance)) return JSON.parse(text);
  const lines = new (yaml().LineCounter)();
  const document = parse(text, lines, allowance);
  const report = (offset: number, message: string): void => {
    const { line, col } = lines.linePos(offset);
    messages.push(`line ${line}, column ${col}: ${message}`);
  };
  const warnings = document.warnings.filter(
    ({ code, message }) => code !== foreignTag || !ofLanguage.test(message),
  );
  for (const { code, pos, message } of [...document.errors, ...warnings].slice(0, mostProblems))
    report(pos[0], sentences[code] ?? message);
  return messages.length > 0 ? undefined : valuesIn(document.contents, allowance, report, isAsWritten);
}

/**
 * Parses one YAML document without comparing keys, because the library's check takes quadratic time. A second document
 * is an error of the first. Throws OverLimit.
 */
function parse(text: string, lines: LineCounter, allowance: Allowance): Document.Parsed {
  const composer = new (yaml().Composer)({ uniqueKeys: false, strict: true });
  let document: Document.Parsed | undefined;
  for (const next of composer.compose(tokensOf(text, lines, allowance), true, text.length)) {
    if (document !== undefined) {
      const [from, to] = next.range;
      document.errors.push(new (yaml().YAMLParseError)([from, to], 'MULTIPLE_DOCS', 'another document'));
      break;
    }
    document = next;
  }
  if (document === undefined) throw new Error('YAML: no document'); // even an empty text is a document
  return document;
}

function* tokensOf(text: string, lines: LineCounter, allowance: Allowance): Generator<CST.Token> {
  const parser = new (yaml().Parser)(lines.addNewLine);
  lines.addNewLine(0);
  const { contractDepth } = allowance.limits;
  for (const lexeme of new (yaml().Lexer)().lex(text)) {
    allowance.takeToken();
    yield* parser.next(lexeme);
    // Slightly excessive depth is reported later, with its column. Without this limit, the parser would continue until
    // the call stack overflows.
    if (parser.stack.length > 2 * contractDepth)
      throw new OverLimit(`line ${lines.lineStarts.length}: ${tooDeep(contractDepth)}`);
  }
  yield* parser.end();
}

/** Value of an anchor and its use. */
interface Anchored {
  readonly value: unknown;
  uses: number;
  /** Maximum number of times that an anchor inside is used. */
  weight: number;
}

/**
 * Returns the JavaScript value of a YAML node. An alias gives the same object as its anchor. Reports only the first
 * error. Throws OverLimit.
 */
function valuesIn(
  contents: unknown,
  { limits }: Allowance,
  report: (offset: number, message: string) => void,
  isAsWritten: boolean,
): unknown {
  try {
    return new ValueReader(limits, isAsWritten).read(contents, 1);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    report(error.offset, error.message);
    return undefined;
  }
}

/** Reads the values of one file's nodes. Throws Fault on the first error. */
class ValueReader {
  readonly #limits: Allowance['limits'];
  readonly #isAsWritten: boolean;
  readonly #anchors = new Map<string, Anchored>();
  /** Maximum number of uses of an anchor inside the value being read. */
  #weight = 1;

  constructor(limits: Allowance['limits'], isAsWritten: boolean) {
    this.#limits = limits;
    this.#isAsWritten = isAsWritten;
  }

  read(node: unknown, depth: number): unknown {
    if (yaml().isAlias(node)) return this.#readAlias(node.source, offsetOf(node));
    if (yaml().isScalar(node)) {
      const value = typeof node.value === 'string' ? compact(node.value) : node.value;
      if (node.anchor !== undefined) this.#anchors.set(node.anchor, { value, uses: 0, weight: 1 });
      return value;
    }
    if (!yaml().isMap(node) && !yaml().isSeq(node)) return null;
    if (depth > this.#limits.contractDepth) refuse(offsetOf(node), tooDeep(this.#limits.contractDepth));
    const around = this.#weight;
    this.#weight = 1;
    const value: Record<string, unknown> | unknown[] = yaml().isMap(node) ? {} : [];
    const anchored = { value, uses: 0, weight: 1 };
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, anchored);
    if (yaml().isMap(node))
      for (const pair of node.items) this.#readPair(pair, value as Record<string, unknown>, depth);
    else for (const item of node.items) (value as unknown[]).push(this.#readValue(item, depth + 1));
    anchored.weight = this.#weight;
    this.#weight = Math.max(this.#weight, around);
    return value;
  }

  /** Reads a node that is not a key. */
  #readValue(node: unknown, depth: number): unknown {
    if (this.#isAsWritten && yaml().isScalar(node)) refuseUnlike(node);
    return this.read(node, depth);
  }

  #readPair({ key: node, value }: Pair, object: Record<string, unknown>, depth: number): void {
    const given = this.read(node, depth + 1);
    const offset = offsetOf(node);
    if (typeof given === 'object' && given !== null)
      refuse(offset, 'expected a text as key, got a list or an object');
    const key = keyText(node, given);
    if (key.length > this.#limits.contractKey)
      refuse(offset, `expected at most ${this.#limits.contractKey} characters in a key, got ${key.length}`);
    if (Object.hasOwn(object, key)) refuse(offset, duplicateKey);
    const inner = this.#readValue(value, depth + 1);
    if (key !== '__proto__') object[key] = inner;
    else define(object, key, inner);
  }

  #readAlias(name: string, offset: number): unknown {
    const anchored = this.#anchors.get(name);
    if (anchored === undefined) refuse(offset, `expected an anchor before its alias *${name}, got none`);
    anchored.uses++;
    this.#weight = Math.max(this.#weight, anchored.uses * anchored.weight);
    if (this.#weight > this.#limits.contractAliases)
      refuse(
        offset,
        `expected at most ${this.#limits.contractAliases} uses of an anchor, got more uses. Use a $ref instead`,
      );
    return anchored.value;
  }
}

/**
 * Returns a flat copy of a text. In V8, a substring references the whole file's text and uses two bytes for each
 * character if any character of the file needs two. A path used in every request head would then take twice as long to
 * write.
 */
function compact(text: string): string {
  return beyondLatin1.test(text) ? text : Buffer.from(text, 'latin1').toString('latin1');
}

const beyondLatin1 = /[^\0-\xff]/;

function refuse(offset: number, message: string): never {
  throw new Fault(offset, message);
}

/** An error in a YAML document and its offset. */
class Fault extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

function offsetOf(node: unknown): number {
  return yaml().isNode(node) ? (node.range?.[0] ?? 0) : 0;
}

/**
 * Returns a scalar as an object key, exactly as written: `01`, `True` or a number of twenty digits. A null key is the
 * empty text.
 */
function keyText(node: unknown, value: unknown): string {
  if (yaml().isScalar(node) && typeof value !== 'string' && node.source !== undefined) return node.source;
  return value === null || value === undefined ? '' : String(value);
}

/**
 * Rejects scalars that are not in canonical form. Readers of numbers report numbers with more digits than JavaScript
 * keeps, or with none.
 */
function refuseUnlike(node: Scalar): void {
  const { value, source } = node;
  if ((typeof value !== 'number' && typeof value !== 'boolean') || source === undefined) return;
  const digits = source.replaceAll(/\D/g, '').length;
  if (source === String(value) || (typeof value === 'number' && (digits > 15 || digits === 0))) return;
  refuse(offsetOf(node), `expected ${value}, or '${source}' in quotes for a text, got ${source}`);
}

/**
 * Returns true for valid JSON without duplicate keys. JSON parsing is about fifty times faster; the YAML reader reports
 * errors.
 */
function isPlainJson(text: string, { limits }: Allowance): boolean {
  if (!/^\s*\{\s*"/.test(text)) return false;
  try {
    const { contractDepth: jsonDepth, contractTokens: jsonMembers, contractKey } = limits;
    const json = new JsonReader(text, { ...defaultLimits, jsonDepth, jsonMembers });
    const unique = hasUniqueKeys(json, contractKey);
    json.end();
    return unique;
  } catch (error) {
    if (error instanceof JsonError) return false;
    throw error;
  }
}

/** Reads the next value. Returns false if an object has a duplicate key or a key that is too long. */
function hasUniqueKeys(json: JsonReader, longest: number): boolean {
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
      if (keys.has(key) || key.length > longest) return false;
      keys.add(key);
    }
    if (!hasUniqueKeys(json, longest)) return false;
  }
  return true;
}

function tooDeep(most: number): string {
  return `expected at most ${most} levels of nested lists and objects, got more levels`;
}

const duplicateKey = 'expected each key once, got this key again';

/** Messages that replace those of the YAML library. */
const sentences: { readonly [code in ErrorCode]?: string } = {
  MULTIPLE_DOCS: 'expected one document, got another document',
  RESOURCE_EXHAUSTION: 'expected less nesting of lists and objects',
};

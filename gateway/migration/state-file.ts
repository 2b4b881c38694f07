import { readFileSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import type { Ready } from '../../mappings/compare/verdict.ts';
import { isNode } from '../../mappings/loader/document/node.ts';
import type { Counts, EvidenceData, Finding } from './evidence.ts';

/** Settings of a contract that its verdicts depend on. */
export interface EvidenceSettings {
  /** Path of the contract as in the log. */
  readonly contract: string;
  readonly ready: Ready;
  /** Absolute path of the state file; undefined to keep the evidence in memory only. */
  readonly state: string | undefined;
  readonly maxFindings: number;
  /** Names of the reads. Only reads have a verdict. */
  readonly reads: readonly string[];
  /** Rules of `migration.compare.rules` with `until`, in ms since 1970. */
  readonly dated: readonly DatedRule[];
}

/** A rule that has no effect after a time (G44). */
export interface DatedRule {
  readonly reason: string;
  readonly until: number;
}

/** Contents of a state file (G48). */
export interface State extends EvidenceData {
  readonly format: typeof format;
  readonly version: typeof version;
  readonly contract: string;
  /** Time of the write, in ms since 1970. */
  readonly saved: number;
  readonly ready: Ready;
  readonly reads: readonly string[];
  readonly dated: readonly DatedRule[];
}

const format = 'soapbridge migration state';
const version = 1;

/** Findings per write. Between two writes, calls are handled. */
const findingsPerWrite = 100;

/**
 * Writes a state file atomically, readable by its owner only. Throws the error of the operating system, for example if
 * the disk is full, and leaves the file as it was.
 */
export async function writeState(
  file: string,
  { contract, ready, reads, dated }: EvidenceSettings,
  { operations, findings }: EvidenceData,
): Promise<void> {
  const partial = `${file}.${process.pid}.part`;
  const head = { format, version, contract, saved: Date.now(), ready, reads, dated, operations };
  await rm(partial, { force: true }); // of a process that was killed
  const handle = await open(partial, 'wx', 0o600);
  try {
    await handle.appendFile(`${JSON.stringify(head).slice(0, -1)},"findings":[`);
    for (let at = 0; at < findings.length; at += findingsPerWrite) {
      const lines = findings.slice(at, at + findingsPerWrite).map((finding) => JSON.stringify(finding));
      await handle.appendFile(`${at === 0 ? '' : ','}\n${lines.join(',\n')}`);
    }
    await handle.appendFile('\n]}\n');
    await handle.sync();
    await handle.close();
    await rename(partial, file);
  } catch (error) {
    await handle.close().catch(() => {}); // it may be closed already; the first error is thrown
    await rm(partial, { force: true });
    throw error;
  }
}

/**
 * Reads a state file. Returns undefined if it is missing or empty. Throws RangeError with `expected …, got …` for a file
 * that is damaged or of another kind, and the error of the operating system for an unreadable one.
 */
export function readState(file: string): State | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  if (text === '') return undefined;
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    throw new RangeError('expected a migration state, got a file that is not JSON');
  }
  if (!isNode(root) || root.format !== format)
    throw new RangeError('expected a migration state, got another JSON document');
  if (root.version !== version)
    throw new RangeError(`expected a migration state of version ${version}, got another version`);
  if (!isState(root)) throw new RangeError('expected a migration state, got a damaged one');
  return root;
}

type Node = Readonly<Record<string, unknown>>;

function isState(root: Node): root is Node & State {
  return (
    hasTexts(root, 'contract') &&
    hasNumbers(root, 'saved') &&
    isNode(root.ready) &&
    hasNumbers(root.ready, 'calls', 'callers', 'days', 'unanswered') &&
    isListOf(root.reads, isText) &&
    isListOf(root.dated, (rule) => isNode(rule) && hasTexts(rule, 'reason') && hasNumbers(rule, 'until')) &&
    isListOf(root.operations, isCounts) &&
    isListOf(root.findings, isFinding)
  );
}

function isCounts(value: unknown): value is Counts {
  return (
    isNode(value) &&
    hasTexts(value, 'operation') &&
    hasNumbers(value, 'equal', 'explained', 'different', 'more', 'unanswered', 'noisePairs') &&
    hasNumbers(value, 'replaced', 'replacedLast', 'first') &&
    isListOf(value.callers, isCount) &&
    isDurations(value.legacyMs) &&
    isDurations(value.newMs)
  );
}

function isFinding(value: unknown): value is Finding {
  return (
    isNode(value) &&
    hasTexts(value, 'operation', 'path', 'kind') &&
    hasNumbers(value, 'count', 'calls', 'noise', 'first', 'last') &&
    (value.reason === undefined || isText(value.reason)) &&
    isListOf(value.callers, isCount) &&
    isListOf(value.examples, isExample)
  );
}

function isExample(value: unknown): boolean {
  if (!isNode(value) || !hasTexts(value, 'path', 'requestId') || !hasNumbers(value, 'at')) return false;
  return ['class', 'legacy', 'new', 'caller'].every(
    (name) => value[name] === undefined || isText(value[name]),
  );
}

function isDurations(value: unknown): boolean {
  return (
    isNode(value) && Object.entries(value).every(([key, count]) => /^-?\d+$/.test(key) && isCount(count))
  );
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0;
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}

function hasTexts(node: Node, ...names: readonly string[]): boolean {
  return names.every((name) => isText(node[name]));
}

function hasNumbers(node: Node, ...names: readonly string[]): boolean {
  return names.every((name) => isCount(node[name]));
}

import { defaultLimits, type Limits } from '../contract/limits.ts';
import { Allowance, contractError } from '../loader/document/allowance.ts';
import { ContractError, type ContractProblem, type Report } from '../loader/document/error.ts';
import { isNode, type Node, shown } from '../loader/document/node.ts';
import { readYamlFile, withLines } from '../loader/document/yaml.ts';
import { compileModule, type Module, readModule } from './code.ts';
import type { FaultNames } from './faults.ts';
import { compileMapping, type Mapping } from './mapping.ts';
import { type Entries, type Entry, readEntries } from './rules.ts';

/** A mapping's files, and the document that the WSDL comes to. */
export interface MappingFiles {
  /** `mapping.yaml`. */
  readonly mapping: string;
  /** The new service's OpenAPI document. */
  readonly openapi: string;
  /** The derived document (A32), as plain data. */
  readonly derived: Node;
  /** The names of declared faults; by default only those of their elements, as the derived document has them. */
  readonly faults?: FaultNames | undefined;
}

/** What a mapping is compiled of: plain data, of which another thread makes the same. */
export interface MappingText {
  /** What `mapping.yaml` holds. */
  readonly root: unknown;
  readonly derived: Node;
  readonly openapi: Node;
  readonly faults: FaultNames | undefined;
  /** The texts of modules, by the names that entries call them. */
  readonly modules: ReadonlyMap<string, string>;
}

/** A mapping that holds, and what it was compiled of. */
export interface LoadedMapping extends Mapping {
  readonly entries: Entries;
  readonly text: MappingText;
}

/**
 * Reads and compiles a mapping. Throws ContractError with all that is wrong with it, each with file, line and pointer (M3).
 *
 * @param allowance in place of one of its own, where other files count with these
 */
export function loadMapping(
  files: MappingFiles,
  limits: Limits = defaultLimits,
  allowance: Allowance = new Allowance(limits),
): LoadedMapping {
  const problems: ContractProblem[] = [];
  const root = readYamlFile(files.mapping, problems, allowance, 'asWritten')?.root;
  const openapi = readOpenapi(files.openapi, problems, allowance);
  if (problems.length > 0 || openapi === undefined) throw new ContractError(withLines(problems));
  const report: Report = (pointer, message) => problems.push({ file: files.mapping, pointer, message });
  const entries = readEntries(root, report, limits);
  if (problems.length > 0) throw contractError(withLines(problems), limits);
  const modules = readModules(files.mapping, entries, report, allowance);
  const { derived, faults } = files;
  const mapping = compile({ root, derived, openapi, faults, modules }, entries, report, limits);
  for (const { pointer, message } of mapping.problems) report(pointer, message);
  if (problems.length > 0) throw contractError(withLines(problems), limits);
  return mapping;
}

/** Compiles what another thread loaded. */
export function compileLoaded(text: MappingText, limits: Limits): LoadedMapping {
  const report: Report = (pointer, message) => {
    throw new Error(`${pointer}: ${message}, of a mapping that was loaded without it`);
  };
  return compile(text, readEntries(text.root, report, limits), report, limits);
}

function compile(text: MappingText, entries: Entries, report: Report, limits: Limits): LoadedMapping {
  const { derived, openapi, faults, modules } = text;
  const moduleOf = (entry: Entry): Module | undefined => moduleIn(modules, entry, report, limits);
  return { ...compileMapping({ derived, openapi, entries, faults, moduleOf, limits }), entries, text };
}

/** The texts of the modules that entries name; what is wrong with one is told. */
function readModules(
  mapping: string,
  entries: Entries,
  report: Report,
  allowance: Allowance,
): ReadonlyMap<string, string> {
  const modules = new Map<string, string>();
  for (const { code, pointer } of [...entries.values()].flat()) {
    if (code === undefined || modules.has(code)) continue;
    try {
      modules.set(code, readModule(mapping, code, allowance));
    } catch (error) {
      report(`${pointer}/code`, notModule(code, error));
    }
  }
  return modules;
}

const noModule: Module = { functions: new Map(), within: (_ms, run) => run() };

/** The module that an entry names, compiled; one without functions once it is told what is wrong with it. */
function moduleIn(
  modules: ReadonlyMap<string, string>,
  { code, pointer }: Entry,
  report: Report,
  limits: Limits,
): Module | undefined {
  if (code === undefined) return undefined;
  const text = modules.get(code);
  if (text === undefined) return noModule;
  try {
    return compileModule(text, code, limits);
  } catch (error) {
    report(`${pointer}/code`, notModule(code, error));
    return noModule;
  }
}

function notModule(code: string, error: unknown): string {
  if (!(error instanceof Error)) throw error;
  return `expected a module of functions, got ${code}: ${error.message}`;
}

/** An OpenAPI document as plain data; undefined once it is noted what is wrong. */
export function readOpenapi(
  path: string,
  problems: ContractProblem[],
  allowance: Allowance,
): Node | undefined {
  const read = readYamlFile(path, problems, allowance);
  if (read === undefined) return undefined;
  if (isNode(read.root) && isNode(read.root.paths)) return read.root;
  problems.push({
    file: path,
    pointer: '',
    message: `expected an OpenAPI document with paths, got ${shown(read.root)}`,
  });
  return undefined;
}

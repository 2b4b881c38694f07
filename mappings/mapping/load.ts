import { defaultLimits, type Limits } from '../contract/limits.ts';
import { Allowance, contractError } from '../loader/document/allowance.ts';
import { ContractError, type ContractProblem, type Report } from '../loader/document/error.ts';
import { isNode, type Node, shown } from '../loader/document/node.ts';
import { readYamlFile, withLines } from '../loader/document/yaml.ts';
import { compileModule, type Module, readModule } from './code.ts';
import type { FaultNames } from './faults.ts';
import { compileMapping, type Mapping } from './mapping.ts';
import { type Entries, type Entry, readEntries } from './rules.ts';

/** The files of a mapping and the document derived from the WSDL. */
export interface MappingFiles {
  /** Path of `mapping.yaml`. */
  readonly mapping: string;
  /** Path of the upstream's OpenAPI document. */
  readonly openapi: string;
  /** The derived document (A32), as plain data. */
  readonly derived: Node;
  /** Names of declared faults. The default is their element names, as in the derived document. */
  readonly faults?: FaultNames | undefined;
}

/** Input of the compiler as plain data, from which another thread compiles the same mapping. */
export interface MappingText {
  /** Content of `mapping.yaml`. */
  readonly root: unknown;
  readonly derived: Node;
  readonly openapi: Node;
  readonly faults: FaultNames | undefined;
  /** Texts of modules, by the names in the entries. */
  readonly modules: ReadonlyMap<string, string>;
}

/** A valid mapping and its input. */
export interface LoadedMapping extends Mapping {
  readonly entries: Entries;
  readonly text: MappingText;
}

/**
 * Reads and compiles a mapping. Throws ContractError with all problems, each with file, line and pointer (M3).
 *
 * @param allowance limits shared with other files; the default is a new allowance
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

/** Compiles a mapping that another thread loaded. */
export function compileLoaded(text: MappingText, limits: Limits): LoadedMapping {
  const report: Report = (pointer, message) => {
    throw new Error(`${pointer}: ${message}, because the mapping was loaded without it`);
  };
  return compile(text, readEntries(text.root, report, limits), report, limits);
}

function compile(text: MappingText, entries: Entries, report: Report, limits: Limits): LoadedMapping {
  const { derived, openapi, faults, modules } = text;
  const moduleOf = (entry: Entry): Module | undefined => moduleIn(modules, entry, report, limits);
  return { ...compileMapping({ derived, openapi, entries, faults, moduleOf, limits }), entries, text };
}

/** Reads the modules that entries name. Errors are reported. */
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

/** Compiles the module of an entry. If it is invalid, reports the error and returns a module without functions. */
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

/** Reads an OpenAPI document as plain data. If it is invalid, adds problems and returns undefined. */
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

import { defaultLimits, type Limits } from '../contract/limits.ts';
import { Allowance, contractError } from '../loader/document/allowance.ts';
import { ContractError, type ContractProblem } from '../loader/document/error.ts';
import { isNode, type Node, shown } from '../loader/document/node.ts';
import { readYamlFile, withLines } from '../loader/document/yaml.ts';
import { readModule } from './code.ts';
import { compileMapping, type Finding, type Mapping } from './mapping.ts';
import { type Entries, readEntries } from './rules.ts';

/** A mapping's files, and the document that the WSDL comes to. */
export interface MappingFiles {
  /** `mapping.yaml`. */
  readonly mapping: string;
  /** The new service's OpenAPI document. */
  readonly openapi: string;
  /** The derived document (A32), as plain data. */
  readonly derived: Node;
}

/** A mapping that holds, and what else it was read from. */
export interface LoadedMapping extends Mapping {
  readonly entries: Entries;
  readonly openapi: Node;
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
  const root = readYamlFile(files.mapping, problems, allowance)?.root;
  const openapi = readOpenapi(files.openapi, problems, allowance);
  if (problems.length > 0 || openapi === undefined) throw new ContractError(withLines(problems));
  const tell = ({ pointer, message }: Finding): void => {
    problems.push({ file: files.mapping, pointer, message });
  };
  const entries = readEntries(root, (pointer, message) => tell({ pointer, message }), limits);
  if (problems.length > 0) throw contractError(withLines(problems), limits);
  const mapping = compileMapping({
    derived: files.derived,
    openapi,
    entries,
    functionsOf: (entry) => readModule(files.mapping, entry, tell, limits, allowance),
    limits,
  });
  for (const problem of mapping.problems) tell(problem);
  if (problems.length > 0) throw contractError(withLines(problems), limits);
  return { ...mapping, entries, openapi };
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

import { isAbsolute, join } from 'node:path';
import type { AdoptedOperation, AdoptedService } from '../../contract/adopted.ts';
import { defaultLimits } from '../../contract/limits.ts';
import { expanded } from '../../contract/type-graph.ts';
import {
  Allowance,
  type ContractLimits,
  contractError,
  isStackOverflow,
  OverLimit,
} from '../document/allowance.ts';
import { ContractError, type ContractProblem } from '../document/error.ts';
import type { ContractNames } from '../names/names.ts';
import { readNamesLock } from '../names/names-lock.ts';
import { WsdlDocuments } from './documents.ts';
import { Findings, notServedFor, unserved } from './findings.ts';
import { operationKey } from './operation-names.ts';
import { readPolicies } from './policies.ts';
import { findIncomplete } from './reach.ts';
import { SchemaComponents } from './schemas.ts';
import { type ReadService, readService } from './service.ts';
import { singleWsdl } from './single-wsdl.ts';
import { nameTypes } from './type-names.ts';
import { wsdlsIn } from './wsdls-in.ts';

/** Options for loading an adopted service. */
export interface AdoptedOptions {
  /** Path of the WSDL in the folder. Undefined: the only WSDL, or `service.wsdl`. */
  readonly wsdl?: string | undefined;
  /** Folders by the prefix of a URL, or of a path that leaves the folder (A2). */
  readonly refs?: ReadonlyMap<string, string>;
  /** The path of a folder that the search for a file by its namespace skips. */
  readonly skipped?: string;
  /** Called with the start of each path, for example `../`, that leaves the folder and that `refs` does not cover. */
  readonly onOutside?: (beginning: string) => void;
  /** Kept names in the form of `adoptedNames`. Undefined: names from the folder's `names.lock`. */
  readonly names?: KeptNames;
  readonly limits?: ContractLimits;
  /** Limits shared with other files. Undefined: the service has its own. */
  readonly allowance?: Allowance;
}

/** An adopted service with the errors that were tolerated (A3). */
export interface LoadedService {
  readonly service: AdoptedService;
  readonly warnings: readonly ContractProblem[];
}

/** Names of operations by `portType.operation` and of types by `{namespace}local`. */
export type KeptNames = Pick<ContractNames, 'operations' | 'types'>;

const noNames: KeptNames = { operations: new Map(), types: new Map() };

/**
 * Loads the service that a folder's WSDL describes (A1 to A9). Throws ContractError with all problems, each with file,
 * line, expected and actual value. An exceeded limit is also a problem.
 */
export function loadAdoptedService(folder: string, options: AdoptedOptions = {}): LoadedService {
  const allowance = options.allowance ?? new Allowance(options.limits ?? defaultLimits);
  const { limits } = allowance;
  const findings = new Findings();
  const wsdl = options.wsdl ?? findWsdl(folder);
  const inFolder = (problem: ContractProblem): ContractProblem => ({
    ...problem,
    file: placeIn(folder, problem.file),
  });
  try {
    const names = options.names ?? keptNames(folder, allowance, findings);
    const { refs = new Map(), skipped, onOutside } = options;
    const documents = new WsdlDocuments({ folder, wsdl, refs, skipped }, allowance, findings);
    for (const { beginning } of documents.broken) if (beginning !== undefined) onOutside?.(beginning);
    const service = read(documents, names, allowance, findings);
    if (findings.problems.length > 0) throw contractError(findings.problems.map(inFolder), limits);
    // limited like problems
    const warnings = findings.warnings.slice(0, limits.contractProblems);
    return { service, warnings: warnings.map(inFolder) };
  } catch (error) {
    if (error instanceof OverLimit || isStackOverflow(error)) {
      const { message, pointer, line } =
        error instanceof OverLimit ? error : new OverLimit('expected less nesting, got deeper nesting');
      throw new ContractError([
        { file: placeIn(folder, pointer || wsdl), pointer: '', line, message },
        ...findings.problems.map(inFolder),
      ]);
    }
    throw error;
  }
}

/**
 * Returns the path of a document named relative to a folder. Documents in an absolute folder of `refs` have absolute
 * paths.
 */
export function placeIn(folder: string, file: string): string {
  return isAbsolute(file) ? file : join(folder, file);
}

/** Reads the folder's `names.lock`. Names that differ only in case are distinct, as in XML. */
function keptNames(folder: string, allowance: Allowance, findings: Findings): KeptNames {
  const problems: ContractProblem[] = [];
  const kept = readNamesLock(join(folder, 'names.lock'), problems, allowance, (name) => name) ?? noNames;
  for (const problem of problems) findings.problems.push({ ...problem, file: 'names.lock' });
  return kept;
}

/** Returns the names of a service for `names.lock` (A4, A19). */
export function adoptedNames({ operations, typeNames }: AdoptedService): ContractNames {
  const types = new Map<string, string>();
  for (const [type, given] of typeNames) if (type.name !== undefined) types.set(expanded(type.name), given);
  return {
    operations: new Map(operations.map((operation) => [operationKey(operation), operation.name])),
    types,
    members: new Map(),
  };
}

function read(
  documents: WsdlDocuments,
  names: KeptNames,
  allowance: Allowance,
  findings: Findings,
): AdoptedService {
  const lost = new Set(documents.broken.map(({ namespace }) => namespace));
  const components = new SchemaComponents(documents.schemas, lost, allowance, findings);
  const whole = readService(documents, components, names.operations, allowance, findings);
  const { bindings, portElements, ...service } = withoutIncomplete(whole, documents, allowance, findings);
  return {
    ...service,
    typeNames: nameTypes(components.types, names.types),
    elements: components.elements,
    types: components.types,
    documents: documents.toServed(),
    single: singleWsdl(documents),
    policies: readPolicies(documents.definitions, bindings, portElements),
  };
}

/** Removes the operations that depend on a flaw of the documents (A2). If none is left, all flaws become problems. */
function withoutIncomplete(
  service: ReadService,
  documents: WsdlDocuments,
  allowance: Allowance,
  findings: Findings,
): ReadService {
  const incomplete = findIncomplete(service.operations, documents.broken, allowance, findings);
  const isLeft = (operation: AdoptedOperation): boolean => !incomplete.operations.has(operation);
  const operations = service.operations.filter(isLeft);
  if (operations.length === 0) {
    findings.problems.push(...incomplete.problems);
    return service;
  }
  for (const warning of incomplete.warnings) findings.warnProblem(warning);
  const notServed = [...service.notServed];
  for (const [operation, problems] of incomplete.operations)
    for (const problem of problems) notServed.push(notServedFor(operationKey(operation), problem));
  const dropped = new Set(
    service.ports.filter((port) => !port.operations.some(isLeft)).map(({ name }) => name),
  );
  for (const name of dropped) {
    const at = service.portElements.get(name);
    if (at !== undefined) notServed.push(unserved(at, name, 'a port without a served operation'));
  }
  documents.dropAddresses(dropped);
  const ports = service.ports
    .filter(({ name }) => !dropped.has(name))
    .map((port) => ({ ...port, operations: port.operations.filter(isLeft) }));
  return { ...service, operations, ports, notServed };
}

/** Returns the only WSDL of a folder, or `service.wsdl` if there are several. Throws ContractError. */
function findWsdl(folder: string): string {
  const found = wsdlsIn(folder);
  const [first, ...more] = found;
  if (first !== undefined && more.length === 0) return first;
  if (found.includes('service.wsdl')) return 'service.wsdl';
  const message =
    first === undefined
      ? 'no such file; an adopted service is a folder with a WSDL'
      : `expected one WSDL, or the key wsdl with the main file, got ${found.toSorted().join(', ')}`;
  throw new ContractError([{ file: join(folder, 'service.wsdl'), pointer: '', message }]);
}

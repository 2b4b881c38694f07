import type { Limits } from '../contract/limits.ts';
import { didYouMean } from '../contract/nearest.ts';
import { contractConstants } from '../loader/document/allowance.ts';
import { pointerSegment, type Report } from '../loader/document/error.ts';
import type { Node } from '../loader/document/node.ts';
import type { Module } from './code.ts';
import { EntryCompiler } from './compile-entry.ts';
import type { CompiledEntry, MappedAnswer } from './compiled-entry.ts';
import { uncoveredMembers } from './cover.ts';
import { errorShape, type FaultNames, faultShapes } from './faults.ts';
import { lackingAnswer } from './probe.ts';
import type { Entries, Entry } from './rules.ts';
import { begin, end, faultIn, type MappedRequest } from './run-entry.ts';
import { SchemaReader } from './schemas.ts';
import { anyShape } from './shape-checks.ts';
import { type TargetOperation, targetOperation } from './target.ts';

/** A mapping between two OpenAPI documents, compiled once at start (M1 to M5). */

/** A legacy operation that the upstream serves. */
export interface MappedOperation {
  readonly name: string;
  /** Operations that it may call, as `METHOD /path`. */
  readonly targets: readonly string[];
  /** Operations of its entries, in order. */
  readonly calls: readonly TargetOperation[];
  /** The operation in the derived document. */
  readonly old: TargetOperation;
  /**
   * Maps the JSON text of a legacy request to calls. Throws MappingError, JsonError, and LongMapping if it exceeds
   * `steps`.
   *
   * @param steps maximum number of members and items to read
   */
  readonly toCalls: (json: string, steps?: number) => MappedRequest;
  /**
   * Maps the responses to an entry's calls to the JSON text of the legacy reply. Error responses are mapped by `error`.
   * Throws MappingError for a response that cannot be mapped, JsonError, RangeError for an unknown entry, and
   * LongMapping.
   */
  readonly toReply: (entry: number, answers: readonly MappedAnswer[], steps?: number) => string;
  /**
   * Maps an error response to the JSON text of a declared fault (A29). Undefined if no rule of the entry matches (M7).
   * Throws MappingError, RangeError and LongMapping.
   */
  readonly toFault: (entry: number, answer: MappedAnswer, steps?: number) => string | undefined;
  /** True if rules of a side call module functions (M5). */
  readonly callsFunctions: { readonly request: boolean; readonly reply: boolean };
}

/** A compiled mapping. */
export interface Mapping {
  readonly operations: ReadonlyMap<string, MappedOperation>;
  /**
   * Values of requests and replies that cannot be reconstructed from the mapped form, with the locations of the rules
   * (M3).
   */
  readonly oneWay: readonly Finding[];
  readonly problems: readonly Finding[];
  /** Operations of the WSDL without an entry. */
  readonly unmapped: readonly string[];
}

/** A message about a location in the file. */
export interface Finding {
  readonly pointer: string;
  readonly message: string;
}

/** The documents of a mapping, as plain data, and other input of the compiler. */
export interface MappingSource {
  /** Derived document of the adopted service (A32). */
  readonly derived: Node;
  /** OpenAPI document of the upstream. */
  readonly openapi: Node;
  readonly entries: Entries;
  readonly faults?: FaultNames | undefined;
  /** Returns the module that an entry names (M5). */
  readonly moduleOf: (entry: Entry) => Module | undefined;
  readonly limits: Limits;
}

/** Compiles a mapping for both documents. A mapping with `problems` must not be used. */
export function compileMapping({
  derived,
  openapi,
  entries,
  faults = {},
  moduleOf,
  limits,
}: MappingSource): Mapping {
  const problems: Finding[] = [];
  const oneWay: Finding[] = [];
  const { contractReferences = contractConstants.contractReferences } = limits;
  const old = new SchemaReader(derived, contractReferences);
  const target = new SchemaReader(openapi, contractReferences);
  const operations = new Map<string, MappedOperation>();
  const names = Object.keys((derived.paths ?? {}) as Node).map((path) => path.slice(1));
  for (const [name, several] of entries) {
    const problem: Report = (pointer, message) => problems.push({ pointer, message });
    const adopted = targetOperation(derived, old, 'POST', `/${name}`);
    if (typeof adopted === 'string') {
      problem(
        pointerSegment(name),
        `expected an operation of the WSDL, got ${name}${didYouMean(name, names) || `; there are ${names.slice(0, 20).join(', ')}`}`,
      );
      continue;
    }
    const declared = faultShapes(adopted, old);
    const compiled = several.map((entry) => {
      const found = targetOperation(openapi, target, entry.method, entry.path);
      if (typeof found === 'string') {
        if (entry.method !== '') problem(`${entry.pointer}/call`, found);
        return undefined;
      }
      for (const refusal of found.refusals) problem(`${entry.pointer}/call`, refusal);
      const way = new EntryCompiler({
        entry,
        old: adopted,
        target: found,
        module: moduleOf(entry),
        faults: {
          shapes: declared,
          names: faults[name] ?? {},
          errorOf: (statuses) => errorShape(found, target, statuses),
        },
        problem,
        oneWay: (pointer, message) => oneWay.push({ pointer, message }),
      }).compile();
      const lacking = problems.length === 0 ? lackingAnswer(way, limits) : undefined;
      if (lacking !== undefined) problem(`${entry.pointer}/reply`, lacking);
      return way;
    });
    const ways = compiled.filter((way) => way !== undefined);
    if (ways.length < several.length) continue;
    const [first] = several;
    for (const path of uncoveredMembers(
      adopted.body ?? anyShape,
      ways.map(({ cover }) => cover),
    ))
      problem(first?.pointer ?? '', missedText(path, ways));
    operations.set(name, mappedOperation(name, adopted, ways, limits));
  }
  return { operations, oneWay, problems, unmapped: names.filter((name) => !entries.has(name)) };
}

function mappedOperation(
  name: string,
  adopted: MappedOperation['old'],
  ways: readonly CompiledEntry[],
  limits: Limits,
): MappedOperation {
  return {
    name,
    old: adopted,
    calls: ways.map(({ target: called }) => called),
    targets: ways.map(({ target: { method, path } }) => `${method} ${path}`),
    toCalls: (json, steps = Number.POSITIVE_INFINITY) => begin(ways, json, limits, steps),
    toReply: (entry, answers, steps = Number.POSITIVE_INFINITY) => end(ways[entry], answers, limits, steps),
    toFault: (entry, answer, steps = Number.POSITIVE_INFINITY) => faultIn(ways[entry], answer, limits, steps),
    callsFunctions: {
      request: ways.some(({ within }) => within.request !== undefined),
      reply: ways.some(({ within }) => within.reply !== undefined),
    },
  };
}

function missedText(path: string, ways: readonly CompiledEntry[]): string {
  const calls = ways.map(({ target: { method, path: at } }) => `${method} ${at}`).join(', ');
  return `expected a rule from ${path === '' ? 'the body' : path} of the request to ${calls}, auto, or its path under omit, got none`;
}

import type { BlendRule, Side } from '../../mappings/compare/blend.ts';
import { type CompareSettings, noCompareRules } from '../../mappings/compare/rules.ts';
import type { Path } from '../../mappings/mapping/paths.ts';

export type { Side } from '../../mappings/compare/blend.ts';

/** Modes of a route (G11). */
export type Mode = 'legacy' | 'new' | 'compare' | 'blend' | 'fallback';

/** A condition on the text of a value (G8). */
export type ValueTest =
  | { readonly kind: 'present' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'equals' | 'startsWith'; readonly texts: readonly string[] };

/** A condition on the value at a path of the request's JSON. */
export interface ValueCondition {
  readonly path: Path;
  readonly pathText: string;
  readonly test: ValueTest;
  /** Operations whose values at the path are numbers, which are compared by value. */
  readonly numericIn: ReadonlySet<string>;
}

/** Conditions of a rule. All must hold (G7). */
export interface Conditions {
  /** Names or pseudonyms of callers. */
  readonly callers: ReadonlySet<string> | undefined;
  /** Names in lower case, and allowed values as latin1 texts. */
  readonly headers: readonly { readonly name: string; readonly values: readonly string[] }[];
  readonly values: readonly ValueCondition[];
  readonly percent: Percent | undefined;
}

/** A share of the callers, or of the values at a path (G9). */
export interface Percent {
  /** 0 to 100. */
  readonly of: number;
  /** Undefined for a share of the callers. */
  readonly by: { readonly path: Path; readonly pathText: string } | undefined;
}

/** Settings of mode `compare` (G25). */
export interface CompareMode {
  /** The service that answers the caller. */
  readonly answer: Side;
  /** Share of the calls that are compared, above 0 and up to 1. */
  readonly sample: number;
}

/** Compares each call, and answers with the reply of the legacy service. */
export const usualCompare: CompareMode = { answer: 'legacy', sample: 1 };

/** A rule of `migration.routes`. */
export interface Rule {
  readonly name: string;
  /** Undefined for all operations. */
  readonly operations: ReadonlySet<string> | undefined;
  readonly when: Conditions;
  readonly mode: Mode;
  /** Undefined for another mode than `compare`. */
  readonly compare: CompareMode | undefined;
}

/** The override header (G10). */
export interface Override {
  readonly callers: ReadonlySet<string>;
  /** In lower case. */
  readonly header: string;
}

/** The checked settings of a blended operation (G28). */
export interface Blend {
  readonly rule: BlendRule;
  /** Names of declared faults that mean an empty list, by side (G31). */
  readonly emptyFaults: Readonly<Record<Side, ReadonlySet<string>>>;
  /** The sides that may answer alone if the other side fails (G31). */
  readonly partial: 'none' | Side | 'either';
}

/** When replies of the new service are MTOM packages (G23, W65). */
export type Packaging = 'never' | 'requested' | 'always';

/** The checked settings of `migration` for one contract. */
export interface Routing {
  readonly rules: readonly Rule[];
  readonly override: Override | undefined;
  /** Names of faults that mean "not found", by operation (G32). */
  readonly fallback: ReadonlyMap<string, ReadonlySet<string>>;
  /** Codes of declared faults by their names (G24). */
  readonly faultCodes: ReadonlyMap<string, 'Client' | 'Server'>;
  /** Rules of the comparison (G36, G43). */
  readonly compare: CompareSettings;
  /** Undefined for `mtomReplies` of the contract. */
  readonly packaging: Packaging | undefined;
  /** Share of the compared calls for which the legacy service is called twice, from 0 to 1 (G46). */
  readonly noise: number;
  /** Settings of blended operations by name (G28). */
  readonly blends: ReadonlyMap<string, Blend>;
}

/** Returns the routing of a contract without settings. */
export function noRouting(): Routing {
  return {
    rules: [],
    override: undefined,
    fallback: new Map(),
    faultCodes: new Map(),
    compare: noCompareRules,
    packaging: undefined,
    blends: new Map(),
    noise: 0,
  };
}

/** Returns true if a rule applies to each call of its operations. */
export function isUnconditional({ when }: Rule): boolean {
  const { callers, headers, values, percent } = when;
  return callers === undefined && headers.length === 0 && values.length === 0 && percent === undefined;
}

/** Returns true if the upstream answers the calls of a rule or decision (G13). */
export function isAnsweredByNew({ mode, compare }: Pick<Rule, 'mode' | 'compare'>): boolean {
  return mode === 'new' || compare?.answer === 'new';
}

/** Returns true if a rule applies to an operation. */
export function isOf({ operations }: Rule, operation: string): boolean {
  return operations === undefined || operations.has(operation);
}

/** Name of the rule for calls that no rule matches (G6). */
export const otherwise = 'otherwise';

/** Name of the rule for requests without a known operation (G12). */
export const unreadable = 'unreadable';

/** Name of the rule for calls that the override header routes (G10). */
export const overridden = 'override';

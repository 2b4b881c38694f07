import { hash } from 'node:crypto';
import {
  type CompareMode,
  type Conditions,
  isOf,
  type Mode,
  otherwise,
  type Percent,
  type Routing,
  type Rule,
} from './routing.ts';
import { fulfils, textsAt } from './values.ts';

/** The mode of a call, and the name of the rule that sets it. */
export interface Decision {
  readonly mode: Mode;
  readonly rule: string;
  /** Undefined for another mode than `compare`. */
  readonly compare: CompareMode | undefined;
}

/** The properties of a call that conditions use. */
export interface Facts {
  /** Name or pseudonym of the caller; undefined without identification. */
  readonly caller: string | undefined;
  /** `id ID`, `secret SECRET` or `net NETWORK` (G9). Called only for a percentage of callers. */
  readonly callerKey: () => string;
  /** Alternating names and values. */
  readonly rawHeaders: readonly string[];
  /** The parsed JSON of the request; undefined if it was not read yet. */
  readonly request: { readonly json: unknown } | undefined;
}

/** Decides about a call (G6). Returns `payload` if the decision needs the JSON of the request. */
export type Decide = (operation: string, facts: Facts) => Decision | 'payload';

const toLegacy: Decision = { mode: 'legacy', rule: otherwise, compare: undefined };

/** Compiles the rules to one function. Operations without a name in the contract get the rule `otherwise`. */
export function compileDecision({ rules }: Routing, operations: readonly string[]): Decide {
  const byOperation = new Map(
    operations.map((name) => [
      name,
      rules.filter((rule) => isOf(rule, name)).map((rule) => compileRule(rule, name)),
    ]),
  );
  return (operation, facts) => {
    for (const { decision, matches } of byOperation.get(operation) ?? []) {
      const found = matches(facts);
      if (found === 'payload') return 'payload';
      if (found) return decision;
    }
    return toLegacy;
  };
}

type Matches = (facts: Facts) => boolean | 'payload';

function compileRule(
  { name, mode, when, compare }: Rule,
  operation: string,
): { readonly decision: Decision; readonly matches: Matches } {
  return { decision: { mode, rule: name, compare }, matches: compileConditions(name, when, operation) };
}

function compileConditions(
  rule: string,
  { callers, headers, values, percent }: Conditions,
  operation: string,
): Matches {
  const needsRequest = values.length > 0 || percent?.by !== undefined;
  const isSelected = percent === undefined ? undefined : compilePercent(rule, percent);
  return (facts) => {
    if (callers !== undefined && (facts.caller === undefined || !callers.has(facts.caller))) return false;
    for (const { name, values: wanted } of headers)
      if (!hasHeader(facts.rawHeaders, name, wanted)) return false;
    if (needsRequest && facts.request === undefined) return 'payload';
    for (const value of values) if (!fulfils(facts.request?.json, value, operation)) return false;
    return isSelected === undefined || isSelected(facts);
  };
}

/** Returns true if a header line has this name and a listed value. */
function hasHeader(rawHeaders: readonly string[], name: string, values: readonly string[]): boolean {
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (isNamed(rawHeaders[at], name) && values.includes(rawHeaders[at + 1] ?? '')) return true;
  return false;
}

/** Returns true if a header has a name, which is in lower case. Most names already differ in their length. */
function isNamed(header: string | undefined, name: string): boolean {
  return header?.length === name.length && header.toLowerCase() === name;
}

function compilePercent(rule: string, { of, by }: Percent): (facts: Facts) => boolean {
  if (by === undefined) return ({ callerKey }) => bucketOf(rule, callerKey()) < of;
  return ({ request }) => {
    const [text] = textsAt(request?.json, by.path);
    return text !== undefined && bucketOf(rule, `value ${text}`) < of;
  };
}

/**
 * Returns the position of a key among the callers, from 0 up to 100 (G9): the first 48 bits of the SHA-256 of the
 * rule's name, a line feed and the key.
 */
export function bucketOf(rule: string, key: string): number {
  const digest = Buffer.from(hash('sha256', `${rule}\n${key}`, 'hex').slice(0, 12), 'hex');
  return (digest.readUIntBE(0, 6) / 2 ** 48) * 100;
}

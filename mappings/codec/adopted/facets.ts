import { builtInTypes } from '../../contract/built-in-types.ts';
import type { Limits } from '../../contract/limits.ts';
import type { Check } from '../../contract/model.ts';
import { quoteValue } from '../../contract/reason.ts';
import type { BuiltIn, Facets, SimpleType } from '../../contract/type-graph.ts';
import { decimalOf } from '../../json/decimal.ts';
import { itemsOf } from '../../json/parts.ts';
import { countSteps, type Reading, refuse } from '../problem.ts';
import { canMatchPatterns, linearPattern } from '../scalars/pattern.ts';
import { compileChecks, stepsPerCheck } from '../types/rules.ts';
import { patternOf } from './patterns.ts';

/**
 * Checks of `validate: strict` for values of simple types beyond their built-in type (XSD 1.0, part 2, 4.3; A26):
 * lengths, bounds, digits, patterns. Enumerations are always checked. Bounds of dates, patterns that cannot be matched
 * in linear time, and facets of a union's members are not checked.
 */

/** Checks a value's JSON against the facets of its type and records violations. */
export type Judge = (token: string, reading: Reading) => void;

/** Returns the built-in types that are one of these types or derived from one. */
function derivedFrom(...names: readonly BuiltIn[]): ReadonlySet<string> {
  return new Set<BuiltIn>(
    [...builtInTypes.values()].flatMap((type) => {
      for (let at: SimpleType | undefined = type; at !== undefined; at = at.base)
        if (names.includes(at.builtIn)) return [type.builtIn];
      return [];
    }),
  );
}

/** The built-in numeric types. */
export const numbers: ReadonlySet<string> = derivedFrom('decimal', 'float', 'double');

/** The built-in integer types, whose values have no decimal point. */
export const integers: ReadonlySet<string> = derivedFrom('integer');

/** Compiles the check of a type; undefined if its values need no check. */
export function compileFacets(type: SimpleType, limits: Limits): Judge | undefined {
  const { variety } = type;
  const own = ownFacets(type, limits);
  if (variety.kind !== 'list') return own;
  const ofItem = compileFacets(variety.item, limits);
  if (ofItem === undefined) return own;
  return (token, reading) => {
    own?.(token, reading);
    for (const item of itemsOf(token, limits) as string[]) {
      countSteps(reading, stepsPerCheck);
      ofItem(item, reading);
    }
  };
}

function ownFacets({ facets, variety, builtIn }: SimpleType, limits: Limits): Judge | undefined {
  const checks: Check[] = [];
  const isBinary = variety.kind === 'atomic' && (builtIn === 'base64Binary' || builtIn === 'hexBinary');
  const length = lengthOf(facets);
  if (length !== undefined && !isBinary)
    checks.push({ kind: variety.kind === 'list' ? 'items' : 'length', ...length });
  const isNumber = variety.kind === 'atomic' && numbers.has(builtIn);
  if (isNumber) checks.push(...boundsOf(facets));
  if (variety.kind === 'atomic' && !isNumber && !isBinary) checks.push(...patternsOf(facets));
  const judges: Judge[] = checks.length === 0 ? [] : [compileChecks(checks, limits)];
  if (isBinary && length !== undefined) judges.push(octetsJudge(length, builtIn === 'hexBinary' ? 2 : 4 / 3));
  if (isNumber && (facets.totalDigits !== undefined || facets.fractionDigits !== undefined))
    judges.push(digitsJudge(facets));
  if (judges.length === 0) return undefined;
  return (token, reading) => {
    // with `bigNumbers: text` a number is a string of its digits
    const value = isNumber ? token.replaceAll('"', '') : token;
    if (isNumber && !/\d/.test(value)) {
      // null, or INF, -INF or NaN (`nonFiniteNumbers`)
      if (value !== 'null')
        refuse(reading, 'OutOfRange', { expected: 'a finite number', got: quoteValue(value) });
      return;
    }
    for (const judge of judges) judge(value, reading);
  };
}

interface Range {
  readonly least: number;
  readonly most: number | undefined;
}

function lengthOf({ length, minLength, maxLength }: Facets): Range | undefined {
  if (length === undefined && minLength === undefined && maxLength === undefined) return undefined;
  return { least: length ?? minLength ?? 0, most: length ?? maxLength };
}

function boundsOf({ minInclusive, maxInclusive, minExclusive, maxExclusive }: Facets): Check[] {
  return (
    [
      ['minimum', minInclusive],
      ['maximum', maxInclusive],
      ['exclusiveMinimum', minExclusive],
      ['exclusiveMaximum', maxExclusive],
    ] as const
  ).flatMap(([bound, text]) => {
    const number = text?.replace(/^\+/, '');
    return number === undefined || decimalOf(number) === undefined ? [] : [{ kind: 'bound', bound, number }];
  });
}

/** Returns one check per group of patterns. Patterns that cannot be matched in linear time are omitted. */
function patternsOf({ patterns }: Facets): Check[] {
  if (!canMatchPatterns()) return [];
  return patterns.flatMap((alternatives) => {
    const source = patternOf(alternatives);
    return source === undefined || linearPattern(source) === undefined ? [] : [{ kind: 'pattern', source }];
  });
}

/** @param perOctet characters of text per octet, without padding */
function octetsJudge({ least, most }: Range, perOctet: number): Judge {
  return (token, reading) => {
    const padding = token.endsWith('=="') ? 2 : token.endsWith('="') ? 1 : 0;
    const octets = Math.floor((token.length - 2 - padding) / perOctet);
    if (octets >= least && (most === undefined || octets <= most)) return;
    const range = most === undefined ? `at least ${least}` : `${least} to ${most}`;
    refuse(reading, 'OutOfRange', { expected: `${range} octets`, got: `${octets}` });
  };
}

function digitsJudge({ totalDigits, fractionDigits }: Facets): Judge {
  return (token, reading) => {
    const { whole, fraction } = digitsOf(token.replace('-', ''));
    if (fractionDigits !== undefined && fraction.length > fractionDigits)
      refuse(reading, 'OutOfRange', {
        expected: `at most ${fractionDigits} digits after the point`,
        got: 'more',
      });
    if (totalDigits !== undefined && whole.length + fraction.length > totalDigits)
      refuse(reading, 'OutOfRange', { expected: `at most ${totalDigits} digits`, got: 'more' });
  };
}

/** Returns the digits before and after the decimal point of an unsigned number, without leading and trailing zeros. */
export function digitsOf(text: string): { readonly whole: string; readonly fraction: string } {
  const [before, after = ''] = text.split('.') as [string, string?];
  let from = 0;
  while (before[from] === '0') from++;
  let to = after.length;
  while (after[to - 1] === '0') to--;
  return { whole: before.slice(from), fraction: after.slice(0, to) };
}

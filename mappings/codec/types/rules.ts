import type { Limits } from '../../contract/limits.ts';
import type { Bound, Check, Rules } from '../../contract/model.ts';
import { quoteValue } from '../../contract/reason.ts';
import { compareDecimals, type Decimal, decimalOf, isMultiple, plainText, zero } from '../../json/decimal.ts';
import { itemsOf, membersOf } from '../../json/parts.ts';
import { JsonReader } from '../../json/reader.ts';
import type { RequestReader } from '../context.ts';
import { applyEdits, countSteps, maxRereadCharacters, type Reading, refuse } from '../problem.ts';
import { isOfFormat } from '../scalars/formats.ts';
import { linearPattern } from '../scalars/pattern.ts';
import { invalid, isNumberStart, type Refusal } from '../scalars/scalar.ts';
import { quoteJson, quoteText } from '../scalars/text.ts';
import { Distinct } from './distinct.ts';

/** Checks a value's JSON. Returns the refusal, if any. */
type Judge = (token: string, reading: Reading) => Refusal | undefined;

/** Adds the rules of `validate: strict` to the reader of a type. Nulls are left to the type. */
export function ruledReader(reader: RequestReader, rules: Rules | undefined, limits: Limits): RequestReader {
  if (rules === undefined || rules.checks.length === 0) return reader;
  const check = compileChecks(rules.checks, limits);
  const weight = Math.max(0, ...rules.checks.map(({ kind }) => weights[kind] ?? 0));
  const judge = (token: string, reading: Reading): void => {
    if (token === 'null') return;
    if (weight > 0 && !mayLookInside(token, weight, reading, limits))
      refuse(reading, 'OutOfRange', { expected: 'less in lists and objects in one another in one request' });
    else check(token, reading);
  };
  const { fromText } = reader;
  const judged = (value: string | undefined, reading: Reading, before: number): string | undefined => {
    if (value !== undefined && reading.problems.length === before) judge(value, reading);
    return value;
  };
  return {
    ...reader,
    read: (xml, reading) => {
      const before = reading.problems.length;
      return judged(reader.read(xml, reading), reading, before);
    },
    pass: (json, reading) => {
      const start = json.position;
      const edits = reading.edits.length;
      const before = reading.problems.length;
      reader.pass(json, reading);
      const text = json.text.slice(start, json.position);
      judged(applyEdits(text, reading.edits.slice(edits), start), reading, before);
    },
    fromText:
      fromText && ((text, reading) => judged(fromText(text, reading), reading, reading.problems.length)),
  };
}

/** Minimum number of steps per check, because a message may have many short values. */
export const stepsPerCheck = 64;

/**
 * Compiles checks of a value into one function, which records the refusals. It does not count characters that
 * are read again.
 */
export function compileChecks(
  checks: readonly Check[],
  limits: Limits,
): (token: string, reading: Reading) => void {
  const judges = checks.map((check) => judgeOf(check, limits));
  return (token, reading) => {
    countSteps(reading, (token.length + stepsPerCheck) * judges.length);
    for (const judge of judges) {
      const refusal = judge(token, reading);
      if (refusal !== undefined) refuse(reading, refusal.code, refusal.reason);
    }
  };
}

/** Number of times that each kind of check reads a character of a list or object again. */
const weights: Readonly<Partial<Record<Check['kind'], number>>> = {
  values: 2,
  unique: 2,
  items: 1,
  members: 1,
};

/**
 * Counts the characters that are read again: an inner list or object is read once for each outer one. Returns false if
 * the limit is exceeded.
 */
function mayLookInside(token: string, weight: number, reading: Reading, limits: Limits): boolean {
  if (!token.startsWith('[') && !token.startsWith('{')) return true;
  reading.rereadText += token.length * weight;
  return reading.rereadText <= (limits.rereadText ?? maxRereadCharacters);
}

function judgeOf(check: Check, limits: Limits): Judge {
  switch (check.kind) {
    case 'readOnly':
      return () => ({
        code: 'UnknownElement',
        reason: { expected: 'none, as it is read only', got: 'a value' },
      });
    case 'values':
      return valuesJudge(check.tokens, limits);
    case 'length':
      return ofText((text) => countFault(check, characters(text), 'characters'));
    case 'pattern':
      return patternJudge(check.source, limits);
    case 'format':
      return ofText((text) =>
        isOfFormat(check.name, text) ? undefined : invalid(`a ${check.name}`, quoteText(text)),
      );
    case 'bound':
      return boundJudge(check.bound, check.number);
    case 'multipleOf':
      return multipleJudge(check.number);
    case 'items':
      return (token) => {
        const items = itemsOf(token, limits);
        return items && countFault(check, items.length, 'items');
      };
    case 'unique':
      return (token, reading) => {
        const items = itemsOf(token, limits);
        if (items === undefined || items.length < 2) return undefined;
        const seen = new Distinct();
        if (items.every((item) => seen.add(comparable(item, reading, limits)))) return undefined;
        return { code: 'DuplicateElement', reason: { expected: 'items that differ', got: 'one again' } };
      };
    case 'members':
      return (token) => {
        const members = membersOf(token, limits);
        return members && countFault(check, members.length, 'members');
      };
  }
}

function ofText(judge: (text: string, reading: Reading) => Refusal | undefined): Judge {
  return (token, reading) => (token.startsWith('"') ? judge(String(JSON.parse(token)), reading) : undefined);
}

function countFault(
  { least, most }: { readonly least: number; readonly most: number | undefined },
  count: number,
  what: string,
): Refusal | undefined {
  if (count >= least && (most === undefined || count <= most)) return undefined;
  const range =
    most === undefined ? `at least ${least}` : least <= 0 ? `at most ${most}` : `${least} to ${most}`;
  return { code: 'OutOfRange', reason: { expected: `${range} ${what}`, got: `${count}` } };
}

/** JSON Schema counts code points (Validation 2020-12, 6.3). */
function characters(text: string): number {
  let count = text.length;
  for (let at = 1; at < text.length; at++) {
    if ((text.charCodeAt(at - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(at) & 0xfc00) === 0xdc00) count--;
  }
  return count;
}

/**
 * Maximum number of pattern steps per request: instructions of the pattern, multiplied by the characters that it reads.
 * Characters that are read to find the type of a value count, too.
 */
export const maxPatternSteps = 20_000_000;

/** A pattern never backtracks, but executes each of its instructions per character. These steps are counted. */
function patternJudge(source: string, limits: Limits): Judge {
  const pattern = linearPattern(source);
  if (pattern === undefined) throw new Error(`expected a pattern that the loader found good, got ${source}`);
  const size = pattern.programSize();
  const { patternSteps: maxSteps = maxPatternSteps } = limits;
  return ofText((text, reading) => {
    reading.patternSteps += size * (text.length + 1);
    if (reading.patternSteps > maxSteps)
      return { code: 'OutOfRange', reason: { expected: 'less text to match with patterns in one request' } };
    countSteps(reading, size * (text.length + 1));
    return pattern.test(text) ? undefined : invalid(`text that matches ${source}`, quoteText(text));
  });
}

const bounds = {
  minimum: ['at least', (order: number) => order >= 0],
  maximum: ['at most', (order: number) => order <= 0],
  exclusiveMinimum: ['more than', (order: number) => order > 0],
  exclusiveMaximum: ['less than', (order: number) => order < 0],
} as const satisfies Readonly<Record<Bound, readonly [string, (order: number) => boolean]>>;

function boundJudge(bound: Bound, number: string): Judge {
  const [words, takes] = bounds[bound];
  const limit = knownDecimal(number);
  return ofNumber((value) => takes(compareDecimals(value, limit)), `${words} ${number}`);
}

function multipleJudge(number: string): Judge {
  const factor = knownDecimal(number);
  return ofNumber((value) => isMultiple(value, factor), `a multiple of ${number}`);
}

function ofNumber(takes: (value: Decimal) => boolean, expected: string): Judge {
  return (token) => {
    if (!/^[-\d]/.test(token)) return undefined;
    const value = decimalOf(token);
    if (value !== undefined && takes(value)) return undefined;
    return {
      code: 'OutOfRange',
      reason: { expected, got: quoteValue(token.length > 32 ? `${token.slice(0, 32)}…` : token) },
    };
  };
}

/** Parses a number of the document, which has the text of a double. */
function knownDecimal(number: string): Decimal {
  return decimalOf(number) ?? zero;
}

function valuesJudge(tokens: readonly string[], limits: Limits): Judge {
  const meanings = new Set(tokens.map((token) => meaning(token, limits)));
  const words = tokens.map((token) => (token.startsWith('"') ? String(JSON.parse(token)) : token));
  const expected = words.length === 1 ? words[0] : `one of ${words.slice(0, 12).join(', ')}`;
  return (token) => {
    if (meanings.has(meaning(token, limits))) return undefined;
    const got = token.startsWith('"') ? String(JSON.parse(token)) : token;
    return { code: 'InvalidEnum', reason: { expected, got: quoteText(got) } };
  };
}

/** Additional weight of a character that is rewritten for comparison, because each list around it may repeat that. */
const rewrittenWeight = 10;

/** Returns the same as `meaning`, but most values are only scanned, not rewritten. */
function comparable(token: string, reading: Reading, limits: Limits): string {
  if (isAsMeant(token)) return token;
  if (token.includes('[')) reading.rereadText += token.length * rewrittenWeight;
  return meaning(token, limits);
}

/**
 * Returns true if valid JSON equals its canonical form: strings without escapes, literals and lists of them, without
 * blanks.
 */
function isAsMeant(token: string): boolean {
  for (let at = 0; at < token.length; at++) {
    let code = token.charCodeAt(at);
    if (code === 34) {
      for (code = token.charCodeAt(++at); code !== 34; code = token.charCodeAt(++at)) {
        if (code === 92) return false;
      }
    } else if (code <= 32 || code === 123 || isNumberStart(code)) return false;
  }
  return true;
}

/** Returns the canonical form of a value's JSON. */
function meaning(token: string, limits: Limits): string {
  if (isNumberStart(token.charCodeAt(0))) return plainNumber(token);
  const json = new JsonReader(token, limits);
  const value = (): string => {
    const code = json.peek();
    if (code === 91) {
      const items: string[] = [];
      json.enter();
      for (let first = true; json.next(first, 93); first = false) items.push(value());
      return `[${items.join()}]`;
    }
    if (code === 123) {
      const members: string[] = [];
      json.enter();
      for (let first = true; json.next(first, 125); first = false) {
        const name = quoteJson(json.name());
        members.push(`${name}:${value()}`);
      }
      return `{${(members.length > 1 ? members.toSorted() : members).join()}}`;
    }
    const start = json.position;
    if (code === 34) {
      const isPlain = json.scanString();
      const text = json.text.slice(start, json.position);
      return isPlain ? text : JSON.stringify(JSON.parse(text));
    }
    json.skip();
    const text = json.text.slice(start, json.position);
    return isNumberStart(code) ? plainNumber(text) : text;
  };
  return value();
}

/** Returns the canonical form of a number; unchanged if it has too many digits. */
function plainNumber(text: string): string {
  const decimal = decimalOf(text);
  return decimal === undefined ? text : plainText(decimal);
}

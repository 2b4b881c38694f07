import { type FieldError, invalid, notEmpty, quote } from './failure.ts';
import type { JsonObject, JsonValue } from './json.ts';

/** Reads one member's value. Throws `Refusal`. It is not called for null. */
type Reader<T> = (value: JsonValue) => T;

/** A member of an input: its reader, and whether it is required. */
interface Member<T> {
  readonly read: Reader<T>;
  readonly required?: true;
  /** `""` counts as absent. */
  readonly blankIsAbsent?: true;
}

type Members = Readonly<Record<string, Member<unknown>>>;
type Values<M extends Members> = { readonly [name in keyof M]: M[name] extends Member<infer T> ? T : never };

class Refusal extends Error {
  readonly errorCode: FieldError['errorCode'];
  readonly at: string;

  constructor(errorCode: FieldError['errorCode'], expected: string, got: JsonValue, at = '') {
    super(`expected ${expected}, got ${describe(got)}`);
    this.errorCode = errorCode;
    this.at = at;
  }
}

/** A member that must have a value: absent, null and `""` give `NotEmpty` (R7). */
export const required = <T>(read: Reader<T>): Member<T> => ({ read, required: true, blankIsAbsent: true });

/** A member that may be absent or null. */
export const optional = <T>(read: Reader<T>): Member<T | undefined> => ({ read });

/** A member that may be absent, null or `""`, with the same meaning. */
export const optionalText = <T>(read: Reader<T>): Member<T | undefined> => ({ read, blankIsAbsent: true });

/**
 * Reads the members named in `members` from an input and ignores all others (R10). `path` is the input's own name, `''`
 * for the top level. Throws one `ValidationError` with an entry per wrong field (R7).
 */
export function readInput<M extends Members>(
  holder: JsonValue | undefined,
  path: string,
  members: M,
): Values<M> {
  const input = holder ?? {};
  if (!isObject(input)) {
    throw invalid([
      {
        errorCode: 'InvalidType',
        fieldName: path,
        message: `${path}: expected an object, got ${describe(input)}`,
      },
    ]);
  }
  const errors: FieldError[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(members)) {
    const fieldName = path === '' ? name : `${path}.${name}`;
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    if (value === undefined || value === null || (member.blankIsAbsent && value === '')) {
      if (member.required) errors.push(notEmpty(fieldName));
      continue;
    }
    try {
      values[name] = member.read(value);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { errorCode, at, message } = error;
      errors.push({ errorCode, fieldName: `${fieldName}${at}`, message: `${fieldName}${at}: ${message}` });
    }
  }
  const [first, ...rest] = errors;
  if (first !== undefined) throw invalid([first, ...rest]);
  return values as Values<M>;
}

/** Returns true if a value is a JSON object. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads a string. */
export const string: Reader<string> = (value) => {
  if (typeof value !== 'string') throw new Refusal('InvalidType', 'a string', value);
  return value;
};

/** Reads a boolean. The strings `true` and `false` are accepted, too, as in similar services. */
export const boolean: Reader<boolean> = (value) => {
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  throw new Refusal('InvalidType', 'a boolean', value);
};

/** Reads a 64-bit integer. A string of its digits is accepted, too. */
export const long: Reader<bigint> = (value) =>
  wholeNumber(value, 'a 64-bit integer', -(2n ** 63n), 2n ** 63n - 1n);

/** Reads a 32-bit integer of at least `min`. */
export const integer =
  (min = -(2 ** 31)): Reader<number> =>
  (value) => {
    const expected = min === -(2 ** 31) ? 'a 32-bit integer' : `a 32-bit integer of at least ${min}`;
    return Number(wholeNumber(value, expected, BigInt(min), 2n ** 31n - 1n));
  };

function wholeNumber(value: JsonValue, expected: string, min: bigint, max: bigint): bigint {
  let whole: bigint;
  if (typeof value === 'bigint') whole = value;
  else if (typeof value === 'number' && Number.isInteger(value)) whole = BigInt(value);
  else if (typeof value === 'string' && /^-?\d{1,19}$/.test(value)) whole = BigInt(value);
  else throw new Refusal('InvalidType', expected, value);
  if (whole < min || whole > max) throw new Refusal('OutOfRange', expected, value);
  return whole;
}

/** Reads one word of a list, which must match exactly. */
export const oneOf =
  <const Word extends string>(words: readonly Word[]): Reader<Word> =>
  (value) => {
    const word = words.find((candidate) => candidate === value);
    if (word === undefined) throw new Refusal('InvalidEnum', words.join(' or '), value);
    return word;
  };

/** Reads a text that matches `pattern`. */
export const textLike =
  (pattern: RegExp, expected: string): Reader<string> =>
  (value) => {
    const text = string(value);
    if (!pattern.test(text)) throw new Refusal('InvalidEnum', expected, value);
    return text;
  };

/** Reads an array of strings, none null or empty. */
export const strings: Reader<readonly string[]> = (value) => {
  if (!Array.isArray(value)) throw new Refusal('InvalidType', 'an array of strings', value);
  return value.map((item: JsonValue, position) => {
    if (item === null || item === '') throw new Refusal('NotEmpty', 'a string', item, `[${position}]`);
    if (typeof item !== 'string') throw new Refusal('InvalidType', 'a string', item, `[${position}]`);
    return item;
  });
};

const firstMillisecond = Date.parse('0001-01-01T00:00:00Z');
const lastMillisecond = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Reads a date: `/Date(ms)/`, `/Date(ms-0000)/` or `/Date(ms+0100)/`. The milliseconds are the instant. The offset is
 * ignored.
 */
export const date: Reader<number> = (value) => {
  const expected = 'a date such as "/Date(1709212455120-0000)/"';
  const match = /^\/Date\((-?\d{1,15})(?:[-+]\d{4})?\)\/$/.exec(string(value));
  if (match === null) throw new Refusal('InvalidType', expected, value);
  const milliseconds = Number(match[1]);
  if (milliseconds < firstMillisecond || milliseconds > lastMillisecond) {
    throw new Refusal('OutOfRange', 'a date in the years 1 to 9999', value);
  }
  return milliseconds;
};

function describe(value: JsonValue): string {
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return 'an array';
  if (isObject(value)) return 'an object';
  return String(value);
}

/**
 * Reads and writes JSON exactly (R10). Integers are read as bigint. 64-bit ids and amounts are written as their digits.
 * The slashes of dates are escaped.
 */

/** A parsed JSON value. Integers of up to 20 characters are bigints. */
export type JsonValue = null | boolean | number | bigint | string | readonly JsonValue[] | JsonObject;
/** A JSON object of a request, by member name. */
export interface JsonObject {
  readonly [member: string]: JsonValue;
}

/** A value that is written as its own text. */
interface RawJson {
  readonly rawJSON: string;
}

/** Reply of an operation. */
export type Output = null | boolean | number | string | RawJson | readonly Output[] | OutputObject;
/** A JSON object of a reply, by member name. */
export interface OutputObject {
  readonly [member: string]: Output;
}

// ECMA-262 25.5: Node has both since 21, but TypeScript's ES2024 library does not declare them yet.
const { parse, rawJSON } = JSON as unknown as {
  parse(
    text: string,
    reviver: (name: string, value: unknown, context: { source?: string }) => unknown,
  ): JsonValue;
  rawJSON(text: string): RawJson;
};

// The longest 64-bit integer has 20 characters. A longer token is out of every range as a double, too.
const integerToken = /^-?\d{1,19}$/;

/** Reads one JSON text. Throws a SyntaxError, or a RangeError if the nesting exceeds the stack. */
export function readJson(text: string): JsonValue {
  return parse(text, (_name, value, { source }) =>
    typeof value === 'number' && source !== undefined && integerToken.test(source) ? BigInt(source) : value,
  );
}

/** Writes one JSON text with escaped slashes of dates: `"\/Date(1709212455120-0000)\/"`. */
export function writeJson(value: Output): string {
  return JSON.stringify(value).replace(/"\/(Date\(-?\d+-0000\))\/"/g, '"\\/$1\\/"');
}

/** Formats a date: milliseconds since 1970 in UTC. */
export function date(milliseconds: number): string;
export function date(milliseconds: number | null): string | null;
export function date(milliseconds: number | null): string | null {
  return milliseconds === null ? null : `/Date(${milliseconds}-0000)/`;
}

/** Writes a 64-bit integer from its digits. */
export function long(digits: string): RawJson;
export function long(digits: string | null): RawJson | null;
export function long(digits: string | null): RawJson | null {
  return digits === null ? null : rawJSON(digits);
}

/** Writes an amount of whole pence in pounds with two decimal places: `7.70`. */
export function money(pence: number): RawJson {
  return rawJSON(`${Math.floor(pence / 100)}.${String(pence % 100).padStart(2, '0')}`);
}

/** The JSON wire, exact in both directions: integers come in as bigint, 64-bit ids and money go out as
 *  the digits they are, and the slashes of dates are escaped as this family of services does (R10). */

/** What a request's text is once read: JSON, but an integer token of up to 20 characters is a bigint. */
export type JsonValue = null | boolean | number | bigint | string | readonly JsonValue[] | JsonObject;
/** A request's JSON object, by its members' names. */
export interface JsonObject {
  readonly [member: string]: JsonValue;
}

/** A value that is written as the very text it holds. */
interface RawJson {
  readonly rawJSON: string;
}

/** What an operation answers with. */
export type Output = null | boolean | number | string | RawJson | readonly Output[] | OutputObject;
/** An answer's JSON object, by its members' names. */
export interface OutputObject {
  readonly [member: string]: Output;
}

// ECMA-262 25.5: both are in Node since 21; TypeScript's library of ES2024 doesn't list them yet.
const { parse, rawJSON } = JSON as unknown as {
  parse(
    text: string,
    reviver: (name: string, value: unknown, context: { source?: string }) => unknown,
  ): JsonValue;
  rawJSON(text: string): RawJson;
};

// The longest 64-bit integer has 20 characters; a longer token is out of every range as a double, too.
const integerToken = /^-?\d{1,19}$/;

/** Reads one JSON text. Throws a SyntaxError, or a RangeError where the nesting is deeper than the stack. */
export function readJson(text: string): JsonValue {
  return parse(text, (_name, value, { source }) =>
    typeof value === 'number' && source !== undefined && integerToken.test(source) ? BigInt(source) : value,
  );
}

/** Writes one JSON text, the slashes of dates escaped: `"\/Date(1709212455120-0000)\/"`. */
export function writeJson(value: Output): string {
  return JSON.stringify(value).replace(/"\/(Date\(-?\d+-0000\))\/"/g, '"\\/$1\\/"');
}

/** A date on the wire: milliseconds since 1970 as the wall clock of UTC. */
export function date(milliseconds: number): string;
export function date(milliseconds: number | null): string | null;
export function date(milliseconds: number | null): string | null {
  return milliseconds === null ? null : `/Date(${milliseconds}-0000)/`;
}

/** A 64-bit integer, given as its digits. */
export function long(digits: string): RawJson;
export function long(digits: string | null): RawJson | null;
export function long(digits: string | null): RawJson | null {
  return digits === null ? null : rawJSON(digits);
}

/** An amount given in whole pence, written in pounds with two places: `7.70`. */
export function money(pence: number): RawJson {
  return rawJSON(`${Math.floor(pence / 100)}.${String(pence % 100).padStart(2, '0')}`);
}

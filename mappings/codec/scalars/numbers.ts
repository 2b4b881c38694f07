import { maxDigits } from '../../json/decimal.ts';
import { isBlank } from '../../xml/characters.ts';

/** Numbers as exact text, never converted to a double (W15). */

/** The result for a number outside its type's range. */
export const outOfRange = Symbol('outOfRange');

/** The minimum and the maximum of an integer type, as digits with a sign. */
export interface IntegerRange {
  readonly min: string;
  readonly max: string;
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/**
 * Removes surrounding blanks: XSD's white-space facet "collapse" for values without inner blanks (XSD Part 2, 4.3.6).
 */
export function collapse(text: string): string {
  let start = 0;
  let end = text.length;
  while (isBlank(text.charCodeAt(start))) start++;
  while (isBlank(text.charCodeAt(end - 1))) end--;
  return end - start === text.length ? text : text.slice(start, end);
}

/** Converts an xs:integer's text to a JSON number (XSD Part 2, 3.3.13): without a plus sign and leading zeros. */
export function integerFromXsd(
  text: string,
  range: IntegerRange | undefined,
): string | undefined | typeof outOfRange {
  const first = text.charCodeAt(0);
  let at = first === 43 || first === 45 ? 1 : 0;
  if (at === text.length) return undefined;
  for (let i = at; i < text.length; i++) if (!isDigit(text.charCodeAt(i))) return undefined;
  while (at < text.length - 1 && text.charCodeAt(at) === 48) at++;
  const digits = at === 0 ? text : text.slice(at);
  return within(first === 45 ? `-${digits}` : digits, range);
}

/** Converts a JSON number to the text of an integer (W22): `5.0` and `1e3` are integers, `-0` is `0`. */
export function integerFromJson(
  token: string,
  range: IntegerRange | undefined,
): string | undefined | typeof outOfRange {
  let plain: string | undefined | typeof outOfRange = token;
  if (!isPlainInteger(token)) {
    plain = decimalFromJson(token);
    if (typeof plain !== 'string') return plain;
    const point = plain.indexOf('.');
    if (point !== -1) {
      for (let i = point + 1; i < plain.length; i++) if (plain.charCodeAt(i) !== 48) return undefined;
      plain = plain.slice(0, point);
    }
  }
  return within(plain === '-0' ? '0' : plain, range);
}

/** Returns true for a JSON number without fraction and exponent. */
export function isPlainInteger(token: string): boolean {
  for (let i = 0; i < token.length; i++) {
    const code = token.charCodeAt(i);
    if (!isDigit(code) && code !== 45) return false;
  }
  return true;
}

/**
 * Checks the range of an integer `-?[0-9]+` without leading zeros. Without a range, the number of digits is limited.
 */
export function within(text: string, range: IntegerRange | undefined): string | typeof outOfRange {
  if (range === undefined) return countDigits(text) > maxDigits ? outOfRange : text;
  if (text.length < range.max.length) {
    return text.charCodeAt(0) !== 45 || range.min !== '0' || text === '-0' ? text : outOfRange;
  }
  const bound = text.charCodeAt(0) === 45 ? range.min : range.max;
  if (text.length !== bound.length) return text.length < bound.length ? text : outOfRange;
  return text <= bound ? text : outOfRange;
}

/** Converts an xs:decimal's text to a JSON number (XSD Part 2, 3.2.3; W15): scale and trailing zeros are kept. */
export function decimalFromXsd(text: string): string | undefined | typeof outOfRange {
  const number = mantissa(text, text.length);
  if (number === undefined) return undefined;
  return countDigits(number) > maxDigits ? outOfRange : number;
}

/**
 * Converts a number with an exponent, which xs:decimal forbids (XSD Part 2, 3.2.3), to a decimal without one. The value
 * is exact (W15). Undefined for a number without an exponent and for other text.
 */
export function decimalOfExponent(text: string): string | undefined | typeof outOfRange {
  const number = scientific(text);
  return number === undefined || number.exponent === ''
    ? undefined
    : decimalFromJson(number.mantissa + number.exponent);
}

/** Converts an xs:double's text to a JSON number. `INF` and `NaN` have no JSON form (XSD Part 2, 3.2.5; W15). */
export function doubleFromXsd(text: string, single: boolean): string | undefined | typeof outOfRange {
  const number = scientific(text);
  return number === undefined ? undefined : finite(number.mantissa + number.exponent, single);
}

/** Splits a number into a JSON number without an exponent, and `e…` as written or `''`. Undefined for other text. */
function scientific(text: string): { readonly mantissa: string; readonly exponent: string } | undefined {
  let end = 0;
  while (end < text.length && (text.charCodeAt(end) | 32) !== 101) end++;
  const number = mantissa(text, end);
  if (number === undefined) return undefined;
  if (end === text.length) return { mantissa: number, exponent: '' };
  const sign = text.charCodeAt(end + 1);
  const digits = sign === 43 || sign === 45 ? end + 2 : end + 1;
  if (digits === text.length) return undefined;
  for (let i = digits; i < text.length; i++) if (!isDigit(text.charCodeAt(i))) return undefined;
  return { mantissa: number, exponent: text.slice(end) };
}

/** Returns a JSON number unchanged if a double, or a float, can represent its magnitude. */
export function finite(token: string, single: boolean): string | typeof outOfRange {
  const value = Number(token);
  return Number.isFinite(single ? Math.fround(value) : value) ? token : outOfRange;
}

/**
 * Converts `[+-]?(\d+(\.\d*)?|\.\d+)` to JSON: without a plus sign and leading zeros, with digits before and after the
 * point.
 */
function mantissa(text: string, end: number): string | undefined {
  const first = text.charCodeAt(0);
  let start = first === 43 || first === 45 ? 1 : 0;
  let point = -1;
  for (let i = start; i < end; i++) {
    if (isDigit(text.charCodeAt(i))) continue;
    if (text.charCodeAt(i) !== 46 || point !== -1) return undefined;
    point = i;
  }
  const integerEnd = point === -1 ? end : point;
  const fraction = point === -1 ? '' : text.slice(point + 1, end);
  if (integerEnd === start && fraction === '') return undefined;
  while (text.charCodeAt(start) === 48) start++;
  const integer = integerEnd === start ? '0' : text.slice(start, integerEnd);
  return `${first === 45 ? '-' : ''}${integer}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Converts a JSON number to an xs:decimal without an exponent (W15). The length of the result is checked first. */
export function decimalFromJson(token: string): string | typeof outOfRange {
  let mark = 0;
  while (mark < token.length && (token.charCodeAt(mark) | 32) !== 101) mark++;
  if (mark === token.length) return countDigits(token) > maxDigits ? outOfRange : token;
  const negative = token.charCodeAt(0) === 45;
  const written = token.slice(negative ? 1 : 0, mark);
  const point = written.indexOf('.');
  const integer = point === -1 ? written : written.slice(0, point);
  const all = point === -1 ? written : integer + written.slice(point + 1);
  const digits = all.replace(/^0+/, '');
  const sign = negative ? '-' : '';
  if (digits === '') return `${sign}0`;
  // position of the decimal point, counted from the first nonzero digit
  const position = integer.length - (all.length - digits.length) + Number(token.slice(mark + 1));
  const size = Math.max(position, digits.length, digits.length + 1 - position);
  if (size > maxDigits) return outOfRange;
  if (position <= 0) return `${sign}0.${'0'.repeat(-position)}${digits}`;
  const whole = digits.slice(0, position).padEnd(position, '0');
  return position >= digits.length ? sign + whole : `${sign}${whole}.${digits.slice(position)}`;
}

function countDigits(text: string): number {
  return text.length - (text.charCodeAt(0) === 45 ? 1 : 0) - (text.includes('.') ? 1 : 0);
}

/** Returns true if the text is exactly one JSON number (RFC 8259, 6). */
export function isJsonNumber(text: string): boolean {
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text);
}

/** Limits of a .NET `decimal`: 96 bits, and 28 digits after the decimal point. */
const mostUnits = 2n ** 96n - 1n;
const mostFraction = 28;

/** Number of digits that each .NET `decimal` can represent, at any position of the point. */
export const safeDigits = 28;

/** Returns true if a .NET `decimal` can represent an xs:decimal exactly, trailing zeros ignored. */
export function fitsNetDecimal(text: string): boolean {
  if (text.length <= safeDigits) return true;
  const [integer = '', fraction = ''] = text.replace('-', '').split('.');
  let end = fraction.length;
  while (fraction.charCodeAt(end - 1) === 48) end--;
  return end <= mostFraction && BigInt(integer + fraction.slice(0, end)) <= mostUnits;
}

/** Returns true if a nonzero number becomes 0 in 64 bits, or in 32. */
export function underflows(token: string, single: boolean): boolean {
  const value = Number(token);
  return (single ? Math.fround(value) : value) === 0 && /^-?[0.]*[1-9]/.test(token);
}

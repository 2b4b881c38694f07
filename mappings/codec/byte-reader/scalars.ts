import { base64Letters } from '../../json/base64-spans.ts';
import { daysIn } from '../scalars/calendar.ts';

/** The ends of texts in the plain forms of simple types, which are copied to JSON. Each function returns -1 for other texts. */

const minus = 0x2d;
const point = 0x2e;
const zero = 0x30;
const colon = 0x3a;
const lessThan = 0x3c;
const equalsSign = 0x3d;
const letterT = 0x54;
const letterZ = 0x5a;

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte <= 0x39;
}

/** Returns the end of an integer in the form of JSON: no plus, no leading zeros, no `-0`. */
export function endOfInteger(bytes: Buffer, start: number, mostDigits: number, isSigned: boolean): number {
  let at = start;
  if (bytes[at] === minus) {
    if (!isSigned || bytes[at + 1] === zero) return -1;
    at++;
  }
  const first = at;
  while (isDigit(bytes[at])) at++;
  const digits = at - first;
  if (digits === 0 || digits > mostDigits || (digits > 1 && bytes[first] === zero)) return -1;
  return bytes[at] === lessThan ? at : -1;
}

/** Returns the end of a number without an exponent, in the form of JSON, of at most `most` bytes. */
export function endOfDecimal(bytes: Buffer, start: number, most: number): number {
  let at = bytes[start] === minus ? start + 1 : start;
  const first = at;
  while (isDigit(bytes[at])) at++;
  if (at === first || (at > first + 1 && bytes[first] === zero)) return -1;
  if (bytes[at] === point) {
    const fraction = ++at;
    while (isDigit(bytes[at])) at++;
    if (at === fraction) return -1;
  }
  return bytes[at] === lessThan && at - start <= most ? at : -1;
}

/** The number that two digits make; NaN, which no comparison accepts, for other bytes. */
function two(bytes: Buffer, at: number): number {
  const tens = bytes[at];
  const ones = bytes[at + 1];
  if (!isDigit(tens) || !isDigit(ones)) return Number.NaN;
  return ((tens as number) - zero) * 10 + (ones as number) - zero;
}

/** The end of `yyyy-mm-dd` of the calendar. */
function endOfDay(bytes: Buffer, start: number): number {
  const year = two(bytes, start) * 100 + two(bytes, start + 2);
  const month = two(bytes, start + 5);
  const day = two(bytes, start + 8);
  if (bytes[start + 4] !== minus || bytes[start + 7] !== minus) return -1;
  if (!(year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month))) return -1;
  return start + 10;
}

/** The end of an `xs:date` without an offset. */
export function endOfDate(bytes: Buffer, start: number): number {
  const end = endOfDay(bytes, start);
  return end !== -1 && bytes[end] === lessThan ? end : -1;
}

/** Digits of a fraction of a second. */
const mostFraction = 12;

/** The end of an `xs:dateTime` before 24:00:00, with `Z` or an offset, or without if that is allowed. */
export function endOfDateTime(bytes: Buffer, start: number, takesZoneless: boolean): number {
  let at = endOfDay(bytes, start);
  if (at === -1 || bytes[at] !== letterT) return -1;
  if (bytes[at + 3] !== colon || bytes[at + 6] !== colon) return -1;
  if (!(two(bytes, at + 1) <= 23 && two(bytes, at + 4) <= 59 && two(bytes, at + 7) <= 59)) return -1;
  at += 9;
  if (bytes[at] === point) {
    const fraction = ++at;
    while (isDigit(bytes[at])) at++;
    if (at === fraction || at - fraction > mostFraction) return -1;
  }
  const byte = bytes[at] as number;
  if (byte === lessThan) return takesZoneless ? at : -1;
  if (byte === letterZ) at++;
  else {
    const isSign = byte === minus || byte === 0x2b;
    if (!isSign || bytes[at + 3] !== colon || !(two(bytes, at + 1) <= 13 && two(bytes, at + 4) <= 59))
      return -1;
    at += 6;
  }
  return bytes[at] === lessThan ? at : -1;
}

/** Letters allowed before one and two `=`: their unused bits are zero (RFC 4648 §3.5). */
const lastLetters: readonly string[] = ['', 'AEIMQUYcgkosw048', 'AQgw'];

/** The end of base64 without blanks. */
export function endOfBase64(bytes: Buffer, start: number): number {
  let at = start;
  while (base64Letters[bytes[at] as number] === 1) at++;
  const letters = at;
  while (bytes[at] === equalsSign) at++;
  const padding = at - letters;
  if (bytes[at] !== lessThan || padding > 2 || (at - start) % 4 !== 0) return -1;
  if (
    padding > 0 &&
    lastLetters[padding]?.includes(String.fromCharCode(bytes[letters - 1] as number)) !== true
  )
    return -1;
  return at;
}

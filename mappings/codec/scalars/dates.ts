import { civilFromDays, daySlots, daysFromCivil, daysIn } from './calendar.ts';
import { collapse } from './numbers.ts';
import type { Zone } from './zone.ts';

/**
 * The instants 0001-01-01T00:00:00, an unset .NET date, and 9999-12-31T23:59:59.999, its maximum. All instants are
 * between them.
 */
const FIRST = -62_135_596_800_000;
const LAST = 253_402_300_799_999;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const LARGEST_OFFSET = 14 * 60;

/**
 * Converts the XML text of an `xs:dateTime`, or of a date without a time, to `/Date(ms-0000)/` (W14, W16). With
 * `utcDates: bare`, a text with `Z` becomes `/Date(ms)/`. Undefined for any other text.
 */
export function wcfFromXml(text: string, zone: Zone, utcDates: 'zoned' | 'bare'): string | undefined {
  const written = readIso(collapse(text), 'xsd');
  if (written === undefined) return undefined;
  const { wall, suffix } = written;
  if (suffix === 'Z') return utcDates === 'bare' ? `/Date(${wall})/` : `/Date(${wall}-0000)/`;
  if (suffix !== '') return `/Date(${clamp(wall - written.offset * MINUTE)}-0000)/`;
  return `/Date(${wall === FIRST || wall === LAST ? wall : clamp(zone.instantOf(wall))}-0000)/`;
}

/**
 * Converts a JSON string, `/Date(…)/` or ISO 8601, to the text of an `xs:dateTime` (W17). Undefined for any other text,
 * a mismatch (W22).
 */
export function xmlFromJson(text: string, zone: Zone): string | undefined {
  if (!text.startsWith('/')) return isoFromJson(text, 'dateTime');
  const date = readWcf(text);
  if (date === undefined) return undefined;
  const { ms, suffix } = date;
  if (ms === FIRST) return '0001-01-01T00:00:00';
  if (ms === LAST) return '9999-12-31T23:59:59.999';
  if (suffix === '') return `${writeWall(ms)}Z`;
  if (suffix === '-0000') return writeWall(clamp(zone.wallOf(ms)));
  return `${writeWall(clamp(ms + date.offset * MINUTE))}${suffix.slice(0, 3)}:${suffix.slice(3)}`;
}

/**
 * Converts a date in a JSON request (W37): a `/Date(…)/` of W17 is unchanged, ISO text becomes `/Date(ms-0000)/` by W14
 * and W16. Undefined for any other text.
 */
export function wcfFromJson(text: string, zone: Zone, utcDates: 'zoned' | 'bare'): string | undefined {
  if (!text.startsWith('/')) return wcfFromXml(text, zone, utcDates);
  return readWcf(text) === undefined ? undefined : text;
}

/**
 * Returns the instant of an `xs:dateTime` in whole ms since 1970, rounded down. Without a zone it is UTC. Undefined for
 * any other text.
 */
export function instantFromXml(text: string): number | undefined {
  const written = readIso(collapse(text), 'xsd');
  return written?.timed === true ? written.wall - written.offset * MINUTE : undefined;
}

/**
 * Returns the XML text of an `xs:dateTime` or `xs:date` without surrounding blanks (XSD Part 2, 3.2.7, 3.2.9).
 * Undefined for any other text.
 */
export function isoFromXml(text: string, kind: 'dateTime' | 'date'): string | undefined {
  const collapsed = collapse(text);
  const written = readIso(collapsed, 'xsd');
  return written !== undefined && written.timed === (kind === 'dateTime') ? collapsed : undefined;
}

/**
 * Converts ISO 8601 in JSON to the text of an `xs:dateTime` or `xs:date` in the form of W17. It has `T`, `Z`, seconds,
 * and at most seven fraction digits without trailing zeros. 24:00:00 becomes the next day, and a date for a dateTime
 * gets midnight. Undefined for any other text.
 */
export function isoFromJson(text: string, kind: 'dateTime' | 'date'): string | undefined {
  const written = readIso(text, 'json');
  if (written === undefined) return undefined;
  const { wall, suffix, timed, fraction } = written;
  if (kind === 'date') return timed ? undefined : `${text.slice(0, 10)}${suffix}`;
  return `${writeWall(Math.floor(wall / SECOND) * SECOND)}${trimFraction(fraction.slice(0, 7))}${suffix}`;
}

/** A date-time without an offset, which RFC 3339 does not allow. */
export interface Zoneless {
  /** Its text in the form of RFC 3339, without the offset. */
  readonly zoneless: string;
}

/**
 * Converts a date-time of a request to RFC 3339 §5.6: with seconds and an offset, without hour 24. A text without an
 * offset is the zone's wall clock; its date and time are kept, and the first and last moment of .NET are UTC. Undefined
 * if the text is not a date-time.
 *
 * @param grammar `xsd` for an element's text (XSD Part 2, 3.2.7), `json` for a JSON string, which may be a date without
 * a time
 * @param zone undefined to return a text without an offset as zoneless
 */
export function momentOf(
  text: string,
  grammar: 'xsd' | 'json',
  zone: Zone | undefined,
): string | Zoneless | undefined {
  const written = readIso(text, grammar);
  if (written === undefined || !(written.timed || grammar === 'json')) return undefined;
  const { suffix, wall, fraction } = written;
  const isInForm = written.timed && text.charCodeAt(16) === colon && !text.startsWith('24', 11);
  if (isInForm && suffix !== '') return text;
  const whole = Math.floor(wall / SECOND) * SECOND;
  const reading = isInForm ? text : writeWall(whole) + (fraction === '' ? '' : `.${fraction}`);
  if (suffix !== '') return reading + suffix;
  return zone === undefined ? { zoneless: reading } : withOffset(reading, whole, zone);
}

/**
 * Adds the zone's offset to a wall clock. It is converted to UTC if the offset is not in whole minutes (RFC 3339 §4.4).
 */
function withOffset(reading: string, whole: number, zone: Zone): string {
  const minutes = isEdge(whole) ? 0 : (whole - zone.instantOf(whole)) / MINUTE;
  if (minutes === 0) return `${reading}Z`;
  const size = Math.abs(minutes);
  if (!Number.isInteger(size) || size > LARGEST_OFFSET)
    return `${writeWall(clamp(zone.instantOf(whole)))}${reading.slice(19)}Z`;
  return `${reading}${minutes < 0 ? '-' : '+'}${two[(size / 60) | 0]}:${two[size % 60]}`;
}

/** Returns a date's text without its zone (RFC 3339 §5.6, full-date). Undefined if the text is not a date. */
export function fullDateOf(text: string, grammar: 'xsd' | 'json'): string | undefined {
  const written = readIso(text, grammar);
  return written === undefined || written.timed ? undefined : text.slice(0, 10);
}

/** Forms of a date-time, date or time with separators that differ from XSD's. */
const looseMoment =
  /^(?<day>\d{4}-\d\d-\d\d)[Tt ](?<time>\d\d:\d\d(?::\d\d)?)(?:[.,](?<fraction>\d+))? ?(?:(?<utc>[Zz])|(?<hours>[+-]\d\d)(?::?(?<minutes>\d\d))?)?$/;
const looseDay = /^(?<day>\d{4}-\d\d-\d\d) ?(?:(?<utc>[Zz])|(?<hours>[+-]\d\d)(?::?(?<minutes>\d\d))?)?$/;
const looseTime =
  /^(?<time>\d\d:\d\d(?::\d\d)?)(?:[.,](?<fraction>\d+))? ?(?:(?<utc>[Zz])|(?<hours>[+-]\d\d)(?::?(?<minutes>\d\d))?)?$/;
/** For the other types, only an offset without a colon is repaired: its four digits are not part of the value. */
const looseOffset = /^(?<day>.+) ?(?<hours>[+-]\d\d)(?<minutes>\d\d)$/;

/**
 * Converts a reply's text to the form of XSD if its meaning is certain. It repairs surrounding blanks, a blank for `T`,
 * a comma for the point, missing seconds, lower-case `t` and `z`, and an offset without a colon or minutes. The result
 * may still be invalid.
 */
export function repaired(text: string, kind: 'dateTime' | 'date' | 'time' | 'other'): string {
  const collapsed = collapse(text);
  const {
    day = '',
    time,
    fraction,
    utc,
    hours,
    minutes = '00',
  } = looseForms[kind].exec(collapsed)?.groups ?? {};
  if (day === '' && time === undefined) return collapsed;
  const clock = time === undefined ? '' : `${time}${time.length === 5 ? ':00' : ''}`;
  const digits = fraction === undefined ? '' : `.${fraction}`;
  const offset = utc === undefined ? (hours === undefined ? '' : `${hours}:${minutes}`) : 'Z';
  return `${day}${day !== '' && clock !== '' ? 'T' : ''}${clock}${digits}${offset}`;
}

const looseForms = { dateTime: looseMoment, date: looseDay, time: looseTime, other: looseOffset } as const;

/**
 * Converts an `xs:dateTime` to RFC 3339 (A26, `dates: utc`). A text without a zone is the zone's wall clock and becomes
 * UTC with `Z`. `Z` becomes `+00:00`, so that the original form is restored on output. Other offsets are unchanged, and
 * so is a year that RFC 3339 lacks.
 */
export function rfc3339FromXml(text: string, zone: Zone): string {
  const moment = momentOf(text, 'xsd', undefined);
  if (moment === undefined) return text.endsWith('Z') ? `${text.slice(0, -1)}+00:00` : text;
  if (typeof moment === 'string') return moment.endsWith('Z') ? `${moment.slice(0, -1)}+00:00` : moment;
  const written = readIso(text, 'xsd');
  if (written === undefined) return text;
  const { wall, fraction } = written;
  const whole = Math.floor(wall / SECOND) * SECOND;
  const instant = isEdge(whole) ? whole : clamp(zone.instantOf(whole));
  return `${writeWall(instant)}${fraction === '' ? '' : `.${fraction}`}Z`;
}

/**
 * Converts RFC 3339 to the text of an `xs:dateTime`, the inverse of `rfc3339FromXml`. Undefined for any other text.
 */
export function xmlFromRfc3339(text: string, zone: Zone): string | undefined {
  const written = readIso(text, 'json');
  if (written === undefined || !written.timed) return undefined;
  const { wall, fraction, suffix } = written;
  const whole = Math.floor(wall / SECOND) * SECOND;
  const digits = fraction === '' ? '' : `.${fraction}`;
  if (suffix === 'Z') return writeWall(isEdge(whole) ? whole : clamp(zone.wallOf(whole))) + digits;
  return `${writeWall(whole)}${digits}${suffix === '+00:00' ? 'Z' : suffix}`;
}

/** Returns true for the first and the last second of .NET's range. They mean "no date", so no zone applies. */
function isEdge(ms: number): boolean {
  return ms === FIRST || ms === LAST - (SECOND - 1);
}

interface WrittenDate {
  readonly ms: number;
  /** `±hhmm`, or empty. */
  readonly suffix: string;
  /** Minutes east of UTC. */
  readonly offset: number;
}

/** Parses `/Date(ms)/` and `/Date(ms±hhmm)/`. It stops at the digit that exceeds the bounds, however many follow. */
function readWcf(text: string): WrittenDate | undefined {
  if (!text.startsWith('/Date(')) return undefined;
  const negative = text.charCodeAt(6) === minus;
  const start = negative ? 7 : 6;
  const bound = negative ? -FIRST : LAST;
  let size = 0;
  let at = start;
  for (; isDigit(text.charCodeAt(at)); at++) {
    size = size * 10 + text.charCodeAt(at) - zero;
    if (size > bound) return undefined;
  }
  if (at === start) return undefined;
  const ms = negative ? 0 - size : size;
  if (text.length === at + 2) return text.endsWith(')/') ? { ms, suffix: '', offset: 0 } : undefined;
  if (text.length !== at + 7 || !text.endsWith(')/')) return undefined;
  const offset = readOffset(text, at, at + 3);
  return offset === undefined ? undefined : { ms, suffix: text.slice(at, at + 5), offset };
}

interface WrittenIso {
  /** The date and time as ms, as if in UTC. Digits after the third of the fraction are dropped. */
  readonly wall: number;
  readonly timed: boolean;
  /** All digits after the decimal point. */
  readonly fraction: string;
  /** `Z`, `±hh:mm`, or empty. */
  readonly suffix: string;
  /** Minutes east of UTC. */
  readonly offset: number;
}

/**
 * Parses a date or date-time of the years 1 to 9999 and checks it against the calendar. The grammar `xsd` is that of
 * XSD Part 2, 3.2.7 and 3.2.9. `json` also accepts ISO 8601's lower-case `t` and `z` and a time without seconds.
 */
function readIso(text: string, grammar: 'xsd' | 'json'): WrittenIso | undefined {
  const midnight = readDay(text);
  if (midnight === undefined) return undefined;
  let wall = midnight;
  let at = 10;
  let fraction = '';
  const code = text.charCodeAt(at);
  const timed = code === letterT || (code === lowerT && grammar === 'json');
  if (timed) {
    const hour = twoDigits(text, 11);
    const minute = twoDigits(text, 14);
    const seconds = text.charCodeAt(16) === colon;
    const second = seconds ? twoDigits(text, 17) : 0;
    if (text.charCodeAt(13) !== colon || !(seconds || grammar === 'json')) return undefined;
    if (!(hour <= 24 && minute <= 59 && second <= 59)) return undefined;
    wall += hour * HOUR + minute * MINUTE + second * SECOND;
    at = seconds ? 19 : 16;
    if (seconds && text.charCodeAt(19) === point) {
      at = endOfDigits(text, 20);
      if (at === 20) return undefined;
      fraction = text.slice(20, at);
      wall += Number(fraction.slice(0, 3).padEnd(3, '0'));
    }
    if (hour === 24 && (wall !== midnight + DAY || trimFraction(fraction) !== '')) return undefined;
    if (wall > LAST) return undefined;
  }
  const left = text.length - at;
  if (left === 0) return { wall, timed, fraction, suffix: '', offset: 0 };
  if (left === 1) {
    const last = text.charCodeAt(at);
    const utc = last === letterZ || (last === lowerZ && grammar === 'json');
    return utc ? { wall, timed, fraction, suffix: 'Z', offset: 0 } : undefined;
  }
  if (left !== 6 || text.charCodeAt(at + 3) !== colon) return undefined;
  const offset = readOffset(text, at, at + 4);
  return offset === undefined ? undefined : { wall, timed, fraction, suffix: text.slice(at), offset };
}

/** Parses the `yyyy-mm-dd` at the start of a text. Returns its midnight in ms. */
function readDay(text: string): number | undefined {
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  if (text.charCodeAt(4) !== minus || text.charCodeAt(7) !== minus) return undefined;
  if (!(year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month))) return undefined;
  return daysFromCivil(year, month, day) * DAY;
}

/** Formats a wall clock as `yyyy-mm-ddThh:mm:ss`, with a fraction if it is not zero. */
function writeWall(wall: number): string {
  const day = Math.floor(wall / DAY);
  // `| 0` keeps the arithmetic in 32-bit integers, which is faster than doubles
  const ms = (wall - day * DAY) | 0;
  const time = `${minutesOfDay[(ms / MINUTE) | 0]}:${two[((ms / SECOND) | 0) % 60]}`;
  const fraction = ms % SECOND;
  const whole = writeDay(day) + time;
  return fraction === 0 ? whole : whole + trimFraction(`${fraction + SECOND}`.slice(1));
}

/** Formats days since 1970-01-01 as `yyyy-mm-dd`. */
function writeDay(days: number): string {
  const date = civilFromDays(days);
  const year = (date / daySlots) | 0;
  return `${two[(year / 100) | 0]}${two[year % 100]}${daysOfYear[date % daySlots]}`;
}

/** The texts `00` to `99`. */
const two: readonly string[] = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'));

/** The text `Thh:mm` of each minute of a day. */
const minutesOfDay: readonly string[] = two
  .slice(0, 24)
  .flatMap((hour) => two.slice(0, 60).map((minute) => `T${hour}:${minute}`));

/** The text `-mm-dd` of each day of a year, from 1 March to 29 February. */
const daysOfYear: readonly string[] = [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1, 2].flatMap((month) =>
  two.slice(1, daysIn(4, month) + 1).map((day) => `-${two[month]}-${day}`),
);

/** Formats a fraction with its decimal point and without trailing zeros; empty for zero. */
function trimFraction(digits: string): string {
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === zero) end--;
  return end === 0 ? '' : `.${digits.slice(0, end)}`;
}

/**
 * Parses an offset with sign and hours at `at` and minutes at `minutesAt`. Returns minutes; undefined beyond ±14:00.
 */
function readOffset(text: string, at: number, minutesAt: number): number | undefined {
  const sign = text.charCodeAt(at);
  if (sign !== plus && sign !== minus) return undefined;
  const minutes = twoDigits(text, minutesAt);
  const size = twoDigits(text, at + 1) * 60 + minutes;
  if (!(minutes <= 59 && size <= LARGEST_OFFSET)) return undefined;
  return sign === plus ? size : -size;
}

/** Parses two digits. Returns NaN, for which every comparison is false, if they are not digits. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at);
  const ones = text.charCodeAt(at + 1);
  return isDigit(tens) && isDigit(ones) ? (tens - zero) * 10 + ones - zero : Number.NaN;
}

function endOfDigits(text: string, from: number): number {
  let at = from;
  while (isDigit(text.charCodeAt(at))) at++;
  return at;
}

const clamp = (ms: number): number => Math.min(Math.max(ms, FIRST), LAST);

const isDigit = (code: number): boolean => code >= zero && code <= 57;

const plus = 43;
const minus = 45;
const point = 46;
const zero = 48;
const colon = 58;
const letterT = 84;
const letterZ = 90;
const lowerT = 116;
const lowerZ = 122;

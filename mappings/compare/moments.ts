import type { Zone } from '../codec/scalars/zone.ts';

// Dates, times and durations of XSD, compared by value (G38; XSD 1.0, part 2, 3.2.6 to 3.2.14).

/** A date or time. */
export interface Moment {
  /** Seconds since 1970-01-01T00:00:00 of UTC, or of the local time without an offset; for `xs:time` within a day. */
  readonly seconds: number;
  /** Digits of the fraction of a second, without zeros at the end. */
  readonly fraction: string;
  /** Offset in minutes; undefined for none. */
  readonly offset: number | undefined;
}

const day = 86_400;
const momentForm =
  /^(?:(-?\d{4,9})-(\d\d)-(\d\d)T)?(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:(Z)|([+-])(\d\d):(\d\d))?$/;
const offsetForm = /(?:Z|[+-]\d\d:\d\d)$/;

/** Parses an `xs:dateTime` or `xs:time`; undefined for another text. `24:00:00` is the start of the next day. */
export function momentOf(text: string): Moment | undefined {
  const found = momentForm.exec(text.trim());
  if (found === null) return undefined;
  const [, year, month, date, hour, minute, second, fraction = '', utc, sign, hours, minutes] = found;
  const ofDay = Number(hour) * 3_600 + Number(minute) * 60 + Number(second);
  const size = Number(hours) * 60 + Number(minutes);
  const offset = utc !== undefined ? 0 : sign === undefined ? undefined : sign === '-' ? -size : size;
  const local = year === undefined ? ofDay : daysOf(Number(year), Number(month), Number(date)) * day + ofDay;
  const shifted = local - (offset ?? 0) * 60;
  const seconds = year === undefined ? ((shifted % day) + day) % day : shifted;
  return { seconds, fraction: withoutZeros(fraction), offset };
}

/** Returns digits without the zeros at their end. */
function withoutZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end--;
  return digits.slice(0, end);
}

/** Returns the number of days from 1970-01-01 in the Gregorian calendar. XSD 1.0 has no year 0. */
function daysOf(year: number, month: number, date: number): number {
  const astronomical = year < 0 ? year + 1 : year;
  const shifted = month <= 2 ? astronomical - 1 : astronomical;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + date - 1;
  return (
    era * 146_097 +
    yearOfEra * 365 +
    Math.floor(yearOfEra / 4) -
    Math.floor(yearOfEra / 100) +
    dayOfYear -
    719_468
  );
}

/** Returns a moment without an offset as an instant of a zone (G43). The year must be from 1 to 9999. */
export function inZone(moment: Moment, zone: Zone): Moment {
  const wall = moment.seconds * 1_000;
  const instant = zone.instantOf(wall);
  return { ...moment, seconds: instant / 1_000, offset: (wall - instant) / 60_000 };
}

/** Returns the same text for all forms of a moment. An instant in seconds has its usual form, `2026-03-01T09:30:00Z`. */
export function momentKey({ seconds, fraction, offset }: Moment): string {
  if (offset === undefined) return `local ${seconds}.${fraction}`;
  const isUsual = fraction === '' && seconds >= firstUsual && seconds < endUsual;
  return isUsual
    ? `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`
    : `instant ${seconds}.${fraction}`;
}

/** Seconds of the first and after the last instant whose year has four digits. */
const firstUsual = Date.UTC(1000, 0) / 1_000;
const endUsual = Date.UTC(10_000, 0) / 1_000;

/** Returns true for a text that is its own key: an instant in UTC without a fraction. */
export function isUsualInstant(text: string): boolean {
  return text.length === 20 && /^[1-9]\d{3}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/.test(text);
}

/** Returns the distance of two moments in ms. */
export function distanceMs(one: Moment, other: Moment): number {
  const fractions = Number(`0.${one.fraction}0`) - Number(`0.${other.fraction}0`);
  return Math.abs(one.seconds - other.seconds + fractions) * 1_000;
}

/** Splits a date, a year or a similar value from its offset, which is `''` for none. `+00:00` is `Z`. */
export function splitOffset(text: string): { readonly value: string; readonly offset: string } {
  const trimmed = text.trim();
  const offset = offsetForm.exec(trimmed)?.[0] ?? '';
  const value = trimmed.slice(0, trimmed.length - offset.length);
  return { value, offset: /^[+-]00:00$/.test(offset) ? 'Z' : offset };
}

const durationForm =
  /^(-?)P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?)?$/;

/** Returns the same text for all forms of an `xs:duration`: its months and seconds; undefined for another text. */
export function durationKey(text: string): string | undefined {
  const found = durationForm.exec(text.trim());
  if (found === null || text.length > 200) return undefined;
  const [years, months, days, hours, minutes, seconds] = found.slice(2, 8).map((part) => BigInt(part ?? 0));
  const inMonths = (years ?? 0n) * 12n + (months ?? 0n);
  const inSeconds = (((days ?? 0n) * 24n + (hours ?? 0n)) * 60n + (minutes ?? 0n)) * 60n + (seconds ?? 0n);
  const fraction = withoutZeros(found[8] ?? '');
  const isZero = inMonths === 0n && inSeconds === 0n && fraction === '';
  return `${isZero ? '' : found[1]}${inMonths} ${inSeconds}.${fraction}`;
}

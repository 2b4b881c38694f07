import { daysFromCivil, daysIn } from '../codec/scalars/calendar.ts';
import { repaired } from '../codec/scalars/dates.ts';
import { collapse } from '../codec/scalars/numbers.ts';
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
const dateTimeForm =
  /^(-?(?:\d{4}|[1-9]\d{4,8}))-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?$/;
const timeForm = /^(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?$/;
/** `xs:date`, `xs:gYearMonth`, `xs:gYear`; `xs:gMonthDay`, `xs:gMonth`; `xs:gDay`. */
const dayForm =
  /^(?:(-?(?:\d{4}|[1-9]\d{4,8}))(?:-(\d\d)(?:-(\d\d))?)?|--(\d\d)(?:-(\d\d))?|---(\d\d))(Z|[+-]\d\d:\d\d)?$/;

/** Parses an `xs:dateTime`; undefined for a value outside the type. `24:00:00` is the start of the next day. */
export function dateTimeOf(text: string): Moment | undefined {
  const found = dateTimeForm.exec(text);
  if (found === null) return undefined;
  const [, year, month, date, hour, minute, second, fraction, offset] = found;
  const start = startOf(year, month, date);
  const time = secondsOf(hour, minute, second, fraction);
  return start === undefined || time === undefined ? undefined : momentAt(start + time, fraction, offset);
}

/** Parses an `xs:time`, as a moment within a day; undefined for a value outside the type. */
export function timeOf(text: string): Moment | undefined {
  const found = timeForm.exec(text);
  if (found === null) return undefined;
  const [, hour, minute, second, fraction, offset] = found;
  const time = secondsOf(hour, minute, second, fraction);
  const moment = time === undefined ? undefined : momentAt(time, fraction, offset);
  return moment && { ...moment, seconds: ((moment.seconds % day) + day) % day };
}

/**
 * Parses an `xs:date`, or a part of one such as `xs:gYear`, as the start of its first day. Missing fields are those of
 * 1972-01-01. Undefined for a value outside these types.
 */
export function dayOf(text: string): Moment | undefined {
  const found = dayForm.exec(text);
  if (found === null) return undefined;
  const [, year, month, date, ofYear, ofMonth, alone, offset] = found;
  const start = startOf(year, month ?? ofYear, date ?? ofMonth ?? alone);
  return start === undefined ? undefined : momentAt(start, undefined, offset);
}

/** Parses any date or time, also one that the writer of replies repairs (W17); undefined for another text. */
export function anyMomentOf(text: string): Moment | undefined {
  return (
    dateTimeOf(text) ??
    dayOf(text) ??
    timeOf(text) ??
    dateTimeOf(repaired(text, 'dateTime')) ??
    dayOf(repaired(text, 'date')) ??
    timeOf(repaired(text, 'time'))
  );
}

/** Returns the seconds from 1970 to the start of a day; undefined for a day that the calendar lacks. */
function startOf(year = '1972', month = '01', date = '01'): number | undefined {
  const [its, ofYear, ofMonth] = [Number(year), Number(month), Number(date)];
  if (its === 0 || ofYear < 1 || ofYear > 12 || ofMonth < 1) return undefined;
  return ofMonth > daysIn(astronomical(its), ofYear)
    ? undefined
    : daysFromCivil(astronomical(its), ofYear, ofMonth) * day;
}

/** Returns the seconds of a day; undefined for a time that no day has. */
function secondsOf(hour = '', minute = '', second = '', fraction = ''): number | undefined {
  const [hours, minutes, seconds] = [Number(hour), Number(minute), Number(second)];
  if (minutes > 59 || seconds > 59 || hours > 24) return undefined;
  const ofDay = hours * 3_600 + minutes * 60 + seconds;
  return ofDay < day || (ofDay === day && withoutZeros(fraction) === '') ? ofDay : undefined;
}

/** Returns the moment of a local time; undefined if the offset is not from -14:00 to 14:00. */
function momentAt(local: number, fraction = '', offset: string | undefined): Moment | undefined {
  const minutes = offset === undefined ? undefined : minutesOf(offset);
  if (minutes === 'invalid') return undefined;
  return { seconds: local - (minutes ?? 0) * 60, fraction: withoutZeros(fraction), offset: minutes };
}

function minutesOf(offset: string): number | 'invalid' {
  if (offset === 'Z') return 0;
  const minutes = Number(offset.slice(4));
  const size = Number(offset.slice(1, 3)) * 60 + minutes;
  if (minutes > 59 || size > 840) return 'invalid';
  return offset.startsWith('-') ? 0 - size : size;
}

/** Returns digits without the zeros at their end. */
function withoutZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end--;
  return digits.slice(0, end);
}

/** Returns a year in which 0 precedes 1. XSD 1.0 has no year 0. */
function astronomical(year: number): number {
  return year < 0 ? year + 1 : year;
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

/** Returns true for a text that is its own key: an instant in UTC without a fraction, on a day that each month has. */
export function isUsualInstant(text: string): boolean {
  return (
    text.length === 20 &&
    /^[1-9]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/.test(text)
  );
}

/** Compares two moments, as `sort` expects. Those without an offset are compared by their local time. */
export function compareMoments(one: Moment, other: Moment): number {
  const seconds = one.seconds - other.seconds;
  if (seconds !== 0 || one.fraction === other.fraction) return seconds;
  return one.fraction < other.fraction ? -1 : 1;
}

/** Returns the distance of two moments in ms. */
export function distanceMs(one: Moment, other: Moment): number {
  const fractions = Number(`0.${one.fraction}0`) - Number(`0.${other.fraction}0`);
  return Math.abs(one.seconds - other.seconds + fractions) * 1_000;
}

const offsetForm = /(?:Z|[+-]\d\d:\d\d)$/;

/** Splits a date, a year or a similar value from its offset, which is `''` for none. `+00:00` is `Z`. */
export function splitOffset(text: string): { readonly value: string; readonly offset: string } {
  const trimmed = collapse(text);
  const offset = offsetForm.exec(trimmed)?.[0] ?? '';
  const value = trimmed.slice(0, trimmed.length - offset.length);
  return { value, offset: /^[+-]00:00$/.test(offset) ? 'Z' : offset };
}

/** A duration: its months and its seconds, both negative or both not. */
export interface Duration {
  readonly months: bigint;
  readonly seconds: bigint;
  /** Digits of the fraction of a second, without zeros at the end. */
  readonly fraction: string;
  readonly isNegative: boolean;
}

const durationForm =
  /^(-?)P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:(T)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?)?$/;

/** Parses an `xs:duration`; undefined for another text, and for one of more than 200 characters. */
export function durationOf(text: string): Duration | undefined {
  if (text.length > 200) return undefined;
  const found = durationForm.exec(text);
  if (found === null) return undefined;
  const ofDate = found.slice(2, 5);
  const ofTime = found.slice(6, 9);
  const isGiven = (part: string | undefined) => part !== undefined;
  if (found[5] === undefined ? !ofDate.some(isGiven) : !ofTime.some(isGiven)) return undefined;
  const [years = 0n, months = 0n, days = 0n] = ofDate.map((part) => BigInt(part ?? 0));
  const [hours = 0n, minutes = 0n, seconds = 0n] = ofTime.map((part) => BigInt(part ?? 0));
  const inMonths = years * 12n + months;
  const inSeconds = ((days * 24n + hours) * 60n + minutes) * 60n + seconds;
  const fraction = withoutZeros(found[9] ?? '');
  const isNegative = found[1] === '-' && (inMonths !== 0n || inSeconds !== 0n || fraction !== '');
  return { months: inMonths, seconds: inSeconds, fraction, isNegative };
}

/** Returns the same text for all forms of an `xs:duration`: its months and seconds; undefined for another text. */
export function durationKey(text: string): string | undefined {
  const duration = durationOf(text);
  if (duration === undefined) return undefined;
  const { months, seconds, fraction, isNegative } = duration;
  return `${isNegative ? '-' : ''}${months} ${seconds}.${fraction}`;
}

/** Returns the ms between two durations; undefined if their months differ, because months have no fixed length. */
export function msBetweenDurations(one: Duration, other: Duration): number | undefined {
  const sign = ({ isNegative }: Duration): bigint => (isNegative ? -1n : 1n);
  const [positive, its] = [sign(one), sign(other)];
  if (positive * one.months !== its * other.months) return undefined;
  const fractionOf = ({ fraction }: Duration): number => Number(`0.${fraction}0`);
  const fractions = Number(positive) * fractionOf(one) - Number(its) * fractionOf(other);
  return Math.abs(Number(positive * one.seconds - its * other.seconds) + fractions) * 1_000;
}

import { daysFromCivil } from '../codec/scalars/calendar.ts';
import { repaired } from '../codec/scalars/dates.ts';
import type { Zone } from '../codec/scalars/zone.ts';

/** A date or time, with seconds and their fraction apart, so that no digit is lost. */
export interface Moment {
  /** Whole seconds since 1970: of the instant with an offset, of the wall clock without one. */
  readonly seconds: number;
  /** Digits after the point without zeros at the end. */
  readonly fraction: string;
  /** True if the text has an offset. */
  readonly isZoned: boolean;
}

/** All calendar types of XSD (part 2, 3.2.7 to 3.2.14). Missing fields are those of 1972-01-01T00:00:00. */
const form =
  /^(?:(?<year>-?\d{4,9})(?:-(?<month>\d\d)(?:-(?<day>\d\d))?)?|--(?<month2>\d\d)?(?:-(?<day2>\d\d))?)?(?:T?(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)(?:\.(?<fraction>\d+))?)?(?<offset>Z|[+-]\d\d:\d\d)?$/;

/** The form of most dates, without named groups, which are slow. */
const usualForm = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?$/;

function usualMoment(parts: RegExpExecArray): Moment {
  const days = daysFromCivil(Number(parts[1]), Number(parts[2]), Number(parts[3]));
  const wall = days * 86_400 + Number(parts[4]) * 3_600 + Number(parts[5]) * 60 + Number(parts[6]);
  const [fraction = '', offset] = [parts[7], parts[8]];
  return {
    seconds: wall - secondsOf(offset),
    fraction: fraction.replace(/0+$/, ''),
    isZoned: offset !== undefined,
  };
}

/** Reads a date or time of XSD, also one that the writer of replies repairs (W17); undefined for any other text. */
export function momentOf(text: string): Moment | undefined {
  const usual = usualForm.exec(text);
  if (usual !== null) return usualMoment(usual);
  const repairedAs = (kind: 'dateTime' | 'date' | 'time') => form.exec(repaired(text, kind));
  const found = form.exec(text) ?? repairedAs('dateTime') ?? repairedAs('date') ?? repairedAs('time');
  const parts = found?.groups;
  if (parts === undefined || text === '') return undefined;
  const { year = '1972', month, month2, day, day2, hour = '0', minute = '0', second = '0' } = parts;
  const { fraction = '', offset } = parts;
  const days = daysFromCivil(Number(year), Number(month ?? month2 ?? 1), Number(day ?? day2 ?? 1));
  const wall = days * 86_400 + Number(hour) * 3_600 + Number(minute) * 60 + Number(second);
  return {
    seconds: wall - secondsOf(offset),
    fraction: fraction.replace(/0+$/, ''),
    isZoned: offset !== undefined,
  };
}

function secondsOf(offset: string | undefined): number {
  if (offset === undefined || offset === 'Z') return 0;
  const size = Number(offset.slice(1, 3)) * 3_600 + Number(offset.slice(4)) * 60;
  return offset.startsWith('-') ? -size : size;
}

/** Compares two moments, as `sort` expects. Those without an offset are compared by their wall clocks. */
export function compareMoments(one: Moment, other: Moment): number {
  const seconds = one.seconds - other.seconds;
  if (seconds !== 0 || one.fraction === other.fraction) return seconds;
  return one.fraction < other.fraction ? -1 : 1;
}

/** Returns a moment without an offset as an instant of a zone. */
export function instantIn({ seconds, fraction }: Moment, zone: Zone): Moment {
  return { seconds: zone.instantOf(seconds * 1_000) / 1_000, fraction, isZoned: true };
}

/** Returns the same text for all texts of a moment. */
export function textOfMoment({ seconds, fraction, isZoned }: Moment): string {
  return `${seconds}.${fraction}${isZoned ? 'Z' : ''}`;
}

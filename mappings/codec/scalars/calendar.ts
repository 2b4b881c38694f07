/**
 * The proleptic Gregorian calendar (ISO 8601). Years begin on 1 March, so that a leap day is the last day of a year.
 */

/** Days from 1 March of year 0 to 1970-01-01. */
const epoch = 719_468;

/** Days from 1 March to 1 January. */
const firstOfJanuary = 306;

/** Returns the number of days of a month; January is 1. */
export function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Returns the days from 1970-01-01 to a date. Year 0 precedes year 1. */
export function daysFromCivil(year: number, month: number, day: number): number {
  const marchYear = month > 2 ? year : year - 1;
  const century = Math.floor(marchYear / 100);
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const leapDays = Math.floor(marchYear / 4) - century + Math.floor(century / 4);
  return marchYear * 365 + leapDays + dayOfYear - epoch;
}

/** Factor of the year in the result of `civilFromDays`. */
export const daySlots = 512;

/**
 * Converts days since 1970-01-01 to a date of year 1 or later. The result is one number, to avoid allocation: the year
 * times `daySlots`, plus the day counted from 1 March. January and February count from 1 March of the previous year.
 */
export function civilFromDays(days: number): number {
  // 400, 100, 4 years and 1 year; `| 0` keeps the arithmetic in 32-bit integers, which is faster than doubles
  const all = (days + epoch) | 0;
  const era = (all / 146_097) | 0;
  const ofEra = all - era * 146_097;
  const leapDays = ((ofEra / 1_460) | 0) - ((ofEra / 36_524) | 0) + ((ofEra / 146_096) | 0);
  const yearOfEra = ((ofEra - leapDays) / 365) | 0;
  const dayOfYear = ofEra - (365 * yearOfEra + ((yearOfEra / 4) | 0) - ((yearOfEra / 100) | 0));
  return (era * 400 + yearOfEra + (dayOfYear < firstOfJanuary ? 0 : 1)) * daySlots + dayOfYear;
}

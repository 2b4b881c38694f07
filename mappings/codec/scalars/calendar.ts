/** The proleptic Gregorian calendar (ISO 8601), years counted from 1 March, so that a leap day is a year's last. */

/** From 1 March of year 0 to 1970-01-01. */
const epoch = 719_468;

/** 1 January, counted from 1 March. */
const firstOfJanuary = 306;

/** How many days a month has, from 1 for January. */
export function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Days from 1970-01-01 to a date of year 1 or later. */
export function daysFromCivil(year: number, month: number, day: number): number {
  const marchYear = month > 2 ? year : year - 1;
  const century = Math.floor(marchYear / 100);
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const leapDays = Math.floor(marchYear / 4) - century + Math.floor(century / 4);
  return marchYear * 365 + leapDays + dayOfYear - epoch;
}

/** How far years are apart in what `civilFromDays` gives. */
export const daySlots = 512;

/**
 * The date so many days after 1970-01-01, of year 1 or later, as one number, so that none is allocated: its year times
 * `daySlots`, plus its day counted from 1 March, that of the year before for January and February.
 */
export function civilFromDays(days: number): number {
  // 400, 100, 4 years and 1 year; `| 0` keeps the arithmetic in 32-bit integers, twice as fast as doubles
  const all = (days + epoch) | 0;
  const era = (all / 146_097) | 0;
  const ofEra = all - era * 146_097;
  const leapDays = ((ofEra / 1_460) | 0) - ((ofEra / 36_524) | 0) + ((ofEra / 146_096) | 0);
  const yearOfEra = ((ofEra - leapDays) / 365) | 0;
  const dayOfYear = ofEra - (365 * yearOfEra + ((yearOfEra / 4) | 0) - ((yearOfEra / 100) | 0));
  return (era * 400 + yearOfEra + (dayOfYear < firstOfJanuary ? 0 : 1)) * daySlots + dayOfYear;
}

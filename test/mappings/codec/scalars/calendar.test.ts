import test from 'ava';
import {
  civilFromDays,
  daySlots,
  daysFromCivil,
  daysIn,
} from '../../../../mappings/codec/scalars/calendar.ts';

const day = 86_400_000;

/** Returns the days since 1970 of a date of any year, computed by `Date`. */
function daysOf(year: number, month: number, dayOfMonth: number): number {
  return new Date(0).setUTCFullYear(year, month - 1, dayOfMonth) / day;
}

test('days are counted like Date counts them, at both ends of every month of years 1 to 9999', (t) => {
  const wrong: string[] = [];
  for (let year = 1; year <= 9999; year++)
    for (let month = 1; month <= 12; month++) {
      const first = daysOf(year, month, 1);
      const count = daysOf(year, month + 1, 1) - first;
      const counted = daysFromCivil(year, month, 1);
      if (
        daysIn(year, month) !== count ||
        counted !== first ||
        daysFromCivil(year, month, count) !== first + count - 1
      )
        wrong.push(`${year}-${month}`);
    }
  t.is(wrong[0], undefined);
});

test('a day is its year and its position counted from 1 March', (t) => {
  const wrong: string[] = [];
  for (let year = 1; year <= 9999; year++)
    for (const [month, dayOfMonth, place] of [
      [1, 1, 306],
      [2, 28, 364],
      [3, 1, 0],
      [3, 31, 30],
      [12, 31, 305],
    ] as const)
      if (civilFromDays(daysOf(year, month, dayOfMonth)) !== year * daySlots + place)
        wrong.push(`${year}-${month}-${dayOfMonth}`);
  for (const year of [4, 1600, 2000, 2024, 9996])
    if (civilFromDays(daysOf(year, 2, 29)) !== year * daySlots + 365) wrong.push(`${year}-2-29`);
  t.is(wrong[0], undefined);
});

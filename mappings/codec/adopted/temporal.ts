import { daysIn } from '../scalars/calendar.ts';
import { isoFromJson } from '../scalars/dates.ts';
import { collapse } from '../scalars/numbers.ts';
import { type Scalar, textual } from '../scalars/scalar.ts';

/** The calendar types of XSD (part 2, 3.2.7 to 3.2.14) as text, checked and left as it came (A26). */

const year = '(?<year>-?(?:[1-9]\\d{4,}|\\d{4}))';
const month = '(?<month>0[1-9]|1[0-2])';
const day = '(?<day>0[1-9]|[12]\\d|3[01])';
const clock = '(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?|24:00:00(?:\\.0+)?)';
const zone = '(?:Z|[+-](?:(?:0\\d|1[0-3]):[0-5]\\d|14:00))?';

const grammars = {
  dateTime: new RegExp(`^${year}-${month}-${day}T${clock}${zone}$`),
  date: new RegExp(`^${year}-${month}-${day}${zone}$`),
  time: new RegExp(`^${clock}${zone}$`),
  gYearMonth: new RegExp(`^${year}-${month}${zone}$`),
  gYear: new RegExp(`^${year}${zone}$`),
  gMonthDay: new RegExp(`^--${month}-${day}${zone}$`),
  gDay: new RegExp(`^---${day}${zone}$`),
  gMonth: new RegExp(`^--${month}${zone}$`),
} as const;

/** The built-in types that are points or periods of the calendar. */
export type TemporalName = keyof typeof grammars;

/** Whether a built-in type is of the calendar. */
export function isTemporal(name: string): name is TemporalName {
  return Object.hasOwn(grammars, name);
}

/** Whether a text, without blanks around it, is of a type: its grammar, a year that isn't 0, and a day that its month has. */
function isOf(kind: TemporalName, text: string): boolean {
  const parts = grammars[kind].exec(text)?.groups;
  if (parts === undefined) return grammars[kind].test(text);
  if (parts.year?.endsWith('0000') === true && /^-?0+$/.test(parts.year)) return false;
  if (parts.day === undefined || parts.month === undefined) return true;
  // 10,000 years are whole cycles of 400
  const inCycle = parts.year === undefined ? 2000 : Number(parts.year.slice(-4));
  return Number(parts.day) <= daysIn(inCycle, Number(parts.month));
}

/** A type of the calendar; a reply's text that is none goes out as it came, counted (W22). */
export function temporal(kind: TemporalName): Scalar {
  return textual({
    expected: `xs:${kind}`,
    fromXml: (text) => {
      const collapsed = collapse(text);
      return isOf(kind, collapsed) ? collapsed : undefined;
    },
    fromReply: (text) => {
      if (isOf(kind, text)) return text;
      return kind === 'dateTime' || kind === 'date' ? isoFromJson(text, kind) : undefined;
    },
    fromRequest: (text) => (isOf(kind, text) ? text : undefined),
    misfits: 'pass',
  });
}

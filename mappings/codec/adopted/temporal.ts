import type { Settings } from '../../contract/overlay-keys.ts';
import { daysIn } from '../scalars/calendar.ts';
import { isoFromJson, momentOf, repaired, rfc3339FromXml, xmlFromRfc3339 } from '../scalars/dates.ts';
import { collapse } from '../scalars/numbers.ts';
import { type Scalar, textual } from '../scalars/scalar.ts';
import type { Zone } from '../scalars/zone.ts';

/** The calendar types of XSD (part 2, 3.2.7 to 3.2.14) as text. Values are checked and left unchanged (A26). */

/**
 * The complete grammar of each type, with time zones. They are literals, so that linear time can be verified for each.
 */
const grammars = {
  dateTime:
    /^(?<year>-?(?:[1-9]\d{4,}|\d{4}))-(?<month>0[1-9]|1[0-2])-(?<day>0[1-9]|[12]\d|3[01])T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?|24:00:00(?:\.0+)?)(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))?$/,
  date: /^(?<year>-?(?:[1-9]\d{4,}|\d{4}))-(?<month>0[1-9]|1[0-2])-(?<day>0[1-9]|[12]\d|3[01])(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))?$/,
  time: /^(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?|24:00:00(?:\.0+)?)(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))?$/,
  gYearMonth:
    /^(?<year>-?(?:[1-9]\d{4,}|\d{4}))-(?<month>0[1-9]|1[0-2])(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))?$/,
  gYear: /^(?<year>-?(?:[1-9]\d{4,}|\d{4}))(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))?$/,
  gMonthDay:
    /^--(?<month>0[1-9]|1[0-2])-(?<day>0[1-9]|[12]\d|3[01])(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))?$/,
  gDay: /^---(?<day>0[1-9]|[12]\d|3[01])(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))?$/,
  gMonth: /^--(?<month>0[1-9]|1[0-2])(?:--)?(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))?$/,
} as const;

/** The names of the built-in calendar types. */
export type TemporalName = keyof typeof grammars;

/** Returns true for a built-in calendar type. */
export function isTemporal(name: string): name is TemporalName {
  return Object.hasOwn(grammars, name);
}

/**
 * Returns true if a text without surrounding blanks is valid: it matches the grammar, its year is not 0, and its month
 * has the day.
 */
function isOf(kind: TemporalName, text: string): boolean {
  const parts = grammars[kind].exec(text)?.groups;
  if (parts === undefined) return grammars[kind].test(text);
  if (parts.year !== undefined && /^-?0+$/.test(parts.year)) return false;
  if (parts.day === undefined || parts.month === undefined) return true;
  // the last four digits suffice, because 10,000 years are whole cycles of 400
  const inCycle = parts.year === undefined ? 2000 : Number(parts.year.slice(-4));
  return Number(parts.day) <= daysIn(inCycle, Number(parts.month));
}

/**
 * Returns a request's text in the form used in JSON. `--01--` is the form of `xs:gMonth` in the first edition of XSD
 * 1.0, and the only one that Axis 1.4 writes. The second edition has `--01` (E2-12).
 */
function currentForm(kind: TemporalName, text: string): string {
  return kind === 'gMonth' && text.startsWith('--', 4) ? text.slice(0, 4) + text.slice(6) : text;
}

/** Treatment of invalid texts in replies. */
type OnInvalid = Settings['invalidDates'];

/** Returns a valid text of a reply unchanged, or converts it to the form of W17; undefined for any other text. */
function fromReply(kind: TemporalName, text: string): string | undefined {
  if (isOf(kind, text)) return text;
  return kind === 'dateTime' || kind === 'date' ? isoFromJson(text, kind) : undefined;
}

/** Converts a text after repairing it (W17). */
function repair(kind: TemporalName, text: string): string | undefined {
  const form = kind === 'dateTime' || kind === 'date' || kind === 'time' ? kind : 'other';
  return fromReply(kind, repaired(text, form));
}

/** Returns the codec of `xs:dateTime` as RFC 3339 in JSON, in a time zone (A26, `dates: utc`). */
export function zonedDateTime(zone: Zone, onInvalid: OnInvalid): Scalar {
  return textual({
    expected: 'xs:dateTime',
    fromXml: (text) => {
      const collapsed = collapse(text);
      return isOf('dateTime', collapsed) ? rfc3339FromXml(collapsed, zone) : undefined;
    },
    fromReply: (text) => xmlFromRfc3339(text, zone) ?? fromReply('dateTime', text),
    repair: (text) => {
      const likely = repaired(text, 'dateTime');
      return xmlFromRfc3339(likely, zone) ?? fromReply('dateTime', likely);
    },
    fromRequest: (text) =>
      xmlFromRfc3339(text, zone) === undefined && !isOf('dateTime', text) ? undefined : text,
    onInvalid,
  });
}

/**
 * Returns the codec of a calendar type as text (A26, `dates: text`).
 *
 * @param zone zone that supplies the offset of an `xs:dateTime` of a request without an offset; undefined to add none
 */
export function temporal(kind: TemporalName, onInvalid: OnInvalid, zone?: Zone): Scalar {
  const zoned = (text: string): string => {
    const moment = zone === undefined || kind !== 'dateTime' ? undefined : momentOf(text, 'xsd', zone);
    return typeof moment === 'string' ? moment : text;
  };
  return textual({
    expected: `xs:${kind}`,
    fromXml: (text) => {
      const collapsed = collapse(text);
      return isOf(kind, collapsed) ? zoned(currentForm(kind, collapsed)) : undefined;
    },
    fromReply: (text) => fromReply(kind, text),
    repair: (text) => repair(kind, text),
    fromRequest: (text) => (isOf(kind, text) ? zoned(currentForm(kind, text)) : undefined),
    onInvalid,
  });
}

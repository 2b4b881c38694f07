import type { Settings } from '../../contract/overlay-keys.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import { MismatchError } from '../problem.ts';
import {
  fullDateOf,
  isoFromJson,
  isoFromXml,
  momentOf,
  repaired,
  wcfFromJson,
  wcfFromXml,
  xmlFromJson,
} from './dates.ts';
import { collapse } from './numbers.ts';
import { invalid, type Refusal, type Scalar, type Scan, type Tolerated, textual } from './scalar.ts';
import { quoteText } from './text.ts';
import { scanDate } from './wcf-dates.ts';
import type { Zone } from './zone.ts';

const { date } = nodeKinds;

/** Settings of a contract for dates in ISO 8601. */
export interface IsoRules {
  /** Treatment of invalid texts in replies (`invalidDates`). */
  readonly onInvalid: Settings['invalidDates'];
  /** The time zone of a request's date-time without an offset; undefined if the contract has none. */
  readonly zone: Zone | undefined;
  /** True if a date-time without an offset is refused because there is no zone (`validate: strict`). */
  readonly isStrict: boolean;
}

/**
 * Returns a reply's valid text of an `xs:dateTime` or `xs:date` unchanged, or converts it to the form of W17. Undefined
 * for other text.
 */
function isoFromReply(text: string, kind: 'dateTime' | 'date'): string | undefined {
  return isoFromXml(text, kind) === text ? text : isoFromJson(text, kind);
}

/** ISO 8601 in replies, RFC 3339 in requests (W16, W17). */
export function isoDateTime({ onInvalid, zone, isStrict }: IsoRules): Scalar {
  const convert = (text: string, grammar: 'xsd' | 'json'): string | Refusal | undefined => {
    const moment = momentOf(text, grammar, zone);
    if (typeof moment !== 'object') return moment;
    return isStrict
      ? invalid('xs:dateTime with Z or an offset such as +01:00', quoteText(text))
      : moment.zoneless;
  };
  return {
    ...textual({
      expected: 'xs:dateTime',
      fromXml: (text) => convert(collapse(text), 'xsd'),
      fromReply: (text) => isoFromReply(text, 'dateTime'),
      repair: (text) => isoFromReply(repaired(text, 'dateTime'), 'dateTime'),
      fromRequest: (text) => convert(text, 'json'),
      onInvalid,
    }),
    scan: unlessDateAlone,
  };
}

/**
 * ISO 8601 in replies, a full-date of RFC 3339 in requests. The zone of a request, which full-date does not allow, is
 * removed and recorded as a deviation (W16).
 */
export function isoDate(onInvalid: IsoRules['onInvalid']): Scalar {
  const convert = (text: string, grammar: 'xsd' | 'json'): string | Tolerated | undefined => {
    const date = fullDateOf(text, grammar);
    return date === undefined || date === text ? date : { token: `"${date}"`, deviation: 'dateZone' };
  };
  return textual({
    expected: 'xs:date',
    fromXml: (text) => convert(collapse(text), 'xsd'),
    fromReply: (text) => isoFromReply(text, 'date'),
    repair: (text) => isoFromReply(repaired(text, 'date'), 'date'),
    fromRequest: (text) => convert(text, 'json'),
    onInvalid,
  });
}

/** An `xs:dateTime` that is `/Date(…)/` in JSON (W16, W17). */
export function wcfDate(zone: Zone, utcDates: 'zoned' | 'bare', onInvalid: IsoRules['onInvalid']): Scalar {
  return {
    ...textual({
      expected: 'xs:dateTime',
      fromXml: (text) => wcfFromXml(text, zone, utcDates),
      fromReply: (text) => xmlFromJson(text, zone),
      repair: (text) => isoFromReply(repaired(text, 'dateTime'), 'dateTime'),
      fromRequest: (text) => wcfFromJson(text, zone, utcDates),
      onInvalid,
    }),
    scan: (otherwise) => {
      const slowly = unlessDateAlone(otherwise);
      return (tape) => scanWcfDate(tape, zone, slowly);
    },
  };
}

function scanWcfDate(tape: Tape, zone: Zone, otherwise: Scan): void {
  const found = tape.peek() === 34 ? scanDate(tape, zone) : undefined;
  if (found === undefined) otherwise(tape);
  else tape.pushRange(date, found.days, found.ms * 2 + (found.utc ? 1 : 0));
}

/** A date without a time, as JSON. */
const dateToken = /^"\d{4}-\d\d-\d\d(?:[Zz]|[+-]\d\d:?\d\d)?"$/;

/**
 * Refuses a date without a time if a union tries the type: another variant may be a date, and midnight would be added
 * to the value.
 */
function unlessDateAlone(otherwise: Scan): Scan {
  return (tape) => {
    if (tape.strict && tape.peek() === 34) {
      const start = tape.position;
      tape.scanString();
      const token = tape.slice(start, tape.position);
      if (dateToken.test(token)) throw new MismatchError({ expected: 'xs:dateTime', got: 'a date alone' });
      tape.position = start;
    }
    otherwise(tape);
  };
}

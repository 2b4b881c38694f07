import { nodeKinds, type Tape } from '../../json/tape.ts';
import { MismatchError } from '../problem.ts';
import { isoFromJson, isoFromXml, wcfFromJson, wcfFromXml, xmlFromJson } from './dates.ts';
import { type Scalar, type Scan, textual } from './scalar.ts';
import { scanDate } from './wcf-dates.ts';
import type { Zone } from './zone.ts';

const { date } = nodeKinds;

/**
 * ISO 8601 in JSON: a date that the schema's type has goes as it came, another form in that of W17, other text all the
 * same.
 */
export function isoDate(kind: 'dateTime' | 'date'): Scalar {
  const scalar = textual({
    expected: `xs:${kind}`,
    fromXml: (text) => isoFromXml(text, kind),
    fromReply: (text) => (isoFromXml(text, kind) === text ? text : isoFromJson(text, kind)),
    fromRequest: (text) => (isoFromJson(text, kind) === undefined ? undefined : text),
    misfits: 'pass',
  });
  return kind === 'date' ? scalar : { ...scalar, scan: unlessDateAlone };
}

/** An `xs:dateTime` that is `/Date(…)/` in JSON (W16, W17). */
export function wcfDate(zone: Zone, utcDates: 'zoned' | 'bare'): Scalar {
  return {
    ...textual({
      expected: 'xs:dateTime',
      fromXml: (text) => wcfFromXml(text, zone, utcDates),
      fromReply: (text) => xmlFromJson(text, zone),
      fromRequest: (text) => wcfFromJson(text, zone, utcDates),
      misfits: 'refuse',
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

/** Midnight of a date comes back as more than was there: where another variant of a union may be a date, it is none. */
function unlessDateAlone(otherwise: Scan): Scan {
  return (tape) => {
    if (tape.strict && tape.peek() === 34) {
      const start = tape.position;
      tape.scanString();
      const token = tape.slice(start, tape.position);
      if (dateToken.test(token)) throw new MismatchError('expected xs:dateTime, got a date alone');
      tape.position = start;
    }
    otherwise(tape);
  };
}

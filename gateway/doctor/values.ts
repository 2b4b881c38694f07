import { integers, numbers } from '../../mappings/codec/adopted/facets.ts';
import type { View } from './view.ts';

/** The error in a value, and a corrected value. */
export interface ValueAdvice {
  /** The likely cause, in the client's terms. */
  readonly cause: string;
  /** The corrected value; undefined if only the client knows it. */
  readonly instead?: string | undefined;
}

type TextView = Extract<View, { kind: 'text' }>;

/** Returns the likely cause of a text that is not a value of its type, with a corrected value; undefined if none is known. */
export function adviseOn(text: string, view: TextView): ValueAdvice | undefined {
  for (const advise of advisers) {
    const advice = advise(text, view);
    if (advice === undefined) continue;
    const isRight = advice.instead === undefined || view.refusal(advice.instead) === undefined;
    return isRight ? advice : { cause: advice.cause };
  }
  return undefined;
}

type Adviser = (text: string, view: TextView) => ValueAdvice | undefined;

const isNumber = (type: string): boolean => numbers.has(type);
const isInteger = (type: string): boolean => integers.has(type);

const empty: Adviser = (text, { type, values }) => {
  if (text.trim() !== '') return undefined;
  const what = values.length > 0 ? 'no allowed value is empty' : `xs:${type} has no empty value`;
  return { cause: `the element is empty, but ${what}: omit the element` };
};

const word: Adviser = (text, { type, values }) =>
  /^(?:null|nil|undefined|none|nan|\[object Object\])$/i.test(text) &&
  (type !== 'string' || values.length > 0)
    ? {
        cause: `"${text.toLowerCase().slice(0, 20)}" is a keyword of a programming language, not a value: omit the element, or write xsi:nil="true"`,
      }
    : undefined;

const trueOrFalse: Adviser = (text, { type }) => {
  if (type !== 'boolean') return undefined;
  const lower = text.trim().toLowerCase();
  const isTrue = ['true', 'yes', 'y', 'on', 'ja', 'oui', 'si', 't', '-1'].includes(lower);
  const isFalse = ['false', 'no', 'n', 'off', 'nein', 'non', 'f'].includes(lower);
  const cause = 'expected true, false, 1 or 0 in lower case (xs:boolean)';
  return { cause, instead: isTrue ? 'true' : isFalse ? 'false' : undefined };
};

const enumValue: Adviser = (text, { values }) => {
  if (values.length === 0) return undefined;
  const folded = text.trim().toLowerCase();
  const same = values.find((value) => value.toLowerCase() === folded);
  const listed = values.slice(0, 12).join(', ') + (values.length > 12 ? ', …' : '');
  if (same !== undefined)
    return { cause: `case and white space of values matter: expected one of ${listed}`, instead: same };
  if (/^\d{1,3}$/.test(folded))
    return { cause: 'got a number, probably the position of the value in an enum of the client' };
  // the codec names only the type if there are too many values
  return values.length > 12 && text.trim() !== '' ? { cause: `expected one of ${listed}` } : undefined;
};

const numberForm: Adviser = (text, { type, refusal }) => {
  if (!isNumber(type)) return undefined;
  const plain = text.trim().replace(/^[€$£¥]\s?|\s?(?:[€$£¥%]|EUR|USD|GBP|CHF)$/g, '');
  if (plain !== text.trim())
    return { cause: 'a number has no currency or percent sign', instead: plain.replace(',', '.') };
  if (/^[+-]?\d+,\d+$/.test(plain))
    return {
      cause: `expected a decimal point, got a comma: the client formats numbers by the locale`,
      instead: plain.replace(',', '.'),
    };
  if (/^[+-]?\d{1,3}(?:[,.' \u00a0]\d{3})+(?:[.,]\d+)?$/.test(plain)) {
    const fraction = /([.,])(\d+)$/.exec(plain);
    const isFraction = fraction !== null && fraction[2]?.length !== 3;
    const whole = (isFraction ? plain.slice(0, fraction.index) : plain).replace(/[^\d+-]/g, '');
    return {
      cause: 'expected no thousands separators: the client formats numbers by the locale',
      instead: isFraction ? `${whole}.${fraction[2]}` : whole,
    };
  }
  if (/^0x[\da-f]{1,15}$/i.test(plain))
    return { cause: 'numbers are decimal, not hexadecimal', instead: String(Number.parseInt(plain, 16)) };
  if (isInteger(type) && /^[+-]?\d+\.0*$/.test(plain))
    return {
      cause: `xs:${type} is a whole number: the client sends a floating-point number`,
      instead: plain.replace(/\.0*$/, ''),
    };
  if (isInteger(type) && /^[+-]?\d+\.\d+$/.test(plain))
    return { cause: `xs:${type} is a whole number, but this has a fraction` };
  if (/^[+-]?\d+$/.test(plain) && refusal(plain) !== undefined)
    return { cause: `the number is outside the range of xs:${type}` };
  if (/^[+-]?\d+(?:\.\d+)?e[+-]?\d+$/i.test(plain))
    return {
      cause: `xs:${type} has no exponent: the client formats it as a floating-point number`,
      instead: String(Number(plain)),
    };
  if (/^(?:true|false)$/i.test(plain)) return { cause: 'expected a number, got a boolean' };
  return undefined;
};

const two = (text: string): string => text.padStart(2, '0');

const isoDate =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ]?(\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,12})?)?)?\s?(Z|[+-]\d{2}:?\d{2})?$/i;

const dateForm: Adviser = (text, { type }) => {
  if (type !== 'date' && type !== 'dateTime') return undefined;
  const value = text.trim();
  const expected =
    type === 'date'
      ? 'xs:date is 2026-01-31'
      : 'xs:dateTime is 2026-01-31T12:00:00, with Z or +01:00 if the time zone matters';
  const wcf = /^\\?\/Date\((-?\d{1,15})(?:[+-]\d{4})?\)\\?\/$/.exec(value);
  if (wcf !== null) return epoch(Number(wcf[1]), 'this is a .NET JSON date', type);
  if (/^\d{9,10}$/.test(value))
    return epoch(Number(value) * 1000, 'this is a count of seconds (Unix time)', type);
  if (/^\d{12,13}$/.test(value))
    return epoch(Number(value), 'this is a count of milliseconds (JavaScript, Java)', type);
  const iso = isoDate.exec(value);
  return iso === null ? localDate(value, expected, type) : almostIso(iso, expected, type);
};

/** Returns advice on a date in ISO 8601 that is not a value of its XSD type. */
function almostIso(iso: RegExpExecArray, expected: string, type: 'date' | 'dateTime'): ValueAdvice {
  const [value, year = '', month = '', day = '', hours, minutes, seconds = '00', zone = ''] = iso;
  if (!isDay(Number(year), Number(month), Number(day))) return { cause: `there is no such day; ${expected}` };
  const date = `${year}-${month}-${day}`;
  if (type === 'date') return { cause: `the value is a date with a time; ${expected}`, instead: date };
  if (hours === undefined)
    return { cause: `the value is a date without a time; ${expected}`, instead: `${date}T00:00:00` };
  const colon = zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone.toUpperCase();
  const why = /T/i.test(value)
    ? 'the time or its zone has another form'
    : 'expected a T between date and time, got a space';
  return { cause: `${why}; ${expected}`, instead: `${date}T${hours}:${minutes}:${seconds}${colon}` };
}

/** Returns advice on a date in the format of a country or a program. */
function localDate(value: string, expected: string, type: 'date' | 'dateTime'): ValueAdvice {
  const of = (date: string, time = '00:00:00'): string => (type === 'date' ? date : `${date}T${time}`);
  const dotted = /^(\d{1,2})\.(\d{1,2})\.(\d{4})(?:[ ,T]+(\d{1,2}):(\d{2})(?::(\d{2}))?)?$/.exec(value);
  if (dotted !== null) {
    const [, day = '', month = '', year = '', hours, minutes = '00', seconds = '00'] = dotted;
    const time = hours === undefined ? undefined : `${two(hours)}:${minutes}:${seconds}`;
    return {
      cause: `the date has the German format (31.01.2026): the client formats dates by the locale; ${expected}`,
      instead: of(`${year}-${two(month)}-${two(day)}`, time),
    };
  }
  const slashed = /^(\d{1,2})\/(\d{1,2})\/(\d{4})/.exec(value);
  if (slashed !== null) {
    const [, first = '', second = '', year = ''] = slashed;
    const isBritish = Number(first) > 12;
    const isAmerican = Number(second) > 12;
    const date = isBritish ? `${year}-${two(second)}-${two(first)}` : `${year}-${two(first)}-${two(second)}`;
    return {
      cause: `the date has slashes, so day and month are ambiguous; ${expected}`,
      instead: (isBritish || isAmerican) && value.length <= 10 ? of(date) : undefined,
    };
  }
  const loose = /^(\d{4})[-/.]?(\d{1,2})[-/.]?(\d{1,2})$/.exec(value);
  if (loose !== null) {
    const [, year = '', month = '', day = ''] = loose;
    return {
      cause: `the date lacks hyphens or zeros; ${expected}`,
      instead: of(`${year}-${two(month)}-${two(day)}`),
    };
  }
  return { cause: expected };
}

function epoch(ms: number, what: string, type: string): ValueAdvice {
  const date = new Date(ms);
  const text = Number.isNaN(date.getTime()) ? undefined : date.toISOString().replace('.000Z', 'Z');
  return {
    cause: `${what}: expected xs:${type}, such as 2026-01-31${type === 'date' ? '' : 'T12:00:00Z'}`,
    instead: type === 'date' ? text?.slice(0, 10) : text,
  };
}

function isDay(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

const timeSpan: Adviser = (text, { type }) => {
  if (type !== 'duration') return undefined;
  const parts = /^(?:(\d{1,6})\.)?(\d{1,3}):(\d{2})(?::(\d{2}))?$/.exec(text.trim());
  const expected = 'xs:duration is written as P1DT2H30M';
  if (parts === null) return { cause: expected };
  const [, days = '0', hours = '0', minutes = '0', seconds = '0'] = parts;
  return {
    cause: `this is the format of a .NET TimeSpan (hours:minutes); ${expected}`,
    instead: `P${Number(days)}DT${Number(hours)}H${Number(minutes)}M${Number(seconds)}S`,
  };
};

const bytes: Adviser = (text, { type }) => {
  if (type !== 'base64Binary') return undefined;
  const expected = 'xs:base64Binary is base64 (RFC 4648, 4) with its padding';
  const url = /^data:[^,]*;base64,/.exec(text);
  if (url !== null)
    return {
      cause: `the value is a data: URL; ${expected} without the prefix`,
      instead: text.slice(url[0].length),
    };
  if (/[-_]/.test(text) && !/[+/]/.test(text) && /^[\w-]+=*$/.test(text)) {
    const plain = text.replaceAll('-', '+').replaceAll('_', '/').replaceAll('=', '');
    return { cause: `this is base64 for URLs (- and _ for + and /); ${expected}`, instead: padded(plain) };
  }
  if (/^[A-Za-z0-9+/]+$/.test(text) && text.length % 4 !== 0 && text.length % 4 !== 1)
    return { cause: `the padding (=) at the end is missing; ${expected}`, instead: padded(text) };
  return {
    cause: `${expected}; got other text, perhaps raw bytes or a file name`,
  };
};

function padded(text: string): string {
  return text.padEnd(Math.ceil(text.length / 4) * 4, '=');
}

const advisers: readonly Adviser[] = [
  empty,
  enumValue,
  word,
  trueOrFalse,
  numberForm,
  dateForm,
  timeSpan,
  bytes,
];

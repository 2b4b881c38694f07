import { integers, numbers } from '../codec/adopted/facets.ts';
import { base64FromXml, base64Size } from '../codec/scalars/base64.ts';
import { collapse } from '../codec/scalars/numbers.ts';
import type { Zone } from '../codec/scalars/zone.ts';
import type { BuiltIn, SimpleType } from '../contract/type-graph.ts';
import { digestedBytes, digestOf, isDigest } from '../http-mapping/related-digests.ts';
import { type Decimal, decimalOf, plainText } from '../json/decimal.ts';
import type { Note } from './comparison.ts';
import {
  dateTimeOf,
  dayOf,
  distanceMs,
  durationKey,
  durationOf,
  inZone,
  isUsualInstant,
  type Moment,
  momentKey,
  msBetweenDurations,
  splitOffset,
  timeOf,
} from './moments.ts';
import type { Tolerance } from './rules.ts';

// Equality, notes and classes of scalars (G36, G38, G40).

/** Groups of types whose values are compared in the same way. */
type Family =
  | 'number'
  | 'float'
  | 'double'
  | 'boolean'
  | 'moment'
  | 'date'
  | 'duration'
  | 'bytes'
  | 'hex'
  | 'name'
  | 'text';

const families: { readonly [name in BuiltIn]?: Family } = {
  float: 'float',
  double: 'double',
  boolean: 'boolean',
  dateTime: 'moment',
  time: 'moment',
  date: 'date',
  gYear: 'date',
  gYearMonth: 'date',
  gMonth: 'date',
  gMonthDay: 'date',
  gDay: 'date',
  duration: 'duration',
  base64Binary: 'bytes',
  hexBinary: 'hex',
  QName: 'name',
  NOTATION: 'name',
};

function familyOf({ builtIn, variety }: SimpleType): Family {
  if (variety.kind !== 'atomic') return 'text';
  return families[builtIn] ?? (numbers.has(builtIn) ? 'number' : 'text');
}

/**
 * Returns a text that equal values of a type share, and others do not (G38). A value outside the type is its text.
 *
 * @param zone zone of a dateTime without an offset (G43); undefined for none
 */
export function scalarKey(type: SimpleType, text: string, zone: Zone | undefined): string {
  return valueKey(type, text, zone) ?? `text ${text}`;
}

function valueKey(type: SimpleType, text: string, zone: Zone | undefined): string | undefined {
  switch (familyOf(type)) {
    case 'number':
      return decimalKey(type, text);
    case 'float':
    case 'double':
      return doubleKey(text, type.builtIn === 'float');
    case 'boolean':
      return /^(?:true|1)$/.test(text) ? 'true' : /^(?:false|0)$/.test(text) ? 'false' : undefined;
    case 'moment': {
      if (isUsualInstant(text)) return text;
      const moment = zonedMoment(type, text, zone);
      return moment && momentKey(moment);
    }
    case 'date':
      return dateKey(type, text);
    case 'duration':
      return durationKey(collapse(text));
    case 'bytes':
      return bytesKey(text);
    case 'hex': {
      const digits = collapse(text).toUpperCase();
      return /^(?:[\dA-F]{2})*$/.test(digits) ? digits : undefined;
    }
    default:
      return undefined;
  }
}

/** Returns base64 without blanks, or the digest of a long value, because an attached one may have only its digest. */
function bytesKey(text: string): string | undefined {
  if (isDigest(text)) return text;
  const letters = base64FromXml(text);
  if (letters === undefined || base64Size(letters) < digestedBytes) return letters;
  return digestOf(Buffer.from(letters, 'base64'));
}

const dateForms: { readonly [name in BuiltIn]?: RegExp } = {
  date: /^-?\d+-\d\d-\d\d$/,
  gYearMonth: /^-?\d+-\d\d$/,
  gYear: /^-?\d+$/,
  gMonthDay: /^--\d\d-\d\d$/,
  gMonth: /^--\d\d$/,
  gDay: /^---\d\d$/,
};

/** Returns a date, or a part of one, without its offset; undefined for a value outside the type. */
function dateKey({ builtIn }: SimpleType, text: string): string | undefined {
  const { value } = splitOffset(text);
  const isOfType = dateForms[builtIn]?.test(value) === true && dayOf(collapse(text)) !== undefined;
  return isOfType ? value : undefined;
}

const numberForm = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,6})?$/i;

/** Returns the value of a number; undefined for another text. */
function exactOf({ builtIn }: SimpleType, text: string): Decimal | undefined {
  const trimmed = collapse(text);
  // only floating numbers have an exponent
  const isExact = builtIn !== 'float' && builtIn !== 'double';
  if (!numberForm.test(trimmed) || (isExact && /e/i.test(trimmed))) return undefined;
  if (integers.has(builtIn) && trimmed.includes('.')) return undefined;
  return decimalOf(trimmed.replace('+', ''));
}

/** Returns the digits of a number without zeros at the end of its fraction; undefined for another text. */
function decimalKey(type: SimpleType, text: string): string | undefined {
  if (/^-?[1-9]\d*$/.test(text)) return text;
  const exact = exactOf(type, text);
  if (exact === undefined) return undefined;
  const { isNegative, digits, exponent } = exact;
  if (exponent < 0 || exponent > maxPowers) return plainText(exact);
  return `${isNegative ? '-' : ''}${digits}${'0'.repeat(exponent)}`;
}

function doubleKey(text: string, isFloat: boolean): string | undefined {
  const trimmed = collapse(text);
  if (!numberForm.test(trimmed)) return undefined;
  const value = isFloat ? Math.fround(Number(trimmed)) : Number(trimmed);
  return String(value === 0 ? 0 : value);
}

/** Parses an `xs:dateTime` or an `xs:time`; undefined for a value outside the type. */
function momentOf({ builtIn }: SimpleType, text: string): Moment | undefined {
  const collapsed = collapse(text);
  return builtIn === 'time' ? timeOf(collapsed) : dateTimeOf(collapsed);
}

/** Returns true for an `xs:dateTime` without an offset. */
export function isLocal(type: SimpleType, text: string): boolean {
  return type.builtIn === 'dateTime' && momentOf(type, text)?.offset === undefined;
}

function zonedMoment(type: SimpleType, text: string, zone: Zone | undefined): Moment | undefined {
  const moment = momentOf(type, text);
  const isZoned = zone !== undefined && moment?.offset === undefined && type.builtIn === 'dateTime';
  return isZoned && moment !== undefined ? inZone(moment, zone) : moment;
}

/** Returns the note about two equal values with different texts; undefined for none (G36). */
export function scalarNote(type: SimpleType, legacy: string, fresh: string): Note['note'] | undefined {
  switch (familyOf(type)) {
    case 'moment':
      return momentOf(type, legacy)?.offset === momentOf(type, fresh)?.offset ? undefined : 'offset';
    case 'date':
      return splitOffset(legacy).offset === splitOffset(fresh).offset ? undefined : 'offset';
    case 'number':
      return type.builtIn !== 'decimal' || decimals(legacy) === decimals(fresh) ? undefined : 'scale';
    default:
      return undefined;
  }
}

/** Returns the number of digits after the point. */
function decimals(text: string): number {
  return /\.(\d*)/.exec(text)?.[1]?.length ?? 0;
}

/** Relative difference of numbers up to which they have the class `rounding`. */
const rounding = 1e-6;

/** Returns the class of two different values of any type: only one has content, or another difference (G40). */
export function contentClass(legacy: string, fresh: string): 'empty' | 'other' {
  return legacy === '' || fresh === '' ? 'empty' : 'other';
}

/** Returns the class of two different values (G40). */
export function scalarClass(type: SimpleType, legacy: string, fresh: string): string {
  const otherwise = contentClass(legacy, fresh);
  switch (familyOf(type)) {
    case 'text':
      return textClass(legacy, fresh) ?? otherwise;
    case 'number':
    case 'float':
    case 'double': {
      if (exactOf(type, legacy) === undefined || exactOf(type, fresh) === undefined) return otherwise;
      const [one, other] = [Number(legacy), Number(fresh)];
      const largest = Math.max(Math.abs(one), Math.abs(other));
      return Math.abs(one - other) <= largest * rounding ? 'rounding' : otherwise;
    }
    case 'moment': {
      const [one, other] = [momentOf(type, legacy), momentOf(type, fresh)];
      const isZone =
        one !== undefined &&
        other !== undefined &&
        (one.offset === undefined) !== (other.offset === undefined);
      return isZone ? 'zone' : otherwise;
    }
    case 'bytes':
    case 'hex':
      return 'bytes';
    default:
      return otherwise;
  }
}

/** The classes of texts in order, each with the form that makes texts of the class equal. */
const textForms: readonly (readonly [string, (text: string) => string])[] = [
  ['lineEnds', (text) => text.replace(/\r\n?/g, '\n')],
  ['whitespace', (text) => text.replace(/[ \t\r\n]+/g, ' ').trim()],
  ['case', (text) => text.toLowerCase()],
  ['normalization', (text) => text.normalize('NFC')],
];

/** Returns the class of two different texts; undefined for none. */
export function textClass(legacy: string, fresh: string): string | undefined {
  const found = textForms.find(([, form]) => form(legacy) === form(fresh));
  if (found !== undefined) return found[0];
  const [short, long] = legacy.length < fresh.length ? [legacy, fresh] : [fresh, legacy];
  return short !== '' && long.startsWith(short) ? 'truncated' : undefined;
}

/** Returns true if two numbers, or two times, differ at most by a tolerance (G43). */
export function isWithin(
  type: SimpleType,
  legacy: string,
  fresh: string,
  { kind, of }: Tolerance,
  zone: Zone | undefined,
): boolean {
  if (kind === 'ms') return (msBetween(type, legacy, fresh, zone) ?? Number.POSITIVE_INFINITY) <= of;
  const [one, other] = [exactOf(type, legacy), exactOf(type, fresh)];
  if (!['number', 'float', 'double'].includes(familyOf(type)) || one === undefined || other === undefined)
    return false;
  const limit = kind === 'number' ? of : percentOf(one, of);
  const powers = [one, other, limit].map(({ exponent }) => exponent);
  const least = Math.min(...powers);
  if (Math.max(...powers) - least > maxPowers) return false;
  const distance = scaled(one, least) - scaled(other, least);
  return (distance < 0n ? -distance : distance) <= scaled(limit, least);
}

/**
 * Returns the ms between two times or durations. A time is at most 12 hours from another. Undefined for other values,
 * if only one has an offset, and for durations with different months.
 */
function msBetween(
  type: SimpleType,
  legacy: string,
  fresh: string,
  zone: Zone | undefined,
): number | undefined {
  if (familyOf(type) === 'duration') {
    const [one, other] = [durationOf(collapse(legacy)), durationOf(collapse(fresh))];
    return one && other && msBetweenDurations(one, other);
  }
  if (familyOf(type) !== 'moment' && type.builtIn !== 'date') return undefined;
  const [one, other] = [legacy, fresh].map((text) => zonedMoment(type, withTime(type, text), zone));
  if (one === undefined || other === undefined) return undefined;
  if ((one.offset === undefined) !== (other.offset === undefined)) return undefined;
  const distance = distanceMs(one, other);
  return type.builtIn === 'time' ? Math.min(distance, 86_400_000 - distance) : distance;
}

function percentOf(value: Decimal, percent: Decimal): Decimal {
  const digits = BigInt(value.digits || '0') * BigInt(percent.digits || '0');
  return { isNegative: false, digits: String(digits), exponent: value.exponent + percent.exponent - 2 };
}

/** Returns an `xs:date` as the start of its day; other texts as they are. */
function withTime({ builtIn }: SimpleType, text: string): string {
  const { value, offset } = splitOffset(text);
  return builtIn === 'date' ? `${value}T00:00:00${offset}` : text;
}

/** Maximum number of powers of ten between the digits of two numbers that a tolerance compares. */
const maxPowers = 1_000;

/** Returns a number divided by a power of ten. The exponent of the power is at most the exponent of the number. */
function scaled({ isNegative, digits, exponent }: Decimal, power: number): bigint {
  const size = BigInt(digits || '0') * 10n ** BigInt(Math.max(0, exponent - power));
  return isNegative ? -size : size;
}

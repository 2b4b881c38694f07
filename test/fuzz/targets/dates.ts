import {
  isoFromJson,
  isoFromXml,
  wcfFromJson,
  wcfFromXml,
  xmlFromJson,
} from '../../../mappings/codec/scalars/dates.ts';
import { createZone } from '../../../mappings/codec/scalars/zone.ts';
import type { Random } from '../random.ts';
import { target } from '../target.ts';

const utc = createZone('UTC');
/** A zone that is always five hours ahead of UTC. */
const ahead = createZone('Etc/GMT-5');
const aheadMs = 5n * 3_600_000n;

interface Outcome {
  readonly text: string;
  readonly wcfUtc: string | undefined;
  readonly wcfBare: string | undefined;
  readonly wcfAhead: string | undefined;
  readonly xmlUtc: string | undefined;
  readonly xmlAhead: string | undefined;
  readonly fromJson: string | undefined;
  readonly xmlDateTime: string | undefined;
  readonly xmlDate: string | undefined;
  readonly jsonDateTime: string | undefined;
  readonly jsonDate: string | undefined;
}

/**
 * Converts a text as a date of each grammar, in both directions. The oracle is a calendar that counts days in BigInt.
 */
export const dates = target<Outcome>({
  name: 'dates',
  words: [
    ...[
      '/Date(',
      ')/',
      '-0000',
      '+0000',
      '+1400',
      '-1400',
      '+1401',
      '+0560',
      'T',
      't',
      'Z',
      'z',
      ':',
      '-',
      '.',
    ],
    ...[
      '24:00:00',
      '23:59:60',
      '+14:00',
      '-14:00',
      '+05:30',
      '0000',
      '0001',
      '9999',
      '-02-29',
      '-02-30',
      '-12-31',
    ],
    ...[
      '253402300799999',
      '253402300800000',
      '-62135596800000',
      '-62135596800001',
      ' ',
      '\n',
      '.999',
      '٣',
      '００',
    ],
  ],
  make: makeDate,
  run: (input) => {
    const text = input.toString('utf8');
    return {
      text,
      wcfUtc: wcfFromXml(text, utc, 'zoned'),
      wcfBare: wcfFromXml(text, utc, 'bare'),
      wcfAhead: wcfFromXml(text, ahead, 'zoned'),
      xmlUtc: xmlFromJson(text, utc),
      xmlAhead: xmlFromJson(text, ahead),
      fromJson: wcfFromJson(text, utc, 'zoned'),
      xmlDateTime: isoFromXml(text, 'dateTime'),
      xmlDate: isoFromXml(text, 'date'),
      jsonDateTime: isoFromJson(text, 'dateTime'),
      jsonDate: isoFromJson(text, 'date'),
    };
  },
  kind: ({ text: _, ...all }) =>
    Object.values(all)
      .map((written) => (written === undefined ? '-' : written.replace(/\d+/g, '#').slice(0, 12)))
      .join(' '),
  judge: (_, outcome) => {
    const expected = model(outcome.text);
    for (const [name, written] of Object.entries(outcome) as [keyof Outcome, string | undefined][]) {
      if (written !== expected[name]) {
        return `${name}: expected ${expected[name] ?? 'a refusal'}, got ${written ?? 'one'}`;
      }
    }
    return undefined;
  },
});

const first = -62_135_596_800_000n;
const last = 253_402_300_799_999n;
const dayMs = 86_400_000n;

function model(text: string): Outcome {
  const trimmed = text.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
  const xsd = modelIso(trimmed, xsdForm);
  const json = modelIso(text, jsonForm);
  const wcf = modelWcf(text);
  const isWcf = text.startsWith('/');
  return {
    text,
    wcfUtc: toWcf(xsd, 0n, '-0000'),
    wcfBare: toWcf(xsd, 0n, xsd?.suffix.toUpperCase() === 'Z' ? '' : '-0000'),
    wcfAhead: toWcf(xsd, aheadMs, '-0000'),
    xmlUtc: isWcf ? fromWcf(wcf, 0n) : toIso(json),
    xmlAhead: isWcf ? fromWcf(wcf, aheadMs) : toIso(json),
    fromJson: isWcf ? wcf && text : toWcf(xsd, 0n, '-0000'),
    xmlDateTime: xsd?.timed === true ? trimmed : undefined,
    xmlDate: xsd?.timed === false ? trimmed : undefined,
    jsonDateTime: toIso(json),
    jsonDate: json?.timed === false ? text.toUpperCase() : undefined,
  };
}

interface Iso {
  /** The wall clock, in ms as if it were UTC. */
  readonly wall: bigint;
  readonly timed: boolean;
  readonly fraction: string;
  readonly suffix: string;
}

const xsdForm = /^(\d{4})-(\d\d)-(\d\d)(T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d:\d\d)?$/;
const jsonForm = /^(\d{4})-(\d\d)-(\d\d)([Tt](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?([Zz]|[+-]\d\d:\d\d)?$/;

/** XSD Part 2, 3.2.7: an existing date with an offset of at most 14 hours. */
function modelIso(text: string, form: RegExp): Iso | undefined {
  const match = form.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, time, hour = 0, minute = 0, second = 0, fraction = '', suffix = ''] = match;
  const days = dayNumber(Number(year), Number(month), Number(day));
  if (days === undefined || offsetMinutes(suffix) === undefined) return undefined;
  const rest = [minute, second, fraction === '' ? 0 : fraction].map(Number);
  const midnight = Number(hour) === 24 && rest.every((part) => part === 0);
  if (Number(minute) > 59 || Number(second) > 59 || (Number(hour) > 23 && !midnight)) return undefined;
  const ms = BigInt(fraction.slice(0, 3).padEnd(3, '0'));
  const seconds = (BigInt(hour) * 60n + BigInt(minute)) * 60n + BigInt(second);
  const wall = days * dayMs + seconds * 1000n + ms;
  return wall > last ? undefined : { wall, timed: time !== undefined, fraction, suffix };
}

const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** Returns the days since 1970-01-01, or undefined for an invalid date. */
function dayNumber(year: number, month: number, day: number): bigint | undefined {
  const length = (monthDays[month - 1] ?? 0) + (month === 2 && isLeap(year) ? 1 : 0);
  if (year < 1 || day < 1 || day > length) return undefined;
  const before = monthDays.slice(0, month - 1).reduce((sum, days) => sum + days, 0);
  const leap = month > 2 && isLeap(year) ? 1 : 0;
  return firstOfYear(BigInt(year)) + BigInt(before + leap + day - 1);
}

function firstOfYear(year: bigint): bigint {
  const past = year - 1n;
  return past * 365n + past / 4n - past / 100n + past / 400n - 719_162n;
}

/** Returns the minutes of `±hh:mm`, `±hhmm`, `Z` or an empty suffix; undefined beyond 14 hours. */
function offsetMinutes(suffix: string): bigint | undefined {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)$/.exec(suffix) ?? [];
  const size = Number(hours) * 60 + Number(minutes);
  if (Number(minutes) > 59 || size > 14 * 60) return undefined;
  return BigInt(sign === '-' ? -size : size);
}

function clamp(ms: bigint): bigint {
  if (ms < first) return first;
  return ms > last ? last : ms;
}

/** W16: a date without offset is in the zone, `ahead` of UTC. The minimum and maximum date are the same in any zone. */
function toWcf(iso: Iso | undefined, zoneMs: bigint, suffix: string): string | undefined {
  if (iso === undefined) return undefined;
  if (iso.suffix === 'Z') return `/Date(${iso.wall}${suffix})/`;
  const minutes = offsetMinutes(iso.suffix) ?? 0n;
  if (iso.suffix !== '') return `/Date(${clamp(iso.wall - minutes * 60_000n)}-0000)/`;
  const isBound = iso.wall === first || iso.wall === last;
  return `/Date(${isBound ? iso.wall : clamp(iso.wall - zoneMs)}-0000)/`;
}

function modelWcf(text: string): { readonly ms: bigint; readonly suffix: string } | undefined {
  const [, digits, suffix = ''] = /^\/Date\((-?\d+)([+-]\d{4})?\)\/$/.exec(text) ?? [];
  if (digits === undefined || offsetMinutes(suffix) === undefined) return undefined;
  const ms = BigInt(digits);
  return ms < first || ms > last ? undefined : { ms, suffix };
}

/** W17. */
function fromWcf(
  wcf: { readonly ms: bigint; readonly suffix: string } | undefined,
  zoneMs: bigint,
): string | undefined {
  if (wcf === undefined) return undefined;
  const { ms, suffix } = wcf;
  if (ms === first || ms === last) return writeWall(ms);
  if (suffix === '') return `${writeWall(ms)}Z`;
  if (suffix === '-0000') return writeWall(clamp(ms + zoneMs));
  const wall = clamp(ms + (offsetMinutes(suffix) ?? 0n) * 60_000n);
  return `${writeWall(wall)}${suffix.slice(0, 3)}:${suffix.slice(3)}`;
}

/** W17: canonical form, at most seven digits of a fraction. */
function toIso(iso: Iso | undefined): string | undefined {
  if (iso === undefined) return undefined;
  const fraction = iso.fraction.slice(0, 7).replace(/0+$/, '');
  const whole = writeWall(iso.wall - (((iso.wall % 1000n) + 1000n) % 1000n));
  return `${whole}${fraction === '' ? '' : `.${fraction}`}${iso.suffix.toUpperCase()}`;
}

function writeWall(wall: bigint): string {
  const ms = ((wall % dayMs) + dayMs) % dayMs;
  const [year, month, day] = civil((wall - ms) / dayMs);
  const pad = (value: bigint | number, size: number): string => String(value).padStart(size, '0');
  const seconds = ms / 1000n;
  const fraction = pad(ms % 1000n, 3).replace(/0+$/, '');
  const time = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n].map((part) => pad(part, 2)).join(':');
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}T${time}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Converts days since 1970-01-01 to a date by searching for the year and the month. */
function civil(days: bigint): readonly [year: number, month: number, day: number] {
  let year = (days + 719_162n) / 366n + 1n;
  while (firstOfYear(year + 1n) <= days) year++;
  let left = Number(days - firstOfYear(year));
  for (let month = 1; ; month++) {
    const length = (monthDays[month - 1] ?? 0) + (month === 2 && isLeap(Number(year)) ? 1 : 0);
    if (left < length) return [Number(year), month, left + 1];
    left -= length;
  }
}

function makeDate(random: Random): string {
  if (random.once(2)) {
    const ms = random.pick(
      random.digits(15),
      String(random.below(2 ** 31) * 1000),
      String(first + BigInt(random.below(100_000_000))),
      String(last - BigInt(random.below(100_000_000))),
    );
    const offset = random.pick('', '-0000', `${random.pick('+', '-')}${two(random, 16)}${two(random, 70)}`);
    return `/Date(${random.pick('', '', '-')}${ms}${offset})/`;
  }
  const year = random.pick('0001', '9999', '2000', '1900', '1970', random.digits(4).padStart(4, '0'));
  const time = `T${two(random, 26)}:${two(random, 61)}:${two(random, 61)}`;
  const fraction = random.pick('', '', `.${random.digits(4)}`, `.${random.digits(12)}`, '.000');
  const zone = random.pick('', 'Z', `${random.pick('+', '-')}${two(random, 16)}:${two(random, 62)}`);
  const day = `${year}-${two(random, 14)}-${two(random, 33)}`;
  return `${random.once(20) ? ' ' : ''}${day}${random.once(4) ? '' : time + fraction}${zone}`;
}

function two(random: Random, bound: number): string {
  return String(random.below(bound)).padStart(2, '0');
}

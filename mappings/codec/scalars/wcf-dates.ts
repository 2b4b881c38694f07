import type { Tape } from '../../json/tape.ts';
import type { Output } from '../../xml/output.ts';
import { civilFromDays, daySlots } from './calendar.ts';
import type { Zone } from './zone.ts';

/**
 * Fast path for the two most common dates of a reply, `/Date(ms-0000)/` and `/Date(ms)/`, from bytes to bytes by the
 * rules of W17. dates.ts handles all others, also the bounds.
 */

const day = 86_400_000;
/** Instants between these are within the years 1 to 9999 in each zone, by at least a day. */
const first = -62_135_596_800_000 + 2 * day;
const last = 253_402_300_799_999 - 2 * day;

/** The wall clock of a date. */
export interface WallClock {
  /** Days since 1970-01-01. */
  readonly days: number;
  readonly ms: number;
  readonly utc: boolean;
}

/** Reads the date at the tape's position and moves past it. Returns undefined, without moving, for another form. */
export function scanDate(tape: Tape, zone: Zone): WallClock | undefined {
  const { bytes, view } = tape;
  let at = tape.position + 1;
  if (bytes[at] === 92) at++;
  // "/Dat" "e("
  if (view.getUint32(at, true) !== 0x7461442f || view.getUint16(at + 4, true) !== 0x2865) return undefined;
  at += 6;
  const negative = bytes[at] === 45;
  if (negative) at++;
  const digits = at;
  let ms = 0;
  let byte = bytes[at] as number;
  while (byte >= 48 && byte <= 57 && at - digits < 15) {
    ms = ms * 10 + byte - 48;
    byte = bytes[++at] as number;
  }
  if (at === digits) return undefined;
  if (negative) ms = -ms;
  const utc = byte === 41;
  // "-000" "0)"
  if (!utc) {
    if (view.getUint32(at, true) !== 0x3030302d || bytes[at + 4] !== 48 || bytes[at + 5] !== 41)
      return undefined;
    at += 5;
  }
  at++;
  if (bytes[at] === 92) at++;
  if (bytes[at] !== 47 || bytes[at + 1] !== 34 || ms < first || ms > last) return undefined;
  tape.position = at + 2;
  const wall = utc ? ms : zone.wallOf(ms);
  const days = Math.floor(wall / day);
  return { days, ms: wall - days * day, utc };
}

function twoDigits(bytes: Uint8Array, at: number, value: number): void {
  const tens = (value / 10) | 0;
  bytes[at] = 48 + tens;
  bytes[at + 1] = 48 + value - tens * 10;
}

/**
 * Writes `yyyy-mm-ddThh:mm:ss`, with a fraction if it is not zero, and `Z` for UTC (W17). The caller has reserved the
 * bytes.
 */
export function writeDate(output: Output, daysSince1970: number, msOfDay: number, utc: boolean): void {
  const { bytes } = output;
  const start = output.length;
  const date = civilFromDays(daysSince1970);
  const year = (date / daySlots) | 0;
  const dayOfYear = date - year * daySlots;
  const month = ((5 * dayOfYear + 2) / 153) | 0;
  const dayOfMonth = dayOfYear - (((153 * month + 2) / 5) | 0) + 1;
  const century = (year / 100) | 0;
  const seconds = (msOfDay / 1000) | 0;
  const minutes = (seconds / 60) | 0;
  const hours = (minutes / 60) | 0;
  twoDigits(bytes, start, century);
  twoDigits(bytes, start + 2, year - century * 100);
  bytes[start + 4] = 45;
  twoDigits(bytes, start + 5, month < 10 ? month + 3 : month - 9);
  bytes[start + 7] = 45;
  twoDigits(bytes, start + 8, dayOfMonth);
  bytes[start + 10] = 84;
  twoDigits(bytes, start + 11, hours);
  bytes[start + 13] = 58;
  twoDigits(bytes, start + 14, minutes - hours * 60);
  bytes[start + 16] = 58;
  twoDigits(bytes, start + 17, seconds - minutes * 60);
  let at = start + 19;
  let fraction = msOfDay - seconds * 1000;
  if (fraction !== 0) {
    bytes[at++] = 46;
    for (let unit = 100; fraction !== 0; unit /= 10) {
      const digit = (fraction / unit) | 0;
      bytes[at++] = 48 + digit;
      fraction -= digit * unit;
    }
  }
  if (utc) bytes[at++] = 90;
  output.length = at;
}

import { createHash, createHmac } from 'node:crypto';
import type { BuiltIn, SimpleType } from '../contract/type-graph.ts';
import { isBlank } from '../xml/characters.ts';

// Stable pseudonyms of values that keep the form of their type (G57).

/** Text in place of values that are not stored. */
export const hiddenText = '***';

/** Returns the pseudonym of a value. Equal values of one type have equal pseudonyms, however they are written. */
export type PseudonymOf = (text: string, type: SimpleType | undefined) => string;

const day = 86_400_000;

/** Range of the days that replace dates: 1950 to 2049. */
const [firstDay, days] = [Date.UTC(1950, 0, 1) / day, 36_525];

const numbers: ReadonlySet<BuiltIn> = new Set([
  ...(['decimal', 'integer', 'nonPositiveInteger', 'negativeInteger', 'nonNegativeInteger'] as const),
  ...(['positiveInteger', 'byte', 'unsignedByte', 'short', 'unsignedShort', 'int', 'unsignedInt'] as const),
  ...(['long', 'unsignedLong', 'float', 'double'] as const),
]);

const partsOfDates: ReadonlySet<BuiltIn> = new Set([
  ...(['gYearMonth', 'gYear', 'gMonthDay', 'gDay', 'gMonth', 'duration'] as const),
]);

/** Compiles the pseudonyms of a contract. Without a key, each pseudonym is `***`. */
export function compilePseudonyms(contract: string, key: Buffer | undefined): PseudonymOf {
  if (key === undefined) return () => hiddenText;
  const bytesOf = (type: string, canonical: string): Buffer =>
    createHmac('sha256', key).update([contract, type, canonical].join('\n')).digest();
  return (text, type) => new Value(bytesOf).pseudonym(text, type);
}

/** Creates one pseudonym. */
class Value {
  readonly #bytesOf: (type: string, canonical: string) => Buffer;

  constructor(bytesOf: (type: string, canonical: string) => Buffer) {
    this.#bytesOf = bytesOf;
  }

  pseudonym(text: string, type: SimpleType | undefined): string {
    const { start, end } = trimmed(text);
    if (start === end) return text;
    const around = (inner: string): string => text.slice(0, start) + inner + text.slice(end);
    const value = text.slice(start, end);
    if (type?.builtIn === 'boolean' && /^(?:true|false|0|1)$/.test(value)) return text;
    if (type?.facets.enumeration?.includes(value)) return text;
    if (type?.variety.kind === 'list') {
      const { item } = type.variety;
      return around(value.replace(/[^ \t\r\n]+/g, (one) => this.pseudonym(one, item)));
    }
    return around(this.#formed(value, type?.builtIn ?? 'string') ?? this.#text(text, value, type));
  }

  /** Returns the pseudonym of a value in the form of its type; undefined for a text. */
  #formed(value: string, builtIn: BuiltIn): string | undefined {
    if (numbers.has(builtIn) || isDigits(value)) return this.#number(value);
    if (builtIn === 'dateTime' || builtIn === 'date' || builtIn === 'time')
      return this.#moment(value, builtIn);
    if (builtIn === 'base64Binary') return this.#binary(value, 'base64');
    if (builtIn === 'hexBinary') return this.#binary(value, 'hex');
    return partsOfDates.has(builtIn) && /^[-+.:0-9A-Z]+$/.test(value)
      ? replaceDigits(value, this.#bytesOf(builtIn, value))
      : undefined;
  }

  #text(text: string, trimmedText: string, type: SimpleType | undefined): string {
    const canonical = type?.facets.whiteSpace === 'preserve' || type === undefined ? text : trimmedText;
    return `p-${this.#bytesOf('text', canonical).toString('base64url', 0, 12)}`;
  }

  /** Replaces the digits of a number between the zeros that do not change its value. */
  #number(value: string): string | undefined {
    const found = /^([-+]?)([0-9]*)(\.[0-9]*)?([eE][-+]?[0-9]{1,4})?$/.exec(value);
    if (found === null) return undefined;
    const [, sign = '', whole = '', fraction = '', exponent = ''] = found;
    let start = 0;
    while (whole[start] === '0') start++;
    const end = significant(fraction);
    const digits = whole.slice(start) + end;
    if (digits === '') return value; // zero
    const canonical = `${sign === '-' ? '-' : ''}${digits}${exponent.toLowerCase()}`;
    const other = replaceDigits(digits, this.#bytesOf('number', canonical));
    return [sign, whole.slice(0, start), other, fraction.slice(end.length), exponent].join('');
  }

  /** Moves a date or time. The offset and the number of digits stay, and equal instants stay equal. */
  #moment(value: string, kind: 'dateTime' | 'date' | 'time'): string | undefined {
    const offset = value.endsWith('Z') ? 'Z' : (/^[-+][0-9]{2}:[0-9]{2}$/.exec(value.slice(-6))?.[0] ?? '');
    const local = value.slice(0, value.length - offset.length);
    const date = kind === 'time' ? '2000-01-01' : local.slice(0, 10);
    const time = kind === 'date' ? '00:00:00' : local.slice(kind === 'time' ? 0 : 11);
    const [, clock = '', fraction = ''] = /^([0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]{1,18})?$/.exec(time) ?? [];
    const at = Date.parse(`${date}T${clock}Z`);
    const isLong = kind === 'date' ? local.length === 10 : kind === 'time' || local[10] === 'T';
    if (clock === '' || Number.isNaN(at) || !isLong) return undefined;
    const ms = kind === 'date' || offset.length < 6 ? 0 : minutesOf(offset) * 60_000;
    const isZoned = kind !== 'date' && offset !== '';
    const instant = new Date(kind === 'time' ? (at - ms + day) % day : at - ms).toISOString();
    const kept = significant(fraction);
    const bytes = this.#bytesOf(kind, `${instant} ${kept} ${isZoned}`);
    const moved = (firstDay + (bytes.readUInt32BE(0) % days)) * day + (bytes.readUInt32BE(4) % day);
    const shown = new Date(moved + ms).toISOString();
    if (kind === 'date') return shown.slice(0, 10) + offset;
    const digits = kept === '' ? '' : `.${replaceDigits(kept.slice(1), bytes.subarray(8))}`;
    return shown.slice(kind === 'time' ? 11 : 0, 19) + digits + fraction.slice(kept.length) + offset;
  }

  /** Replaces bytes by as many others, and keeps blanks and the letter case of hex digits. */
  #binary(value: string, encoding: 'base64' | 'hex'): string {
    const bytes = Buffer.from(value, encoding);
    const other = this.bytes(bytes).toString(encoding);
    const letters = encoding === 'hex' && /[A-F]/.test(value) ? other.toUpperCase() : other;
    let at = 0;
    return value.replace(/[^ \t\r\n]/g, () => letters[at++] ?? '');
  }

  /** Returns as many other bytes. */
  bytes(bytes: Buffer): Buffer {
    const seed = this.#bytesOf('binary', createHash('sha256').update(bytes).digest('hex'));
    const pieces: Buffer[] = [];
    for (let size = 0; size < bytes.length; size += seed.length)
      pieces.push(this.#bytesOf('bytes', `${seed.toString('hex')} ${size}`));
    return Buffer.concat(pieces, bytes.length);
  }
}

/** Returns the pseudonym of the bytes of an attached part. */
export function compileBytePseudonyms(contract: string, key: Buffer | undefined): (bytes: Buffer) => Buffer {
  if (key === undefined) return () => Buffer.from(hiddenText);
  return (bytes) =>
    new Value((type, canonical) =>
      createHmac('sha256', key).update([contract, type, canonical].join('\n')).digest(),
    ).bytes(bytes);
}

/** Returns `.` and digits without the zeros at the end; `''` if all are zeros. */
function significant(fraction: string): string {
  let end = fraction.length;
  while (fraction[end - 1] === '0') end--;
  return end < 2 ? '' : fraction.slice(0, end);
}

function isDigits(text: string): boolean {
  return /^[0-9]+$/.test(text);
}

function trimmed(text: string): { readonly start: number; readonly end: number } {
  let [start, end] = [0, text.length];
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return { start, end };
}

/** Replaces the digits of a text by others; the first and the last one by digits from 1 to 9, so that it stays as long. */
function replaceDigits(text: string, bytes: Buffer): string {
  const hash = createHash('shake256', { outputLength: text.length }).update(bytes).digest();
  return text.replace(/[0-9]/g, (_, at: number) => {
    const byte = hash[at] ?? 0;
    return String(at === 0 || at === text.length - 1 ? 1 + (byte % 9) : byte % 10);
  });
}

/** Returns the minutes of an offset such as `-05:00`. */
function minutesOf(offset: string): number {
  const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4, 6));
  return offset.startsWith('-') ? -minutes : minutes;
}

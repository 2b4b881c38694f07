import type { Limits } from '../../contract/limits.ts';
import type { EnumType, ScalarName } from '../../contract/model.ts';
import { JsonReader } from '../../json/reader.ts';
import { nameKey, nodeKinds, type Tape } from '../../json/tape.ts';
import { MismatchError } from '../problem.ts';
import { scanDate } from '../scalars/wcf-dates.ts';
import type { Zone } from '../scalars/zone.ts';
import { base64Letters, type Scalar } from '../scalars.ts';
import type { ReplyWriter } from '../write-element.ts';

const { nothing, empty, plain, text, date, guid } = nodeKinds;

/** The `write` of a writer whose nodes write themselves. */
export const noContent = (): void => {};

/** Moves past a null. */
export function scanNull(tape: Tape): void {
  tape.scanLiteral();
  tape.pushKind(nothing);
}

/** Into an object ("{") or array ("["); false for a null, whose node is pushed. Throws MismatchError. */
export function enters(tape: Tape, open: 123 | 91): boolean {
  const byte = tape.peek();
  if (byte === open) {
    tape.enter();
    return true;
  }
  if (byte !== 110)
    throw new MismatchError(`expected ${open === 123 ? 'an object' : 'an array'}, got ${tape.kind()}`);
  scanNull(tape);
  return false;
}

/** Numbers of so few bytes are in every range of their type; longer ones are looked at as text. */
const safeLengths: Partial<Record<ScalarName, number>> = {
  byte: 2,
  unsignedByte: 2,
  short: 4,
  unsignedShort: 4,
  int: 9,
  unsignedInt: 9,
  long: 18,
  unsignedLong: 18,
  integer: 300,
};

const unsignedNames = new Set<ScalarName>(['unsignedByte', 'unsignedShort', 'unsignedInt', 'unsignedLong']);

/** A date without a time, as JSON. */
const dateToken = /^"\d{4}-\d\d-\d\d(?:[Zz]|[+-]\d\d:?\d\d)?"$/;

/** What JSON has strings for. */
const textual = new Set<ScalarName>(['string', 'guid', 'dateTime', 'date', 'base64Binary']);

/**
 * The writer of a scalar: what needs no second look goes out as the bytes that came, the rest by the scalar's rule.
 * @param dates the zone of `/Date()/`s; undefined where dates are ISO
 */
export function scalarWriter(
  name: ScalarName,
  scalar: Scalar,
  dates: Zone | undefined,
  limits: Limits,
): ReplyWriter {
  const isString = textual.has(name);

  /** The value that starts here by the scalar's own rules, from its text. */
  const scanSlowly = (tape: Tape): void => {
    const start = tape.position;
    if (tape.strict && (tape.bytes[start] === 34) !== isString)
      throw new MismatchError(`expected ${scalar.expected}, got ${tape.kind()}`);
    tape.skip();
    const token = tape.slice(start, tape.position);
    // midnight of a date comes back as more than was said; another variant of a union may be a date
    if (tape.strict && name === 'dateTime' && dateToken.test(token))
      throw new MismatchError(`expected ${scalar.expected}, got a date alone`);
    const json = new JsonReader(token, limits);
    const content = scalar.toXml(json);
    tape.replaced += json.replaced;
    tape.passed += json.passed;
    if (content === null) {
      if (tape.strict) throw new MismatchError(`expected ${scalar.expected}, got an empty string`);
      tape.pushKind(nothing);
    } else if (content === '') tape.pushKind(empty);
    else tape.pushMade(content);
  };

  const scanText = (tape: Tape): void => {
    const byte = tape.peek();
    if (byte === 34) {
      const start = tape.position + 1;
      const asIs = tape.scanString();
      const end = tape.position - 1;
      if (start === end) tape.pushKind(empty);
      else tape.pushRange(asIs ? plain : text, start, end);
    } else if (byte === 110) scanNull(tape);
    else scanSlowly(tape);
  };

  /** Numbers that need no second look go out as the bytes that came. */
  const scanNumber =
    (isPlain: (integer: boolean, length: number, tape: Tape, start: number) => boolean) =>
    (tape: Tape): void => {
      const byte = tape.peek();
      if (byte === 45 || (byte >= 48 && byte <= 57)) {
        const start = tape.position;
        const integer = tape.scanNumber();
        if (isPlain(integer, tape.position - start, tape, start)) {
          tape.pushRange(plain, start, tape.position);
          return;
        }
        tape.position = start;
        scanSlowly(tape);
      } else if (byte === 110) scanNull(tape);
      else scanSlowly(tape);
    };

  const scanBoolean = (tape: Tape): void => {
    const byte = tape.peek();
    const start = tape.position;
    if (byte === 116 || byte === 102) {
      tape.scanLiteral();
      tape.pushRange(plain, start, tape.position);
    } else if (byte === 110) scanNull(tape);
    else scanSlowly(tape);
  };

  const scanOther = (tape: Tape): void => {
    if (tape.peek() === 110) scanNull(tape);
    else scanSlowly(tape);
  };

  const scan = (): ReplyWriter['scan'] => {
    if (name === 'string') return scanText;
    if (name === 'boolean') return scanBoolean;
    if (name === 'guid') return (tape) => scanGuid(tape, scanOther);
    if (name === 'dateTime' && dates !== undefined) return (tape) => scanDateOr(tape, dates, scanOther);
    if (name === 'base64Binary') return (tape) => scanBase64(tape, scanOther);
    if (name === 'decimal')
      return scanNumber((_, length, tape, start) => length <= 400 && !hasExponent(tape, start));
    if (name === 'double' || name === 'float') {
      const most = name === 'double' ? 300 : 38;
      return scanNumber((_, length, tape, start) => length <= most && !hasExponent(tape, start));
    }
    const safe = safeLengths[name];
    if (safe === undefined) return scanOther;
    const signed = !unsignedNames.has(name);
    return scanNumber(
      (integer, length, tape, start) =>
        integer &&
        length <= safe &&
        (tape.bytes[start] !== 45 || (signed && length > 1 && tape.bytes[start + 1] !== 48)),
    );
  };

  return { scan: scan(), write: noContent, declarations: '' };
}

const hexadecimal = new Uint8Array(256);
for (const byte of Buffer.from('0123456789abcdef')) hexadecimal[byte] = 1;

/** 32 lower-case digits, .NET's form N and the commonest, get their dashes; other forms go by the scalar's rule (W21). */
function scanGuid(tape: Tape, otherwise: (tape: Tape) => void): void {
  const { bytes } = tape;
  if (tape.peek() === 34) {
    const start = tape.position + 1;
    let at = start;
    while (hexadecimal[bytes[at] as number] === 1) at++;
    if (at - start === 32 && bytes[at] === 34) {
      tape.position = at + 1;
      tape.pushRange(guid, start, at);
      return;
    }
  }
  otherwise(tape);
}

function scanDateOr(tape: Tape, zone: Zone, otherwise: (tape: Tape) => void): void {
  const found = tape.peek() === 34 ? scanDate(tape, zone) : undefined;
  if (found === undefined) otherwise(tape);
  else tape.pushRange(date, found.days, found.ms * 2 + (found.utc ? 1 : 0));
}

function hasExponent(tape: Tape, start: number): boolean {
  for (let at = start; at < tape.position; at++) if (((tape.bytes[at] as number) | 32) === 101) return true;
  return false;
}

/** Base64 without padding or escapes before its end goes out as it came; the last four letters by the scalar's rule. */
function scanBase64(tape: Tape, otherwise: (tape: Tape) => void): void {
  if (tape.peek() !== 34) {
    otherwise(tape);
    return;
  }
  const { bytes } = tape;
  const start = tape.position + 1;
  let at = tape.knownLetters(start);
  while (base64Letters[bytes[at] as number] === 1) at++;
  if (bytes[at] === 34 && at > start && (at - start) % 4 === 0) {
    tape.position = at + 1;
    tape.pushRange(plain, start, at);
  } else if (bytes[at] === 61 && at - start > 64) scanPadded(tape, start, at, otherwise);
  else otherwise(tape);
}

/** A long base64 with padding: its last group is checked as text, the rest has been seen. */
function scanPadded(tape: Tape, start: number, padding: number, otherwise: (tape: Tape) => void): void {
  const end = tape.bytes[padding + 1] === 61 ? padding + 2 : padding + 1;
  const last = tape.slice(end - 4, end);
  const good = end - padding === 2 ? /^[A-Za-z0-9+/][AQgw]==$/ : /^[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=$/;
  if ((end - start) % 4 !== 0 || tape.bytes[end] !== 34 || !good.test(last)) {
    otherwise(tape);
    return;
  }
  tape.position = end + 1;
  tape.pushRange(plain, start, end);
}

/** The writer of an enum; a value it does not know fails the reply, or passes by the setting. */
export function enumWriter(type: EnumType, passUnknown: boolean): ReplyWriter {
  const known = type.values.filter((value) => /^[A-Za-z0-9_ .:/-]+$/.test(value)).map(nameKey);
  const others = new Set(type.values);
  const expected = type.values.length > 12 ? `a value of ${type.name}` : `one of ${type.values.join(', ')}`;
  const scan = (tape: Tape): void => {
    const byte = tape.peek();
    if (byte === 110) {
      scanNull(tape);
      return;
    }
    if (byte !== 34) throw new MismatchError(`expected ${expected}, got ${tape.kind()}`);
    const start = tape.position + 1;
    for (const key of known) {
      if (tape.matches(start, key)) {
        tape.position = start + key.length;
        tape.pushRange(plain, start, tape.position - 1);
        return;
      }
    }
    const asIs = tape.scanString();
    const end = tape.position - 1;
    const value = tape.decode(start, end);
    if (value === '' && !others.has('') && !tape.strict) tape.pushKind(nothing);
    else {
      if (!others.has(value)) {
        if (!passUnknown) throw new MismatchError(`expected ${expected}, got another value`);
        tape.passed++;
      }
      if (value === '') tape.pushKind(empty);
      else tape.pushRange(asIs ? plain : text, start, end);
    }
  };
  return { scan, write: noContent, declarations: '' };
}

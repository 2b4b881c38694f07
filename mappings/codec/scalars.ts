import { type ScalarName, type Settings, xsdNames } from '../contract/model.ts';
import type { JsonReader } from '../json/reader.ts';
import { MismatchError, type ProblemCode } from './problem.ts';
import { isoFromJson, isoFromXml, wcfFromJson, wcfFromXml, xmlFromJson } from './scalars/dates.ts';
import {
  collapse,
  decimalFromJson,
  decimalFromXsd,
  doubleFromXsd,
  finite,
  type IntegerRange,
  integerFromJson,
  integerFromXsd,
  isBlank,
  isJsonNumber,
  isPlainInteger,
  outOfRange,
  within,
} from './scalars/numbers.ts';
import { escapeXml, excerpt, quoteJson } from './scalars/text.ts';
import { createZone } from './scalars/zone.ts';

/** Why a value was refused; `expected` completes `path: expected …, got …`. */
export interface Refusal {
  readonly code: ProblemCode;
  readonly says: string;
}

/** One scalar type, all ways. */
export interface Scalar {
  /** What a message calls it, such as `xs:int`. */
  readonly expected: string;
  /** Whether the empty element is a value (`""`) rather than an error (W13). */
  readonly takesEmpty: boolean;
  /** `string`: text is kept, with W10's exceptions. `binary`: text up to the body's limit. */
  readonly text: 'string' | 'binary' | 'plain';
  /** An element's text, not empty unless `takesEmpty`, as a JSON token. */
  readonly fromXml: (text: string) => string | Refusal;
  /** The JSON value that starts here, not null, as XML content; null stands for JSON null (W22). Throws MismatchError. */
  readonly toXml: (json: JsonReader) => string | null;
  /** Checks the JSON value of a request that starts here, not null (W37): undefined when it may pass as it is, else its replacement. */
  readonly checkJson: (json: JsonReader) => string | undefined | Refusal;
}

const quote = 34;

function invalid(expected: string, got: string): Refusal {
  return { code: 'InvalidType', says: `expected ${expected}, got ${got}` };
}

const isNumberStart = (code: number): boolean => code === 45 || (code >= 48 && code <= 57);

/** What starts at the reader, for a message about a reply: kinds, no values, since replies hold people's data. */
function mismatch(expected: string, json: JsonReader): never {
  throw new MismatchError(`expected ${expected}, got ${json.kind()}`);
}

/** Reads past a value that is refused by its kind alone. */
function refuseKind(json: JsonReader, expected: string): Refusal {
  const got = json.kind();
  json.skip();
  return invalid(expected, got);
}

/** The string that starts here as XML content, in one look at each character where nothing needs escaping. */
function stringToXml(json: JsonReader): string {
  const { text } = json;
  const start = json.position + 1;
  let at = start;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      json.position = at + 1;
      return text.slice(start, at);
    }
    // controls, &, <, >, \ and all from the surrogates up; NaN at the end
    if (!(code >= 32 && code < 0xd800) || code === 38 || code === 60 || code === 62 || code === 92) break;
    at++;
  }
  return escapeXml(json.string(), json);
}

const string: Scalar = {
  expected: 'xs:string',
  takesEmpty: true,
  text: 'string',
  fromXml: quoteJson,
  toXml: (json) => {
    const code = json.peek();
    if (code === quote) return stringToXml(json);
    if (isNumberStart(code)) return json.number();
    if (code === 116 || code === 102) return json.literal();
    return mismatch('a string', json);
  },
  checkJson: (json) => {
    if (json.peek() !== quote) return refuseKind(json, 'a string');
    json.skipString();
    return undefined;
  },
};

/** .NET's four forms of a GUID: 32 digits, with dashes, with dashes in braces or parentheses (W21). */
const guidForms = /^(?:[0-9a-f]{32}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$/i;

const guid: Scalar = {
  ...string,
  toXml: (json) => {
    const text = string.toXml(json);
    if (text === null) return null;
    if (text.length > 38) return text;
    const isWrapped = text.length === 38 && ['{}', '()'].includes(text.charAt(0) + text.charAt(37));
    const bare = isWrapped ? text.slice(1, -1) : text;
    if (!guidForms.test(bare)) return text;
    const digits = bare.replaceAll('-', '').toLowerCase();
    return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`;
  },
};

const boolean: Scalar = {
  expected: 'xs:boolean',
  takesEmpty: false,
  text: 'plain',
  // Exactly four words are legal: XSD Part 2, 3.2.2.1.
  fromXml: (text) => {
    const word = collapse(text);
    if (word === 'true' || word === '1') return 'true';
    if (word === 'false' || word === '0') return 'false';
    return invalid('xs:boolean', excerpt(text));
  },
  toXml: (json) => {
    const code = json.peek();
    if (code === 116 || code === 102) return json.literal();
    if (code !== quote) return mismatch('a boolean', json);
    const text = json.string();
    if (text === '') return null;
    if (text === 'true' || text === 'false') return text;
    throw new MismatchError('expected a boolean, got a string that is none');
  },
  checkJson: (json) => {
    const code = json.peek();
    if (code === 116 || code === 102) {
      json.literal();
      return undefined;
    }
    if (code !== quote) return refuseKind(json, 'a boolean');
    const text = json.string();
    return text === 'true' || text === 'false' ? text : invalid('a boolean', excerpt(text));
  },
};

/** A number type, from what it makes of the two grammars. */
function numeric(
  name: ScalarName,
  range: string,
  fromXsd: (text: string) => string | undefined | typeof outOfRange,
  fromReply: (token: string) => string | undefined | typeof outOfRange,
  fromRequest: (token: string) => string | undefined | typeof outOfRange,
): Scalar {
  const expected = `xs:${xsdNames[name]}`;
  const judge = (result: string | undefined | typeof outOfRange, text: string): string | Refusal => {
    if (typeof result === 'string') return result;
    if (result === undefined) return invalid(expected, excerpt(text));
    return { code: 'OutOfRange', says: `expected ${expected}${range}, got ${excerpt(text)}` };
  };
  return {
    expected,
    takesEmpty: false,
    text: 'plain',
    fromXml: (text) => judge(fromXsd(collapse(text)), text),
    toXml: (json) => {
      const code = json.peek();
      let token: string;
      if (isNumberStart(code)) {
        token = json.number();
      } else if (code === quote) {
        token = json.string();
        if (token === '') return null;
        if (!isJsonNumber(token))
          throw new MismatchError(`expected ${expected}, got a string that is no number`);
      } else {
        return mismatch(expected, json);
      }
      const result = fromReply(token);
      if (typeof result === 'string') return result;
      throw new MismatchError(
        result === outOfRange
          ? `expected ${expected}${range}, got a number outside it`
          : `expected ${expected}, got a fraction`,
      );
    },
    checkJson: (json) => {
      const code = json.peek();
      if (isNumberStart(code)) {
        const token = json.number();
        const result = judge(fromRequest(token), token);
        return typeof result === 'string' ? undefined : result;
      }
      if (code !== quote) return refuseKind(json, expected);
      const text = json.string();
      if (!isJsonNumber(text)) return invalid(expected, excerpt(text));
      return judge(fromRequest(text), text);
    },
  };
}

function integer(name: ScalarName, min?: string, max?: string): Scalar {
  const range: IntegerRange | undefined = min === undefined || max === undefined ? undefined : { min, max };
  return numeric(
    name,
    range === undefined ? ' of at most 400 digits' : ` from ${range.min} to ${range.max}`,
    (text) => integerFromXsd(text, range),
    (token) => integerFromJson(token, range),
    (token) => (isPlainInteger(token) ? within(token, range) : undefined),
  );
}

function floating(name: 'double' | 'float'): Scalar {
  const single = name === 'float';
  const check = (token: string) => finite(token, single);
  return numeric(
    name,
    ` that ${single ? '32' : '64'} bits hold`,
    (text) => doubleFromXsd(text, single),
    check,
    check,
  );
}

const decimal: Scalar = numeric(
  'decimal',
  ' of at most 400 digits',
  decimalFromXsd,
  decimalFromJson,
  (token) => {
    const written = decimalFromJson(token);
    return written === outOfRange ? outOfRange : token;
  },
);

/** XSD Part 2, 3.2.16: four letters a group, blanks allowed between, padding only at the end. Undefined: it isn't base64. */
export function base64FromXml(text: string): string | undefined {
  if (isBase64(text, 0, text.length)) return text;
  const letters = withoutBlanks(text);
  return letters !== undefined && letters.length < text.length && isBase64(letters, 0, letters.length)
    ? letters
    : undefined;
}

/** ASCII without its blanks; undefined for other text. By bytes: a pattern takes 50 ns for each blank. */
function withoutBlanks(text: string): string | undefined {
  if (/[^\0-\x7f]/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'latin1');
  let size = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (!isBlank(byte)) bytes[size++] = byte;
  }
  return bytes.toString('latin1', 0, size);
}

/** 1 at the code of each letter of base64 (RFC 4648, 4). */
export const base64Letters = new Uint8Array(256);
for (const letter of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/') {
  base64Letters[letter.charCodeAt(0)] = 1;
}

function isBase64(text: string, start: number, end: number): boolean {
  if ((end - start) % 4 !== 0) return false;
  let letters = end;
  if (letters > start && text.charCodeAt(letters - 1) === 61) letters--;
  if (letters > start && text.charCodeAt(letters - 1) === 61) letters--;
  if (!areLetters(text, start, letters)) return false;
  if (letters === end) return true;
  // the bits that padding leaves over must be zero: Q w g A for two "=", every fourth letter for one
  return (end - letters === 2 ? 'AQgw' : 'AEIMQUYcgkosw048').includes(text.charAt(letters - 1));
}

/** Native code looks through a long text in a third of the time. */
function areLetters(text: string, start: number, end: number): boolean {
  if (end - start > 1_000) return !/[^A-Za-z0-9+/]/.test(text.slice(start, end));
  for (let at = start; at < end; at++) if (base64Letters[text.charCodeAt(at)] !== 1) return false;
  return true;
}

const base64Binary: Scalar = {
  expected: 'xs:base64Binary',
  takesEmpty: true,
  text: 'binary',
  fromXml: (text) => {
    const letters = base64FromXml(text);
    return letters === undefined ? invalid('xs:base64Binary', 'other text') : `"${letters}"`;
  },
  toXml: (json) => {
    if (json.peek() !== quote) return mismatch('base64', json);
    const start = json.position + 1;
    const letters = json.skipString() ? undefined : json.text.slice(start, json.position - 1);
    const plain = letters ?? base64OfEscaped(json.text, start, json.position - 1);
    if (plain === undefined || !isBase64(plain, 0, plain.length))
      throw new MismatchError('expected base64, got other text');
    return plain;
  },
  checkJson: (json) => {
    if (json.peek() !== quote) return refuseKind(json, 'base64');
    const start = json.position + 1;
    const escaped = json.skipString();
    const letters = escaped
      ? base64OfEscaped(json.text, start, json.position - 1)
      : json.text.slice(start, json.position - 1);
    const good = letters !== undefined && isBase64(letters, 0, letters.length);
    return good ? undefined : invalid('base64', 'other text');
  },
};

/** Base64 whose slashes, say, are escaped (`\/`). */
function base64OfEscaped(text: string, start: number, end: number): string | undefined {
  const decoded: unknown = JSON.parse(text.slice(start - 1, end + 1));
  return typeof decoded === 'string' ? decoded : undefined;
}

/** A scalar whose JSON form is a string that one function reads in each direction. */
function textual(
  expected: string,
  fromXml: (text: string) => string | undefined,
  fromReply: (text: string) => string | undefined,
  fromRequest: (text: string) => string | undefined,
): Scalar {
  return {
    expected,
    takesEmpty: false,
    text: 'plain',
    fromXml: (text) => {
      const value = fromXml(text);
      return value === undefined ? invalid(expected, excerpt(text)) : `"${value}"`;
    },
    toXml: (json) => {
      if (json.peek() !== quote) return mismatch(expected, json);
      const text = json.string();
      if (text === '') return null;
      const value = fromReply(text);
      if (value === undefined) throw new MismatchError(`expected ${expected}, got a string that is none`);
      return value;
    },
    checkJson: (json) => {
      if (json.peek() !== quote) return refuseKind(json, expected);
      const text = json.string();
      const value = fromRequest(text);
      if (value === undefined) return invalid(expected, excerpt(text));
      return value === text ? undefined : `"${value}"`;
    },
  };
}

/** A date of ISO 8601: one that the schema's type has goes as it came, another form in that of W17, other text all the same. */
function isoDate(kind: 'dateTime' | 'date'): Scalar {
  const inReply = (text: string): string | undefined =>
    isoFromXml(text, kind) === text ? text : isoFromJson(text, kind);
  const strict = textual(
    `xs:${kind}`,
    (text) => isoFromXml(text, kind),
    inReply,
    (text) => (isoFromJson(text, kind) === undefined ? undefined : text),
  );
  return {
    ...strict,
    toXml: (json) => {
      if (json.peek() !== quote) return mismatch(strict.expected, json);
      const text = json.string();
      if (text === '') return null;
      const date = inReply(text);
      if (date === undefined) json.passed++;
      return date ?? escapeXml(text, json);
    },
  };
}

/** Any JSON, as its text in an xs:string: nothing is lost where no closed type fits. */
function json(check: (text: string) => string | undefined): Scalar {
  return {
    expected: 'JSON text',
    takesEmpty: false,
    text: 'string',
    fromXml: (text) => {
      const fault = check(text);
      return fault === undefined ? collapse(text) : invalid('JSON text', fault);
    },
    toXml: (reader) => {
      reader.peek();
      const start = reader.position;
      reader.skip();
      return escapeXml(reader.text.slice(start, reader.position), reader);
    },
    checkJson: (reader) => {
      reader.skip();
      return undefined;
    },
  };
}

/** The scalars of a contract, its settings bound in. */
export function compileScalars(
  settings: Settings,
  checkJsonText: (text: string) => string | undefined,
): Readonly<Record<ScalarName, Scalar>> {
  const zone = createZone(settings.upstreamTimeZone);
  const { utcDates } = settings;
  const dateTime =
    settings.dates === 'wcf'
      ? textual(
          'xs:dateTime',
          (text) => wcfFromXml(text, zone, utcDates),
          (text) => xmlFromJson(text, zone),
          (text) => wcfFromJson(text, zone, utcDates),
        )
      : isoDate('dateTime');
  return {
    string,
    guid,
    json: json(checkJsonText),
    boolean,
    byte: integer('byte', '-128', '127'),
    unsignedByte: integer('unsignedByte', '0', '255'),
    short: integer('short', '-32768', '32767'),
    unsignedShort: integer('unsignedShort', '0', '65535'),
    int: integer('int', '-2147483648', '2147483647'),
    unsignedInt: integer('unsignedInt', '0', '4294967295'),
    long: integer('long', '-9223372036854775808', '9223372036854775807'),
    unsignedLong: integer('unsignedLong', '0', '18446744073709551615'),
    integer: integer('integer'),
    decimal,
    float: floating('float'),
    double: floating('double'),
    dateTime,
    date: isoDate('date'),
    base64Binary,
  };
}

/** True for text of blanks alone, which W13 reads as empty for numbers, booleans and dates. */
export function isBlankText(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (!isBlank(text.charCodeAt(at))) return false;
  return true;
}

import type { Limits } from '../contract/limits.ts';
import { decimalOf, plainText } from '../json/decimal.ts';
import { JsonReader } from '../json/reader.ts';

/** A JSON number as text. It is never converted to a JavaScript number, so no digit is lost. */
export class Digits {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A JSON object with its members in order. */
export type Members = ReadonlyMap<string, Value>;

/** A JSON value with numbers as text. */
export type Value = null | boolean | string | Digits | readonly Value[] | Members;

/** Returns true for a JSON object. */
export function isMembers(value: Value | undefined): value is Members {
  return value instanceof Map;
}

/** Returns true for a JSON array. */
export function isItems(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

/** Parses JSON. Throws JsonError, also for duplicate members and exceeded limits. */
export function readValue(text: string, limits: Limits): Value {
  const json = new JsonReader(text, limits);
  const value = valueAt(json);
  json.end();
  return value;
}

function valueAt(json: JsonReader): Value {
  const code = json.peek();
  if (code === 34) return json.string();
  if (code === 91) {
    const items: Value[] = [];
    json.enter();
    for (let first = true; json.next(first, 93); first = false) items.push(valueAt(json));
    return items;
  }
  if (code === 123) {
    const members = new Map<string, Value>();
    json.enter();
    for (let first = true; json.next(first, 125); first = false) {
      const name = json.name();
      if (members.has(name)) json.fail('each member once');
      members.set(name, valueAt(json));
    }
    return members;
  }
  const start = json.position;
  json.skip();
  const token = json.text.slice(start, json.position);
  if (token === 'null') return null;
  return token === 'true' ? true : token === 'false' ? false : new Digits(token);
}

/** Returns a value as JSON text. Numbers keep their original digits. */
export function writeValue(value: Value): string {
  const parts: string[] = [];
  write(value, parts);
  return parts.join('');
}

function write(value: Value, parts: string[]): void {
  if (value instanceof Digits) parts.push(value.text);
  else if (isItems(value)) {
    parts.push('[');
    for (let index = 0; index < value.length; index++) {
      if (index > 0) parts.push(',');
      write(value[index] as Value, parts);
    }
    parts.push(']');
  } else if (isMembers(value)) {
    let before = '{';
    for (const [name, inner] of value) {
      parts.push(`${before}${JSON.stringify(name)}:`);
      write(inner, parts);
      before = ',';
    }
    parts.push(value.size === 0 ? '{}' : '}');
  } else parts.push(JSON.stringify(value));
}

/** Returns the text of a scalar, as in table keys and queries; undefined for a list, an object and null. */
export function textOfScalar(value: Value | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return value instanceof Digits ? value.text : undefined;
}

/** Returns the canonical text of a number. Undefined for other texts, and for numbers with too many digits. */
function numberKey(text: string): string | undefined {
  const number = numberForm.test(text) ? decimalOf(text) : undefined;
  return number === undefined ? undefined : plainText(number);
}

/** Values by text. A number matches by its numeric value, regardless of its notation. */
export class ByText<T> {
  readonly #byText: ReadonlyMap<string, T>;
  readonly #byNumber = new Map<string, T>();

  constructor(rows: Iterable<readonly [string, T]>) {
    this.#byText = new Map(rows);
    for (const [text, value] of this.#byText) {
      const key = numberKey(text);
      if (key !== undefined && !this.#byNumber.has(key)) this.#byNumber.set(key, value);
    }
  }

  get texts(): readonly string[] {
    return [...this.#byText.keys()];
  }

  get(value: Value | undefined): T | undefined {
    const text = textOfScalar(value);
    if (text === undefined) return undefined;
    const found = this.#byText.get(text);
    if (found !== undefined || !(value instanceof Digits) || this.#byNumber.size === 0) return found;
    return this.#byNumber.get(numberKey(text) ?? '');
  }
}

/** The JSON grammar of numbers (RFC 8259, 6). */
export const numberForm = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

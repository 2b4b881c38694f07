import { isDeepStrictEqual } from 'node:util';
import type { JsonError } from '../../../mappings/json/grammar.ts';
import { errorOf, pull, type Seen } from '../../mappings/json/values.ts';
import type { Random } from '../random.ts';
import { shapeOf, target } from '../target.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

type Outcome =
  | { readonly kind: 'no UTF-8' }
  | { readonly kind: 'refused'; readonly text: string; readonly error: JsonError }
  | { readonly kind: 'read'; readonly text: string; readonly seen: Seen };

/** Reads bytes as a JSON request with each of the gateway's readers. The oracle is JSON.parse. */
export const json = target<Outcome>({
  name: 'json',
  words: [
    ...['{', '}', '[', ']', ',', ':', '"', '\\', '/', '-', '+', '.', 'e', 'E', '0', '1', '-0', '1e5'],
    ...['true', 'false', 'null', 'NaN', '\\u', '\\u0000', '\\ud83d', '\\ude00', '\\"', '\\n', '\\x'],
    ...[' ', '\t', '\r', '\n', '\u00a0', '\ufeff', '\u2028', '"__proto__"', '"a":', '//', '/**/'],
  ],
  make: makeJson,
  readings: 4,
  run: (input) => {
    let text: string;
    try {
      text = utf8.decode(input);
    } catch {
      return { kind: 'no UTF-8' }; // the only error of the decoder
    }
    const error = errorOf(text);
    return error === undefined ? { kind: 'read', text, seen: pull(text) } : { kind: 'refused', text, error };
  },
  kind: (outcome) => (outcome.kind === 'refused' ? shapeOf(outcome.error.message) : outcome.kind),
  judge: (_, outcome) => {
    if (outcome.kind === 'no UTF-8') return undefined;
    let parsed: unknown;
    try {
      parsed = JSON.parse(outcome.text);
    } catch (error) {
      if (outcome.kind === 'refused') return undefined;
      return `JSON.parse refuses what we read: ${String(error)}`;
    }
    if (outcome.kind === 'refused') {
      // JSON.parse has no limits on depth and members
      return outcome.error.limit === undefined
        ? `JSON.parse reads it, we: ${outcome.error.message}`
        : undefined;
    }
    if (isDeepStrictEqual(parsedOf(outcome.seen), parsed) || hasEscapedName(outcome.text)) return undefined;
    return 'JSON.parse reads another value';
  },
});

/**
 * Returns true for a text with an escaped name, which V8 can misread after an object of the same shape whose name is
 * the text up to the backslash (nodejs/node 63785).
 */
function hasEscapedName(text: string): boolean {
  for (const [, name = '', colon] of text.matchAll(/"((?:[^"\\]|\\.)*)"[ \t\r\n]*(:)?/gs)) {
    if (colon !== undefined && name.includes('\\')) return true;
  }
  return false;
}

/** Converts values as JSON.parse does: numbers to doubles, and the last member of each name. */
function parsedOf(seen: Seen): unknown {
  if ('number' in seen) return Number(seen.number);
  if ('string' in seen) return seen.string;
  if ('literal' in seen) return seen.literal === 'null' ? null : seen.literal === 'true';
  if ('items' in seen) return seen.items.map(parsedOf);
  const members: object = {};
  for (const [name, value] of seen.members) {
    Object.defineProperty(members, name, {
      value: parsedOf(value),
      configurable: true,
      enumerable: true,
      writable: true,
    });
  }
  return members;
}

function makeJson(random: Random): string {
  return blank(random) + makeValue(random, 4) + blank(random);
}

/** Returns a JSON value, mostly a valid one. */
export function makeValue(random: Random, depth: number): string {
  const kind = random.below(depth > 0 ? 8 : 5);
  if (kind === 0) return random.pick('null', 'true', 'false', '{}', '[]');
  if (kind <= 2) return makeNumber(random);
  if (kind <= 4) return makeString(random);
  const separator = random.once(40) ? random.pick(',,', '', ';') : `${blank(random)},${blank(random)}`;
  if (kind === 5) return `[${random.many(4, () => makeValue(random, depth - 1), separator)}]`;
  const member = () =>
    `${makeString(random)}${blank(random)}:${blank(random)}${makeValue(random, depth - 1)}`;
  return `{${random.many(4, member, separator)}}`;
}

/** Returns the text of a JSON number, mostly a valid one. */
export function makeNumber(random: Random): string {
  const sign = random.pick('', '', '-', random.once(10) ? '+' : '');
  const whole = random.pick('0', random.digits(3), random.digits(20), String(random.below(300)));
  const fraction = random.once(3) ? `.${random.digits(random.pick(1, 3, 20))}` : '';
  const exponent = random.once(4)
    ? random.pick('e', 'E', 'e+', 'E-') + random.digits(random.pick(1, 2, 3))
    : '';
  return sign + whole + fraction + exponent;
}

/** Returns a JSON string with its quotes, mostly a valid one. */
export function makeString(random: Random): string {
  return `"${random.many(6, () =>
    random.pick(
      'a',
      'bc d',
      'é漢😀',
      '\\n',
      '\\"',
      '\\\\',
      '\\/',
      '\\u0041',
      '\\ud83d\\ude00',
      '\\udc00',
      '<&>',
      '\u007f',
      '\ufffe',
      random.once(20) ? random.pick('\n', '\\q', '"', '\u0000') : '',
    ),
  )}"`;
}

function blank(random: Random): string {
  return random.pick('', '', '', ' ', '\n\t', '\r\n ');
}

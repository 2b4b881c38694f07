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

/** Bytes as a JSON request is read, by each of our ways of reading; the oracle is JSON.parse. */
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
      return { kind: 'no UTF-8' }; // what the decoder throws for such bytes, and all that it throws
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
      // our limits on depth and members; JSON.parse has none
      return outcome.error.limit === undefined
        ? `JSON.parse reads it, we: ${outcome.error.message}`
        : undefined;
    }
    if (isDeepStrictEqual(parsedOf(outcome.seen), parsed) || hasEscapedName(outcome.text)) return undefined;
    return 'JSON.parse reads another value';
  },
});

/**
 * V8 reads a name with an escape wrongly once it has met, in an object of the same shape, the name that the text begins
 * with up to and with its backslash (nodejs/node 63785).
 */
function hasEscapedName(text: string): boolean {
  for (const [, name = '', colon] of text.matchAll(/"((?:[^"\\]|\\.)*)"[ \t\r\n]*(:)?/gs)) {
    if (colon !== undefined && name.includes('\\')) return true;
  }
  return false;
}

/** What JSON.parse makes of the same: doubles, and the last of members of one name. */
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

/** A JSON value, mostly a correct one. */
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

/** A JSON number's text, mostly a correct one. */
export function makeNumber(random: Random): string {
  const sign = random.pick('', '', '-', random.once(10) ? '+' : '');
  const whole = random.pick('0', random.digits(3), random.digits(20), String(random.below(300)));
  const fraction = random.once(3) ? `.${random.digits(random.pick(1, 3, 20))}` : '';
  const exponent = random.once(4)
    ? random.pick('e', 'E', 'e+', 'E-') + random.digits(random.pick(1, 2, 3))
    : '';
  return sign + whole + fraction + exponent;
}

/** A JSON string with its quotes, mostly a correct one. */
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

import { maxDigits } from '../../json/decimal.ts';
import type { JsonReader } from '../../json/reader.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import { MismatchError } from '../problem.ts';
import {
  collapse,
  decimalFromJson,
  decimalFromXsd,
  decimalOfExponent,
  doubleFromXsd,
  finite,
  fitsNetDecimal,
  type IntegerRange,
  integerFromJson,
  integerFromXsd,
  isJsonNumber,
  isPlainInteger,
  outOfRange,
  safeDigits,
  underflows,
  within,
} from './numbers.ts';
import {
  type Conversion,
  invalid,
  isNumberStart,
  mismatch,
  quote,
  type Refusal,
  refuseKind,
  type Scalar,
} from './scalar.ts';
import { quoteText } from './text.ts';

const { plain } = nodeKinds;

/** Converts a number's text; undefined if it is not a number of the type. */
type ReadNumber = (text: string) => string | undefined | typeof outOfRange;

interface NumberRules {
  /** The type's name in messages, for example `xs:int`. */
  readonly expected: string;
  /** Text about the range in a message, after `expected`. */
  readonly range: string;
  readonly fromXsd: ReadNumber;
  /** Reads invalid texts that clients send and that `fromXsd` refuses; undefined for types without any. */
  readonly fromDeviation?: ReadNumber;
  readonly fromReply: ReadNumber;
  readonly fromRequest: ReadNumber;
  /** Returns true if a number of a reply, in the bytes from `start` to the tape's position, is written unchanged. */
  readonly isSafe: (integer: boolean, tape: Tape, start: number) => boolean;
  readonly isInexact?: Scalar['isInexact'];
}

/** Returns the token of a number, or of a string with a number; null for an empty string. */
function numberToken(json: JsonReader, expected: string): string | null {
  const code = json.peek();
  if (isNumberStart(code)) return json.number();
  if (code !== quote) return mismatch(expected, json);
  const token = json.string();
  if (token === '') return null;
  if (isJsonNumber(token)) return token;
  throw new MismatchError({ expected, got: 'a string that is no number' });
}

/** Returns the scalar of a number type from its conversions between XSD and JSON (W15), never through a double. */
function numeric(rules: NumberRules): Scalar {
  const { expected, range, fromXsd, fromDeviation, fromReply, fromRequest, isSafe, isInexact } = rules;
  const judge = (result: ReturnType<ReadNumber>, text: string): string | Refusal => {
    if (typeof result === 'string') return result;
    if (result === undefined) return invalid(expected, quoteText(text));
    return { code: 'OutOfRange', reason: { expected: `${expected}${range}`, got: quoteText(text) } };
  };
  return {
    expected,
    takesEmpty: false,
    text: 'plain',
    isInexact,
    fromXml: (text): Conversion => {
      const number = collapse(text);
      const result = fromXsd(number);
      const tolerated = result === undefined ? fromDeviation?.(number) : undefined;
      if (tolerated === undefined) return judge(result, text);
      const token = judge(tolerated, text);
      return typeof token === 'string' ? { token, deviation: 'decimalExponent' } : token;
    },
    toXml: (json) => {
      const token = numberToken(json, expected);
      if (token === null) return null;
      const result = fromReply(token);
      if (typeof result === 'string') return result;
      throw new MismatchError(
        result === outOfRange
          ? { expected: `${expected}${range}`, got: 'a number outside it' }
          : { expected, got: 'a fraction' },
      );
    },
    scan: (otherwise) => (tape) => {
      if (isNumberStart(tape.peek())) {
        const start = tape.position;
        const integer = tape.scanNumber();
        if (isSafe(integer, tape, start)) {
          tape.pushRange(plain, start, tape.position);
          return;
        }
        tape.position = start;
      }
      otherwise(tape);
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
      if (!isJsonNumber(text)) return invalid(expected, quoteText(text));
      return judge(fromRequest(text), text);
    },
  };
}

/** Returns the scalar of an integer type of XSD, for example `int`. Without bounds it has at most 400 digits. */
export function integer(xsd: string, bounds?: IntegerRange): Scalar {
  // numbers of at most this many bytes are always in the range; longer ones are checked as text
  const safe = bounds === undefined ? maxDigits : bounds.max.length - 1;
  const signed = bounds?.min !== '0';
  return numeric({
    expected: `xs:${xsd}`,
    range: bounds === undefined ? ` of at most ${maxDigits} digits` : ` from ${bounds.min} to ${bounds.max}`,
    fromXsd: (text) => integerFromXsd(text, bounds),
    fromReply: (token) => integerFromJson(token, bounds),
    fromRequest: (token) => (isPlainInteger(token) ? within(token, bounds) : undefined),
    // `-0` is not written unchanged
    isSafe: (isInteger, { bytes, position }, start) =>
      isInteger && position - start <= safe && (bytes[start] !== 45 || (signed && bytes[start + 1] !== 48)),
  });
}

/** Returns the scalar of `xs:double` or `xs:float`: the text of a number within the range of 64 or 32 bits. */
export function floating(xsd: 'double' | 'float'): Scalar {
  const single = xsd === 'float';
  const check: ReadNumber = (token) => finite(token, single);
  const safe = single ? 38 : 300;
  return numeric({
    expected: `xs:${xsd}`,
    range: ` that ${single ? '32' : '64'} bits hold`,
    fromXsd: (text) => doubleFromXsd(text, single),
    fromReply: check,
    fromRequest: check,
    isSafe: (_, tape, start) => tape.position - start <= safe && !hasExponent(tape, start),
    isInexact: (written) => underflows(written, single),
  });
}

/**
 * `xs:decimal` of at most 400 digits. It has no exponents, so those of replies are written out. Those of requests are a
 * tolerated deviation.
 */
export const decimal: Scalar = numeric({
  expected: 'xs:decimal',
  range: ` of at most ${maxDigits} digits`,
  fromXsd: decimalFromXsd,
  fromDeviation: decimalOfExponent,
  fromReply: decimalFromJson,
  fromRequest: (token) => (decimalFromJson(token) === outOfRange ? outOfRange : token),
  // longer ones are checked as text
  isSafe: (_, tape, start) => tape.position - start <= safeDigits && !hasExponent(tape, start),
  isInexact: (written) => !fitsNetDecimal(written),
});

function hasExponent(tape: Tape, start: number): boolean {
  for (let at = start; at < tape.position; at++) if (((tape.bytes[at] as number) | 32) === 101) return true;
  return false;
}

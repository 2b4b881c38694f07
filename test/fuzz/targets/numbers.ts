import {
  collapse,
  decimalFromJson,
  decimalFromXsd,
  doubleFromXsd,
  finite,
  type IntegerRange,
  integerFromJson,
  integerFromXsd,
  isJsonNumber,
} from '../../../mappings/codec/scalars/numbers.ts';
import type { Random } from '../random.ts';
import { target } from '../target.ts';
import { makeNumber } from './json.ts';

const ranges: readonly (IntegerRange | undefined)[] = [
  { min: '-128', max: '127' },
  { min: '0', max: '255' },
  { min: '-32768', max: '32767' },
  { min: '0', max: '65535' },
  { min: '-2147483648', max: '2147483647' },
  { min: '0', max: '4294967295' },
  { min: '-9223372036854775808', max: '9223372036854775807' },
  { min: '0', max: '18446744073709551615' },
  undefined,
];

/** Undefined and a symbol are rejections: not a number of the type, or out of range. */
type Written = string | symbol | undefined;

interface Outcome {
  readonly text: string;
  readonly xsdIntegers: readonly Written[];
  readonly xsdDecimal: Written;
  readonly xsdDouble: Written;
  /** Undefined if the text is not a JSON number, since the readers only receive valid tokens. */
  readonly json:
    | { readonly integers: readonly Written[]; readonly decimal: Written; readonly finite: Written }
    | undefined;
}

/** Converts a text as each number type of XML and JSON. The oracle is a model of digits and powers of ten in BigInt. */
export const numbers = target<Outcome>({
  name: 'numbers',
  words: [
    ...[
      '0',
      '1',
      '9',
      '00',
      '-',
      '+',
      '.',
      'e',
      'E',
      'e-',
      '-0',
      'INF',
      'NaN',
      ' ',
      '\t',
      '\n',
      '\u00a0',
      '٣',
    ],
    ...['127', '128', '255', '256', '32768', '65536', '2147483647', '2147483648', '4294967296'],
    ...['9223372036854775807', '9223372036854775808', '18446744073709551615', '1e400', 'e400', 'e-401'],
  ],
  make: makeText,
  readings: 22,
  run: (input) => {
    const text = collapse(input.toString('utf8'));
    return {
      text,
      xsdIntegers: ranges.map((range) => integerFromXsd(text, range)),
      xsdDecimal: decimalFromXsd(text),
      xsdDouble: doubleFromXsd(text, false),
      json: isJsonNumber(text)
        ? {
            integers: ranges.map((range) => integerFromJson(text, range)),
            decimal: decimalFromJson(text),
            finite: finite(text, false),
          }
        : undefined,
    };
  },
  kind: ({ xsdIntegers, xsdDecimal, xsdDouble, json }) =>
    [...xsdIntegers, xsdDecimal, xsdDouble, ...(json?.integers ?? []), json?.decimal, json?.finite]
      .map((written) => (typeof written)[1])
      .join(''),
  judge: (_, { text, xsdIntegers, xsdDecimal, xsdDouble, json }) =>
    judgeAll([
      ...xsdIntegers.map(
        (written, index) => ['xs:integer', written, modelXsdInteger(text, ranges[index])] as const,
      ),
      ['xs:decimal', xsdDecimal, modelXsdDecimal(text)],
      ['xs:double', xsdDouble, modelXsdDouble(text)],
      ...(json?.integers ?? []).map(
        (written, index) => ['a JSON integer', written, modelJsonInteger(text, ranges[index])] as const,
      ),
      ...(json === undefined
        ? []
        : [
            ['a JSON decimal', json.decimal, modelJsonDecimal(text)] as const,
            ['a JSON double', json.finite, Number.isFinite(Number(text)) ? text : undefined] as const,
          ]),
    ]) ?? judgeIsJson([...xsdIntegers, xsdDecimal, xsdDouble]),
});

function judgeAll(
  rows: readonly (readonly [what: string, Written, string | undefined])[],
): string | undefined {
  for (const [what, written, expected] of rows) {
    const got = typeof written === 'string' ? written : undefined;
    if (got !== expected) return `${what}: expected ${expected ?? 'a refusal'}, got ${got ?? 'one'}`;
  }
  return undefined;
}

function judgeIsJson(all: readonly Written[]): string | undefined {
  const odd = all.find((written) => typeof written === 'string' && String(tryParse(written)) === 'none');
  return odd === undefined ? undefined : `expected a JSON number, got ${String(odd)}`;
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return 'none';
  }
}

/** Maximum number of digits of an unbounded number when written out (W15). */
const mostDigits = 400;

function inRange(value: bigint, range: IntegerRange | undefined): boolean {
  return range === undefined || (value >= BigInt(range.min) && value <= BigInt(range.max));
}

/** W15: zero keeps its sign, as in JSON. */
function modelXsdInteger(text: string, range: IntegerRange | undefined): string | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^[+-]/, ''));
  const size = value.toString();
  if (!inRange(text.startsWith('-') ? -value : value, range)) return undefined;
  if (range === undefined && size.length > mostDigits) return undefined;
  return text.startsWith('-') ? `-${size}` : size;
}

function modelXsdDecimal(text: string): string | undefined {
  const [, sign = '', whole = '', fraction = ''] = /^([+-]?)([0-9]*)(?:\.([0-9]*))?$/.exec(text) ?? [];
  if (whole + fraction === '') return undefined;
  const plain = BigInt(whole === '' ? '0' : whole).toString();
  if (plain.length + fraction.length > mostDigits) return undefined;
  return `${sign === '-' ? '-' : ''}${plain}${fraction === '' ? '' : `.${fraction}`}`;
}

function modelXsdDouble(text: string): string | undefined {
  const [, mantissa = '', exponent = ''] = /^([^eE]*)([eE][+-]?[0-9]+)?$/.exec(text) ?? [];
  const [, sign = '', whole = '', fraction = ''] = /^([+-]?)([0-9]*)(?:\.([0-9]*))?$/.exec(mantissa) ?? [];
  if (whole + fraction === '' || !Number.isFinite(Number(text))) return undefined;
  const plain = whole === '' ? '0' : BigInt(whole).toString();
  return `${sign === '-' ? '-' : ''}${plain}${fraction === '' ? '' : `.${fraction}`}${exponent}`;
}

/** A JSON number as an integer times a power of ten. */
interface Scaled {
  readonly negative: boolean;
  readonly size: bigint;
  readonly power: number;
}

function scaledOf(token: string): Scaled {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(token) ?? [];
  return {
    negative: sign === '-',
    size: BigInt(whole + fraction),
    power: Number(exponent) - fraction.length,
  };
}

/** W15, W22: written out if this needs at most 400 digits. A token without exponent stays unchanged. */
function modelJsonDecimal(token: string): string | undefined {
  if (!/[eE]/.test(token)) return token.replace(/[-.]/g, '').length > mostDigits ? undefined : token;
  const { negative, size, power } = scaledOf(token);
  const sign = negative ? '-' : '';
  if (size === 0n) return `${sign}0`;
  const digits = size.toString();
  const written = power >= 0 ? digits.length + power : Math.max(digits.length, 1 - power);
  if (written > mostDigits) return undefined;
  if (power >= 0) return `${sign}${size * 10n ** BigInt(power)}`;
  const unit = 10n ** BigInt(-power);
  return `${sign}${size / unit}.${(size % unit).toString().padStart(-power, '0')}`;
}

/** W22: a number that is exactly an integer; `-0` is 0. */
function modelJsonInteger(token: string, range: IntegerRange | undefined): string | undefined {
  const written = /^-?[0-9]+$/.test(token) ? token : modelJsonDecimal(token);
  if (written === undefined || /\.0*[1-9]/.test(written)) return undefined;
  const value = BigInt(written.replace(/\.0*$/, ''));
  if (!inRange(value, range)) return undefined;
  if (range === undefined && written.replace(/\..*$|-/g, '').length > mostDigits) return undefined;
  return value.toString();
}

function makeText(random: Random): string {
  const bound = ranges[random.below(ranges.length)];
  if (bound !== undefined && random.once(3)) {
    return String(BigInt(random.pick(bound.min, bound.max)) + BigInt(random.below(5) - 2));
  }
  if (random.once(3)) return makeNumber(random);
  const zeros = '0'.repeat(random.pick(0, 1, 3, 400));
  const sign = random.pick('', '-', '+');
  const fraction = random.pick('', '.', `.${random.digits(5)}`, `.${random.digits(400)}`, `.${zeros}`);
  const exponent = random.once(3) ? `e${random.pick('', '-', '+')}${random.digits(4)}` : '';
  return (
    random.pick('', ' ', '\n') + sign + zeros + random.digits(random.pick(2, 20, 410)) + fraction + exponent
  );
}

import { strictEqual } from 'node:assert';
import test from 'ava';
import {
  collapse,
  decimalFromJson,
  decimalFromXsd,
  doubleFromXsd,
  finite,
  fitsNetDecimal,
  type IntegerRange,
  integerFromJson,
  integerFromXsd,
  isJsonNumber,
  isPlainInteger,
  outOfRange,
  underflows,
} from '../../../../mappings/codec/scalars/numbers.ts';
import { fc } from '../../../property.ts';

type Row = readonly [text: string, json: string | undefined | typeof outOfRange];

const int: IntegerRange = { min: '-2147483648', max: '2147483647' };
const unsignedByte: IntegerRange = { min: '0', max: '255' };

const xsd: Readonly<Record<string, readonly [(text: string) => Row[1], readonly Row[]]>> = {
  'W14: an xs:integer is digits with an optional sign (XSD Part 2, 3.3.13)': [
    (text) => integerFromXsd(text, int),
    [
      ['0', '0'],
      ['7', '7'],
      ['-7', '-7'],
      ['', undefined],
      ['+', undefined],
      ['-', undefined],
      ['--1', undefined],
      ['+-1', undefined],
      ['1 2', undefined],
      ['5.0', undefined],
      ['5.', undefined],
      ['1e3', undefined],
      ['0x10', undefined],
      ['1_0', undefined],
      ['1:', undefined],
      ['/1', undefined],
      ['1,000', undefined],
      ['१', undefined],
      ['１', undefined],
      ['NaN', undefined],
    ],
  ],
  'W15: a leading plus and leading zeros go, the rest of an integer is kept': [
    (text) => integerFromXsd(text, int),
    [
      ['+5', '5'],
      ['007', '7'],
      ['+007', '7'],
      ['-007', '-7'],
      ['000', '0'],
      ['+0', '0'],
      ['-0', '-0'],
      [`${'0'.repeat(1000)}12`, '12'],
    ],
  ],
  'W14: an integer outside its type is out of range': [
    (text) => integerFromXsd(text, int),
    [
      ['2147483647', '2147483647'],
      ['2147483648', outOfRange],
      ['-2147483648', '-2147483648'],
      ['-2147483649', outOfRange],
      ['+002147483648', outOfRange],
      ['9'.repeat(100_000), outOfRange],
    ],
  ],
  'W14: an unsigned integer has no sign but that of zero': [
    (text) => integerFromXsd(text, unsignedByte),
    [
      ['0', '0'],
      ['-0', '-0'],
      ['255', '255'],
      ['256', outOfRange],
      ['-1', outOfRange],
      ['-100', outOfRange],
      ['-1000', outOfRange],
    ],
  ],
  'W15: an integer without bounds has at most 400 digits': [
    (text) => integerFromXsd(text, undefined),
    [
      ['9'.repeat(400), '9'.repeat(400)],
      [`-${'9'.repeat(400)}`, `-${'9'.repeat(400)}`],
      ['9'.repeat(401), outOfRange],
      [`-${'9'.repeat(401)}`, outOfRange],
    ],
  ],
  'W15: of an xs:decimal only what JSON forbids goes (XSD Part 2, 3.2.3)': [
    decimalFromXsd,
    [
      ['12.50', '12.50'],
      ['12345678901234567890.12', '12345678901234567890.12'],
      ['.5', '0.5'],
      ['-.5', '-0.5'],
      ['+.50', '0.50'],
      ['5.', '5'],
      ['-5.', '-5'],
      ['007.10', '7.10'],
      ['00', '0'],
      ['00.00', '0.00'],
      ['-0.0', '-0.0'],
      ['', undefined],
      ['.', undefined],
      ['+.', undefined],
      ['-', undefined],
      ['1.2.3', undefined],
      ['1,5', undefined],
      ['1e2', undefined],
      ['1E2', undefined],
      ['INF', undefined],
      ['NaN', undefined],
      ['1 .5', undefined],
    ],
  ],
  'W15: an xs:decimal has at most 400 digits': [
    decimalFromXsd,
    [
      [`${'1'.repeat(300)}.${'2'.repeat(100)}`, `${'1'.repeat(300)}.${'2'.repeat(100)}`],
      [`-${'1'.repeat(300)}.${'2'.repeat(100)}`, `-${'1'.repeat(300)}.${'2'.repeat(100)}`],
      [`${'1'.repeat(300)}.${'2'.repeat(101)}`, outOfRange],
      [`${'0'.repeat(1000)}1`, '1'],
    ],
  ],
  'W15: of an xs:double the exponent is kept, INF and NaN are refused (XSD Part 2, 3.2.5)': [
    (text) => doubleFromXsd(text, false),
    [
      ['1E+21', '1E+21'],
      ['1e-07', '1e-07'],
      ['1E-07', '1E-07'],
      ['0.1234567890123456789', '0.1234567890123456789'],
      ['+.5e3', '0.5e3'],
      ['5.E3', '5E3'],
      ['007', '7'],
      ['-0', '-0'],
      ['1.7976931348623157e308', '1.7976931348623157e308'],
      ['1e-400', '1e-400'],
      ['1e400', outOfRange],
      ['-1e400', outOfRange],
      ['INF', undefined],
      ['-INF', undefined],
      ['+INF', undefined],
      ['NaN', undefined],
      ['Infinity', undefined],
      ['e5', undefined],
      ['+e5', undefined],
      ['.e5', undefined],
      ['1e', undefined],
      ['1e+', undefined],
      ['1e5.0', undefined],
      ['1e5e5', undefined],
      ['0x1p3', undefined],
      ['1d', undefined],
      ['1d5', undefined],
      ['1D5', undefined],
      ['1e5:', undefined],
      ['', undefined],
    ],
  ],
  'W14: an xs:float holds 32 bits': [
    (text) => doubleFromXsd(text, true),
    [
      ['3.4028234e38', '3.4028234e38'],
      ['3.5e38', outOfRange],
      ['1e-60', '1e-60'],
    ],
  ],
};

const json: typeof xsd = {
  'W22: a number that is exactly an integer is written plainly for an integer type': [
    (token) => integerFromJson(token, int),
    [
      ['5', '5'],
      ['5.0', '5'],
      ['5.000', '5'],
      ['1e3', '1000'],
      ['1E+3', '1000'],
      ['1.5e1', '15'],
      ['1.50e1', '15'],
      ['120e-1', '12'],
      ['0.0012e5', '120'],
      ['-5.0', '-5'],
      ['0e5', '0'],
      ['0.0e-999999999', '0'],
      [`0.${'0'.repeat(300)}1e301`, '1'],
    ],
  ],
  'W22: -0 is 0 for an integer type': [
    (token) => integerFromJson(token, int),
    [
      ['-0', '0'],
      ['-0.0', '0'],
      ['-0e5', '0'],
    ],
  ],
  'W22: any other fraction, and a value out of range, are mismatches for an integer type': [
    (token) => integerFromJson(token, int),
    [
      ['5.5', undefined],
      ['1e-1', undefined],
      ['15e-1', undefined],
      ['0.1', undefined],
      ['2147483648', outOfRange],
      ['2147483648.0', outOfRange],
      ['21474836.48e2', outOfRange],
      ['-2147483649', outOfRange],
      ['1e10', outOfRange],
      ['1e400', outOfRange],
      ['1e999999999999999999999', outOfRange],
    ],
  ],
  'W15: exponents of a decimal are written out, scale and trailing zeros stay': [
    decimalFromJson,
    [
      ['12.50', '12.50'],
      ['0.00', '0.00'],
      ['-0', '-0'],
      ['1e2', '100'],
      ['1E+2', '100'],
      ['1.50e1', '15.0'],
      ['1.50e2', '150'],
      ['1.50e3', '1500'],
      ['-1.5e-3', '-0.0015'],
      ['12e-2', '0.12'],
      ['12e-1', '1.2'],
      ['10e-1', '1.0'],
      ['0.012e1', '0.12'],
      ['0.012e3', '12'],
      ['0e999999999', '0'],
    ],
  ],
  'W15: a decimal of more than 400 digits once written out is out of range, however long the exponent': [
    decimalFromJson,
    [
      ['1e399', `1${'0'.repeat(399)}`],
      ['1e400', outOfRange],
      ['1e-399', `0.${'0'.repeat(398)}1`],
      ['1e-400', outOfRange],
      [`${'1'.repeat(399)}e-399`, `0.${'1'.repeat(399)}`],
      [`${'1'.repeat(400)}e-400`, outOfRange],
      [`${'1'.repeat(400)}e-1`, `${'1'.repeat(399)}.1`],
      ['1e999999999', outOfRange],
      ['1e-999999999', outOfRange],
      [`1e${'9'.repeat(1000)}`, outOfRange],
      [`1e-${'9'.repeat(1000)}`, outOfRange],
      [`0.${'0'.repeat(399)}`, `0.${'0'.repeat(399)}`],
      [`0.${'0'.repeat(400)}`, outOfRange],
      [`0.${'0'.repeat(500)}1e501`, '1'],
      ['9'.repeat(400), '9'.repeat(400)],
      [`-${'9'.repeat(400)}`, `-${'9'.repeat(400)}`],
      ['9'.repeat(401), outOfRange],
    ],
  ],
  'W22: a double is a number that 64 bits hold, its text kept': [
    (token) => finite(token, false),
    [
      ['1.0', '1.0'],
      ['1e308', '1e308'],
      ['1e309', outOfRange],
      ['-1e309', outOfRange],
      ['1e-9999', '1e-9999'],
    ],
  ],
};

for (const [title, [convert, rows]] of Object.entries({ ...xsd, ...json })) {
  test(title, (t) => {
    for (const [text, expected] of rows) t.is(convert(text), expected, text.slice(0, 40));
  });
}

test('isJsonNumber is exactly RFC 8259’s grammar', (t) => {
  for (const text of ['0', '-0', '10', '1.5', '1e5', '1E+05', '-1.0e-1']) t.true(isJsonNumber(text), text);
  for (const text of ['', '-', '+1', '01', '1.', '.1', '1e', ' 1', '1 ', '1\n', '0x1', 'NaN', '1e1.0', '١'])
    t.false(isJsonNumber(text), text);
});

test('isPlainInteger is false for a fraction and an exponent', (t) => {
  t.deepEqual(
    ['0', '-12', '1.0', '1e3', '1E3'].map((token) => isPlainInteger(token)),
    [true, true, false, false, false],
  );
});

test('W14: only the four blanks of XML are removed around a value', (t) => {
  t.is(collapse(' \t\r\n5\n '), '5');
  t.is(collapse('\u00a05'), '\u00a05');
  t.is(collapse(' 1  2 '), '1  2');
  t.is(collapse(' \n '), '');
});

/** An exact decimal for comparison: value = unscaled · 10^-scale. */
interface Exact {
  readonly unscaled: bigint;
  readonly scale: bigint;
}

/** Parses a number. An exponent changes only the scale. */
function exact(text: string): Exact {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [integer = '', fraction = ''] = mantissa.replace('+', '').split('.');
  const sign = integer.startsWith('-') ? -1n : 1n;
  const digits = integer.replace('-', '') + fraction;
  return {
    unscaled: sign * BigInt(digits === '' ? '0' : digits),
    scale: BigInt(fraction.length) - BigInt(exponent),
  };
}

function sameValue(a: Exact, b: Exact): boolean {
  const shift = a.scale - b.scale;
  return shift < 0n ? a.unscaled * 10n ** -shift === b.unscaled : a.unscaled === b.unscaled * 10n ** shift;
}

const integerTypes: Readonly<Record<string, IntegerRange>> = {
  byte: { min: '-128', max: '127' },
  unsignedByte,
  short: { min: '-32768', max: '32767' },
  unsignedShort: { min: '0', max: '65535' },
  int,
  unsignedInt: { min: '0', max: '4294967295' },
  long: { min: '-9223372036854775808', max: '9223372036854775807' },
  unsignedLong: { min: '0', max: '18446744073709551615' },
};

const nearBounds = (range: IntegerRange) =>
  fc.oneof(
    fc.bigInt(BigInt(range.min) - 2n, BigInt(range.min) + 2n),
    fc.bigInt(BigInt(range.max) - 2n, BigInt(range.max) + 2n),
    fc.bigInt(BigInt(range.min), BigInt(range.max)),
    fc.bigInt(-(2n ** 70n), 2n ** 70n),
  );

for (const [name, range] of Object.entries(integerTypes)) {
  const contains = (value: bigint) => value >= BigInt(range.min) && value <= BigInt(range.max);

  test(`W15: every xs:${name} becomes the same integer, and every other integer is out of range`, (t) => {
    t.notThrows(() =>
      fc.assert(
        fc.property(nearBounds(range), fc.boolean(), fc.nat(3), (value, plus, zeros) => {
          const digits = '0'.repeat(zeros) + String(value < 0n ? -value : value);
          const text = (value < 0n ? '-' : plus ? '+' : '') + digits;
          strictEqual(integerFromXsd(text, range), contains(value) ? String(value) : outOfRange);
        }),
      ),
    );
  });

  test(`W22: every xs:${name} is written as the same integer, for any JSON spelling`, (t) => {
    t.notThrows(() =>
      fc.assert(
        fc.property(nearBounds(range), fc.nat(5), fc.nat(25), (value, zeros, shift) => {
          const expected = contains(value) ? String(value) : outOfRange;
          strictEqual(integerFromJson(String(value), range), expected);
          if (zeros > 0) strictEqual(integerFromJson(`${value}.${'0'.repeat(zeros)}`, range), expected);
          strictEqual(integerFromJson(`${value}${'0'.repeat(shift)}e-${shift}`, range), expected);
          const size = String(value < 0n ? -value : value).padStart(shift + 1, '0');
          const sign = value < 0n ? '-' : '';
          const shifted = `${sign}${size.slice(0, size.length - shift)}.${size.slice(size.length - shift)}0e${shift}`;
          strictEqual(integerFromJson(shifted, range), expected);
        }),
      ),
    );
  });
}

const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 60 });
const sign = fc.constantFrom('', '-', '+');

test('W15: every xs:decimal keeps its value and its scale', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(sign, digits, fc.boolean(), digits, (plusMinus, integer, point, fraction) => {
        fc.pre(integer !== '' || (point && fraction !== ''));
        const text = `${plusMinus}${integer}${point ? `.${fraction}` : ''}`;
        const made = decimalFromXsd(text);
        strictEqual(typeof made, 'string');
        strictEqual(isJsonNumber(String(made)), true);
        const meant = exact(text);
        strictEqual(exact(String(made)).scale, meant.scale);
        strictEqual(exact(String(made)).unscaled, meant.unscaled);
        strictEqual(String(made).startsWith('-'), plusMinus === '-');
      }),
      { numRuns: 500 },
    ),
  );
});

const jsonNumber = fc
  .tuple(
    fc.boolean(),
    digits.map((text) => text.replace(/^0+/, '') || '0'),
    fc.option(digits.filter((text) => text !== '')),
    fc.option(fc.tuple(fc.constantFrom('e', 'E', 'e+', 'e-', 'E-'), fc.nat(330), fc.boolean())),
  )
  .map(([negative, integer, fraction, exponent]) => {
    const power = exponent === null ? '' : `${exponent[0]}${exponent[2] ? '0' : ''}${exponent[1]}`;
    return `${negative ? '-' : ''}${integer}${fraction === null ? '' : `.${fraction}`}${power}`;
  });

test('W15: every JSON number becomes an equal xs:decimal, and converts back to the same text', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(jsonNumber, (token) => {
        const made = decimalFromJson(token);
        if (made === outOfRange) {
          const { unscaled, scale } = exact(token);
          const size = String(unscaled < 0n ? -unscaled : unscaled).length;
          // a number that is not written out has more than 400 digits before or after the point
          strictEqual(size - Number(scale) > 400 || Number(scale) + 1 > 400, true);
          return;
        }
        strictEqual(/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(made), true);
        strictEqual(made.replace(/[-.]/g, '').length <= 400, true);
        strictEqual(sameValue(exact(made), exact(token)), true);
        strictEqual(decimalFromXsd(made), made);
        if (!/e/i.test(token)) strictEqual(made, token);
      }),
      { numRuns: 500 },
    ),
  );
});

test('W15: every finite double keeps its text through xs:double', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.double({ noDefaultInfinity: true, noNaN: true }), (value) => {
        const text = JSON.stringify(value);
        strictEqual(doubleFromXsd(text, false), text);
        strictEqual(finite(text, false), text);
        strictEqual(Number(doubleFromXsd(`+${text}`.replace('+-', '-'), false)), Number(text));
      }),
    ),
  );
});

for (const [text, fits] of [
  ['9'.repeat(28), true],
  ['79228162514264337593543950335', true],
  ['-79228162514264337593543950335', true],
  ['79228162514264337593543950336', false],
  ['-79228162514264337593543950336', false],
  ['7.9228162514264337593543950335', true],
  ['7.9228162514264337593543950336', false],
  [`0.${'0'.repeat(27)}1`, true],
  [`0.${'0'.repeat(28)}1`, false],
  [`1.5${'0'.repeat(40)}`, true],
  ['9'.repeat(400), false],
] as const) {
  test(`a .NET decimal ${fits ? 'can' : 'cannot'} represent ${text.slice(0, 40)} of ${text.length} characters`, (t) => {
    t.is(fitsNetDecimal(text), fits);
  });
}

test('a number that becomes 0 in 64 or 32 bits is detected, and 0 itself is not', (t) => {
  t.true(underflows('1e-400', false));
  t.true(underflows('-1.5E-324', false));
  t.false(underflows('1e-300', false));
  t.true(underflows('1e-50', true));
  t.false(underflows('0.0e-400', false));
  t.false(underflows('-0', true));
  t.true(underflows('-0.01e-400', false));
});

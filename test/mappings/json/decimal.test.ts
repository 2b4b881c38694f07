import test from 'ava';
import {
  compareDecimals,
  type Decimal,
  decimalOf,
  isMultiple,
  plainText,
} from '../../../mappings/json/decimal.ts';

function decimal(token: string): Decimal {
  const value = decimalOf(token);
  if (value === undefined) throw new Error(`expected a decimal, got ${token}`);
  return value;
}

test('a number with up to 402 characters and a seven-digit exponent is compared', (t) => {
  t.deepEqual(decimalOf('1'.repeat(402)), { isNegative: false, digits: '1'.repeat(402), exponent: 0 });
  t.is(decimalOf('1'.repeat(403)), undefined);
  t.deepEqual(decimalOf('1e-999999'), { isNegative: false, digits: '1', exponent: -999_999 });
  t.deepEqual(decimalOf('1E9999999'), { isNegative: false, digits: '1', exponent: 9_999_999 });
  t.is(decimalOf('1e-9999999'), undefined);
});

test('numbers are ordered, with zero between negative and positive ones', (t) => {
  const ordered = [
    '-1e3',
    '-999',
    '-10',
    '-9.5',
    '-9',
    '-0.001',
    '0',
    '1e-9',
    '0.001',
    '0.0011',
    '1',
    '1e1',
    '99',
  ];
  for (const [at, low] of ordered.entries()) {
    t.is(compareDecimals(decimal(low), decimal(`${low}${low.includes('e') ? '' : 'e0'}`)), 0, low);
    for (const high of ordered.slice(at + 1)) {
      t.true(compareDecimals(decimal(low), decimal(high)) < 0, `${low} ${high}`);
      t.true(compareDecimals(decimal(high), decimal(low)) > 0, `${high} ${low}`);
    }
  }
  t.is(compareDecimals(decimal('-0.0'), decimal('0e5')), 0);
});

test('a number is a multiple of another if the remainder is 0, for any powers of ten', (t) => {
  for (const [value, factor, expected] of [
    ['0', '100', true],
    ['0', '0.01', true],
    ['50', '100', false],
    ['5', '0.01', true],
    ['6', '3', true],
    ['7', '3', false],
    ['1e1', '4', false],
    ['1e2', '4', true],
    ['1e2', '8', false],
    ['1e3', '8', true],
    ['1e4', '32', false],
    ['1e5', '32', true],
    ['1e6', '128', false],
    ['1e7', '128', true],
    ['3e9999999', '9', false],
    ['-9e9999999', '9', true],
  ] as const)
    t.is(isMultiple(decimal(value), decimal(factor)), expected, `${value} ${factor}`);
});

test('all spellings of a number have one canonical text', (t) => {
  for (const [text, tokens] of [
    ['15e-1', ['1.5', '1.50', '15e-1', '0.15E1']],
    ['-15e-1', ['-1.5', '-0.0150e2']],
    ['1e2', ['100', '1e2', '100.0']],
  ] as const)
    for (const token of tokens) t.is(plainText(decimal(token)), text, token);
  t.is(plainText(decimal('-0')), plainText(decimal('0.00e7')));
});

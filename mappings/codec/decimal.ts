import { maxDigits } from './numbers.ts';

/** A JSON number exactly: `digits` times ten to the power of `exponent`; no zeros at the end of the digits. */
export interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/** The value of a JSON number; undefined for one of too many digits to be worth a look. */
export function decimalOf(token: string): Decimal | undefined {
  const [mantissa = '', power = '0'] = token.toLowerCase().split('e');
  if (mantissa.length > maxDigits + 2 || power.length > 7) return undefined;
  const [whole = '', fraction = ''] = mantissa.split('.');
  const written = whole + fraction;
  const digits = written.replace(/0+$/, '');
  if (digits === '' || digits === '-') return { digits: 0n, exponent: 0 };
  return {
    digits: BigInt(digits),
    exponent: Number(power) - fraction.length + written.length - digits.length,
  };
}

/** Below zero where the first is less, above where it is more. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const [signA, signB] = [sign(a), sign(b)];
  if (signA !== signB || signA === 0) return signA - signB;
  const [sizeA, sizeB] = [size(a), size(b)];
  if (sizeA !== sizeB) return (sizeA - sizeB) * signA;
  const least = Math.min(a.exponent, b.exponent);
  const difference =
    a.digits * 10n ** BigInt(a.exponent - least) - b.digits * 10n ** BigInt(b.exponent - least);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** True where `value` is an integer times `factor`, which isn't zero. */
export function isMultiple(value: Decimal, factor: Decimal): boolean {
  if (value.digits === 0n) return true;
  const power = value.exponent - factor.exponent;
  // the digits end in no zero, so no power of ten divides them
  if (power < 0) return false;
  return (value.digits * powerOfTen(power, factor.digits)) % factor.digits === 0n;
}

/** One text for all ways of writing the number. */
export function plainText({ digits, exponent }: Decimal): string {
  return `${digits}e${exponent}`;
}

function sign({ digits }: Decimal): -1 | 0 | 1 {
  return digits === 0n ? 0 : digits < 0n ? -1 : 1;
}

/** Where the first digit stands. */
function size({ digits, exponent }: Decimal): number {
  return String(digits < 0n ? -digits : digits).length + exponent;
}

/** Ten to a power, modulo a number: of any power in few steps. */
function powerOfTen(power: number, modulus: bigint): bigint {
  let result = 1n;
  let base = 10n % modulus;
  for (let rest = power; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = (result * base) % modulus;
    base = (base * base) % modulus;
  }
  return result;
}

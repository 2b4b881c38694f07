/** Maximum number of digits of a decimal or an unbounded integer without an exponent (W15). */
export const maxDigits = 400;

/** The exact value of a JSON number: `digits` times ten to the power of `exponent`. */
export interface Decimal {
  readonly isNegative: boolean;
  /** Without leading and trailing zeros; empty for zero. */
  readonly digits: string;
  readonly exponent: number;
}

/** The number 0. */
export const zero: Decimal = { isNegative: false, digits: '', exponent: 0 };

/** Parses a JSON number; undefined if it has too many digits. */
export function decimalOf(token: string): Decimal | undefined {
  const [mantissa = '', power = '0'] = token.toLowerCase().split('e');
  if (mantissa.length > maxDigits + 2 || power.length > 7) return undefined;
  const isNegative = mantissa.startsWith('-');
  const [whole = '', fraction = ''] = mantissa.slice(isNegative ? 1 : 0).split('.');
  const written = whole + fraction;
  let start = 0;
  let end = written.length;
  while (written.charCodeAt(start) === 48) start++;
  while (end > start && written.charCodeAt(end - 1) === 48) end--;
  if (start === end) return zero;
  const exponent = Number(power) - fraction.length + written.length - end;
  return { isNegative, digits: written.slice(start, end), exponent };
}

/** Returns a negative number if `a` is less than `b`, a positive number if it is greater, and 0 if they are equal. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const [signA, signB] = [sign(a), sign(b)];
  if (signA !== signB || signA === 0) return signA - signB;
  const [sizeA, sizeB] = [size(a), size(b)];
  if (sizeA !== sizeB) return (sizeA - sizeB) * signA;
  // the first digits have the same position and no digits end with zero, so the order is that of strings
  return a.digits === b.digits ? 0 : a.digits < b.digits ? -signA : signA;
}

/** Returns true if `value` is an integer multiple of `factor`, which is not zero. */
export function isMultiple(value: Decimal, factor: Decimal): boolean {
  if (value.digits === '') return true;
  const power = value.exponent - factor.exponent;
  // the digits do not end with zero, so no power of ten divides them
  if (power < 0) return false;
  const divisor = BigInt(factor.digits);
  return (BigInt(value.digits) * powerOfTen(power, divisor)) % divisor === 0n;
}

/** Returns the same text for all forms of a number. */
export function plainText({ isNegative, digits, exponent }: Decimal): string {
  return `${isNegative ? '-' : ''}${digits}e${exponent}`;
}

function sign({ isNegative, digits }: Decimal): -1 | 0 | 1 {
  return digits === '' ? 0 : isNegative ? -1 : 1;
}

/** Returns the position of the first digit. */
function size({ digits, exponent }: Decimal): number {
  return digits.length + exponent;
}

/** Returns a power of ten modulo a number, in a logarithmic number of steps. */
function powerOfTen(power: number, modulus: bigint): bigint {
  let result = 1n;
  let base = 10n % modulus;
  for (let rest = power; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = (result * base) % modulus;
    base = (base * base) % modulus;
  }
  return result;
}

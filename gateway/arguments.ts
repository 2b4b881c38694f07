import { isMap, isPromise } from 'node:util/types';
import { defaultLimits } from '../mappings/contract/limits.ts';
import { didYouMean } from '../mappings/contract/nearest.ts';
import { withoutUrlSecrets } from '../mappings/loader/document/node.ts';

// Checks of the arguments of exported functions. Callers may use JavaScript without types.

/** Returns the error of an argument: `contract: expected …, got …`. */
export function wrongArgument(name: string, expected: string, got: string): RangeError {
  return new RangeError(`${name}: expected ${expected}, got ${got}`);
}

/**
 * Describes the value of an argument for an error message: at most 60 characters of a string, or the kind of another
 * value.
 */
export function described(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (typeof value === 'string') {
    const text = JSON.stringify(withoutUrlSecrets(value));
    return text.length > 60 ? `${text.slice(0, 60)}…` : text;
  }
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
    return String(value);
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`;
  if (Array.isArray(value)) return 'an array';
  if (isCompiled(value)) return 'a compiled contract';
  if (isContract(value)) return 'a contract that is not compiled';
  if (isRecord(value) && isContract(value.contract)) return 'the result of loadContract';
  if (isPromise(value)) return 'a promise';
  return 'an object';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isContract(value: unknown): boolean {
  return isRecord(value) && Array.isArray(value.operations) && isRecord(value.settings);
}

function isCompiled(value: unknown): boolean {
  return isRecord(value) && isMap(value.operations) && isContract(value.contract);
}

/** Checks the contract that `loadContract` returns. Throws RangeError. */
export function checkContract(value: unknown): void {
  if (!isContract(value))
    throw wrongArgument('contract', 'the contract in the result of loadContract', described(value));
}

/** Checks a contract that `compileContract` returns. Throws RangeError. */
export function checkCompiled(value: unknown): void {
  if (!isCompiled(value))
    throw wrongArgument('contract', 'a contract that compileContract returns', described(value));
}

/** Checks the value of an argument that has a type of JavaScript. Throws RangeError. */
export function checkType(
  name: string,
  value: unknown,
  type: 'string' | 'boolean' | 'function' | 'object',
  expected = `a ${type}`,
): void {
  const isOfType = type === 'object' ? isRecord(value) && !Array.isArray(value) : typeof value === type;
  if (!isOfType) throw wrongArgument(name, expected, described(value));
}

/** Checks a list of texts. Throws RangeError. */
export function checkTexts(name: string, value: unknown): void {
  if (!Array.isArray(value)) throw wrongArgument(name, 'an array of strings', described(value));
  for (const [index, text] of value.entries()) checkType(`${name}[${index}]`, text, 'string');
}

const limitNames = Object.keys(defaultLimits);

/** Checks that all limits are there, as `limitsWith` returns them. Throws RangeError. */
export function checkLimits(value: unknown): void {
  const expected = 'all limits, as limitsWith returns them';
  checkType('limits', value, 'object', expected);
  const given = value as Readonly<Record<string, unknown>>;
  for (const name of limitNames)
    if (typeof given[name] !== 'number')
      throw wrongArgument('limits', expected, `${described(given[name])} for ${name}`);
}

/** Checks the location of a contract: a folder, or an object with file paths. Throws RangeError. */
export function checkPlace(value: unknown): void {
  const expected = 'the path of a folder, or an object with the path openapi';
  if (typeof value === 'string') {
    if (value === '') throw wrongArgument('place', expected, described(value));
    return;
  }
  checkType('place', value, 'object', expected);
  const { openapi, overlay, ...others } = value as Readonly<Record<string, unknown>>;
  checkNames('loadContract', others, ['openapi', 'overlay']);
  checkType('openapi', openapi, 'string', 'the path of a document');
  if (overlay !== undefined) checkType('overlay', overlay, 'string', 'the path of a file');
}

/** Checks that an object has only known members, because a misspelt option would be ignored. Throws RangeError. */
export function checkNames(owner: string, given: object, known: readonly string[]): void {
  for (const name of Object.keys(given))
    if (!known.includes(name))
      throw wrongArgument(name, `an option of ${owner}`, `an unknown name${didYouMean(name, known)}`);
}

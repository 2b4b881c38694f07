import { numbers } from '../../mappings/codec/adopted/facets.ts';
import type { Shape, Shapes } from '../../mappings/compare/shapes.ts';
import { movedHeadersOf } from '../../mappings/contract/credentials.ts';
import type { Contract, Operation } from '../../mappings/contract/model.ts';
import type { Path, Step } from '../../mappings/mapping/paths.ts';
import type { ValueCondition } from './routing.ts';

// Values of a request for conditions (G8). A request is the JSON text that the codec of its operation writes.

/** A place of a request that may have a value. */
interface Place {
  /** True for numbers, which are compared by value. */
  readonly isNumber: boolean;
}

/** Returns the place at a path in requests of the operation; undefined if no request has a value there. */
export function placeAt(
  contract: Contract,
  shapes: Shapes,
  operation: Operation,
  path: Path,
): Place | undefined {
  const [first, ...rest] = path;
  if (first?.kind !== 'member') return undefined;
  const isHeader = first.name === '@headers';
  if (isHeader && isMoved(contract, rest)) return undefined;
  const shape = isHeader
    ? shapeAt(shapes, shapes.requestHeadersOf(operation), rest)
    : shapeAt(shapes, shapes.requestOf(operation), path);
  return shape && { isNumber: shape.kind === 'scalar' && numbers.has(shape.type.builtIn) };
}

/** Returns true for the path of a credential in a header block, which is not in the request's JSON (A8). */
function isMoved({ credentials }: Contract, path: Path): boolean {
  const names = path.map((step) => (step.kind === 'member' ? step.name : ''));
  return movedHeadersOf(credentials).some((one) => [one.block, ...one.path].join('\n') === names.join('\n'));
}

/** Finds a path in a shape, also in types that are derived from its own. */
function shapeAt(shapes: Shapes, shape: Shape, [step, ...rest]: Path): Shape | undefined {
  if (step === undefined || shape.kind === 'any') return shape;
  if (shape.kind === 'list') return step.kind === 'member' ? undefined : shapeAt(shapes, shape.item(), rest);
  if (shape.kind !== 'object' || step.kind !== 'member') return undefined;
  if (step.name === '@type' && rest.length === 0) return shape;
  for (const [name, member] of shapes.membersOf(shape)) {
    const found = name === step.name ? shapeAt(shapes, member, rest) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Matches JSON with a number that a double may not represent exactly. It also matches some texts. */
const mayBeInexact = /\d(?:[.Ee]|\d{15})/;

/** Parses the JSON of a request. Numbers that a double does not represent exactly become their text. */
export function parseRequest(json: string): unknown {
  if (!mayBeInexact.test(json)) return JSON.parse(json); // without a function for each value
  return JSON.parse(json, (_key, value, context?: { readonly source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) ? (context?.source ?? String(value)) : value,
  );
}

/** Returns the texts of the scalars at a path, without surrounding white space. A null is no value. */
export function textsAt(request: unknown, path: Path): readonly string[] {
  let values: readonly unknown[] = [request];
  for (const step of path) values = values.flatMap((value) => stepInto(value, step));
  return values.flatMap((value) =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? [String(value).trim()]
      : [],
  );
}

/** Returns true if there is a value other than null at a path. */
function isPresent(request: unknown, path: Path): boolean {
  let values: readonly unknown[] = [request];
  for (const step of path) values = values.flatMap((value) => stepInto(value, step));
  return values.some((value) => value !== undefined && value !== null);
}

function stepInto(value: unknown, step: Step): readonly unknown[] {
  if (step.kind === 'member')
    return isObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
  if (!Array.isArray(value)) return [];
  if (step.kind === 'every') return value;
  if (step.kind === 'index') return step.index < value.length ? [value[step.index]] : [];
  const found = value.find((item) => isObject(item) && String(item[step.name] ?? '').trim() === step.text);
  return found === undefined ? [] : [found];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns true if a request of an operation fulfils a condition. */
export function fulfils(
  request: unknown,
  { path, test, numericIn }: ValueCondition,
  operation: string,
): boolean {
  if (test.kind === 'present') return isPresent(request, path);
  if (test.kind === 'absent') return !isPresent(request, path);
  const texts = textsAt(request, path);
  if (test.kind === 'startsWith')
    return texts.some((text) => test.texts.some((start) => text.startsWith(start)));
  const isNumber = numericIn.has(operation);
  return texts.some((text) =>
    test.texts.some((wanted) => text === wanted || (isNumber && isSame(text, wanted))),
  );
}

const numberForm = /^([+-]?)(\d*)(?:\.(\d*))?(?:[Ee]([+-]?\d{1,9}))?$/;

/**
 * Returns the canonical text of a number: its digits without zeros at either end, and the exponent of the last digit. For
 * example `-105e-1` for `-010.50`; undefined for other texts.
 */
function canonicalNumber(text: string): string | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = numberForm.exec(text) ?? [];
  const digits = whole + fraction;
  if (digits === '') return undefined;
  let from = 0;
  let to = digits.length;
  while (from < to && digits[from] === '0') from++;
  while (to > from && digits[to - 1] === '0') to--;
  if (from === to) return '0';
  const power = Number(exponent) - fraction.length + digits.length - to;
  return `${sign === '-' ? '-' : ''}${digits.slice(from, to)}e${power}`;
}

/** Returns true for texts of the same number (G8). */
function isSame(text: string, wanted: string): boolean {
  const number = canonicalNumber(text);
  return number !== undefined && number === canonicalNumber(wanted);
}

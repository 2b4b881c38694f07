import { type Reason, sentence } from '../contract/reason.ts';
import { type Path, valueAtPath } from './paths.ts';
import type { Rule } from './rules.ts';
import type { Maker, Scope } from './run.ts';
import type { Shape } from './schemas.ts';
import { isNothing, isObject, joined, kindNames, kindOf, kindsText } from './shape-checks.ts';
import { ByText, isItems, isMembers, textOfScalar, type Value } from './value.ts';

/** Functions that make target values. */

/**
 * A function of the operation's module. It makes the value for a target path (M5). Throws CodeError.
 *
 * @param most maximum number of values in the result, counted like `mappingValues`. The default is `mappingValues`.
 */
export type CodeFunction = (value: Value, at: string, most?: number) => Value | undefined;

/** A module function failed or exceeded the time limit. The reason contains its name and error. */
export class CodeError extends Error {
  override readonly name = 'CodeError';
  readonly reason: Reason;

  constructor(reason: Reason) {
    super(sentence(reason));
    this.reason = reason;
  }
}

export function nothing(): undefined {}

/** Returns the received bytes of a text body as base64. */
export function bytesOfBody({ value, run: { bytes } }: Scope): Value | undefined {
  return value === undefined || bytes === undefined ? value : base64Of(bytes);
}

/** The base64 of bytes (RFC 4648 §4). */
export function base64Of({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

/** Number of characters in a constant or function result that count as one more value. */
export const textPart = 64;

/** Returns a maker for a constant of the file. Its content counts on each use. */
export function constantMaker(constant: Value): Maker {
  const more = weightOf(constant) - 1;
  if (more === 0) return () => constant;
  return (scope) => {
    scope.run.made.count(scope, more);
    return constant;
  };
}

/**
 * Returns the number of values that a value counts as: one for each member and item, and one for each 64 characters of
 * a text or name.
 */
export function weightOf(value: Value): number {
  if (typeof value === 'string') return 1 + Math.floor(value.length / textPart);
  let sum = 1;
  if (isItems(value)) for (const item of value) sum += weightOf(item);
  else if (isMembers(value))
    for (const [name, inner] of value) sum += Math.floor(name.length / textPart) + weightOf(inner);
  return sum;
}

export function countItem(scope: Scope): void {
  const { made } = scope.run;
  made.count(scope);
  made.step(1);
}

/** Calls a module function. Throws MappingError. */
export function called(
  run: CodeFunction,
  value: Value,
  at: string,
  scope: Scope,
  path: Path,
): Value | undefined {
  try {
    return run(value, at, scope.run.made.left + 1);
  } catch (error) {
    if (error instanceof CodeError) throw scope.error(path, error.reason);
    throw error;
  }
}

/** Additional members that `auto` copies from the source. */
export interface OtherMembers {
  /** Path of their object in the source. */
  readonly path: Path;
  /** Names that are not copied. */
  readonly names: ReadonlySet<string>;
  readonly make: Maker;
}

/** @param of path of the source object. An empty object gives an empty object. */
export function recordMaker(
  makers: ReadonlyMap<string, Maker>,
  others: OtherMembers | undefined,
  required: readonly string[],
  at: string,
  of: Path | undefined,
): Maker {
  const rows = [...makers];
  return (scope) => {
    const { made: all } = scope.run;
    all.step(rows.length);
    const made = new Map<string, Value>();
    for (const [name, make] of rows) {
      const value = make(scope);
      if (value !== undefined) made.set(name, value);
    }
    if (others !== undefined) addOthers(made, others, scope);
    all.count(scope, made.size);
    if (made.size === 0 && at !== '') {
      const isThere = of !== undefined && isMembers(valueAtPath(scope.value, of));
      if (!isThere) return undefined;
    }
    for (const name of required)
      if (!made.has(name))
        throw scope.error(
          [],
          { expected: `a source for the required ${joined(at, name)}`, got: 'none' },
          true,
        );
    return made;
  };
}

function addOthers(made: Map<string, Value>, { path, names, make }: OtherMembers, scope: Scope): void {
  const value = valueAtPath(scope.value, path);
  if (!isMembers(value)) return;
  scope.run.made.step(value.size);
  for (const [name, inner] of value) {
    if (names.has(name)) continue;
    const one = make(scope.inner(inner, [...path, { kind: 'member', name }]));
    if (one !== undefined) made.set(name, one);
  }
}

export function eachMaker(path: Path, target: Shape, item: Maker): Maker {
  return (scope) => {
    const value = valueAtPath(scope.value, path);
    if (isNothing(value)) return noItems(target, value, scope);
    const items = isItems(value) ? value : [value];
    const made: Value[] = [];
    for (let index = 0; index < items.length; index++) {
      countItem(scope);
      const one = item(scope.inner(items[index], [...path, { kind: 'index', index }]));
      if (one !== undefined) made.push(one);
    }
    return made;
  };
}

/** Returns the message about items that are lost because only the first item is used. */
export function lostItemsText(at: string): string {
  return `${at}: items after the first are omitted`;
}

/**
 * Rejects a value that is not an object where the source document allows only objects, because rules would find no
 * members. Throws MappingError.
 */
export function refuseOther(shape: Shape, value: Value, scope: Scope, path: Path): void {
  if (!isMembers(value) && isObject(shape))
    throw scope.error(path, { expected: 'an object', got: kindNames[kindOf(value)] });
}

/** Returns null if the source is null and the target allows null, otherwise undefined (M2). */
export function nullIn({ kinds }: Shape, value: null | undefined): null | undefined {
  return value === null && kinds.has('null') ? null : undefined;
}

/** Returns the value for a missing source list. If no call was made, this is an empty list. */
export function noItems(target: Shape, value: null | undefined, scope: Scope): Value | undefined {
  return scope.run.isOfNone ? [] : nullIn(target, value);
}

/**
 * Returns a test that is true if null is an explicit result: from a constant, a table or a function. Otherwise null
 * means that the source has no value.
 */
export function compileNullTest({ source, values, code }: Rule): (scope: Scope) => boolean {
  if (source.kind === 'const') return () => true;
  if (source.kind !== 'from' || (values === undefined && code === undefined)) return () => false;
  const { path } = source;
  return (scope) => !isNothing(valueAtPath(scope.value, path));
}

/** Checks the kind and enumeration of a value. Null is kept only if the target allows null. */
export function fitMaker(get: Maker, path: Path, target: Shape): Maker {
  const refuse = compileValueCheck(target);
  const refuseItem = target.items === undefined ? undefined : compileValueCheck(target.items);
  return (scope) => {
    const value = get(scope);
    if (isNothing(value)) return nullIn(target, value);
    refuse(value, scope, path);
    if (refuseItem !== undefined && isItems(value))
      for (const item of value) if (item !== null) refuseItem(item, scope, path);
    return value;
  };
}

/** Returns a function that rejects values of another kind or outside the enumeration with MappingError. */
function compileValueCheck(target: Shape): (value: Exclude<Value, null>, scope: Scope, path: Path) => void {
  const { kinds, values } = target;
  const allowed = values === undefined ? undefined : new ByText(values.map((text) => [text, true]));
  return (value, scope, path) => {
    if (!kinds.has(kindOf(value)))
      throw scope.error(path, { expected: kindsText(target), got: kindOf(value) });
    if (allowed !== undefined && textOfScalar(value) !== undefined && allowed.get(value) !== true)
      throw scope.error(path, {
        expected: `one of ${allowed.texts.slice(0, 20).join(', ')}`,
        got: 'another value',
      });
  };
}

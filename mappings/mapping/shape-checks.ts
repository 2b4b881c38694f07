import { someOf } from '../loader/document/node.ts';
import type { Kind, Shape } from './schemas.ts';
import { Digits, isItems, isMembers, numberForm, textOfScalar, type Value } from './value.ts';

/** Comparisons of schema shapes and values, and their texts in messages. */

/** Shape of any value. */
export const anyShape: Shape = {
  kinds: new Set<Kind>(['object', 'array', 'string', 'number', 'boolean', 'null']),
  members: new Map(),
  others: undefined,
  open: true,
  items: undefined,
  values: undefined,
  base64: false,
};

/** Shape of a response without a documented body. */
export const noBody: Shape = { ...anyShape, open: false, kinds: new Set<Kind>(['null']) };

/** Shape of a text response. */
export const bodyText: Shape = { ...anyShape, open: false, kinds: new Set<Kind>(['string']) };

/** Shape of a binary response, as base64. */
export const bodyBytes: Shape = { ...bodyText, base64: true };

export const scalarKinds: readonly Kind[] = ['string', 'number', 'boolean'];

function scalarShape(kind: Kind): Shape {
  return { ...anyShape, open: false, kinds: new Set([kind]) };
}

export const textShape = scalarShape('string');

export const digitsShape = scalarShape('number');

export const flagShape = scalarShape('boolean');

/** Shape of a function result, which is checked at run time. */
export const codeShape: Shape = { ...anyShape };

export function asWanted(text: string, as: 'text' | 'number' | 'boolean'): Value | undefined {
  if (as === 'text') return text;
  if (as === 'number') return numberForm.test(text) ? new Digits(text) : undefined;
  return text === 'true' || text === '1' ? true : text === 'false' || text === '0' ? false : undefined;
}

/**
 * Converts a text of digits to a number if the target accepts only numbers. Functions and constants write long numbers
 * as text.
 */
export function asKind(value: Value, target: Shape): Value {
  if (isItems(value))
    return target.items === undefined ? value : value.map((item) => asKind(item, target.items ?? anyShape));
  if (isMembers(value))
    return new Map(
      [...value].map(([name, inner]) => [name, asKind(inner, target.members.get(name)?.shape ?? anyShape)]),
    );
  const isNumber = target.kinds.has('number') && !target.kinds.has('string');
  return isNumber && typeof value === 'string' && numberForm.test(value) ? new Digits(value) : value;
}

export function kindOf(value: Value): Kind {
  if (value === null) return 'null';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'boolean';
  if (value instanceof Digits) return 'number';
  return isItems(value) ? 'array' : 'object';
}

/** Returns the reason why a constant does not fit the target; undefined if it fits. */
export function constantMismatch(value: Value, target: Shape, at: string): string | undefined {
  if (!target.kinds.has(kindOf(value)))
    return `expected ${kindsText(target)} for ${at}, got ${kindOf(value)}`;
  const text = textOfScalar(value);
  if (target.values !== undefined && text !== undefined && !target.values.includes(text))
    return `expected one of ${target.values.slice(0, 20).join(', ')} for ${at}, got ${text.slice(0, 60)}`;
  if (isItems(value) && target.items !== undefined)
    for (const item of value) {
      const why = constantMismatch(asKind(item, target.items), target.items, `${at}[]`);
      if (why !== undefined) return why;
    }
  if (isMembers(value)) {
    for (const [name, inner] of value) {
      const member = target.members.get(name)?.shape;
      if (member === undefined && !target.open && target.others === undefined)
        return `expected members of ${at || 'the body'}, got ${name}`;
      const why =
        member === undefined ? undefined : constantMismatch(asKind(inner, member), member, joined(at, name));
      if (why !== undefined) return why;
    }
    for (const [name, { required }] of target.members)
      if (required && !value.has(name)) return `expected ${joined(at, name)}, which is required, got none`;
  }
  return undefined;
}

/** Returns true if the target accepts the kinds and enumeration values of the source (M2). */
export function isOfOneKind(source: Shape, target: Shape): boolean {
  for (const kind of source.kinds)
    if (kind !== 'null' && !target.kinds.has(kind) && !isAnything(source)) return false;
  if (target.values === undefined || !scalarKinds.some((kind) => source.kinds.has(kind))) return true;
  return source.values === undefined ? true : source.values.every((value) => target.values?.includes(value));
}

function isAnything({ kinds }: Shape): boolean {
  return kinds.size === anyShape.kinds.size;
}

export function only({ kinds }: Shape, kind: Kind): boolean {
  return kinds.has(kind) && [...kinds].every((one) => one === kind || one === 'null');
}

export function isObject(shape: Shape): boolean {
  return only(shape, 'object');
}

export function isArray(shape: Shape): boolean {
  return only(shape, 'array');
}

export function isDeep({ kinds, open }: Shape): boolean {
  return !open && (kinds.has('object') || kinds.has('array'));
}

export function isNothing(value: Value | undefined): value is null | undefined {
  return value === null || value === undefined;
}

export const kindNames = {
  object: 'an object',
  array: 'a list',
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  null: 'null',
} as const satisfies Readonly<Record<Kind, string>>;

/** Returns the kinds of a shape as text for error messages. */
export function kindsText({ kinds }: Shape): string {
  return [...kinds].map((kind) => kindNames[kind]).join(' or ');
}

export function unlike(at: string, target: Shape, from: string, source: Shape): string {
  if (source.values !== undefined && target.values !== undefined)
    return `expected values of ${at}, got other values from ${from}`;
  return `expected ${kindsText(target)} for ${at}, got ${from}, which is ${kindsText(source)}. Use as, join, split, each or map`;
}

export function joined(at: string, name: string): string {
  return at === '' ? name : `${at}.${name}`;
}

export function someNames({ members }: Shape): string {
  return members.size === 0 ? 'none' : someOf([...members.keys()]);
}

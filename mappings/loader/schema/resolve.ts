// The first pass over a schema: what it comes to before anyone asks for its shape. A `$ref`, a lone part of an `allOf`,
// `oneOf` or `anyOf` lead to another schema; null, defaults and narrowed enums stand around. No types are made here.
// `members.ts` and `alternatives.ts` do the same of objects, and of values of several types.
import type { EnumType } from '../../contract/model.ts';
import { isNode, type Node, shown, someOf } from '../document/node.ts';
import { isUnresolved, type Located, type References, type Unresolved } from '../document/references.ts';
import { addsMembers, combines, innerOf, isJsonType, jsonTypes, kindOf, takesNull } from './keywords.ts';

/** What stands around the schema of a type, which a field keeps. */
export interface Surroundings {
  readonly nullable: boolean;
  readonly hasDefault: boolean;
  /** True for text of which the empty one is refused. */
  readonly notEmpty: boolean;
}

/** What a schema says of itself but its shape. */
export function surroundingsOf(schema: Node): Surroundings {
  return {
    nullable: takesNull(schema),
    hasDefault: Object.hasOwn(schema, 'default'),
    notEmpty: typeof schema.minLength === 'number' && schema.minLength > 0,
  };
}

/**
 * Reports a `type` that JSON Schema doesn't have: a value of it could be anything (Core 2020-12, 4.2.1). One that is a
 * schema, of whoever forgot the `properties` around it, is no type at all. A `nullable` that is neither true nor false is noted.
 */
export function checkType(schema: Node, pointer: string, references: References): void {
  const { type } = schema;
  references.isTrue(schema, 'nullable', pointer);
  if (isNode(type)) {
    references.noteOdd(
      `${pointer}/type`,
      'expected the name of a type, got an object; the schema is read without it, so that it takes any value',
    );
    return;
  }
  const isList = Array.isArray(type);
  for (const [index, stated] of (isList ? type : [type]).entries()) {
    if (stated === undefined || stated === 'null' || isJsonType(stated)) continue;
    references.wrong(
      `${pointer}/type${isList ? `/${index}` : ''}`,
      `expected one of ${[...jsonTypes, 'null'].join(', ')}, got ${shown(stated)}; a schema without a type takes any value`,
    );
  }
}

/** What a `$ref` names, one step away, provided that it ends somewhere; reported where it doesn't. */
export function targetOf(schema: Node, pointer: string, references: References): Located | Unresolved {
  const end = references.resolve(schema, pointer);
  return isUnresolved(end) ? end : references.target(schema.$ref, pointer);
}

/**
 * Of the values listed beside a `$ref` those that the enum has which it names.
 *
 * @returns the values, or why they can't be: some are none of the enum
 */
export function narrowedValues(
  stated: readonly unknown[],
  { values: all }: EnumType,
): { readonly values: readonly string[] } | { readonly why: string } {
  const known = new Set<unknown>(all);
  const values = stated.filter((value): value is string => known.has(value));
  if (values.length === stated.length) return { values };
  return { why: `expected values of the enum that it refers to (${someOf(all)})` };
}

/** The part of an `allOf` without objects that says the type: the first one, which the others narrow. */
export function scalarPartOf(schema: Node, pointer: string, references: References): Located | undefined {
  if (!Array.isArray(schema.allOf) || addsMembers(schema)) return undefined;
  for (const [index, node] of schema.allOf.entries()) {
    const part = { node, pointer: `${pointer}/allOf/${index}` };
    const found = references.resolve(node, part.pointer);
    const kind = !isUnresolved(found) && isNode(found.node) ? kindOf(found.node) : undefined;
    if (kind === 'object') return undefined;
    if (kind !== undefined) return part;
  }
  return undefined;
}

/**
 * True for a schema that is what its `$ref` names: OpenAPI 3.0 ignores what stands beside it, of 3.1 it is what adds
 * nothing to the shape.
 */
export function isReference(schema: Node, { siblingsCount }: References): boolean {
  return Object.hasOwn(schema, '$ref') && !(siblingsCount && combines(schema));
}

/** The schemas that a value of this one keeps to besides what it says itself, a step away. */
export function schemaParts(schema: Node, pointer: string, references: References): readonly Located[] {
  const { $ref, allOf } = schema;
  if ($ref !== undefined) {
    const found = references.target($ref, pointer);
    return isUnresolved(found) ? [] : [found];
  }
  if (Array.isArray(allOf))
    return allOf.map((node: unknown, index) => ({ node, pointer: `${pointer}/allOf/${index}` }));
  const inner = innerOf(schema, pointer);
  return inner === undefined ? [] : [inner];
}

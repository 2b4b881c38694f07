// The first pass over a schema, which creates no types. It follows a `$ref` or a single relevant part of `allOf`,
// `oneOf` or `anyOf`, and collects null, defaults and narrowed enums. `members.ts` and `alternatives.ts` do this for
// objects and for values of several types.
import type { EnumType } from '../../contract/model.ts';
import { isNode, type Node, shown, someOf } from '../document/node.ts';
import { isUnresolved, type Located, type References, type Unresolved } from '../document/references.ts';
import { addsMembers, combines, innerOf, isJsonType, jsonTypes, kindOf, takesNull } from './keywords.ts';

/** Properties of a schema, apart from its type, that a field keeps. */
export interface Surroundings {
  readonly nullable: boolean;
  readonly hasDefault: boolean;
  /** True if the empty string is rejected. */
  readonly notEmpty: boolean;
}

/** Returns the properties of a schema apart from its structure. */
export function surroundingsOf(schema: Node): Surroundings {
  return {
    nullable: takesNull(schema),
    hasDefault: Object.hasOwn(schema, 'default'),
    notEmpty: typeof schema.minLength === 'number' && schema.minLength > 0,
  };
}

/**
 * Reports a `type` that JSON Schema does not define, because any value would match (Core 2020-12, 4.2.1). A `type` that
 * is an object is a member without the enclosing `properties`, and is ignored with a note. A `nullable` that is not a
 * boolean is noted.
 */
export function checkType(schema: Node, pointer: string, references: References): void {
  const { type } = schema;
  references.isTrue(schema, 'nullable', pointer);
  if (isNode(type)) {
    references.recordTolerated(
      `${pointer}/type`,
      'expected the name of a type, got an object. The schema is read without it and accepts any value',
    );
    return;
  }
  const isList = Array.isArray(type);
  for (const [index, stated] of (isList ? type : [type]).entries()) {
    if (stated === undefined || stated === 'null' || isJsonType(stated)) continue;
    references.wrong(
      `${pointer}/type${isList ? `/${index}` : ''}`,
      `expected one of ${[...jsonTypes, 'null'].join(', ')}, got ${shown(stated)}. A schema without a type accepts any value`,
    );
  }
}

/** Returns the direct target of a `$ref`, if its chain of references resolves. Otherwise the failure is reported. */
export function targetOf(schema: Node, pointer: string, references: References): Located | Unresolved {
  const end = references.resolve(schema, pointer);
  return isUnresolved(end) ? end : references.target(schema.$ref, pointer);
}

/**
 * Returns the values stated next to a `$ref` that the referenced enum has.
 *
 * @returns the values, or the reason if some values are not in the enum
 */
export function narrowedValues(
  stated: readonly unknown[],
  { values: all }: EnumType,
): { readonly values: readonly string[] } | { readonly why: string } {
  const known = new Set<unknown>(all);
  const values = stated.filter((value): value is string => known.has(value));
  if (values.length === stated.length) return { values };
  return { why: `expected values of the referenced enum (${someOf(all)})` };
}

/**
 * Returns the part of an `allOf` without objects that determines the type. It is the first part; the others narrow it.
 */
export function scalarPartOf(schema: Node, pointer: string, references: References): Located | undefined {
  if (!Array.isArray(schema.allOf) || addsMembers(schema)) return undefined;
  for (const [index, node] of schema.allOf.entries()) {
    const part = { node, pointer: `${pointer}/allOf/${index}` };
    const found = references.objectAt(node, part.pointer);
    const kind = found && kindOf(found);
    if (kind === 'object') return undefined;
    if (kind !== undefined) return part;
  }
  return undefined;
}

/**
 * Returns true if a schema is equivalent to its `$ref` target. OpenAPI 3.0 ignores sibling keywords; in 3.1, the
 * siblings must not change the structure.
 */
export function isReference(schema: Node, { siblingsCount }: References): boolean {
  return Object.hasOwn(schema, '$ref') && !(siblingsCount && combines(schema));
}

/** Returns the schemas directly referenced by a schema that its values must also match. */
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

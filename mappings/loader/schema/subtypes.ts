import type { Tag } from '../../contract/model.ts';
import { pointerSegment, unescapedSegment } from '../document/error.ts';
import { addTo, childOf, isNode, type Node, textOf } from '../document/node.ts';
import { isUnresolved, type Located, type References } from '../document/references.ts';
import { byCodeUnit } from '../names/names.ts';
import { openKeyword } from './keywords.ts';

/** Label of a variant and the discriminator that selects it. */
export interface Labelled {
  readonly label: string;
  readonly tag: Tag;
}

/** Creates a variant that one discriminator value selects. */
export function labelled(member: string, key: string): Labelled {
  return { label: key, tag: { member, values: [JSON.stringify(key)] } };
}

/** Returns the name of the discriminator's member. */
export function discriminatorOf(schema: Node): string | undefined {
  return isNode(schema.discriminator) ? textOf(schema.discriminator.propertyName) : undefined;
}

/** Returns the discriminator values with their targets. Values with an unresolved target are left out. */
export function mappingOf(
  schema: Node,
  at: string,
  references: References,
): readonly { readonly key: string; readonly target: Located }[] {
  const discriminator = isNode(schema.discriminator) ? schema.discriminator : {};
  return Object.entries(childOf(discriminator, 'mapping')).flatMap(([key, value]) => {
    const text = textOf(value) ?? '';
    const reference =
      /^[\w.-]+$/.test(text) && !/\.(?:json|ya?ml)$/.test(text) ? `#/components/schemas/${text}` : text;
    const target = references.find(reference, at);
    return isUnresolved(target) ? [] : [{ key, target }];
  });
}

/** A subtype, selected by a discriminator value of its base type. */
export interface Subtype extends Labelled {
  readonly target: Located;
}

/**
 * Returns the subtypes of a schema with a discriminator, in the order of keys; empty for any other schema. Throws
 * OverLimit.
 */
export type SubtypesOf = (schema: Node, pointer: string) => readonly Subtype[];

/** Creates a lookup of the schemas that extend a base type with a discriminator by `allOf` (OpenAPI 3.1, 4.8.25). */
export function createSubtypes(document: Node, references: References): SubtypesOf {
  let children: ReadonlyMap<string, readonly Located[]> | undefined;
  const known = new Map<string, readonly Subtype[]>();
  return (schema, pointer) => {
    const member = discriminatorOf(schema);
    if (member === undefined || openKeyword(schema) !== undefined) return [];
    const found = known.get(pointer);
    if (found !== undefined) return found;
    children ??= childrenOfAll(document, references);
    const list = subtypesOf({ node: schema, pointer }, member, descendants(pointer, children), references);
    known.set(pointer, list);
    return list;
  };
}

/** Returns the components with an `allOf` that refers to a schema, by the pointer of that schema. */
function childrenOfAll(document: Node, references: References): ReadonlyMap<string, readonly Located[]> {
  const children = new Map<string, Located[]>();
  for (const [name, schema] of Object.entries(childOf(childOf(document, 'components'), 'schemas'))) {
    const place = `/components/schemas${pointerSegment(name)}`;
    if (!isNode(schema) || !Array.isArray(schema.allOf)) continue;
    for (const part of schema.allOf) {
      const base =
        isNode(part) && Object.hasOwn(part, '$ref') ? references.target(part.$ref, place) : undefined;
      if (base === undefined || isUnresolved(base)) continue;
      addTo(children, base.pointer, { node: schema, pointer: place });
    }
  }
  return children;
}

/** Returns all direct and indirect subtypes of a type. */
function descendants(pointer: string, children: ReadonlyMap<string, readonly Located[]>): readonly Located[] {
  const found = new Map<string, Located>();
  const open = [pointer];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const child of children.get(next) ?? []) {
      if (found.has(child.pointer) || child.pointer === pointer) continue;
      found.set(child.pointer, child);
      open.push(child.pointer);
    }
  }
  return [...found.values()].toSorted((a, b) => byCodeUnit(a.pointer, b.pointer));
}

/** Returns the subtypes of a base type: first those in a `mapping`, then the others by their schema names. */
function subtypesOf(
  base: Located,
  member: string,
  below: readonly Located[],
  references: References,
): readonly Subtype[] {
  const mapped = [base, ...below].flatMap(({ node, pointer }) =>
    isNode(node) && discriminatorOf(node) === member ? mappingOf(node, pointer, references) : [],
  );
  const byKey = new Map(mapped.map(({ key, target }) => [key, { ...labelled(member, key), target }]));
  const named = new Set(mapped.map(({ target }) => target.pointer));
  references.allowance.step(base.pointer, below.length + mapped.length);
  for (const target of below) {
    if (named.has(target.pointer)) continue;
    const key = lastSegment(target.pointer);
    byKey.set(key, { ...labelled(member, key), target });
  }
  return [...byKey.values()];
}

/** Returns the last segment of a pointer, which is the name of a schema in its document. */
export function lastSegment(pointer: string): string {
  return unescapedSegment(pointer.split('/').at(-1) ?? '');
}

// Values of several types: a union of variants, unless one closed type takes them all.
import type { Type, UnionType, Variant } from '../../contract/model.ts';
import { isNode, type Node } from '../document/node.ts';
import type { Located } from '../document/references.ts';
import { nameAt } from '../names/schema-name.ts';
import type { Alternative } from './alternative.ts';
import { arrayOf } from './arrays.ts';
import { documentationOf } from './keywords.ts';
import { objectOf } from './records.ts';
import type { SchemaContext } from './schema-context.ts';
import { commonIntegerOf, listVariants } from './union-variants.ts';

/**
 * The type of values of several kinds or shapes; one of them alone is that type, and none is JSON text.
 *
 * @param schema what the union's documentation is of
 * @param name what an inline type is called
 */
export function unionOf(
  context: SchemaContext,
  list: readonly Alternative[],
  schema: Node,
  pointer: string,
  name: string,
): Type {
  const { drafts, rules } = context;
  const { scalar } = drafts.collections;
  const closed = list.filter(({ kind }) => kind !== 'any');
  const [first] = closed;
  if (first === undefined) return drafts.asJson(pointer, 'it says no single type');
  for (const { kind, pointer: at } of list)
    if (kind === 'any') drafts.notes.set(at, 'a variant that fits no closed type');
  if (closed.length === list.length) {
    if (closed.length === 1) return typeOf(context, first, name);
    const kinds = new Set(closed.map(({ kind }) => kind));
    const numeric = [...kinds].every((kind) => kind === 'integer' || kind === 'number');
    if (numeric) return scalar(kinds.has('number') ? 'decimal' : commonIntegerOf(closed));
    if (kinds.size === 1 && first.kind === 'string') return scalar('string');
    if (kinds.size === 1 && first.kind === 'boolean') return scalar('boolean');
  }
  const variants: Variant[] = [];
  const type: UnionType = { kind: 'union', name, documentation: documentationOf(schema), variants };
  drafts.fillLater(() => {
    const found = listVariants({
      alternatives: closed,
      scalar,
      typeOf: (alternative, own) => typeOf(context, alternative, own),
      rulesAt: (node, at) => rules.at(node, at),
    });
    for (const variant of found.list) variants.push(variant);
    drafts.elements.set(type, found.elements);
  });
  return drafts.register(type, pointer);
}

/** The type of the values of any of several schemas; `name` is what an inline one is called. */
export function typeOfAny(context: SchemaContext, schemas: readonly Located[], name: string): Type {
  const [first = { node: {}, pointer: '' }, ...others] = schemas;
  if (others.length === 0) return context.usageOf(first.node, first.pointer, name).type;
  const alternatives = schemas.flatMap(({ node, pointer }) =>
    isNode(node) ? context.alternatives.alternativesOf(node, pointer, name).list : [],
  );
  return unionOf(context, alternatives, {}, first.pointer, name);
}

/** The type of one alternative by itself; `name` is what an inline one is called. */
function typeOf(context: SchemaContext, alternative: Alternative, name: string): Type {
  const { node, pointer, kind, shared, referred, base, owner } = alternative;
  if (shared) return context.usageOf(node, pointer, owner).type;
  if (kind === 'array') return listOf(context, alternative, referred ? nameAt(pointer) : owner);
  if (kind !== 'object') return context.shapeOf({ ...node, type: kind }, pointer, name);
  return once(context, `${name} ${pointer}`, () => {
    const self = { node: { ...node, type: 'object' }, pointer };
    return objectOf(context, {
      parts: [...base, self],
      own: referred ? alternative.own : [...alternative.own, self],
      documentation: documentationOf(node),
      name,
    });
  });
}

/** An array among alternatives, once for each name: a tuple is a type of its own. */
function listOf(context: SchemaContext, { node, pointer }: Alternative, name: string): Type {
  if (!('prefixItems' in node)) return arrayOf(context, node, pointer, name);
  return once(context, `${name} ${pointer}`, () => arrayOf(context, node, pointer, `${name}Items`));
}

/** What was made under a key before, or is made now. */
function once({ drafts }: SchemaContext, key: string, make: () => Type): Type {
  const type = drafts.amongAlternatives.get(key) ?? make();
  drafts.amongAlternatives.set(key, type);
  return type;
}

// Values of several types: a union of variants, unless a single closed type accepts all the values.
import { isReference } from '../../codec/scalars/table.ts';
import type { ScalarName, Type, UnionType, Variant } from '../../contract/model.ts';
import { pointerSegment } from '../document/error.ts';
import { isNode, type Node } from '../document/node.ts';
import type { Located } from '../document/references.ts';
import { identifier, upperFirst } from '../names/names.ts';
import { variantName } from '../names/portable.ts';
import { nameAt } from '../names/schema-name.ts';
import type { NamelessElement } from '../names/type-names.ts';
import type { Alternative } from './alternative.ts';
import { arrayOf } from './arrays.ts';
import { isJson } from './collections.ts';
import type { Draft } from './drafts.ts';
import { commonInteger, documentationOf, integerScalar } from './keywords.ts';
import { objectOf } from './records.ts';
import type { SchemaContext } from './schema-context.ts';

/**
 * Returns the type for a list of alternatives. A single alternative gives its own type; no alternative gives JSON text.
 *
 * @param schema schema that documents the union
 * @param name name for an inline type
 */
export function unionOf(
  context: SchemaContext,
  list: readonly Alternative[],
  schema: Node,
  pointer: string,
  name: string,
): Type {
  const { drafts } = context;
  const { collections } = drafts;
  const closed = list.filter(({ kind }) => kind !== 'any');
  const [first] = closed;
  if (first === undefined) return drafts.asJson(pointer, 'it has no single type');
  for (const { kind, pointer: at } of list)
    if (kind === 'any') drafts.notes.set(at, 'a variant without a closed type');
  if (closed.length === list.length) {
    if (closed.length === 1) return typeOf(context, first, name);
    const kinds = new Set(closed.map(({ kind }) => kind));
    const numeric = [...kinds].every((kind) => kind === 'integer' || kind === 'number');
    if (numeric) return collections.scalar(kinds.has('number') ? 'decimal' : commonIntegerOf(closed));
    if (kinds.size === 1 && first.kind === 'string') return collections.scalar('string');
    if (kinds.size === 1 && first.kind === 'boolean') return collections.scalar('boolean');
  }
  const variants: Variant[] = [];
  const type: UnionType = { kind: 'union', name, documentation: documentationOf(schema), variants };
  drafts.fillLater(() => {
    const { list: found, elements } = listVariants(context, closed);
    for (const variant of found) variants.push(variant);
    drafts.elements.set(type, elements);
  });
  return drafts.register(type, pointer);
}

/** Variants of a union and their elements, which have no names yet. */
interface Variants {
  /** Variants in wire order: scalars, objects, arrays, then JSON text for all other values. */
  readonly list: readonly Draft<Variant>[];
  readonly elements: readonly NamelessElement[];
}

/** Lists the variants of a union. Each has a different type, except objects with a discriminator. */
function listVariants(context: SchemaContext, alternatives: readonly Alternative[]): Variants {
  const { rules, drafts } = context;
  const { names, optionalValues } = context.overlay.settings;
  const list: Draft<Variant>[] = [];
  const elements: NamelessElement[] = [];
  const untagged = new Set<Type>();
  const paths = new Set<string>();
  const of = (kind: Alternative['kind']): readonly Alternative[] =>
    alternatives.filter((alternative) => alternative.kind === kind);

  function add(label: string | undefined, variant: Omit<Variant, 'xml'>, place = ''): void {
    if (variant.tag === undefined && untagged.has(variant.type)) return;
    if (variant.tag === undefined) untagged.add(variant.type);
    const isNillable = optionalValues === 'nillable' && !isReference(variant.type);
    const draft = { xml: '', ...variant, ...(isNillable ? ({ nillable: true } as const) : {}) };
    const path = `/variants${pointerSegment(label ?? place)}`;
    const own = paths.has(path) ? path + pointerSegment(place) : path;
    paths.add(own);
    list.push(draft);
    elements.push({
      path: own,
      tail: place,
      wanted: () =>
        variantName(label ?? (draft.type.kind === 'scalar' ? draft.type.scalar : draft.type.name), names),
      set: (xml) => {
        draft.xml = xml;
      },
    });
  }

  function addScalar(label: string, takes: Variant['takes'], name: ScalarName): void {
    const [only, ...others] = of(takes);
    const ruled = only === undefined || others.length > 0 ? {} : rules.at(only.node, only.pointer);
    add(label, { type: drafts.collections.scalar(name), takes, tag: undefined, ...ruled });
  }

  if (of('string').length > 0) addScalar('String', 'string', 'string');
  if (of('integer').length > 0) addScalar('Integer', 'integer', commonIntegerOf(of('integer')));
  if (of('number').length > 0) addScalar('Decimal', 'number', 'decimal');
  if (of('boolean').length > 0) addScalar('Boolean', 'boolean', 'boolean');
  for (const object of of('object')) {
    const { owner, label, isBaseType, tag, pointer } = object;
    const type = typeOf(
      context,
      object,
      isBaseType ? `${owner}Base` : owner + upperFirst(identifier(label ?? '')),
    );
    if (!isJson(type)) add(label, { type, takes: 'object', tag, ...rules.at(object.node, pointer) }, pointer);
  }
  const lists = of('array')
    .map((array) => ({ array, type: typeOf(context, array, array.owner), place: array.pointer }))
    .filter(({ type }) => !isJson(type));
  const label = new Set(lists.map(({ type }) => type)).size === 1 ? 'Items' : undefined;
  for (const { array, type, place } of lists)
    add(label, { type, takes: 'array', tag: undefined, ...rules.at(array.node, place) }, place);
  addScalar('Json', 'any', 'json');
  return { list, elements };
}

/** Returns the common integer type of several alternatives. */
function commonIntegerOf(alternatives: readonly Alternative[]): ScalarName {
  return commonInteger(alternatives.map(({ node }) => integerScalar(node)));
}

/** Returns the type of values that match any of several schemas. `name` is the name for an inline type. */
export function typeOfAny(context: SchemaContext, schemas: readonly Located[], name: string): Type {
  const [first = { node: {}, pointer: '' }, ...others] = schemas;
  if (others.length === 0) return context.usageOf(first.node, first.pointer, name).type;
  const alternatives = schemas.flatMap(({ node, pointer }) =>
    isNode(node) ? context.alternatives.alternativesOf(node, pointer, name).list : [],
  );
  return unionOf(context, alternatives, {}, first.pointer, name);
}

/** Returns the type of a single alternative. `name` is the name for an inline type. */
function typeOf(context: SchemaContext, alternative: Alternative, name: string): Type {
  const { node, pointer, kind, isShared, isInTarget, siblings, owner } = alternative;
  if (isShared) return context.usageOf(node, pointer, owner).type;
  if (kind === 'array') return listOf(context, alternative, isInTarget ? nameAt(pointer) : owner);
  if (kind !== 'object') return context.shapeOf({ ...node, type: kind }, pointer, name);
  return once(context, `${name} ${pointer}`, () => {
    const self = { node: { ...node, type: 'object' }, pointer };
    return objectOf(context, {
      parts: [...siblings, self],
      own: isInTarget ? alternative.inlineSiblings : [...alternative.inlineSiblings, self],
      documentation: documentationOf(node),
      name,
    });
  });
}

/** Returns the type of an array alternative. A tuple is created once for each name because it is a separate type. */
function listOf(context: SchemaContext, { node, pointer }: Alternative, name: string): Type {
  if (!('prefixItems' in node)) return arrayOf(context, node, pointer, name);
  return once(context, `${name} ${pointer}`, () => arrayOf(context, node, pointer, `${name}Items`));
}

/** Returns the type created earlier under a key, or creates it. */
function once({ drafts }: SchemaContext, key: string, make: () => Type): Type {
  const type = drafts.amongAlternatives.get(key) ?? make();
  drafts.amongAlternatives.set(key, type);
  return type;
}

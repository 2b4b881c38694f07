import type { JsonKind, Tag } from '../../contract/model.ts';
import { isNode, type Node, textOf } from '../document/node.ts';
import {
  isUnresolved,
  type Located,
  nameAt,
  type References,
  type Unresolved,
} from '../document/references.ts';
import { byCodeUnit, hexOf } from '../names/names.ts';
import {
  addsMembers,
  countsInAllOf,
  fixedValues,
  type JsonType,
  kindsOf,
  onlyInner,
  openKeyword,
  takesNull,
} from './keywords.ts';
import { membersOf, type SchemaMember } from './members.ts';
import {
  discriminatorOf,
  type Labelled,
  labelled,
  lastSegment,
  listSubtypes,
  mappingOf,
} from './subtypes.ts';

/** One of the types that the values of a schema may be of. */
export interface Alternative extends Located {
  readonly node: Node;
  /** `any` where no closed type fits. */
  readonly kind: JsonKind;
  /** True for a whole schema that a `$ref` names, whose type others use too. */
  readonly shared: boolean;
  /** True for a base type as one of its own subtypes. */
  readonly itself: boolean;
  /** True where it lies behind a `$ref`, so that its parts are called after where they stand. */
  readonly referred: boolean;
  /** What stands around the alternatives and holds for each of their objects. */
  readonly base: readonly Located[];
  /** What of that lies behind no `$ref`, so that its parts are called after the objects. */
  readonly own: readonly Located[];
  /** What an inline type of it is named after. */
  readonly owner: string;
  /** What tells it from the others: a discriminator's value, a fixed value, the name of what is referred to. */
  readonly label: string | undefined;
  readonly tag: Tag | undefined;
}

export interface Alternatives {
  readonly list: readonly Alternative[];
  readonly nullable: boolean;
}

/** Finds the alternatives of schemas in one document. */
export interface AlternativesReader {
  /** The types that a schema's values may be of, those of schemas it refers to or combines among them. */
  readonly alternativesOf: (schema: Node, pointer: string, name: string) => Alternatives;
  /** True for a schema that has more than one, by itself. */
  readonly hasSeveral: (schema: Node, pointer: string) => boolean;
}

/** Alternatives of alternatives; a YAML alias of what it stands in would go on for ever. */
const deepest = 100;

/** What is around the schema being looked at. */
interface Around {
  readonly referred: boolean;
  readonly owner: string;
  readonly label: string | undefined;
  readonly tag: Tag | undefined;
  readonly base: readonly Located[];
  readonly own: readonly Located[];
  /** What is said of the kind beside the alternatives, for those that don't say themselves. */
  readonly kinds: readonly JsonType[];
  readonly shared: boolean;
}

export function createAlternatives(document: Node, references: References): AlternativesReader {
  const { allowance } = references;
  const subtypes = listSubtypes(document, references);

  function alternativesOf(schema: Node, pointer: string, name: string): Alternatives {
    const list: Alternative[] = [];
    const passed = new Set<string>();
    let nullable = false;
    let depth = 0;

    function visit(node: unknown, at: string, around: Around): void {
      allowance.step(at);
      depth++;
      if (isNode(node) && depth <= deepest) visitNode(node, at, around);
      else push({}, at, 'any', around);
      depth--;
    }

    function visitNode(node: Node, at: string, around: Around): void {
      if (node.type === 'null') {
        nullable = true;
        return;
      }
      if (references.isReference(node)) {
        visitReference(references.target(node.$ref, at), at, around);
        return;
      }
      nullable ||= takesNull(node);
      const inner = onlyInner(node);
      if (inner !== undefined) {
        nullable ||= inner.nullable;
        visit(inner.schema, at + inner.suffix, { ...around, shared: false });
      } else
        visitOwn(
          node,
          at,
          Object.hasOwn(node, '$ref') ? { ...around, label: labelOf(node, at, around) } : around,
        );
    }

    /** What adds to a type that it refers to is called as that. */
    function labelOf({ $ref }: Node, at: string, { label }: Around): string | undefined {
      const target = references.target($ref, at);
      return label ?? (isUnresolved(target) ? undefined : nameAt(target.pointer));
    }

    function visitReference(target: Located | Unresolved, at: string, around: Around): void {
      if (isUnresolved(target)) {
        push({}, at, 'any', around);
        return;
      }
      const once = `${target.pointer} ${around.tag?.values.join(' ') ?? ''}`;
      if (passed.has(once)) return;
      passed.add(once);
      const owner = nameAt(target.pointer);
      visit(target.node, target.pointer, {
        ...around,
        owner: around.base.length === 0 ? owner : around.owner,
        label: around.label ?? owner,
        kinds: [],
        referred: around.base.length > 0,
        shared: around.base.length === 0,
      });
    }

    function visitOwn(node: Node, at: string, around: Around): void {
      const keyword = openKeyword(node);
      if (keyword !== undefined) visitVariants(node, keyword, at, around);
      else if (findOpenPart(node, at) !== undefined) visitParts(node, at, around);
      else if (subtypes(node, at).length > 0 && around.tag === undefined) visitSubtypes(node, at, around);
      else visitKinds(node, at, around);
    }

    /** `oneOf` and `anyOf`, with what stands beside them. */
    function visitVariants(node: Node, keyword: 'oneOf' | 'anyOf', at: string, around: Around): void {
      const variants = node[keyword];
      const rest = without(node, [keyword, 'discriminator']);
      if (!Array.isArray(variants) || openKeyword(rest) !== undefined) {
        push(node, at, 'any', around);
        return;
      }
      const counts =
        addsMembers(rest) ||
        ['$ref', 'allOf', 'additionalProperties'].some((key) => Object.hasOwn(rest, key));
      const { base, own } = counts ? withBase(around, [{ node: rest, pointer: at }]) : around;
      const beside = references.resolve(rest, at);
      const kinds = isUnresolved(beside) || !isNode(beside.node) ? [] : kindsOf(beside.node);
      const tagsAt = tagsOf(node, at, base);
      for (const [index, variant] of variants.entries()) {
        const place = `${at}/${keyword}/${index}`;
        const inside = { ...around, base, own, kinds, label: undefined, shared: false };
        const tagged = tagsAt(variant, place);
        if (tagged.length === 0) visit(variant, place, inside);
        for (const { label, tag } of tagged) visit(variant, place, { ...inside, label, tag });
      }
    }

    /** A sum of which one part has alternatives: the others hold for each of them. */
    function visitParts(node: Node, at: string, around: Around): void {
      const found = findOpenPart(node, at);
      if (found === undefined || found === 'several') {
        push(node, at, 'any', around);
        return;
      }
      const parts: Located[] = [{ node: without(node, ['$ref', 'allOf', 'discriminator']), pointer: at }];
      for (const part of partsOf(node, at)) if (part.pointer !== found.pointer) parts.push(part);
      visit(found.node, found.pointer, {
        ...around,
        ...withBase(around, parts),
        shared: false,
      });
    }

    /** A base type with a discriminator: what extends it, each once for every value that means it. */
    function visitSubtypes(node: Node, at: string, around: Around): void {
      for (const { label, tag, target } of subtypes(node, at)) {
        if (!isNode(target.node)) continue;
        const extended =
          Object.hasOwn(target.node, 'discriminator') && subtypes(target.node, target.pointer).length > 0;
        const own = extended ? without(target.node, ['discriminator']) : target.node;
        const { base, own: inline } = around;
        const alike = { owner: nameAt(target.pointer), label, tag, base, own: inline, referred: true };
        list.push({
          ...alike,
          node: own,
          pointer: target.pointer,
          kind: 'object',
          shared: !extended,
          itself: extended,
        });
      }
    }

    function visitKinds(node: Node, at: string, around: Around): void {
      const own = kindsOf(node);
      const kinds = own.length > 0 ? own : around.kinds;
      const adds = (around.base.length > 0 || Object.hasOwn(node, '$ref')) && addsMembers(node);
      if (kinds.length === 0 && adds) push(node, at, 'object', around);
      else if (kinds.length === 0) push(node, at, 'any', around);
      const shared = around.shared && kinds.length === 1;
      for (const kind of kinds)
        push(node, at, isFree(node, kind, around) ? 'any' : kind, { ...around, shared });
    }

    function push(node: Node, pointer: string, kind: JsonKind, around: Around): void {
      list.push({ node, pointer, kind, itself: false, ...around });
    }

    visit(schema, pointer, {
      owner: name,
      label: undefined,
      tag: undefined,
      base: [],
      own: [],
      kinds: [],
      shared: false,
      referred: false,
    });
    return { list: byFixedValue(list), nullable };
  }

  /** The values of a schema's discriminator that mean a variant at a place, each with what it is called. */
  function tagsOf(
    node: Node,
    pointer: string,
    base: readonly Located[],
  ): (variant: unknown, at: string) => readonly Labelled[] {
    const member = discriminatorOf(node);
    if (member === undefined) return () => [];
    const mapping = Map.groupBy(mappingOf(node, pointer, references), ({ target }) => target.pointer);
    return (variant, at) => {
      if (!isNode(variant)) return [];
      const found = references.resolve(variant, at);
      if (isUnresolved(found)) return [];
      const keys = mapping.get(found.pointer);
      if (keys !== undefined) return keys.map(({ key }) => labelled(member, key));
      const fixed = fixedOf(membersByName([...base, found]).get(member));
      if (fixed !== undefined) {
        const [first] = fixed;
        const label = Object.hasOwn(variant, '$ref') ? nameAt(found.pointer) : (textOf(first) ?? '');
        return [{ label, tag: { member, values: fixed.map((value) => JSON.stringify(value)) } }];
      }
      return Object.hasOwn(variant, '$ref') ? [labelled(member, lastSegment(found.pointer))] : [];
    };
  }

  /** Where each of several objects has one member with values of its own, that member tells them apart. */
  function byFixedValue(list: readonly Alternative[]): readonly Alternative[] {
    const objects = list.filter(({ kind }) => kind === 'object');
    if (objects.length < 2 || objects.some(({ tag }) => tag !== undefined)) return list.map(withLabel);
    const members = objects.map((object) => membersByName([...object.base, object]));
    const candidates = members[0]?.keys() ?? [];
    for (const member of candidates) {
      const values = valuesOfAll(members, member);
      if (values === undefined) continue;
      const tokens = values.map((fixed) => fixed.map((value) => JSON.stringify(value)));
      const all = tokens.flat();
      if (new Set(all).size !== all.length) continue;
      let index = -1;
      return list.map((alternative) => {
        if (alternative.kind !== 'object') return alternative;
        index++;
        const [value, ...others] = values[index] ?? [];
        const label = alternative.label ?? (others.length === 0 ? String(value) : undefined);
        return withLabel({ ...alternative, label, tag: { member, values: tokens[index] ?? [] } });
      });
    }
    return list.map(withLabel);
  }

  function withLabel(alternative: Alternative): Alternative {
    if (alternative.label !== undefined || alternative.kind !== 'object') return alternative;
    const found = membersOf([...alternative.base, alternative], references);
    if (found.kind === 'none') return { ...alternative, label: 'Other' };
    // a map is called by its type
    if (found.members.length === 0)
      return found.additional === undefined ? { ...alternative, label: 'Empty' } : alternative;
    const shape = found.members.map(
      ({ json, schema }) => `${json} ${isNode(schema) ? kindsOf(schema).join(' ') : ''}`,
    );
    const digits = hexOf(JSON.stringify(shape.toSorted(byCodeUnit))).slice(0, 4);
    return { ...alternative, label: `Option${digits}` };
  }

  /** The members of an object by their names; none where it is no object alone. */
  function membersByName(parts: readonly Located[]): ReadonlyMap<string, SchemaMember> {
    const found = membersOf(parts, references);
    return new Map(found.kind === 'members' ? found.members.map((member) => [member.json, member]) : []);
  }

  /** The values that a member of each of several objects can be; undefined as soon as one of them doesn't fix them. */
  function valuesOfAll(
    objects: readonly ReadonlyMap<string, SchemaMember>[],
    name: string,
  ): readonly (readonly unknown[])[] | undefined {
    const values: (readonly unknown[])[] = [];
    for (const object of objects) {
      const fixed = fixedOf(object.get(name));
      if (fixed === undefined) return undefined;
      values.push(fixed);
    }
    return values;
  }

  /** The values that a member of an object can be, where the document fixes them. */
  function fixedOf(member: SchemaMember | undefined): readonly unknown[] | undefined {
    if (member === undefined) return undefined;
    const target = references.resolve(member.schema, member.pointer);
    const values = isUnresolved(target) || !isNode(target.node) ? undefined : fixedValues(target.node);
    return values?.every((value) => typeof value !== 'object') === true && values.length > 0
      ? values
      : undefined;
  }

  function isFree(node: Node, kind: JsonKind, { base }: Around): boolean {
    if (kind === 'array')
      return !('prefixItems' in node) && (!isNode(node.items) || Object.keys(node.items).length === 0);
    if (kind !== 'object' || base.length > 0) return false;
    const { properties, additionalProperties } = node;
    const says =
      addsMembers(node) || Object.hasOwn(node, 'allOf') || Object.hasOwn(node, 'patternProperties');
    if (says || (isNode(properties) && Object.keys(properties).length > 0)) return false;
    if (additionalProperties === false) return false;
    return !isNode(additionalProperties) || Object.keys(additionalProperties).length === 0;
  }

  /** What a schema sums up: the parts of its `allOf`, and what its `$ref` names. */
  function partsOf({ $ref, allOf }: Node, at: string): Located[] {
    const parts = (Array.isArray(allOf) ? allOf : [])
      .map((node: unknown, index) => ({ node, pointer: `${at}/allOf/${index}` }))
      .filter(({ node }) => countsInAllOf(node));
    return $ref === undefined ? parts : [{ node: { $ref }, pointer: at }, ...parts];
  }

  /** The part of a sum that has alternatives, its `$ref`s followed. */
  function findOpenPart(node: Node, at: string): Located | 'several' | undefined {
    const open = partsOf(node, at).filter((part) => {
      const found = references.resolve(part.node, part.pointer);
      if (isUnresolved(found) || !isNode(found.node)) return false;
      return openKeyword(found.node) !== undefined;
    });
    return open.length > 1 ? 'several' : open[0];
  }

  function hasSeveral(schema: Node, pointer: string): boolean {
    return (
      openKeyword(schema) !== undefined ||
      kindsOf(schema).length > 1 ||
      findOpenPart(schema, pointer) !== undefined ||
      subtypes(schema, pointer).length > 0
    );
  }

  return { alternativesOf, hasSeveral };
}

/** What holds for each object inside, with some more of it. */
function withBase(
  { base, own, referred }: Around,
  parts: readonly Located[],
): Pick<Alternative, 'base' | 'own'> {
  return { base: [...base, ...parts], own: referred ? own : [...own, ...parts] };
}

function without(node: Node, keys: readonly string[]): Node {
  return Object.fromEntries(Object.entries(node).filter(([key]) => !keys.includes(key)));
}

// What values of several types may be: `oneOf`, `anyOf`, several `type`s, and what extends a type with a discriminator.
// Which types the alternatives are is for `unions.ts`.
import type { JsonKind } from '../../contract/model.ts';
import { isNode, type Node } from '../document/node.ts';
import { isUnresolved, type Located, type References, type Unresolved } from '../document/references.ts';
import type { KeptNames } from '../names/names.ts';
import { nameAt } from '../names/schema-name.ts';
import type { Alternative, Alternatives, AlternativesReader, Shared } from './alternative.ts';
import {
  addsMembers,
  countsInAllOf,
  innerOf,
  type JsonType,
  kindsOf,
  openKeyword,
  takesNull,
} from './keywords.ts';
import { byFixedValue, tagsOf } from './labels.ts';
import { isReference } from './resolve.ts';
import { createSubtypes, type SubtypesOf } from './subtypes.ts';

/** Alternatives of alternatives; a YAML alias of what it stands in would go on for ever. */
const deepest = 100;

/** What is around the schema being looked at. */
interface Around extends Shared, Pick<Alternative, 'referred' | 'owner' | 'label' | 'tag' | 'shared'> {
  /** What is said of the kind beside the alternatives, for those that don't say themselves. */
  readonly kinds: readonly JsonType[];
}

/** The reader of the alternatives of one document. */
export function createAlternatives(
  document: Node,
  references: References,
  kept: KeptNames,
): AlternativesReader {
  const subtypesOf = createSubtypes(document, references);
  return {
    alternativesOf: (schema, pointer, name) =>
      new Walk(references, subtypesOf, kept).from(schema, pointer, name),
    hasSeveral: (schema, pointer) =>
      openKeyword(schema) !== undefined ||
      kindsOf(schema).length > 1 ||
      findOpenPart(schema, pointer, references) !== undefined ||
      subtypesOf(schema, pointer).length > 0,
  };
}

/** A walk through all that one schema leads to, for the types that its values may be of. */
class Walk {
  readonly #references: References;
  readonly #subtypesOf: SubtypesOf;
  readonly #kept: KeptNames;
  readonly #list: Alternative[] = [];
  readonly #passed = new Set<string>();
  #nullable = false;
  #depth = 0;

  constructor(references: References, subtypesOf: SubtypesOf, kept: KeptNames) {
    this.#kept = kept;
    this.#references = references;
    this.#subtypesOf = subtypesOf;
  }

  from(schema: Node, pointer: string, name: string): Alternatives {
    this.#visit(schema, pointer, {
      owner: name,
      label: undefined,
      tag: undefined,
      base: [],
      own: [],
      kinds: [],
      shared: false,
      referred: false,
    });
    return { list: byFixedValue(this.#list, this.#references, this.#kept), nullable: this.#nullable };
  }

  #visit(node: unknown, at: string, around: Around): void {
    this.#references.allowance.step(at);
    this.#depth++;
    if (isNode(node) && this.#depth <= deepest) this.#visitNode(node, at, around);
    else this.#push({}, at, 'any', around);
    this.#depth--;
  }

  #visitNode(node: Node, at: string, around: Around): void {
    if (node.type === 'null') {
      this.#nullable = true;
      return;
    }
    if (isReference(node, this.#references)) {
      this.#visitReference(this.#references.target(node.$ref, at), at, around);
      return;
    }
    this.#nullable ||= takesNull(node);
    const inner = innerOf(node, at);
    if (inner !== undefined) {
      this.#nullable ||= inner.nullable;
      this.#visit(inner.node, inner.pointer, { ...around, shared: false });
    } else if (Object.hasOwn(node, '$ref'))
      this.#visitOwn(node, at, { ...around, label: this.#labelOf(node, at, around) });
    else this.#visitOwn(node, at, around);
  }

  /** What adds to a type that it refers to is called as that. */
  #labelOf({ $ref }: Node, at: string, { label }: Around): string | undefined {
    const target = this.#references.target($ref, at);
    return label ?? (isUnresolved(target) ? undefined : nameAt(target.pointer));
  }

  #visitReference(target: Located | Unresolved, at: string, around: Around): void {
    if (isUnresolved(target)) {
      this.#push({}, at, 'any', around);
      return;
    }
    const once = `${target.pointer} ${around.tag?.values.join(' ') ?? ''}`;
    if (this.#passed.has(once)) return;
    this.#passed.add(once);
    const owner = nameAt(target.pointer);
    this.#visit(target.node, target.pointer, {
      ...around,
      owner: around.base.length === 0 ? owner : around.owner,
      label: around.label ?? owner,
      kinds: [],
      referred: around.base.length > 0,
      shared: around.base.length === 0,
    });
  }

  #visitOwn(node: Node, at: string, around: Around): void {
    const keyword = openKeyword(node);
    if (keyword !== undefined) {
      this.#visitVariants(node, keyword, at, around);
      return;
    }
    const part = findOpenPart(node, at, this.#references);
    if (part !== undefined) this.#visitParts(node, part, at, around);
    else if (this.#subtypesOf(node, at).length > 0 && around.tag === undefined)
      this.#visitSubtypes(node, at, around);
    else this.#visitKinds(node, at, around);
  }

  /** `oneOf` and `anyOf`, with what stands beside them. */
  #visitVariants(node: Node, keyword: 'oneOf' | 'anyOf', at: string, around: Around): void {
    const variants = node[keyword];
    const rest = without(node, [keyword, 'discriminator']);
    if (!Array.isArray(variants) || openKeyword(rest) !== undefined) {
      this.#push(node, at, 'any', around);
      return;
    }
    const counts =
      addsMembers(rest) || ['$ref', 'allOf', 'additionalProperties'].some((key) => Object.hasOwn(rest, key));
    const { base, own } = counts ? withBase(around, [{ node: rest, pointer: at }]) : around;
    const beside = this.#references.resolve(rest, at);
    const kinds = isUnresolved(beside) || !isNode(beside.node) ? [] : kindsOf(beside.node);
    const tagsAt = tagsOf(node, at, base, this.#references);
    for (const [index, variant] of variants.entries()) {
      const place = `${at}/${keyword}/${index}`;
      const inside = { ...around, base, own, kinds, label: undefined, shared: false };
      const tagged = tagsAt(variant, place);
      if (tagged.length === 0) this.#visit(variant, place, inside);
      for (const { label, tag } of tagged) this.#visit(variant, place, { ...inside, label, tag });
    }
  }

  /** A sum of which one part has alternatives: the others hold for each of them. */
  #visitParts(node: Node, open: Located | 'several', at: string, around: Around): void {
    if (open === 'several') {
      this.#push(node, at, 'any', around);
      return;
    }
    const parts: Located[] = [{ node: without(node, ['$ref', 'allOf', 'discriminator']), pointer: at }];
    for (const part of partsOf(node, at)) if (part.pointer !== open.pointer) parts.push(part);
    this.#visit(open.node, open.pointer, { ...around, ...withBase(around, parts), shared: false });
  }

  /** A base type with a discriminator: what extends it, each once for every value that means it. */
  #visitSubtypes(node: Node, at: string, { base, own }: Around): void {
    for (const { label, tag, target } of this.#subtypesOf(node, at)) {
      if (!isNode(target.node)) continue;
      const extended =
        Object.hasOwn(target.node, 'discriminator') &&
        this.#subtypesOf(target.node, target.pointer).length > 0;
      this.#list.push({
        node: extended ? without(target.node, ['discriminator']) : target.node,
        pointer: target.pointer,
        kind: 'object',
        owner: nameAt(target.pointer),
        label,
        tag,
        base,
        own,
        referred: true,
        shared: !extended,
        itself: extended,
      });
    }
  }

  #visitKinds(node: Node, at: string, around: Around): void {
    const own = kindsOf(node);
    const kinds = own.length > 0 ? own : around.kinds;
    const adds = (around.base.length > 0 || Object.hasOwn(node, '$ref')) && addsMembers(node);
    if (kinds.length === 0) this.#push(node, at, adds ? 'object' : 'any', around);
    const shared = around.shared && kinds.length === 1;
    for (const kind of kinds)
      this.#push(node, at, isFree(node, kind, around) ? 'any' : kind, { ...around, shared });
  }

  #push(node: Node, pointer: string, kind: JsonKind, around: Around): void {
    this.#list.push({ node, pointer, kind, itself: false, ...around });
  }
}

/** What holds for each object inside, with some more of it. */
function withBase({ base, own, referred }: Around, parts: readonly Located[]): Shared {
  return { base: [...base, ...parts], own: referred ? own : [...own, ...parts] };
}

function without(node: Node, keys: readonly string[]): Node {
  return Object.fromEntries(Object.entries(node).filter(([key]) => !keys.includes(key)));
}

/** True for a schema of arrays or objects that says nothing of what is in them. */
function isFree(node: Node, kind: JsonKind, { base }: Around): boolean {
  if (kind === 'array')
    return !('prefixItems' in node) && (!isNode(node.items) || Object.keys(node.items).length === 0);
  if (kind !== 'object' || base.length > 0) return false;
  const { properties, additionalProperties } = node;
  const says = addsMembers(node) || Object.hasOwn(node, 'allOf') || Object.hasOwn(node, 'patternProperties');
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
function findOpenPart(node: Node, at: string, references: References): Located | 'several' | undefined {
  const open = partsOf(node, at).filter((part) => {
    const found = references.resolve(part.node, part.pointer);
    if (isUnresolved(found) || !isNode(found.node)) return false;
    return openKeyword(found.node) !== undefined;
  });
  return open.length > 1 ? 'several' : open[0];
}

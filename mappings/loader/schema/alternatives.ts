// Alternatives of a value: `oneOf`, `anyOf`, several `type`s, and the subtypes of a type with a discriminator.
// `unions.ts` determines the types of the alternatives.
import type { JsonKind } from '../../contract/model.ts';
import { isNode, type Node } from '../document/node.ts';
import { isUnresolved, type Located, type References, type Unresolved } from '../document/references.ts';
import type { KeptNames } from '../names/names.ts';
import { nameAt } from '../names/schema-name.ts';
import type { Alternative, Alternatives, Siblings } from './alternative.ts';
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

/** Maximum nesting of alternatives. A YAML alias to an ancestor would nest without end. */
const deepest = 100;

/** Context of the schema being visited. */
interface Around extends Siblings, Pick<Alternative, 'isInTarget' | 'owner' | 'label' | 'tag' | 'isShared'> {
  /** JSON types of the schema that has the alternatives, for alternatives without a type. */
  readonly kinds: readonly JsonType[];
}

/** Finds the alternatives of schemas in one document. All methods throw OverLimit. */
export class AlternativesReader {
  readonly #references: References;
  readonly #kept: KeptNames;
  readonly #subtypesOf: SubtypesOf;

  constructor(document: Node, references: References, kept: KeptNames) {
    this.#references = references;
    this.#kept = kept;
    this.#subtypesOf = createSubtypes(document, references);
  }

  /**
   * Returns the alternatives of a schema, including those of referenced and combined schemas. Names of inline types
   * start with `name`.
   */
  alternativesOf(schema: Node, pointer: string, name: string): Alternatives {
    return new Walk(this.#references, this.#subtypesOf, this.#kept).from(schema, pointer, name);
  }

  /** Returns true if the schema itself has more than one alternative. */
  hasSeveral(schema: Node, pointer: string): boolean {
    return (
      openKeyword(schema) !== undefined ||
      kindsOf(schema).length > 1 ||
      findOpenPart(schema, pointer, this.#references) !== undefined ||
      this.#subtypesOf(schema, pointer).length > 0
    );
  }
}

/** Walk through all schemas reachable from one schema, which collects the alternatives of its values. */
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
      siblings: [],
      inlineSiblings: [],
      kinds: [],
      isShared: false,
      isInTarget: false,
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
      this.#visit(inner.node, inner.pointer, { ...around, isShared: false });
    } else if (Object.hasOwn(node, '$ref'))
      this.#visitOwn(node, at, { ...around, label: this.#labelOf(node, at, around) });
    else this.#visitOwn(node, at, around);
  }

  /** A schema that adds to its `$ref` target is labelled with the name of that target. */
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
      owner: around.siblings.length === 0 ? owner : around.owner,
      label: around.label ?? owner,
      kinds: [],
      isInTarget: around.siblings.length > 0,
      isShared: around.siblings.length === 0,
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

  /** Visits the variants of `oneOf` or `anyOf` together with the sibling keywords. */
  #visitVariants(node: Node, keyword: 'oneOf' | 'anyOf', at: string, around: Around): void {
    const variants = node[keyword];
    const rest = without(node, [keyword, 'discriminator']);
    if (!Array.isArray(variants) || openKeyword(rest) !== undefined) {
      this.#push(node, at, 'any', around);
      return;
    }
    const counts =
      addsMembers(rest) || ['$ref', 'allOf', 'additionalProperties'].some((key) => Object.hasOwn(rest, key));
    const { siblings, inlineSiblings } = counts
      ? withSiblings(around, [{ node: rest, pointer: at }])
      : around;
    const restFound = this.#references.objectAt(rest, at);
    const kinds = restFound === undefined ? [] : kindsOf(restFound);
    const tagsAt = tagsOf(node, at, siblings, this.#references);
    for (const [index, variant] of variants.entries()) {
      const place = `${at}/${keyword}/${index}`;
      const inside = { ...around, siblings, inlineSiblings, kinds, label: undefined, isShared: false };
      const tagged = tagsAt(variant, place);
      if (tagged.length === 0) this.#visit(variant, place, inside);
      for (const { label, tag } of tagged) this.#visit(variant, place, { ...inside, label, tag });
    }
  }

  /**
   * Visits an `allOf` or `$ref` combination. If one part has alternatives, the other parts apply to each alternative.
   */
  #visitParts(node: Node, open: Located | 'several', at: string, around: Around): void {
    if (open === 'several') {
      this.#push(node, at, 'any', around);
      return;
    }
    const parts: Located[] = [{ node: without(node, ['$ref', 'allOf', 'discriminator']), pointer: at }];
    for (const part of partsOf(node, at)) if (part.pointer !== open.pointer) parts.push(part);
    this.#visit(open.node, open.pointer, { ...around, ...withSiblings(around, parts), isShared: false });
  }

  /** Adds the subtypes of a base type with a discriminator, one alternative for each discriminator value. */
  #visitSubtypes(node: Node, at: string, { siblings, inlineSiblings }: Around): void {
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
        siblings,
        inlineSiblings,
        isInTarget: true,
        isShared: !extended,
        isBaseType: extended,
      });
    }
  }

  #visitKinds(node: Node, at: string, around: Around): void {
    const ownKinds = kindsOf(node);
    const kinds = ownKinds.length > 0 ? ownKinds : around.kinds;
    const adds = (around.siblings.length > 0 || Object.hasOwn(node, '$ref')) && addsMembers(node);
    if (kinds.length === 0) this.#push(node, at, adds ? 'object' : 'any', around);
    const isShared = around.isShared && kinds.length === 1;
    for (const kind of kinds)
      this.#push(node, at, isFree(node, kind, around) ? 'any' : kind, { ...around, isShared });
  }

  #push(node: Node, pointer: string, kind: JsonKind, around: Around): void {
    this.#list.push({ node, pointer, kind, isBaseType: false, ...around });
  }
}

/** Adds schemas that apply to each alternative inside. */
function withSiblings({ siblings, inlineSiblings, isInTarget }: Around, parts: readonly Located[]): Siblings {
  return {
    siblings: [...siblings, ...parts],
    inlineSiblings: isInTarget ? inlineSiblings : [...inlineSiblings, ...parts],
  };
}

function without(node: Node, keys: readonly string[]): Node {
  return Object.fromEntries(Object.entries(node).filter(([key]) => !keys.includes(key)));
}

/** Returns true for a schema of arrays or objects that does not describe their content. */
function isFree(node: Node, kind: JsonKind, { siblings }: Around): boolean {
  if (kind === 'array')
    return !('prefixItems' in node) && (!isNode(node.items) || Object.keys(node.items).length === 0);
  if (kind !== 'object' || siblings.length > 0) return false;
  const { properties, additionalProperties } = node;
  const isConstrained =
    addsMembers(node) || Object.hasOwn(node, 'allOf') || Object.hasOwn(node, 'patternProperties');
  if (isConstrained || (isNode(properties) && Object.keys(properties).length > 0)) return false;
  if (additionalProperties === false) return false;
  return !isNode(additionalProperties) || Object.keys(additionalProperties).length === 0;
}

/** Returns the parts that a schema combines: its `allOf` and the target of its `$ref`. */
function partsOf({ $ref, allOf }: Node, at: string): Located[] {
  const parts = (Array.isArray(allOf) ? allOf : [])
    .map((node: unknown, index) => ({ node, pointer: `${at}/allOf/${index}` }))
    .filter(({ node }) => countsInAllOf(node));
  return $ref === undefined ? parts : [{ node: { $ref }, pointer: at }, ...parts];
}

/**
 * Returns the combined part that has alternatives, after following its `$ref`s; `several` if more than one part has
 * them.
 */
function findOpenPart(node: Node, at: string, references: References): Located | 'several' | undefined {
  const open = partsOf(node, at).filter((part) => {
    const found = references.objectAt(part.node, part.pointer);
    return found !== undefined && openKeyword(found) !== undefined;
  });
  return open.length > 1 ? 'several' : open[0];
}

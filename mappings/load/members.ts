import { pointerSegment } from './error.ts';
import { childOf, isNode, type Node, textsOf } from './node.ts';
import { isUnresolved, type References } from './references.ts';
import { countsInAllOf, kindOf, openKeyword, saysShape } from './schema.ts';

/** One member of an object schema. */
export interface SchemaMember {
  readonly json: string;
  readonly schema: unknown;
  /** Where that schema stands. */
  readonly pointer: string;
  readonly required: boolean;
}

/** What an object schema holds, its `allOf` flattened (W18). */
export interface Members {
  readonly kind: 'members';
  /** In document order. */
  readonly members: readonly SchemaMember[];
  /** What else may be in it: the schema of further members with where it stands, or undefined where nothing says so. */
  readonly additional: { readonly schema: unknown; readonly pointer: string } | undefined;
}

/** Why a schema is no object with known members, and where that shows. */
export interface NoMembers {
  readonly kind: 'none';
  readonly pointer: string;
  readonly why: string;
}

/**
 * The members of an object schema and of all that its `allOf` and `$ref` bring in. A member given again replaces the
 * former in its place, unless it adds an annotation only; `required` counts wherever the member comes from.
 */
export function membersOf(schema: unknown, pointer: string, references: References): Members | NoMembers {
  const members = new Map<string, Omit<SchemaMember, 'required'>>();
  const required = new Set<string>();
  let additional: Members['additional'];
  const open = new Set<Node>();

  function gather(node: unknown, at: string): NoMembers | undefined {
    if (!isNode(node)) return { kind: 'none', pointer: at, why: 'a part of it is no schema' };
    if (open.has(node)) return { kind: 'none', pointer: at, why: 'it is a part of itself' };
    open.add(node);
    const problem = gatherReference(node, at) ?? gatherParts(node, at) ?? gatherOwn(node, at);
    open.delete(node);
    return problem;
  }

  function gatherReference(node: Node, at: string): NoMembers | undefined {
    if (!Object.hasOwn(node, '$ref')) return undefined;
    const target = references.target(node.$ref, at);
    return isUnresolved(target) ? { kind: 'none', ...target } : gather(target.node, target.pointer);
  }

  function gatherParts({ allOf }: Node, at: string): NoMembers | undefined {
    if (allOf === undefined) return undefined;
    if (!Array.isArray(allOf)) return { kind: 'none', pointer: `${at}/allOf`, why: 'it is no list' };
    for (const [index, part] of allOf.entries()) {
      if (!countsInAllOf(part)) continue;
      const problem = gather(part, `${at}/allOf/${index}`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  function gatherOwn(node: Node, at: string): NoMembers | undefined {
    const keyword = openKeyword(node);
    if (keyword !== undefined)
      return { kind: 'none', pointer: `${at}/${keyword}`, why: `${keyword} fits no closed type` };
    const kind = kindOf(node);
    if (kind === undefined ? node.type !== undefined : kind !== 'object')
      return { kind: 'none', pointer: at, why: 'it is not an object alone' };
    for (const [json, member] of Object.entries(childOf(node, 'properties'))) {
      if (members.has(json) && !saysShape(member)) continue;
      members.set(json, { json, schema: member, pointer: `${at}/properties${pointerSegment(json)}` });
    }
    for (const name of textsOf(node.required) ?? []) required.add(name);
    const { additionalProperties } = node;
    if (additionalProperties === true || isNode(additionalProperties))
      additional = { schema: additionalProperties, pointer: `${at}/additionalProperties` };
    return undefined;
  }

  const problem = gather(schema, pointer);
  if (problem !== undefined) return problem;
  return {
    kind: 'members',
    members: [...members.values()].map((member) => ({ ...member, required: required.has(member.json) })),
    additional,
  };
}

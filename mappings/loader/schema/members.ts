import { type Note, pointerSegment } from '../document/error.ts';
import { childOf, isNode, type Node, textsOf } from '../document/node.ts';
import { isUnresolved, type Located, type References } from '../document/references.ts';
import { countsInAllOf, describesShape, isBare, kindOf, openKeyword } from './keywords.ts';
import { checkType } from './resolve.ts';

/** A member of an object schema. */
export interface SchemaMember {
  readonly json: string;
  readonly schema: unknown;
  /** JSON pointer of the schema. */
  readonly pointer: string;
  readonly required: boolean;
  /** True if every reply contains the member; undefined means false. */
  readonly promised?: boolean;
  /** The object that contains the schema and has its own description: a parameter, a body or a response. */
  readonly around?: unknown;
  /** The media type object, which has an `example` or `examples` with precedence over those of the schema. */
  readonly examples?: Located;
}

/** Members of an object schema, with its `allOf` flattened (W18). */
export interface Members {
  readonly kind: 'members';
  /** The members in document order. */
  readonly members: readonly SchemaMember[];
  /** Schema and pointer of additional members; undefined if the document does not state one. */
  readonly additional: { readonly schema: unknown; readonly pointer: string } | undefined;
  /** True if the schema forbids additional members. */
  readonly closed: boolean;
  /** Members with incompatible types in two parts, at the pointer of the second. The first part's type is used. */
  readonly contradictions: readonly Note[];
}

/** The reason and the pointer if a schema is not an object with known members. */
export interface NoMembers extends Note {
  readonly kind: 'none';
}

/**
 * Returns the members of an object that matches all of `parts`, including their `allOf` and `$ref` targets.
 *
 * A repeated member refines the earlier definition unless it adds no information. `required` applies to members of any
 * part, except read-only members in requests and write-only members in replies, because that side cannot send them.
 * Each part is read only once.
 */
export function membersOf(parts: readonly Located[], references: References): Members | NoMembers {
  return new MembersReader(references).read(parts);
}

class MembersReader {
  readonly #references: References;
  readonly #members = new Map<string, Omit<SchemaMember, 'required'>>();
  readonly #required = new Set<string>();
  readonly #contradictions: Note[] = [];
  #additional: Members['additional'];
  #closed = false;
  readonly #open = new Set<Node>();
  /** Schemas read outside conditions. */
  readonly #always = new Set<Node>();
  /** Schemas read inside conditions, which require no members. */
  readonly #sometimes = new Set<Node>();
  #conditions = 0;

  constructor(references: References) {
    this.#references = references;
  }

  read(parts: readonly Located[]): Members | NoMembers {
    for (const { node, pointer } of parts) {
      const problem = this.#gather(node, pointer);
      if (problem !== undefined) return problem;
    }
    return {
      kind: 'members',
      members: [...this.#members.values()].map((member) => ({
        ...member,
        required: this.#required.has(member.json) && !this.#hasKeyword(member, 'readOnly'),
        promised: this.#required.has(member.json) && !this.#hasKeyword(member, 'writeOnly'),
      })),
      additional: this.#additional,
      closed: this.#closed,
      contradictions: this.#contradictions,
    };
  }

  #gather(node: unknown, at: string): NoMembers | undefined {
    this.#references.allowance.step(at);
    if (!isNode(node)) return { kind: 'none', pointer: at, why: 'a part of it is not a schema' };
    if (this.#open.has(node)) return { kind: 'none', pointer: at, why: 'it contains itself' };
    if (this.#always.has(node) || (this.#conditions > 0 && this.#sometimes.has(node))) return undefined;
    (this.#conditions > 0 ? this.#sometimes : this.#always).add(node);
    this.#open.add(node);
    const problem =
      this.#gatherReference(node, at) ?? this.#gatherParts(node, at) ?? this.#gatherOwn(node, at);
    this.#open.delete(node);
    return problem;
  }

  #gatherReference(node: Node, at: string): NoMembers | undefined {
    if (!Object.hasOwn(node, '$ref')) return undefined;
    const target = this.#references.target(node.$ref, at);
    return isUnresolved(target) ? { kind: 'none', ...target } : this.#gather(target.node, target.pointer);
  }

  #gatherParts({ allOf }: Node, at: string): NoMembers | undefined {
    if (allOf === undefined) return undefined;
    if (!Array.isArray(allOf)) return { kind: 'none', pointer: `${at}/allOf`, why: 'it is not a list' };
    for (const [index, part] of allOf.entries()) {
      if (!countsInAllOf(part)) continue;
      const problem = this.#gather(part, `${at}/allOf/${index}`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  #gatherOwn(node: Node, at: string): NoMembers | undefined {
    checkType(node, at, this.#references);
    const keyword = openKeyword(node);
    if (keyword !== undefined)
      return { kind: 'none', pointer: `${at}/${keyword}`, why: `${keyword} fits no closed type` };
    const kind = kindOf(node);
    if (kind === undefined ? node.type !== undefined && !takesObjects(node) : kind !== 'object')
      return { kind: 'none', pointer: at, why: 'it can be another type than an object' };
    for (const [json, member] of Object.entries(childOf(node, 'properties')))
      this.#add({ json, schema: member, pointer: `${at}/properties${pointerSegment(json)}` });
    for (const name of textsOf(node.required) ?? []) this.#required.add(name);
    this.#additional = additionalOf(node, at) ?? this.#additional;
    this.#closed ||= node.additionalProperties === false || node.unevaluatedProperties === false;
    return this.#gatherBranches(node, at);
  }

  /** Adds the members of `then` and `else`, which are never required. */
  #gatherBranches(node: Node, at: string): NoMembers | undefined {
    if (!isNode(node.then) && !isNode(node.else)) return undefined;
    this.#references.allowance.step(at, this.#required.size);
    const before = new Set(this.#required);
    for (const branch of ['then', 'else'] as const) {
      if (!isNode(node[branch])) continue;
      this.#conditions++;
      const problem = this.#gather(node[branch], `${at}/${branch}`);
      this.#conditions--;
      if (problem !== undefined) return problem;
      for (const name of this.#required) if (!before.has(name)) this.#required.delete(name);
    }
    return undefined;
  }

  #add(member: Omit<SchemaMember, 'required'>): void {
    this.#references.allowance.step(member.pointer);
    const known = this.#members.get(member.json);
    if (known === undefined) {
      this.#members.set(member.json, member);
      return;
    }
    if (!describesShape(member.schema)) return;
    const [first, second] = [known, member].map((one) => this.#kindAt(one));
    if (first === second) {
      if (!isBare(member.schema)) this.#members.set(member.json, member);
    } else if (first === undefined || second === undefined || (first === 'number' && second === 'integer')) {
      this.#members.set(member.json, member);
    } else if (first !== 'integer' || second !== 'number') {
      this.#contradictions.push({
        pointer: member.pointer,
        why: `${second} here, ${first} at ${known.pointer}`,
      });
    }
  }

  #kindAt({ schema, pointer }: Omit<SchemaMember, 'required'>): string | undefined {
    const found = this.#references.objectAt(schema, pointer);
    return found && kindOf(found);
  }

  /** Returns true if the schema of a member, or its reference target, sets a keyword. */
  #hasKeyword(
    { schema, pointer }: Omit<SchemaMember, 'required'>,
    keyword: 'readOnly' | 'writeOnly',
  ): boolean {
    if (isNode(schema) && schema[keyword] === true) return true;
    return this.#references.objectAt(schema, pointer)?.[keyword] === true;
  }
}

function takesObjects({ type }: Node): boolean {
  return Array.isArray(type) && type.includes('object');
}

/** Returns the schema of members that a part does not list; any value if there are several patterns. */
function additionalOf(node: Node, at: string): Members['additional'] {
  const patterns = Object.entries(childOf(node, 'patternProperties'));
  for (const keyword of ['additionalProperties', 'unevaluatedProperties'] as const) {
    const schema = node[keyword];
    if (schema !== true && !isNode(schema)) continue;
    return { schema: patterns.length === 0 ? schema : true, pointer: `${at}/${keyword}` };
  }
  const [first] = patterns;
  if (first === undefined) return undefined;
  const pointer = `${at}/patternProperties`;
  return patterns.length > 1
    ? { schema: true, pointer }
    : { schema: first[1], pointer: pointer + pointerSegment(first[0]) };
}

import { unescapedSegment } from '../loader/document/error.ts';
import { isNode, memberOf, type Node } from '../loader/document/node.ts';
import { decoded } from '../loader/document/other-files.ts';

/** The kinds of JSON values that schemas tell apart. */
export type Kind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/** A member of an object as its schema says it. */
export interface MemberSchema {
  readonly shape: Shape;
  readonly required: boolean;
}

const allKinds: readonly Kind[] = ['object', 'array', 'string', 'number', 'boolean', 'null'];

/**
 * One place of an OpenAPI document, what it refers to and is composed of taken together: `allOf` adds up, of `oneOf` and
 * `anyOf` the members of all count, as required those that all of them require. Made when it is first asked for, one for
 * each schema, so that schemas may hold themselves.
 */
export interface Shape {
  /** Every kind where the schema says none. */
  readonly kinds: ReadonlySet<Kind>;
  readonly members: ReadonlyMap<string, MemberSchema>;
  /** What other members are; undefined where there are none, or nothing is said of them. */
  readonly others: Shape | undefined;
  /** True where the schema says nothing about members, items or kind: whatever comes. */
  readonly open: boolean;
  readonly items: Shape | undefined;
  /** The texts of its enumeration, numbers as text; undefined for none. */
  readonly values: readonly string[] | undefined;
  /** True for a text that is the base64 of bytes: `format: byte`, or `contentEncoding: base64`. */
  readonly base64: boolean;
}

/** Reads places of one document. Schemas are resolved in it alone. */
export class SchemaReader {
  readonly #root: Node;
  readonly #shapes = new Map<unknown, Shape>();
  /** The longest chain of `$ref` and compositions that is followed. */
  readonly #most: number;

  /** @param root the document as plain data, as `readYamlFile` gives it */
  constructor(root: Node, most: number) {
    this.#root = root;
    this.#most = most;
  }

  /** What a reference of the document leads to; the node itself where it is none. Undefined where it leads nowhere. */
  resolve(node: unknown): unknown {
    let at = node;
    for (let count = 0; isNode(at) && typeof at.$ref === 'string'; count++) {
      if (count === this.#most) return undefined;
      at = this.#target(at.$ref);
    }
    return at;
  }

  #target(reference: string): unknown {
    if (!reference.startsWith('#')) return undefined;
    let at: unknown = this.#root;
    for (const segment of reference.slice(1).split('/').slice(1)) {
      const key = unescapedSegment(decoded(segment));
      at = isNode(at) ? memberOf(at, key) : Array.isArray(at) ? at[Number(key)] : undefined;
    }
    return at;
  }

  /** The shape of a schema. The same schema gives the same shape. */
  shapeOf(schema: unknown): Shape {
    const known = this.#shapes.get(schema);
    if (known !== undefined) return known;
    const shape = new LazyShape(() => this.#draftOf(schema, 0));
    this.#shapes.set(schema, shape);
    return shape;
  }

  #draftOf(schema: unknown, depth: number): Draft {
    if (!isNode(schema) || depth > this.#most) return anything;
    const draft = this.#own(schema);
    const parts: Draft[] = [draft];
    if (typeof schema.$ref === 'string') parts.push(this.#draftOf(this.#target(schema.$ref), depth + 1));
    if (Array.isArray(schema.allOf))
      for (const part of schema.allOf) parts.push(this.#draftOf(part, depth + 1));
    for (const alternatives of [schema.oneOf, schema.anyOf])
      if (Array.isArray(alternatives) && alternatives.length > 0)
        parts.push(eitherOf(alternatives.map((part) => this.#draftOf(part, depth + 1))));
    return parts.length === 1 ? draft : bothOf(parts);
  }

  #own(schema: Node): Draft {
    const members = new Map<string, MemberSchema>();
    const required = new Set(Array.isArray(schema.required) ? schema.required : []);
    if (isNode(schema.properties))
      for (const [name, inner] of Object.entries(schema.properties))
        members.set(name, { shape: this.shapeOf(inner), required: required.has(name) });
    const others = schema.additionalProperties;
    return {
      kinds: kindsOf(schema),
      members,
      others: isNode(others) ? this.shapeOf(others) : undefined,
      items: schema.items === undefined ? undefined : this.shapeOf(schema.items),
      values: valuesOf(schema),
      base64: schema.format === 'byte' || schema.contentEncoding === 'base64',
      says: members.size > 0 || others !== undefined || schema.items !== undefined,
    };
  }
}

/** What is known of a schema while its parts are put together; `kinds` is undefined for any. */
interface Draft extends Omit<Shape, 'kinds' | 'open'> {
  readonly kinds: ReadonlySet<Kind> | undefined;
  /** Whether it says anything of what is in an object or list. */
  readonly says: boolean;
}

const anything: Draft = {
  kinds: undefined,
  members: new Map(),
  others: undefined,
  items: undefined,
  values: undefined,
  base64: false,
  says: false,
};

class LazyShape implements Shape {
  readonly #make: () => Draft;
  #draft: Draft | undefined;

  constructor(make: () => Draft) {
    this.#make = make;
  }

  get #made(): Draft {
    this.#draft ??= this.#make();
    return this.#draft;
  }

  get kinds(): ReadonlySet<Kind> {
    return this.#made.kinds ?? new Set(allKinds);
  }

  get members(): ReadonlyMap<string, MemberSchema> {
    return this.#made.members;
  }

  get others(): Shape | undefined {
    return this.#made.others;
  }

  get open(): boolean {
    const { kinds, says } = this.#made;
    return !says && (kinds === undefined || kinds.has('object') || kinds.has('array'));
  }

  get items(): Shape | undefined {
    return this.#made.items;
  }

  get values(): readonly string[] | undefined {
    return this.#made.values;
  }

  get base64(): boolean {
    return this.#made.base64;
  }
}

/** What a value is that all of some schemas take. */
function bothOf(parts: readonly Draft[]): Draft {
  const members = new Map<string, MemberSchema>();
  for (const part of parts)
    for (const [name, member] of part.members) {
      const known = members.get(name);
      members.set(name, known === undefined ? member : narrower(known, member));
    }
  const kinds = parts.map((part) => part.kinds).filter((one) => one !== undefined);
  const [first] = kinds;
  const common =
    first === undefined
      ? undefined
      : new Set([...first].filter((kind) => kinds.every((some) => some.has(kind))));
  return {
    kinds: common?.size === 0 ? kinds[0] : common,
    members,
    others: parts.find(({ others }) => others !== undefined)?.others,
    items: parts.find(({ items }) => items !== undefined)?.items,
    values: parts.find(({ values }) => values !== undefined)?.values,
    base64: parts.some(({ base64 }) => base64),
    says: parts.some(({ says }) => says),
  };
}

function narrower(one: MemberSchema, other: MemberSchema): MemberSchema {
  return { shape: one.shape.open ? other.shape : one.shape, required: one.required || other.required };
}

/** What a value is that one of some schemas takes. */
function eitherOf(parts: readonly Draft[]): Draft {
  const members = new Map<string, MemberSchema>();
  const objects = parts.filter(({ kinds }) => kinds === undefined || kinds.has('object'));
  for (const part of objects)
    for (const [name, member] of part.members) {
      const required = objects.every((other) => other.members.get(name)?.required === true);
      if (!members.has(name)) members.set(name, { shape: member.shape, required });
    }
  const isAny = parts.some(({ kinds }) => kinds === undefined);
  const valued = parts.filter(
    ({ kinds }) => kinds === undefined || [...kinds].some((kind) => kind !== 'null'),
  );
  return {
    kinds: isAny ? undefined : new Set(parts.flatMap(({ kinds }) => [...(kinds ?? [])])),
    members,
    others: parts.find(({ others }) => others !== undefined)?.others,
    items: parts.find(({ items }) => items !== undefined)?.items,
    values: valued.every(({ values }) => values !== undefined)
      ? [...new Set(valued.flatMap(({ values }) => values ?? []))]
      : undefined,
    base64: parts.some(({ base64 }) => base64),
    says: parts.some(({ says }) => says),
  };
}

function kindsOf(schema: Node): ReadonlySet<Kind> | undefined {
  const { type } = schema;
  const names = typeof type === 'string' ? [type] : Array.isArray(type) ? type : undefined;
  if (names === undefined) {
    if (isNode(schema.properties)) return new Set(['object']);
    return schema.items === undefined ? undefined : new Set(['array']);
  }
  const kinds = new Set<Kind>();
  for (const name of names) {
    if (name === 'integer') kinds.add('number');
    else if (allKinds.some((kind) => kind === name)) kinds.add(name as Kind);
  }
  if (schema.nullable === true) kinds.add('null');
  return kinds;
}

function valuesOf(schema: Node): readonly string[] | undefined {
  const values = Array.isArray(schema.enum)
    ? schema.enum
    : schema.const === undefined
      ? undefined
      : [schema.const];
  return values?.filter((value) => value !== null).map(String);
}

import { unescapedSegment } from '../loader/document/error.ts';
import { isNode, memberOf, type Node } from '../loader/document/node.ts';
import { decoded } from '../loader/document/other-files.ts';

/** Kinds of JSON values in schemas. */
export type Kind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/** A member of an object schema. */
export interface MemberSchema {
  readonly shape: Shape;
  readonly required: boolean;
}

const allKinds: readonly Kind[] = ['object', 'array', 'string', 'number', 'boolean', 'null'];

/**
 * A schema with its references and compositions resolved. `allOf` is merged; `oneOf` and `anyOf` contribute all their
 * members, which are required only if every alternative requires them. Computed on first use, once for each schema,
 * because schemas may be recursive.
 */
export interface Shape {
  /** All kinds if the schema does not restrict them. */
  readonly kinds: ReadonlySet<Kind>;
  readonly members: ReadonlyMap<string, MemberSchema>;
  /** Shape of additional members; undefined if the schema does not describe them. */
  readonly others: Shape | undefined;
  /** True if the schema does not describe members, items or kind, so that any value is accepted. */
  readonly open: boolean;
  readonly items: Shape | undefined;
  /** Enumeration values as text, including numbers; undefined without an enumeration. */
  readonly values: readonly string[] | undefined;
  /** True for base64 text: `format: byte` or `contentEncoding: base64`. */
  readonly base64: boolean;
}

/** Reads schemas of one document. References to other documents are not resolved. */
export class SchemaReader {
  readonly #root: Node;
  readonly #shapes = new Map<unknown, Shape>();
  /** Maximum length of a chain of `$ref`s and compositions. */
  readonly #most: number;

  /** @param root the document as plain data, as returned by `readYamlFile` */
  constructor(root: Node, most: number) {
    this.#root = root;
    this.#most = most;
  }

  /** Resolves the references of a node. Undefined if a reference cannot be resolved. */
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

  /** Returns the shape of a schema. The same schema gives the same shape. */
  shapeOf(schema: unknown): Shape {
    const known = this.#shapes.get(schema);
    if (known !== undefined) return known;
    const shape = lazyShape(() => this.#draftOf(schema, 0));
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
      describesContent: members.size > 0 || others !== undefined || schema.items !== undefined,
    };
  }
}

/** A schema during composition. `kinds` is undefined if any kind is allowed. */
interface Draft extends Omit<Shape, 'kinds' | 'open'> {
  readonly kinds: ReadonlySet<Kind> | undefined;
  /** True if it describes the content of objects or lists. */
  readonly describesContent: boolean;
}

const anything: Draft = {
  kinds: undefined,
  members: new Map(),
  others: undefined,
  items: undefined,
  values: undefined,
  base64: false,
  describesContent: false,
};

/** Returns a shape that is computed on first use. */
function lazyShape(make: () => Draft): Shape {
  let made: Shape | undefined;
  const shape = (): Shape => {
    made ??= finished(make());
    return made;
  };
  return {
    get kinds() {
      return shape().kinds;
    },
    get members() {
      return shape().members;
    },
    get others() {
      return shape().others;
    },
    get open() {
      return shape().open;
    },
    get items() {
      return shape().items;
    },
    get values() {
      return shape().values;
    },
    get base64() {
      return shape().base64;
    },
  };
}

function finished({ kinds = new Set(allKinds), describesContent, ...draft }: Draft): Shape {
  const open = !describesContent && (kinds.has('object') || kinds.has('array'));
  return { ...draft, kinds, open };
}

/** Combines schemas that a value must match all of. */
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
    describesContent: parts.some(({ describesContent }) => describesContent),
  };
}

function narrower(one: MemberSchema, other: MemberSchema): MemberSchema {
  return { shape: one.shape.open ? other.shape : one.shape, required: one.required || other.required };
}

/** Combines schemas that a value must match any of. */
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
    describesContent: parts.some(({ describesContent }) => describesContent),
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

import type { Allowance } from './allowance.ts';
import { pointerSegment } from './error.ts';
import { define, isNode, type Node } from './node.ts';
import { fileOf } from './other-files.ts';
import { isUnresolved, type Located, type References } from './references.ts';

// `$ref` where OpenAPI foresees none: documents that are put together from several files have it anywhere. What it names
// takes its place before anything is read, so that no part of a document is passed over.

/** What a place of a document holds. */
type Kind =
  | 'document'
  | 'components'
  | 'pathItem'
  | 'operation'
  | 'parameter'
  | 'requestBody'
  | 'response'
  | 'mediaType'
  | 'encoding'
  | 'header'
  | 'schema'
  | 'securityScheme'
  /** Values that nothing may refer to in. */
  | 'plain';

/** The kind of what a member holds, of each member of it, or of each item of it. */
type Member = Kind | { readonly each: Kind };

interface Grammar {
  /** Whether OpenAPI foresees a `$ref` in its place (3.1, 4.8). */
  readonly refers: boolean;
  readonly members: Readonly<Record<string, Member>>;
}

const each = (kind: Kind): Member => ({ each: kind });
/** Members that hold the same. */
const all = (member: Member, ...names: readonly string[]): Readonly<Record<string, Member>> =>
  Object.fromEntries(names.map((name) => [name, member]));
const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'];

/** What OpenAPI's objects hold, but for examples, links, callbacks and values, which aren't read. */
const grammar: Readonly<Record<Exclude<Kind, 'plain'>, Grammar>> = {
  document: {
    refers: false,
    members: {
      ...all('plain', 'info', 'servers', 'security', 'tags'),
      paths: each('pathItem'),
      components: 'components',
    },
  },
  components: {
    refers: false,
    members: {
      schemas: each('schema'),
      responses: each('response'),
      parameters: each('parameter'),
      requestBodies: each('requestBody'),
      headers: each('header'),
      securitySchemes: each('securityScheme'),
      pathItems: each('pathItem'),
      mediaTypes: each('mediaType'),
    },
  },
  pathItem: {
    refers: true,
    members: {
      ...all('operation', ...methods),
      additionalOperations: each('operation'),
      parameters: each('parameter'),
      ...all('plain', 'servers', 'summary', 'description'),
    },
  },
  operation: {
    refers: false,
    members: {
      ...all('plain', 'tags', 'summary', 'description', 'operationId', 'servers', 'security'),
      parameters: each('parameter'),
      requestBody: 'requestBody',
      responses: each('response'),
    },
  },
  parameter: {
    refers: true,
    members: { schema: 'schema', content: each('mediaType'), description: 'plain' },
  },
  header: { refers: true, members: { schema: 'schema', content: each('mediaType'), description: 'plain' } },
  requestBody: { refers: true, members: { content: each('mediaType'), description: 'plain' } },
  response: {
    refers: true,
    members: { headers: each('header'), content: each('mediaType'), description: 'plain' },
  },
  mediaType: {
    refers: false,
    members: { schema: 'schema', itemSchema: 'schema', encoding: each('encoding') },
  },
  encoding: { refers: false, members: { headers: each('header') } },
  securityScheme: { refers: true, members: { flows: 'plain' } },
  schema: {
    refers: true,
    members: {
      ...all(each('schema'), 'properties', 'patternProperties', 'dependentSchemas'),
      ...all(each('schema'), 'allOf', 'oneOf', 'anyOf', 'prefixItems'),
      ...all('schema', 'items', 'additionalProperties', 'unevaluatedProperties'),
      ...all('schema', 'not', 'if', 'then', 'else', 'contains'),
      ...all('plain', 'type', 'required', 'discriminator', 'description'),
    },
  },
};

/** Puts what references name that OpenAPI doesn't foresee in their places. */
export class UnforeseenReferences {
  readonly #references: References;
  readonly #allowance: Allowance;
  /** What became of a node as a kind; as it stands while it is looked at. */
  readonly #settled = new Map<Kind | 'map', Map<unknown, unknown>>();

  constructor(references: References) {
    this.#references = references;
    this.#allowance = references.allowance;
  }

  /** The document with what it refers to in such places; each is noted, one that names nothing reported. Throws OverLimit. */
  settle(document: Node): Node {
    const settled = this.#settle(document, '', 'document');
    return isNode(settled) ? settled : document;
  }

  #settle(node: unknown, pointer: string, kind: Kind): unknown {
    if (typeof node !== 'object' || node === null) return node;
    return this.#once(node, kind, () => {
      const refers = kind !== 'plain' && grammar[kind].refers;
      if (!isReference(node)) return this.#inside(node, pointer, kind);
      if (!refers) return this.#replaced(node, pointer, kind, (found) => this.#inside(found, pointer, kind));
      this.#look(node, pointer, kind);
      return this.#inside(node, pointer, kind);
    });
  }

  /** What is made of a node, once. */
  #once(node: object, kind: Kind | 'map', make: () => unknown): unknown {
    const known = this.#settled.get(kind) ?? new Map<unknown, unknown>();
    this.#settled.set(kind, known);
    if (known.has(node)) return known.get(node);
    known.set(node, node);
    const made = make();
    known.set(node, made);
    return made;
  }

  #inside(node: unknown, pointer: string, kind: Kind): unknown {
    if (Array.isArray(node))
      return mapped(node, (item, index) => this.#settle(item, `${pointer}/${index}`, kind));
    if (!isNode(node)) return node;
    return mappedNode(node, (value, key) => {
      if (typeof value !== 'object' || value === null) return value;
      const at = pointer + pointerSegment(key);
      if (kind === 'plain') return key.startsWith('x-') ? value : this.#settle(value, at, kind);
      const member = Object.hasOwn(grammar[kind].members, key) ? grammar[kind].members[key] : undefined;
      if (member === undefined) return value;
      return typeof member === 'string'
        ? this.#settle(value, at, member)
        : this.#settleEach(value, at, member.each);
    });
  }

  /** A list or a map of things of a kind, which is no thing of its own. */
  #settleEach(node: unknown, pointer: string, kind: Kind): unknown {
    if (typeof node !== 'object' || node === null) return node;
    const inside = (items: unknown): unknown => {
      if (Array.isArray(items))
        return mapped(items, (item, index) => this.#settle(item, `${pointer}/${index}`, kind));
      if (!isNode(items)) return items;
      return mappedNode(items, (value, key) =>
        key.startsWith('x-') && kind !== 'schema' && kind !== 'header'
          ? value
          : this.#settle(value, pointer + pointerSegment(key), kind),
      );
    };
    if (!isReference(node)) return inside(node);
    return this.#once(node, 'map', () => this.#replaced(node, pointer, kind, inside));
  }

  /** What an unforeseen reference names, in its place; nothing where it names nothing, which is reported. */
  #replaced(node: Node, pointer: string, kind: Kind, inside: (found: unknown) => unknown): unknown {
    const found = this.#references.resolve(node, pointer);
    if (isUnresolved(found)) return undefined;
    const others = Object.keys(node).filter((key) => key !== '$ref' && !key.startsWith('x-'));
    const beside = others.length === 0 ? '' : `; ${others.join(', ')} beside it: not read`;
    // of media types OpenAPI 3.2 does foresee it (4.14)
    if (kind !== 'mediaType' || beside !== '' || !this.#references.version.startsWith('3.2'))
      this.#references.noteUnforeseen(
        `${pointer}/$ref`,
        `OpenAPI foresees no $ref here; what it names was read in its place${beside}`,
      );
    if (kind !== 'operation') return inside(this.#moved(found, fileOf(pointer)));
    // told of where it stands, and its references lead from there
    this.#references.placeAt(pointer, found);
    return this.#inside(found.node, found.pointer, kind);
  }

  /** Looks into what a foreseen reference to another file names: what is found there is put in its place there. */
  #look(node: Node, pointer: string, kind: Kind): void {
    const text = String(node.$ref);
    if (text.startsWith('#') && fileOf(pointer) === '') return; // the document's own is looked into anyway
    const found = this.#references.find(text, pointer);
    if (isUnresolved(found)) return; // told where it is read
    const settled = this.#settle(found.node, found.pointer, kind);
    if (settled !== found.node) this.#references.replace(found.node, settled);
  }

  /** A copy of what another file holds, whose references lead where they led from there. */
  #moved({ node, pointer }: Located, to: string): unknown {
    const from = fileOf(pointer);
    if (from === to) return node;
    const copies = new Map<unknown, unknown>();
    const copy = (value: unknown): unknown => {
      if (typeof value !== 'object' || value === null) return value;
      if (copies.has(value)) return copies.get(value);
      this.#allowance.step(pointer);
      if (Array.isArray(value)) {
        const list: unknown[] = [];
        copies.set(value, list);
        for (const item of value) list.push(copy(item));
        return list;
      }
      const made: Record<string, unknown> = {};
      copies.set(value, made);
      for (const [key, inner] of Object.entries(value)) {
        const moved =
          key === '$ref' && typeof inner === 'string' ? this.#references.addressFrom(to, inner, from) : inner;
        define(made, key, copy(moved));
      }
      return made;
    };
    return copy(node);
  }
}

/** True where a node is a reference; a member that is called `$ref` holds no text. */
function isReference(node: unknown): node is Node {
  return isNode(node) && Object.hasOwn(node, '$ref') && typeof node.$ref === 'string';
}

/** The list with what became of its items; itself where all stayed as they were. */
function mapped(
  list: readonly unknown[],
  change: (item: unknown, index: number) => unknown,
): readonly unknown[] {
  const changed = list.map(change);
  return changed.every((item, index) => item === list[index]) ? list : changed;
}

/** The object with what became of its members; itself where all stayed as they were. */
function mappedNode(node: Node, change: (value: unknown, key: string) => unknown): Node {
  let changed: Map<string, unknown> | undefined;
  for (const key of Object.keys(node)) {
    const value = node[key];
    const made = change(value, key);
    if (made === value) continue;
    changed ??= new Map();
    changed.set(key, made);
  }
  if (changed === undefined) return node;
  const kept = Object.entries({ ...node, ...Object.fromEntries(changed) });
  return Object.fromEntries(kept.filter(([, value]) => value !== undefined));
}

import type { Allowance } from './allowance.ts';
import { pointerSegment } from './error.ts';
import { define, isNode, type Node } from './node.ts';
import { fileOf } from './other-files.ts';
import { isUnresolved, type Located, type References } from './references.ts';

// Handles a `$ref` at a location where OpenAPI allows none, as documents bundled from several files have them. The
// target replaces the reference before the document is read, so that no part is missed.

/** Kind of object at a location of a document. */
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
  /** Values that are never the target of a reference inside. */
  | 'plain';

/** Kind of a member, or of each entry of a map or list in the member. */
type Member = Kind | { readonly each: Kind };

interface Grammar {
  /** True if OpenAPI allows a `$ref` instead of the object (3.1, 4.8). */
  readonly refers: boolean;
  readonly members: Readonly<Record<string, Member>>;
}

const each = (kind: Kind): Member => ({ each: kind });
/** Members of the same kind. */
const all = (member: Member, ...names: readonly string[]): Readonly<Record<string, Member>> =>
  Object.fromEntries(names.map((name) => [name, member]));
/** The methods of a path item, in versions up to 3.2. */
export const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'];

/** Members of OpenAPI objects, except examples, links, callbacks and values, which are not read. */
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

/** Replaces references at locations where OpenAPI allows none with their targets. */
export class UnforeseenReferences {
  readonly #references: References;
  readonly #allowance: Allowance;
  /** Results by kind and node. While a node is being processed, its result is the node itself. */
  readonly #settled = new Map<Kind | 'map', Map<unknown, unknown>>();

  constructor(references: References) {
    this.#references = references;
    this.#allowance = references.allowance;
  }

  /**
   * Returns the document with unforeseen references replaced. Each is noted; unresolved references are reported. Throws
   * OverLimit.
   */
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

  /** Processes a node once for each kind. */
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

  /** Processes a list or map of objects of one kind. The list or map itself has no kind. */
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

  /**
   * Returns the target of an unforeseen reference. Returns undefined for an unresolved reference, which is reported.
   */
  #replaced(node: Node, pointer: string, kind: Kind, inside: (found: unknown) => unknown): unknown {
    const found = this.#references.resolve(node, pointer);
    if (isUnresolved(found)) return undefined;
    const others = Object.keys(node).filter((key) => key !== '$ref' && !key.startsWith('x-'));
    const suffix = others.length === 0 ? '' : `; ignored next to it: ${others.join(', ')}`;
    // OpenAPI 3.2 allows references to media types (4.14).
    if (kind !== 'mediaType' || suffix !== '' || !this.#references.version.startsWith('3.2'))
      this.#references.noteUnforeseen(
        `${pointer}/$ref`,
        `OpenAPI allows no $ref here; its target was read${suffix}`,
      );
    if (kind !== 'operation') return inside(this.#moved(found, fileOf(pointer)));
    // Messages name the original location, and references inside are relative to that file.
    this.#references.placeAt(pointer, found);
    return this.#inside(found.node, found.pointer, kind);
  }

  /** Processes the target of a valid reference to another file. Unforeseen references inside it are replaced. */
  #look(node: Node, pointer: string, kind: Kind): void {
    const text = String(node.$ref);
    if (text.startsWith('#') && fileOf(pointer) === '') return; // the document itself is processed anyway
    const found = this.#references.find(text, pointer);
    if (isUnresolved(found)) return; // reported when it is read
    const settled = this.#settle(found.node, found.pointer, kind);
    if (settled !== found.node) this.#references.replace(found.node, settled);
  }

  /** Copies a node of another file and rewrites its references so that their targets stay the same. */
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

/** Returns true if a node is a reference. A schema member named `$ref` is not a string. */
function isReference(node: unknown): node is Node {
  return isNode(node) && Object.hasOwn(node, '$ref') && typeof node.$ref === 'string';
}

/** Maps a list. Returns the same list if no item changed. */
function mapped(
  list: readonly unknown[],
  change: (item: unknown, index: number) => unknown,
): readonly unknown[] {
  const changed = list.map(change);
  return changed.every((item, index) => item === list[index]) ? list : changed;
}

/** Maps the members of an object. Returns the same object if no member changed. */
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

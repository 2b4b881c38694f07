import { isDeepStrictEqual } from 'node:util';
import {
  type HeaderScalar,
  type HeaderShape,
  linksMember,
  type ReplyHeader,
  type Type,
} from '../../contract/model.ts';
import { pointerSegment } from '../document/error.ts';
import { childOf, isNode, type Node } from '../document/node.ts';
import { isUnresolved, type Located } from '../document/references.ts';
import { identifier, upperFirst } from '../names/names.ts';
import { kindOf } from '../schema/keywords.ts';
import { membersOf } from '../schema/members.ts';
import type { TypedField } from '../schema/records.ts';
import type { OperationsSource } from './entries.ts';

/** A header that a response declares. */
export interface Header {
  readonly name: string;
  readonly pointer: string;
  readonly shape: HeaderShape;
  /** Header object of the document. */
  readonly node?: unknown;
}

/** Response headers without meaning for the operation: those of the message, the connection, caches and browsers. */
const plumbing = new Set(
  'content-type content-length content-encoding content-security-policy transfer-encoding connection keep-alive trailer upgrade date server vary via age set-cookie strict-transport-security'.split(
    ' ',
  ),
);

function isPlumbing(name: string): boolean {
  const header = name.toLowerCase();
  return plumbing.has(header) || header.startsWith('access-control-');
}

/** Returns the declared headers of a response that are relevant to a caller. */
export function headersOf({ node, pointer }: Located, source: OperationsSource): Header[] {
  const headers: Header[] = [];
  for (const [name, stated] of Object.entries(isNode(node) ? childOf(node, 'headers') : {})) {
    if (isPlumbing(name) || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) continue;
    const at = `${pointer}/headers${pointerSegment(name)}`;
    const found = source.references.resolve(stated, at);
    if (isUnresolved(found) || !isNode(found.node)) headers.push({ name, pointer: at, shape: text });
    else {
      const { node } = found;
      headers.push({ name, pointer: at, shape: shapeOf(node, found.pointer, source), node });
    }
  }
  return headers;
}

/** Merges the headers of several responses. A header with different shapes is text. */
export function mergeHeaders(headers: readonly Header[]): Header[] {
  const merged = new Map<string, Header>();
  for (const header of headers) {
    const key = header.name.toLowerCase();
    const known = merged.get(key) ?? header;
    merged.set(key, isDeepStrictEqual(known.shape, header.shape) ? known : { ...known, shape: text });
  }
  return [...merged.values()];
}

const text = { kind: 'scalar', scalar: 'string' } as const satisfies HeaderShape;

/**
 * Returns the shape of a header. Headers have the style `simple`: items are separated by commas, members are `a,1,b,2`,
 * or `a=1,b=2` if exploded.
 */
function shapeOf(header: Node, pointer: string, source: OperationsSource): HeaderShape {
  if (header.content !== undefined) return { kind: 'scalar', scalar: 'json' };
  const schema = located(header.schema ?? {}, `${pointer}/schema`, source);
  const kind = kindOf(schema.node);
  if (kind === 'array')
    return { kind: 'list', item: scalarOf(schema.node.items, `${schema.pointer}/items`, source) };
  if (kind !== 'object') return { kind: 'scalar', scalar: scalarOf(schema.node, schema.pointer, source) };
  const found = membersOf([schema], source.references);
  if (found.kind === 'none' || (found.members.length === 0 && found.additional === undefined)) return text;
  const { members, additional } = found;
  return {
    kind: 'object',
    explode: header.explode === true,
    members: members.map((member) => ({
      name: member.json,
      scalar: scalarOf(member.schema, member.pointer, source),
    })),
    others:
      additional && members.length === 0 ? scalarOf(additional.schema, additional.pointer, source) : 'string',
  };
}

const scalars: Readonly<Record<string, HeaderScalar>> = {
  integer: 'long',
  number: 'decimal',
  boolean: 'boolean',
};

/** Returns the scalar of a header value. Dates are text because HTTP has its own date format. */
function scalarOf(schema: unknown, pointer: string, source: OperationsSource): HeaderScalar {
  return scalars[kindOf(located(schema, pointer, source).node) ?? ''] ?? 'string';
}

/** Resolves a schema. Returns an empty schema if there is none. */
function located(
  schema: unknown,
  pointer: string,
  { references }: OperationsSource,
): Located & { node: Node } {
  const found = references.resolve(schema, pointer);
  return isUnresolved(found) || !isNode(found.node) ? { node: {}, pointer } : { ...found, node: found.node };
}

// --- as members of a reply's record ------------------------------------------------------------------

/** Member names of the reply record that are not headers. */
const taken = /^(?:StatusCode|Links|Body.*)$/;

/** A header and the members of the reply record that hold it. */
export interface ReadHeader {
  readonly header: ReplyHeader;
  readonly fields: readonly TypedField[];
}

/** @param owner prefix of the names of new types */
export function readHeader(
  { name, pointer, shape, node: around }: Header,
  owner: string,
  source: OperationsSource,
): ReadHeader {
  const member = taken.test(name) ? `${name}_header` : name;
  const type = typeOf(shape, pointer, owner + upperFirst(identifier(name)), source);
  const field = { ...optional(member, pointer, type), around };
  const header = { name, member, shape };
  if (name.toLowerCase() !== 'link') return { header, fields: [field] };
  return { header, fields: [field, optional(linksMember, pointer, linksType(source))] };
}

function typeOf(shape: HeaderShape, pointer: string, name: string, { builder }: OperationsSource): Type {
  switch (shape.kind) {
    case 'scalar':
      return shape;
    case 'list':
      return builder.arrayOf(scalarType(shape.item));
    case 'object':
      if (shape.members.length === 0) return builder.mapOf(scalarType(shape.others));
      return builder.record(
        name,
        pointer,
        shape.members.map((member) => optional(member.name, pointer, scalarType(member.scalar))),
      );
  }
}

function optional(json: string, pointer: string, type: Type): TypedField {
  return { json, pointer, required: false, type };
}

function scalarType(scalar: HeaderScalar): Type {
  return { kind: 'scalar', scalar };
}

/** Returns the type for the parsed links of a Link header, which exist in addition to its text (RFC 8288). */
function linksType({ builder }: OperationsSource): Type {
  const pointer = '/components/schemas/Link';
  const link = builder.record('Link', pointer, [
    optional('Rel', pointer, text),
    optional('Href', pointer, text),
  ]);
  return builder.arrayOf(link);
}

import { isNode } from './node.ts';

/**
 * Representation of a body by media type: JSON, a sequence of JSON values (for example JSON Lines), form fields,
 * multipart, text or bytes. `stream` is an endless response.
 */
export type MediaForm = 'json' | 'lines' | 'form' | 'multipart' | 'text' | 'binary' | 'stream';

/**
 * Returns a concrete media type for a range (for example `text/*`) or an empty name. It is text for a string schema,
 * bytes for a binary schema or without a schema, and otherwise JSON.
 */
export function concreteType(stated: string, schema: unknown): string {
  const type = stated === '' ? '*/*' : stated;
  if (!type.includes('*')) return type;
  if (/^text\//.test(type)) return 'text/plain';
  if (type === '*/*' && isNode(schema) && schema.type === 'string' && !isBinary(schema)) return 'text/plain';
  const isJsonSchema = isNode(schema) && Object.keys(schema).length > 0 && !isBinary(schema);
  return /^(?:\*|application)\//.test(type) && isJsonSchema ? 'application/json' : 'application/octet-stream';
}

/** Returns the form for a media type and schema; undefined if the gateway does not support the body. */
export function formOf(type: string, schema: unknown): MediaForm | undefined {
  const [essence = ''] = type.toLowerCase().split(';', 1);
  const name = essence.trim();
  if (!/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(name) || !/^[\x20-\x7e]+$/.test(type)) return undefined;
  if (name === 'text/event-stream') return 'stream';
  if (sequences.test(name)) return 'lines';
  if (/^(?:application|text)\/(?:[\w.+-]*\+)?json$/.test(name)) return 'json';
  if (name === 'application/x-www-form-urlencoded') return 'form';
  if (name === 'multipart/form-data') return 'multipart';
  if (name.startsWith('multipart/')) return undefined;
  return !isBinary(schema) && texts.test(name) ? 'text' : 'binary';
}

/** JSON Lines under its many names, and the sequences of RFC 7464 and RFC 8091. */
const sequences = /[/+]json-seq$|^(?:application|text)\/(?:(?:x-)?(?:ndjson|jsonl|jsonlines)|stream\+json)$/;

const texts = /^text\/|[/+](?:xml|yaml|x-yaml|javascript|ecmascript|graphql|sql|jwt|toml|csv)$/;

/** Returns true for a schema of bytes: `format: binary`, or the OpenAPI 3.1 equivalent. */
export function isBinary(schema: unknown): boolean {
  if (!isNode(schema)) return false;
  const { format, contentMediaType, contentEncoding } = schema;
  return format === 'binary' || (contentMediaType !== undefined && contentEncoding === undefined);
}

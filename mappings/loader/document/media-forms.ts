import { isNode } from './node.ts';

/**
 * How a body of a media type is carried: as JSON, as JSON values in lines or another sequence, as name=value pairs, as
 * parts, as the text or the bytes that it is; `stream` for one without an end to wait for.
 */
export type MediaForm = 'json' | 'lines' | 'form' | 'multipart' | 'text' | 'binary' | 'stream';

/**
 * The media type of a range (such as `text/*`) or an empty name. It is text for a string schema, bytes for a binary schema or
 * none, and otherwise JSON.
 */
export function concreteType(stated: string, schema: unknown): string {
  const type = stated === '' ? '*/*' : stated;
  if (!type.includes('*')) return type;
  if (/^text\//.test(type)) return 'text/plain';
  if (type === '*/*' && isNode(schema) && schema.type === 'string' && !isBinary(schema)) return 'text/plain';
  const saysJson = isNode(schema) && Object.keys(schema).length > 0 && !isBinary(schema);
  return /^(?:\*|application)\//.test(type) && saysJson ? 'application/json' : 'application/octet-stream';
}

/** The form of a media type by its name and schema; undefined if bodies of it cannot be carried. */
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

/** True for a schema of bytes: `format: binary`, or what OpenAPI 3.1 writes for it. */
export function isBinary(schema: unknown): boolean {
  if (!isNode(schema)) return false;
  const { format, contentMediaType, contentEncoding } = schema;
  return format === 'binary' || (contentMediaType !== undefined && contentEncoding === undefined);
}

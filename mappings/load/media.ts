import { pointerSegment } from './error.ts';
import { childOf, isNode } from './node.ts';
import type { Located } from './references.ts';

/** One media type of a `content`. */
export interface Media {
  /** As the document declares it, such as `application/json; charset=utf-8`. */
  readonly type: string;
  /** An empty schema where the document has none. */
  readonly schema: Located;
  /** The media type object, for its `encoding`. */
  readonly pointer: string;
  readonly node: unknown;
}

/** The media types of a body, a reply or a parameter, in the document's order. */
export function mediaOf(body: unknown, pointer: string): Media[] {
  const content = isNode(body) ? childOf(body, 'content') : {};
  return Object.entries(content).map(([type, node]) => {
    const at = `${pointer}/content${pointerSegment(type)}`;
    const schema = isNode(node) ? (node.schema ?? {}) : {};
    return { type, node, pointer: at, schema: { node: schema, pointer: `${at}/schema` } };
  });
}

/** True for JSON by its media type, whatever it is JSON of. */
export function isJson(type: string): boolean {
  return /^(?:application|text)\/(?:[\w.+-]*\+)?json\s*(?:;.*)?$/i.test(type);
}

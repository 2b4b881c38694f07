import { inspect } from 'node:util';
import { pointerSegment } from '../document/error.ts';
import { concreteType, formOf, type MediaForm } from '../document/media-forms.ts';
import { childOf, isNode } from '../document/node.ts';
import { isUnresolved, type Located, type References } from '../document/references.ts';

/** A media type in a `content` object. */
export interface Media {
  /** Media type as declared, for example `application/json; charset=utf-8`. A range is replaced by a type in it. */
  readonly type: string;
  /** Form of the body; undefined if it is not supported. */
  readonly form: MediaForm | undefined;
  /** Schema; empty if the document has none. */
  readonly schema: Located;
  /** Schema of each value in a sequence, if the document states one (OpenAPI 3.2). */
  readonly itemSchema: Located | undefined;
  /** Pointer of the media type object, which has the `encoding`. */
  readonly pointer: string;
  readonly node: unknown;
}

/** Returns the media types of a body, a response or a parameter, in document order. */
export function mediaOf(body: unknown, pointer: string): Media[] {
  const content = isNode(body) ? childOf(body, 'content') : {};
  return Object.entries(content).map(([stated, node]) => {
    const at = `${pointer}/content${pointerSegment(stated)}`;
    const schema = isNode(node) ? (node.schema ?? {}) : {};
    const type = concreteType(stated, schema);
    return {
      type,
      form: formOf(type, schema),
      node,
      pointer: at,
      schema: { node: schema, pointer: `${at}/schema` },
      itemSchema:
        isNode(node) && node.itemSchema !== undefined
          ? { node: node.itemSchema, pointer: `${at}/itemSchema` }
          : undefined,
    };
  });
}

/**
 * Returns the first media type with the form that is earliest in `order`. Prefers `application/json` to other JSON
 * types.
 */
export function preferred(all: readonly Media[], order: readonly MediaForm[]): Media | undefined {
  const plainJson = all.find(({ type, form }) => form === 'json' && /^application\/json\b/i.test(type));
  const ranked = plainJson === undefined ? all : [plainJson, ...all];
  for (const form of order) {
    const media = ranked.find((candidate) => candidate.form === form);
    if (media !== undefined) return media;
  }
  return undefined;
}

/** Media types of a JSON body for arrays and for other values. They differ only for patches. */
export interface JsonMedia {
  readonly arrays: Media;
  readonly others: Media;
}

/** Returns the media types in which a JSON body is sent. A patch type accepts either arrays or other values. */
export function jsonMedia(media: Media, all: readonly Media[]): JsonMedia {
  if (!isJsonPatch(media) && !isMergePatch(media)) return { arrays: media, others: media };
  const json = [media, ...all.filter(({ form }) => form === 'json')];
  return {
    arrays: json.find(isJsonPatch) ?? media,
    others: json.find((one) => !isJsonPatch(one)) ?? media,
  };
}

/** Returns true for JSON Patch (RFC 6902), which is an array of changes. */
function isJsonPatch({ type }: Media): boolean {
  return /^application\/json-patch\+json\b/i.test(type);
}

/** Returns true for a merge patch: RFC 7396 or a variant, for example the strategic merge patch of Kubernetes. */
export function isMergePatch({ type }: Media): boolean {
  return /^[^;]*merge-patch\+json\b/i.test(type);
}

/** Used instead of JSON because a YAML alias may be circular. */
const wholly = { depth: Number.POSITIVE_INFINITY, maxArrayLength: null, maxStringLength: null } as const;

/** Returns a key that is equal for identical schemas: the same reference target or the same text. */
export function schemaKey(media: Media, references: References): string {
  const schema = media.itemSchema ?? media.schema;
  const found = references.resolve(schema.node, schema.pointer);
  const same = isUnresolved(found) || found.pointer === schema.pointer;
  if (!same) return found.pointer;
  const text = inspect(schema.node, wholly);
  references.allowance.stepText(schema.pointer, text.length);
  return text;
}

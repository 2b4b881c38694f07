import { inspect } from 'node:util';
import { pointerSegment } from '../document/error.ts';
import { concreteType, formOf, type MediaForm } from '../document/media-forms.ts';
import { childOf, isNode } from '../document/node.ts';
import { isUnresolved, type Located, type References } from '../document/references.ts';

/** One media type of a `content`. */
export interface Media {
  /** As the document declares it, such as `application/json; charset=utf-8`; of a range, one that is in it. */
  readonly type: string;
  /** Undefined for one that can't be carried. */
  readonly form: MediaForm | undefined;
  /** An empty schema where the document has none. */
  readonly schema: Located;
  /** The schema of each value of a sequence, where the document has one (OpenAPI 3.2). */
  readonly itemSchema: Located | undefined;
  /** The media type object, for its `encoding`. */
  readonly pointer: string;
  readonly node: unknown;
}

/** The media types of a body, a reply or a parameter, in the document's order. */
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

/** The first media type of the form that comes first in `order`; `application/json` before other JSON. */
export function preferred(all: readonly Media[], order: readonly MediaForm[]): Media | undefined {
  const plainJson = all.find(({ type, form }) => form === 'json' && /^application\/json\b/i.test(type));
  const ranked = plainJson === undefined ? all : [plainJson, ...all];
  for (const form of order) {
    const media = ranked.find((candidate) => candidate.form === form);
    if (media !== undefined) return media;
  }
  return undefined;
}

/** The JSON media types of a body whose JSON may be an array or something else: one and the same, but for patches. */
export interface JsonMedia {
  readonly arrays: Media;
  readonly others: Media;
}

/** The media types that a body goes in which the document has as `media` and others: those of patches each take one kind. */
export function jsonMedia(media: Media, all: readonly Media[]): JsonMedia {
  if (!isJsonPatch(media) && !isMergePatch(media)) return { arrays: media, others: media };
  const json = [media, ...all.filter(({ form }) => form === 'json')];
  return {
    arrays: json.find(isJsonPatch) ?? media,
    others: json.find((one) => !isJsonPatch(one)) ?? media,
  };
}

/** True for a list of changes (RFC 6902). */
function isJsonPatch({ type }: Media): boolean {
  return /^application\/json-patch\+json\b/i.test(type);
}

/** True for a merge patch: RFC 7396's, or one of its kin, such as Kubernetes's strategic one. */
export function isMergePatch({ type }: Media): boolean {
  return /^[^;]*merge-patch\+json\b/i.test(type);
}

/** Not JSON, since a YAML alias may be of what it stands in. */
const wholly = { depth: Number.POSITIVE_INFINITY, maxArrayLength: null, maxStringLength: null } as const;

/** The same text for schemas that are one: behind references, or word by word. */
export function schemaKey(media: Media, references: References): string {
  const schema = media.itemSchema ?? media.schema;
  const found = references.resolve(schema.node, schema.pointer);
  const same = isUnresolved(found) || found.pointer === schema.pointer;
  if (!same) return found.pointer;
  const text = inspect(schema.node, wholly);
  references.allowance.stepText(schema.pointer, text.length);
  return text;
}

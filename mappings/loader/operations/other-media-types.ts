import { pointerSegment } from '../document/error.ts';
import { shown } from '../document/node.ts';
import { isUnresolved, type Located } from '../document/references.ts';
import { identifier } from '../names/names.ts';
import type { Entry, OperationsSource } from './entries.ts';
import { type Media, mediaOf } from './media-types.ts';
import { listSuccesses } from './responses.ts';

/** The operations, each followed by those that the overlay has it served as once more, in another media type. */
export function withOtherMedia(entries: readonly Entry[], source: OperationsSource): Entry[] {
  return entries.flatMap((entry) => [entry, ...inOtherMedia(entry, source)]);
}

function inOtherMedia(entry: Entry, source: OperationsSource): Entry[] {
  const stated = source.overlay.operations.get(entry.name);
  const { operation, pointer } = entry;
  const body = { node: operation.requestBody, pointer: `${pointer}/requestBody` };
  if (stated?.as === undefined) return [];
  const sentMedia = mediaByType([body], source);
  const readMedia = mediaByType(listSuccesses(entry), source);
  return [...new Set(stated.as)].flatMap((type) => {
    const sent = sentMedia.get(type);
    const read = readMedia.get(type);
    const media = sent ?? read;
    if (media === undefined) {
      source.reportOverlay(
        `/operations${pointerSegment(entry.name)}/as`,
        `expected media types of its request body or its replies, got ${shown(type)}`,
      );
      return [];
    }
    const name = `${stated.name ?? entry.name}_as_${shortName(media)}`;
    const key = `${entry.key}#${type}`;
    return [{ ...entry, key, name, of: entry.name, mediaType: sent?.type, accept: read?.type }];
  });
}

/** The media types of bodies or responses that can be carried, the first of each. */
function mediaByType(
  bodies: readonly Located[],
  { references }: OperationsSource,
): ReadonlyMap<string, Media> {
  const byType = new Map<string, Media>();
  for (const { node, pointer } of bodies) {
    const found = references.resolve(node, pointer);
    for (const media of isUnresolved(found) ? [] : mediaOf(found.node, found.pointer))
      if (media.form !== undefined && !byType.has(media.type)) byType.set(media.type, media);
  }
  return byType;
}

/** A media type in a name: `xml`, `csv`, `vnd_api_json`. */
function shortName({ type, form }: Media): string {
  if (form === 'form' || form === 'multipart') return form;
  const [essence = ''] = type.toLowerCase().split(';', 1);
  return essence === 'text/plain' ? 'text' : identifier(essence.trim().replace(/^.*\//, ''));
}

import type { Entry, OperationsSource } from './entries.ts';
import { pointerSegment } from './error.ts';
import { type Media, mediaOf } from './media.ts';
import { identifier } from './names.ts';
import { shown } from './node.ts';
import { isUnresolved, type Located } from './references.ts';
import { listSuccesses } from './replies.ts';

/** The operations, each followed by those that the overlay has it served as once more, in another media type. */
export function withOtherMedia(entries: readonly Entry[], source: OperationsSource): Entry[] {
  return entries.flatMap((entry) => [entry, ...inOtherMedia(entry, source)]);
}

function inOtherMedia(entry: Entry, source: OperationsSource): Entry[] {
  const stated = source.overlay.operations.get(entry.name);
  const { operation, pointer } = entry;
  const body = { node: operation.requestBody, pointer: `${pointer}/requestBody` };
  return [...new Set(stated?.as)].flatMap((type) => {
    const sent = findMedia([body], type, source);
    const read = findMedia(listSuccesses(entry), type, source);
    const media = sent ?? read;
    if (media === undefined) {
      source.reportOverlay(
        `/operations${pointerSegment(entry.name)}/as`,
        `expected media types of its request body or its replies, got ${shown(type)}`,
      );
      return [];
    }
    const name = `${stated?.name ?? entry.name}_as_${shortName(media)}`;
    const key = `${entry.key}#${type}`;
    return [{ ...entry, key, name, of: entry.name, mediaType: sent?.type, accept: read?.type }];
  });
}

/** The media type among those of bodies or responses. */
function findMedia(
  bodies: readonly Located[],
  type: string,
  { references }: OperationsSource,
): Media | undefined {
  return bodies
    .flatMap(({ node, pointer }) => {
      const found = references.resolve(node, pointer);
      return isUnresolved(found) ? [] : mediaOf(found.node, found.pointer);
    })
    .find((media) => media.type === type && media.form !== undefined);
}

/** A media type in a name: `xml`, `csv`, `vnd_api_json`. */
function shortName({ type, form }: Media): string {
  if (form === 'form' || form === 'multipart') return form;
  const [essence = ''] = type.toLowerCase().split(';', 1);
  return essence === 'text/plain' ? 'text' : identifier(essence.trim().replace(/^.*\//, ''));
}

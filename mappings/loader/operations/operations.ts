// What callers may call: which operations of a document, what each takes and gives, and the call upstream behind it,
// with servers, credentials and routes. Types are asked for from `schema/`; nothing here looks into a schema's keywords
// but to tell a file or a list from other values.
import type { Operation } from '../../contract/model.ts';
import { didYouMean } from '../../contract/nearest.ts';
import type { OperationValues } from '../../contract/overlay-keys.ts';
import { pointerSegment, type Report } from '../document/error.ts';
import { shown, textOf, textsOf } from '../document/node.ts';
import { isUnresolved, type Located } from '../document/references.ts';
import {
  byCodeUnit,
  createNamer,
  type Displaced,
  identifier,
  longestName,
  type Names,
} from '../names/names.ts';
import type { Overlay } from '../overlay/overlay.ts';
import { type Entry, listEntries, type NotServed, type OperationsSource } from './entries.ts';
import { type Media, mediaOf } from './media-types.ts';
import { readParameters, sentPath } from './parameters.ts';
import { readRequestBody } from './request-body.ts';
import { declaredErrors, listSuccesses, readReply } from './responses.ts';

/** An operation but for what only the finished types tell. */
export type OperationDraft = Omit<Operation, 'binaryInput' | 'binaryOutput'>;

/** The operations of a document, those that can be served and those that can't. */
export interface ReadOperations {
  readonly served: readonly OperationDraft[];
  readonly notServed: readonly NotServed[];
  /** By the key of the entry, those of operations that aren't served too. */
  readonly names: Names;
  /** What each would be called if nothing else were called so. */
  readonly wanted: Names;
  readonly displaced: readonly Displaced[];
}

/**
 * The operations under the document's `paths`, in its order, with the one upstream call behind each (W35). One that
 * can't be carried is left out and listed: it keeps no other from being served.
 */
export function readOperations(source: OperationsSource): ReadOperations {
  const served: OperationDraft[] = [];
  const notServed: NotServed[] = [];
  const listed = listEntries(source, notServed).flatMap((entry) => [entry, ...inOtherMedia(entry, source)]);
  const entries = chooseOperations(listed, source.overlay, source.reportOverlay);
  const { names, displaced } = nameOperations(entries, unlessStated(source.pinned, entries, source.overlay));
  for (const found of entries) {
    const entry = { ...found, name: names.get(found.key) ?? found.name };
    const { name, pointer } = entry;
    const reasons: NotServed['reasons'][number][] = [];
    const draft = readOperation(entry, {
      ...source,
      report: (at, why) => reasons.push({ pointer: at, why }),
    });
    if (reasons.length === 0) served.push(draft);
    else notServed.push({ name, pointer, reasons });
  }
  const wanted = new Map(entries.map(({ key, name }) => [key, name]));
  return { served, notServed, names, wanted, displaced };
}

/** The operations that the overlay has one served as once more, in other media types. */
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
        `expected media types of its request body or its replies, got ${shown(type)}${didYouMean(type, [...sentMedia.keys(), ...readMedia.keys()])}`,
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

/**
 * The document's operations as the overlay has them: those that it hides left out, the others under the names and with
 * the upstream calls that it gives. Names in the overlay that the document lacks are reported.
 */
function chooseOperations(entries: readonly Entry[], overlay: Overlay, report: Report): Entry[] {
  const names = new Set(entries.map(({ name }) => name));
  for (const name of overlay.operations.keys()) {
    if (!names.has(name))
      report(
        `/operations${pointerSegment(name)}`,
        `expected the name of an operation, got ${shown(name)}${didYouMean(name, names)}`,
      );
  }
  return entries.flatMap((entry) => {
    const stated = statedOf(entry, overlay);
    if (stated === undefined) return overlay.namedOnly ? [] : [entry];
    if (stated.hide === true) return [];
    return [
      {
        ...entry,
        name: stated.name ?? entry.name,
        method: stated.upstream?.method ?? entry.method,
        path: stated.upstream?.path ?? entry.path,
        readOnly: stated.readOnly,
        stream: stated.stream ?? false,
        mediaType: stated.mediaType ?? entry.mediaType,
        accept: stated.accept ?? entry.accept,
        spansSegments: stated.spansSegments ?? [],
      },
    ];
  });
}

/** What the overlay says of an operation; of one in another media type, also what it says of the call of the first. */
function statedOf({ name, of }: Entry, { operations }: Overlay): OperationValues | undefined {
  const own = operations.get(name);
  if (of === undefined) return own;
  const { readOnly, upstream, spansSegments } = operations.get(of) ?? {};
  return { readOnly, upstream, spansSegments, ...own };
}

/** The pinned names but for those of operations that the overlay names: its author means them. */
function unlessStated(pinned: Names, entries: readonly Entry[], { operations }: Overlay): Names {
  const stated = new Set([...operations.values()].map(({ name }) => name));
  const named = new Set(entries.filter(({ name }) => stated.has(name)).map(({ key }) => key));
  return new Map([...pinned].filter(([key]) => !named.has(key)));
}

/** An operation has two elements, and two operations that differ by case alone would be one path (W1) and one class. */
function nameOperations(
  entries: readonly Entry[],
  pinned: Names,
): { readonly names: Names; readonly displaced: readonly Displaced[] } {
  const namer = createNamer(
    pinned,
    (name) => [name, `${name}Response`],
    undefined,
    longestName - 'Response'.length,
  );
  const names = namer.give(entries.toSorted((a, b) => byCodeUnit(a.key, b.key)));
  return { names, displaced: namer.displaced };
}

function readOperation(entry: Entry, source: OperationsSource): OperationDraft {
  const { name, method, path, operation } = entry;
  const { builder, overlay } = source;
  const documentation = [textOf(operation.summary), textOf(operation.description)]
    .filter((text) => text !== undefined)
    .map((text) => text.trim())
    .join('\n');
  const server = source.findServer(entry);
  const { body: bodyAs } = overlay.dialect;
  const hasBody = operation.requestBody !== undefined && bodyAs !== 'members';
  const parameters = readParameters(entry, hasBody ? [bodyAs.element] : [], source);
  const fields = parameters.map(({ field }) => field);
  const request = readRequestBody(entry, fields, source);
  const input = builder.wrapper(name, documentation, [...fields, ...request.fields]);
  const reply = readReply(entry, source);
  const output = builder.wrapper(`${name}Response`, '', reply.fields);
  const errors = declaredErrors(entry, source);
  return {
    name,
    documentation,
    tags: textsOf(operation.tags) ?? [],
    ...(operation.deprecated === true && { deprecated: true }),
    ...(errors.length > 0 && { errors }),
    readOnly: entry.readOnly ?? /^(?:GET|HEAD|OPTIONS|QUERY)$/.test(method),
    stream: entry.stream,
    input,
    output,
    upstream: {
      server,
      method,
      path: sentPath(path, parameters),
      parameters: parameters.map(({ parameter }) => parameter),
      body: request.body,
      accept: reply.accept,
      reply: reply.reply,
    },
  };
}

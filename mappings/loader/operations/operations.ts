// Reads the operations of a document: input, output and the upstream call, with servers, credentials and routes.
// `schema/` builds the types; this folder reads schema keywords only to recognise files and lists.
import type { Operation } from '../../contract/model.ts';
import { didYouMean } from '../../contract/nearest.ts';
import type { OperationValues } from '../../contract/operation-keys.ts';
import { pointerSegment, type Report } from '../document/error.ts';
import { shown, textOf, textsOf } from '../document/node.ts';
import { isUnresolved, type Located } from '../document/references.ts';
import { byCodeUnit, type Displaced, identifier, longestName, Namer, type Names } from '../names/names.ts';
import type { Overlay } from '../overlay/overlay.ts';
import { type Entry, listEntries, type NotServed, type OperationsSource } from './entries.ts';
import { type Media, mediaOf } from './media-types.ts';
import { readParameters, sentPath } from './parameters.ts';
import { readRequestBody } from './request-body.ts';
import { declaredErrors, listSuccesses, readReply } from './responses.ts';

/** An operation without the properties that depend on the finished types. */
export type OperationDraft = Omit<Operation, 'binaryInput' | 'binaryOutput' | 'binding'>;

/** The operations of a document, served and not served. */
export interface ReadOperations {
  readonly served: readonly OperationDraft[];
  readonly notServed: readonly NotServed[];
  /** Names by the keys of entries, including operations that are not served. */
  readonly names: Names;
  /** Names without the changes made to avoid collisions. */
  readonly wanted: Names;
  readonly displaced: readonly Displaced[];
}

/**
 * Reads the operations under `paths`, in document order, each with its upstream call (W35). An operation that cannot be
 * served is listed and does not affect the others.
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

/** Returns variants of an operation with other media types, as the overlay requests (`as`). */
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

/** Returns the supported media types of bodies or responses, the first occurrence of each. */
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

/** Returns a media type as part of a name: `xml`, `csv`, `vnd_api_json`. */
function shortName({ type, form }: Media): string {
  if (form === 'form' || form === 'multipart') return form;
  const [essence = ''] = type.toLowerCase().split(';', 1);
  return essence === 'text/plain' ? 'text' : identifier(essence.trim().replace(/^.*\//, ''));
}

/**
 * Applies the overlay to the operations: removes hidden ones, and sets names and upstream calls. Names in the overlay
 * that the document lacks are reported.
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
        timeoutMs: stated.timeoutMs,
        stream: stated.stream ?? false,
        mediaType: stated.mediaType ?? entry.mediaType,
        accept: stated.accept ?? entry.accept,
        spansSegments: stated.spansSegments ?? [],
      },
    ];
  });
}

/**
 * Returns the overlay's settings of an operation. A variant with another media type inherits the settings of the call.
 */
function statedOf({ name, of }: Entry, { operations }: Overlay): OperationValues | undefined {
  const own = operations.get(name);
  if (of === undefined) return own;
  const { readOnly, timeoutMs, upstream, spansSegments } = operations.get(of) ?? {};
  return { readOnly, timeoutMs, upstream, spansSegments, ...own };
}

/** Returns the pinned names except those of operations that the overlay names explicitly. */
function unlessStated(pinned: Names, entries: readonly Entry[], { operations }: Overlay): Names {
  const stated = new Set([...operations.values()].map(({ name }) => name));
  const named = new Set(entries.filter(({ name }) => stated.has(name)).map(({ key }) => key));
  return new Map([...pinned].filter(([key]) => !named.has(key)));
}

/**
 * Names the operations. Each has two elements, and two names that differ only in case would collide as paths (W1) and
 * classes.
 */
function nameOperations(
  entries: readonly Entry[],
  pinned: Names,
): { readonly names: Names; readonly displaced: readonly Displaced[] } {
  const namer = new Namer(pinned, {
    elements: (name) => [name, `${name}Response`],
    most: longestName - 'Response'.length,
  });
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
    ...(entry.timeoutMs !== undefined && { timeoutMs: entry.timeoutMs }),
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

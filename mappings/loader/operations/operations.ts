// What callers may call: which operations of a document, what each takes and gives, and the call upstream behind it,
// with servers, credentials and routes. Types are asked for from `schema/`; nothing here looks into a schema's keywords
// but to tell a file or a list from other values.
import type { Operation } from '../../contract/model.ts';
import { textOf, textsOf } from '../document/node.ts';
import { byCodeUnit, createNamer, type Displaced, longestName, type Names } from '../names/names.ts';
import type { Overlay } from '../overlay/overlay.ts';
import { chooseOperations } from './choose.ts';
import { type Entry, listEntries, type NotServed, type OperationsSource } from './entries.ts';
import { withOtherMedia } from './other-media-types.ts';
import { readParameters, sentPath } from './parameters.ts';
import { readRequestBody } from './request-body.ts';
import { readReply } from './responses.ts';

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
  const entries = chooseOperations(
    withOtherMedia(listEntries(source, notServed), source),
    source.overlay,
    source.reportOverlay,
  );
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
  return {
    name,
    documentation,
    tags: textsOf(operation.tags) ?? [],
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

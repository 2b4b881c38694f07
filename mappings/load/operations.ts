import type { Operation, UpstreamCall } from '../model.ts';
import { chooseOperations } from './chosen.ts';
import { type Entry, follow, listEntries, type NotServed, type OperationsSource } from './entries.ts';
import { pointerSegment } from './error.ts';
import { isJson, type Media, mediaOf } from './media.ts';
import { membersOf } from './members.ts';
import { identifier, upperFirst } from './names.ts';
import { childOf, isNode, textOf, textsOf } from './node.ts';
import { readParameters } from './parameters.ts';
import type { Located } from './references.ts';
import type { WrapperField } from './type-builder.ts';

/** An operation but for what only the finished types tell. */
export type OperationDraft = Omit<Operation, 'binaryInput' | 'binaryOutput'>;

export interface ReadOperations {
  readonly served: readonly OperationDraft[];
  readonly notServed: readonly NotServed[];
}

/**
 * The operations under the document's `paths`, in its order, with the one upstream call behind each (W35). One that
 * can't be carried is left out and listed: it keeps no other from being served.
 */
export function readOperations(source: OperationsSource): ReadOperations {
  const served: OperationDraft[] = [];
  const notServed: NotServed[] = [];
  const taken = new Map<string, string>();
  for (const entry of chooseOperations(
    listEntries(source, notServed),
    source.overlay,
    source.reportOverlay,
  )) {
    const { name, pointer } = entry;
    // an operation has two elements, and two that differ by case alone are one path (W1) and one class
    const elements = [name, `${name}Response`];
    const clash = elements.find((element) => taken.has(element.toLowerCase()));
    if (clash !== undefined) {
      const other = taken.get(clash.toLowerCase());
      const why = `its element <${clash}> is that of ${other} too; give it another operationId`;
      notServed.push({ name, pointer, reasons: [{ pointer, why }] });
      continue;
    }
    for (const element of elements) taken.set(element.toLowerCase(), pointer);
    const reasons: NotServed['reasons'][number][] = [];
    const draft = readOperation(entry, {
      ...source,
      report: (at, why) => reasons.push({ pointer: at, why }),
    });
    if (reasons.length === 0) served.push(draft);
    else notServed.push({ name, pointer, reasons });
  }
  return { served, notServed };
}

function readOperation(entry: Entry, source: OperationsSource): OperationDraft {
  const { name, method, path, operation } = entry;
  const { builder, overlay } = source;
  const documentation = [textOf(operation.summary), textOf(operation.description)]
    .filter((text) => text !== undefined)
    .map((text) => text.trim())
    .join('\n');
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
    readOnly: entry.readOnly ?? method === 'GET',
    input,
    output,
    upstream: {
      method,
      path,
      parameters: parameters.map(({ parameter }) => parameter),
      body: request.body,
      accept: 'application/json',
      reply: reply.reply,
    },
  };
}

// --- bodies ----------------------------------------------------------------------------------------

/** What a body is called whose members would clash with parameters as children of the wrapper. */
const bodyElement = 'Body';

interface RequestBody {
  readonly fields: readonly WrapperField[];
  readonly body: UpstreamCall['body'];
}

/** @param others the inputs beside the body */
function readRequestBody(
  entry: Entry,
  others: readonly WrapperField[],
  source: OperationsSource,
): RequestBody {
  const { name, operation, pointer } = entry;
  const { overlay, report } = source;
  const none: RequestBody = { fields: [], body: { kind: 'none' } };
  if (operation.requestBody === undefined) return none;
  const found = follow({ node: operation.requestBody, pointer: `${pointer}/requestBody` }, source);
  if (found === undefined) return none;
  const { node, pointer: at } = found;
  const media = mediaOf(node, at).find(({ type }) => isJson(type));
  if (media === undefined) {
    report(
      `${at}/content`,
      `expected application/json, got ${mediaTypes(node)}; other request bodies aren't carried`,
    );
    return none;
  }
  if (overlay.dialect.body === 'members') {
    const fields = memberFields(name, media.schema, source);
    if (!fields.some(({ json }) => others.some((other) => other.json === json)))
      return { fields, body: { kind: 'members', mediaType: media.type } };
  }
  const element = overlay.dialect.body === 'members' ? bodyElement : overlay.dialect.body.element;
  const field: WrapperField = {
    json: element,
    schema: media.schema.node,
    pointer: media.schema.pointer,
    required: isNode(node) && node.required === true,
    typeName: `${name}Body`,
  };
  return { fields: [field], body: { kind: 'json', field: element, mediaType: media.type } };
}

interface ReplyBody {
  readonly fields: readonly WrapperField[];
  readonly reply: UpstreamCall['reply'];
}

function readReply(entry: Entry, source: OperationsSource): ReplyBody {
  const { name } = entry;
  const { overlay, report } = source;
  const success = findSuccess(entry, source);
  if (success === undefined) return { fields: [], reply: { kind: 'object' } };
  const media = jsonOf(success);
  const types = mediaTypes(success.node);
  if (media === undefined && types !== 'none') {
    report(
      `${success.pointer}/content`,
      `expected application/json, got ${types}; other replies aren't carried`,
    );
  }
  if (overlay.dialect.reply === 'members') {
    if (media === undefined && types === 'none')
      report(
        success.pointer,
        'expected content of application/json, got none; this dialect has no empty replies',
      );
    const fields = media === undefined ? [] : memberFields(`${name}Response`, media.schema, source);
    return { fields, reply: { kind: 'object' } };
  }
  const { element } = overlay.dialect.reply;
  const field: WrapperField = {
    json: element,
    schema: media?.schema.node ?? { type: 'object', additionalProperties: false },
    pointer: media?.schema.pointer ?? success.pointer,
    required: false,
    typeName: `${name}Result`,
  };
  return { fields: [field], reply: { kind: 'member', name: element } };
}

/**
 * The response that says what a success looks like: the first 2xx with JSON, else the first, else `default`. Undefined
 * once it is reported that it isn't there.
 */
function findSuccess({ operation, pointer }: Entry, source: OperationsSource): Located | undefined {
  const responses = childOf(operation, 'responses');
  const successes = Object.keys(responses).filter((status) => /^2(?:\d\d|XX)$/i.test(status));
  const located = (successes.length === 0 ? ['default'] : successes).map((status) =>
    follow(
      { node: responses[status] ?? {}, pointer: `${pointer}/responses${pointerSegment(status)}` },
      source,
    ),
  );
  return located.find((found) => found !== undefined && jsonOf(found) !== undefined) ?? located[0];
}

/** The members of a body as the children of the wrapper, which the inline types of the body are named after. */
function memberFields(
  owner: string,
  body: Located,
  { references, report }: OperationsSource,
): WrapperField[] {
  const found = membersOf(body.node, body.pointer, references);
  if (found.kind === 'none') {
    report(found.pointer, `expected an object whose members become the wrapper's children; ${found.why}`);
    return [];
  }
  return found.members.map((member) => ({
    ...member,
    typeName: owner + upperFirst(identifier(member.json)),
  }));
}

function jsonOf({ node, pointer }: Located): Media | undefined {
  return mediaOf(node, pointer).find(({ type }) => isJson(type));
}

function mediaTypes(body: unknown): string {
  const types = isNode(body) ? Object.keys(childOf(body, 'content')) : [];
  return types.length === 0 ? 'none' : types.join(', ');
}

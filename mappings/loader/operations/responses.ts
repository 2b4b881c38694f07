import {
  type DeclaredError,
  type ReplyBody,
  type ReplyMapping,
  statusMember,
  type Type,
} from '../../contract/model.ts';
import { pointerSegment } from '../document/error.ts';
import type { MediaForm } from '../document/media-forms.ts';
import { childOf, isNode, textOf } from '../document/node.ts';
import { isUnresolved, type Located } from '../document/references.ts';
import type { TypedField, WrapperField } from '../schema/records.ts';
import { type Entry, follow, type OperationsSource, sharedTypeName } from './entries.ts';
import { type Media, mediaOf, preferred, schemaKey } from './media-types.ts';
import { linesType, memberFields, rawTypes } from './request-body.ts';
import { type Header, headersOf, mergeHeaders, readHeader } from './response-headers.ts';

/** Output of an operation: the wrapper's fields, the mapping of responses and the Accept header. */
export interface ReadReply {
  readonly fields: readonly (WrapperField | TypedField)[];
  readonly reply: ReplyMapping;
  readonly accept: string;
}

/** A success response. */
interface Success {
  /** Status as written in the document: `200`, `2XX`, `default`. */
  readonly status: string;
  readonly response: Located;
  readonly media: Media | undefined;
  readonly headers: readonly Header[];
}

const noneType = 'application/json';

/**
 * Reads the output of an operation and the mapping of upstream responses. Unsupported responses are reported. Throws
 * OverLimit.
 */
export function readReply(entry: Entry, source: OperationsSource): ReadReply {
  const successes = findSuccesses(entry, source);
  const accept = acceptOf(entry, successes, source);
  const [first = unsaid(entry)] = successes;
  const { dialect } = source.overlay;
  if (dialect.reply === 'members') return { ...readMembers(entry, first, source), accept };
  const { element } = dialect.reply;
  const read =
    source.overlay.settings.reply === 'envelope' || needsRecord(entry, successes, source)
      ? readRecord(entry, element, successes, source)
      : readOne(entry, element, first, source);
  const reply = successes.some(declaresHtml) ? { ...read.reply, takesHtml: true as const } : read.reply;
  return { ...read, reply, accept };
}

/** Returns true if a response may be HTML, by its media type or by a range. An empty name counts as a range. */
function declaresHtml({ response: { node } }: Success): boolean {
  const types = isNode(node) ? Object.keys(childOf(node, 'content')) : [];
  return types.some((type) => type === '' || /html|\*/i.test(type));
}

/** Returns the accepted media types, with the overlay's preference first. */
function acceptOf(
  { accept, pointer }: Entry,
  successes: readonly Success[],
  { report, references }: OperationsSource,
): string {
  const types = [...new Set(successes.flatMap(({ media }) => media?.type ?? []))];
  references.allowance.step(pointer, types.length);
  if (accept === undefined) return types.join(', ') || noneType;
  if (!types.includes(accept))
    report(`${pointer}/responses`, `expected ${accept} among the replies, got ${types.join(', ') || 'none'}`);
  const others = types.filter((type) => type !== accept);
  return [accept, ...others.map((type) => `${type};q=0.5`)].join(', ');
}

/** Returns the response of an operation that declares no success response. */
function unsaid({ pointer }: Entry): Success {
  return { status: 'default', response: { node: {}, pointer }, media: undefined, headers: [] };
}

type ReadWrapper = Omit<ReadReply, 'accept'>;

function readMembers({ name }: Entry, { response, media }: Success, source: OperationsSource): ReadWrapper {
  const reply = { kind: 'object' } as const;
  if (media?.form === 'json') return { fields: memberFields(`${name}Response`, media, source), reply };
  source.report(
    response.pointer,
    `expected content of application/json, got ${media?.type ?? 'none'}. This dialect has no other replies`,
  );
  return { fields: [], reply };
}

/**
 * Returns the success responses: 2xx, or else `default`, and redirects, which are passed to the caller and not
 * followed. Each has its preferred media type.
 */
function findSuccesses(entry: Entry, source: OperationsSource): Success[] {
  const successes: Success[] = [];
  for (const { status, ...stated } of listSuccesses(entry)) {
    const response = follow(stated, source);
    if (response === undefined) continue;
    const hasBody = entry.method !== 'HEAD' && !isRedirect(status);
    const media = hasBody ? chooseMedia(response, entry, source) : undefined;
    const headers = headersOf(response, source);
    successes.push({ status, response, media, headers });
  }
  return successes;
}

/** Returns the success responses as the document states them. */
export function listSuccesses({ operation, pointer }: Entry): (Located & { readonly status: string })[] {
  const responses = childOf(operation, 'responses');
  const stated = Object.keys(responses);
  const twos = stated.filter((status) => /^2(?:\d\d|XX)$/i.test(status));
  const successes = twos.length === 0 && stated.includes('default') ? ['default'] : twos;
  return [...successes, ...stated.filter(isRedirect)].map((status) => ({
    status,
    node: responses[status] ?? {},
    pointer: `${pointer}/responses${pointerSegment(status)}`,
  }));
}

/** Returns the declared error responses of an operation. An unresolved reference has an empty description. */
export function declaredErrors(
  { operation, pointer }: Entry,
  { references }: OperationsSource,
): readonly DeclaredError[] {
  const responses = childOf(operation, 'responses');
  const isDefaultSuccess = !Object.keys(responses).some((status) => /^2(?:\d\d|XX)$/i.test(status));
  return Object.entries(responses).flatMap(([status, stated]) => {
    if (!/^[45](?:\d\d|XX)$/i.test(status) && (status !== 'default' || isDefaultSuccess)) return [];
    const ref = isNode(stated) ? textOf(stated.$ref) : undefined;
    const at = `${pointer}/responses${pointerSegment(status)}`;
    const found = ref === undefined ? { node: stated, pointer: at } : references.find(ref, at);
    const node = isUnresolved(found) ? undefined : found.node;
    return [{ status, description: (isNode(node) ? (textOf(node.description) ?? '') : '').trim() }];
  });
}

/** 304 is excluded because callers cannot set conditional headers. */
function isRedirect(status: string): boolean {
  return /^3(?:0[0-35-9]|XX)$/i.test(status);
}

const replyForms = ['json', 'lines', 'text', 'binary', 'form'] as const satisfies readonly MediaForm[];

function chooseMedia(
  { node, pointer }: Located,
  { accept }: Entry,
  { report, references }: OperationsSource,
): Media | undefined {
  const all = mediaOf(node, pointer);
  references.allowance.step(pointer, all.length);
  const accepted = all.filter(({ type }) => type === accept);
  const media = preferred(accepted, replyForms) ?? preferred(all, replyForms);
  if (media !== undefined || all.length === 0) return media;
  const types = all.map(({ type }) => type).join(', ');
  const isStream = all.some(({ form }) => form === 'stream');
  const why = isStream ? 'a stream has no end' : 'not a supported reply';
  report(`${pointer}/content`, `expected a supported media type, got ${types}; ${why}`);
  return undefined;
}

/** Returns true if the body is not enough: several bodies, an optional body, headers, a redirect, or HEAD. */
function needsRecord({ method }: Entry, successes: readonly Success[], source: OperationsSource): boolean {
  if (method === 'HEAD' || successes.some(({ status, headers }) => isRedirect(status) || headers.length > 0))
    return true;
  if (successes.length < 2) return false;
  return new Set(successes.map((success) => shapeOf(success, source))).size > 1;
}

/** Returns a key that is equal for responses of the same type: the same schema in the same form. */
function shapeOf({ media }: Success, { references }: OperationsSource): string {
  if (media === undefined) return 'none';
  const { form = 'none' } = media;
  return form === 'json' || form === 'lines' ? `${form} ${schemaKey(media, references)}` : form;
}

// --- one body ----------------------------------------------------------------------------------------

function readOne(
  { name }: Entry,
  element: string,
  { media, response }: Success,
  source: OperationsSource,
): ReadWrapper {
  const form = bodyForm(media);
  const field = bodyField(element, media, response, `${name}Result`, source);
  return { fields: [field], reply: { kind: 'member', name: element, form } };
}

function bodyForm(media: Media | undefined): ReplyBody['form'] {
  if (media === undefined) return 'none';
  const { form } = media;
  return form === 'json' || form === 'lines' || form === 'binary' ? form : 'text';
}

const emptyObject = { type: 'object', additionalProperties: false } as const;
/** Name of the type shared by all empty bodies. */
const emptyName = 'Empty';

function bodyField(
  json: string,
  media: Media | undefined,
  { node: around, pointer }: Located,
  typeName: string,
  source: OperationsSource,
): WrapperField | TypedField {
  const form = bodyForm(media);
  const place = { json, pointer, required: false, around, ...(media && { examples: media }) };
  if (form === 'text' || form === 'binary') return { ...place, type: rawTypes[form] };
  const name = sharedTypeName(pointer, typeName, source.builder);
  if (media === undefined) {
    const keeps = source.builder.kept.keepsType(typeName);
    return {
      ...place,
      schema: { ...emptyObject }, // a new object each time: a shared one would be treated as an alias
      pointer: keeps ? pointer : '',
      typeName: keeps ? typeName : emptyName,
    };
  }
  const { schema } = media;
  if (form === 'lines') return { ...place, type: linesType(media, name, source) };
  return { ...place, schema: schema.node, pointer: schema.pointer, typeName: name };
}

// --- a record of the whole reply --------------------------------------------------------------------

const statusType = { kind: 'scalar', scalar: 'int' } as const satisfies Type;

function readRecord(
  { name, pointer }: Entry,
  element: string,
  successes: readonly Success[],
  source: OperationsSource,
): ReadWrapper {
  const { builder } = source;
  const redirects = successes.flatMap(({ status }) => (isRedirect(status) ? [status] : []));
  const headers = mergeHeaders(declaredHeaders(successes, redirects.length > 0)).map((header) =>
    readHeader(header, `${name}Result`, source),
  );
  const at = `${pointer}/responses`;
  const status = { json: statusMember, pointer: at, required: false, type: statusType };
  const { bodies, ofBodies } = readBodies(`${name}Result`, successes, source);
  const ofHeaders = headers.flatMap(({ fields }) => fields);
  const type = builder.record(`${name}Result`, at, [status, ...ofHeaders, ...ofBodies]);
  return {
    fields: [{ json: element, pointer: at, required: false, type }],
    reply: {
      kind: 'record',
      name: element,
      redirects,
      headers: headers.map(({ header }) => header),
      bodies,
    },
  };
}

/** Returns the headers of all success responses. A redirect always has Location, declared or not. */
function declaredHeaders(successes: readonly Success[], redirects: boolean): Header[] {
  const headers = successes.flatMap((success) => success.headers);
  const [first] = successes;
  const hasTarget = headers.some(({ name }) => name.toLowerCase() === 'location');
  if (!redirects || hasTarget || first === undefined) return headers;
  const shape = { kind: 'scalar', scalar: 'string' } as const;
  return [...headers, { name: 'Location', pointer: first.response.pointer, shape }];
}

function readBodies(
  owner: string,
  successes: readonly Success[],
  source: OperationsSource,
): { readonly bodies: readonly ReplyBody[]; readonly ofBodies: readonly (WrapperField | TypedField)[] } {
  const shapes = new Map<string, string>();
  for (const success of successes) {
    const shape = shapeOf(success, source);
    if (success.media !== undefined && !shapes.has(shape)) shapes.set(shape, success.status);
  }
  const bodies: ReplyBody[] = [];
  const ofBodies = new Map<string, WrapperField | TypedField>();
  for (const success of successes) {
    const { status, media, response } = success;
    const member = shapes.size > 1 ? `Body${shapes.get(shapeOf(success, source)) ?? ''}` : 'Body';
    const form = bodyForm(media);
    bodies.push({ status, member, form });
    if (form !== 'none' && !ofBodies.has(member))
      ofBodies.set(member, bodyField(member, media, response, owner + member, source));
  }
  return { bodies, ofBodies: [...ofBodies.values()] };
}

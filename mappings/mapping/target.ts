import { didYouMean } from '../contract/nearest.ts';
import { concreteType, formOf, type MediaForm } from '../loader/document/media-forms.ts';
import { isNode, type Node } from '../loader/document/node.ts';
import { connectionHeaders, encodeTarget } from '../places.ts';
import type { SchemaReader, Shape } from './schemas.ts';

/** A parameter of the operation that is called. */
export interface TargetParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly required: boolean;
  readonly shape: Shape;
  /** `comma` puts the items of a list behind one another, `repeat` says the name for each; undefined: can't be written. */
  readonly lists: 'comma' | 'repeat' | undefined;
}

/** An operation of an OpenAPI document as a mapping sees it. */
export interface TargetOperation {
  readonly method: string;
  /** With `{name}` where a parameter goes, as the document has it. */
  readonly path: string;
  /** The same as it is sent: characters that no URL may have are percent-encoded. */
  readonly template: string;
  readonly parameters: readonly TargetParameter[];
  /** Undefined for an operation without a body in JSON. */
  readonly body: Shape | undefined;
  readonly bodyRequired: boolean;
  readonly bodyType: string;
  /** The body of a successful answer in JSON; undefined for another form, and if the document describes no success. */
  readonly reply: Shape | undefined;
  /** How the body of a successful answer is read. `none`: the document describes no body, and one that comes is not read. */
  readonly replyForm: ReplyForm;
  /** The media types of successful answers, for `Accept`. */
  readonly accept: string;
  /** The successful answers that the document describes. */
  readonly successes: readonly { readonly status: number; readonly body: Shape | undefined }[];
  /** Reasons why a mapping cannot call it: bodies in forms that rules cannot make or read. */
  readonly refusals: readonly string[];
  /** The responses of the document by status, references not resolved. */
  readonly responses: Node;
  /** The schemas themselves, for validators. */
  readonly schemas: { readonly body: unknown; readonly reply: unknown; readonly fault: unknown };
}

/** A text is mapped as it is, bytes as their base64. */
export type ReplyForm = 'json' | 'text' | 'binary' | 'none';

const methods = ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE'];

/** An operation of a document by its method and path; a sentence where there is none. */
export function targetOperation(
  root: Node,
  reader: SchemaReader,
  method: string,
  path: string,
): TargetOperation | string {
  const paths = isNode(root.paths) ? root.paths : {};
  const item = Object.hasOwn(paths, path) ? reader.resolve(paths[path]) : undefined;
  if (!isNode(item)) {
    const others = Object.keys(paths).filter((one) => one.split('/')[1] === path.split('/')[1]);
    const hint =
      others.length === 0
        ? didYouMean(path, Object.keys(paths))
        : `; there are ${others.slice(0, 10).join(', ')}`;
    return `expected a path of the OpenAPI document, got ${path}${hint}`;
  }
  const operation = methods.includes(method) ? item[method.toLowerCase()] : undefined;
  if (!isNode(operation)) {
    const there = methods.filter((one) => isNode(item[one.toLowerCase()]));
    return `expected a method that ${path} has, which are ${there.join(', ') || 'none'}, got ${method}`;
  }
  const body = reader.resolve(operation.requestBody);
  const bodies = mediaIn(isNode(body) ? body.content : undefined, reader);
  const json = mediaOfForm(bodies, 'json');
  const isOther = json === undefined && bodies.length > 0;
  const replies = repliesOf(operation, method, reader);
  return {
    method,
    path,
    template: encodeTarget(path),
    parameters: parametersOf(item, operation, reader),
    body: json === undefined ? undefined : reader.shapeOf(json.schema),
    bodyRequired: isNode(body) && body.required === true,
    bodyType: json?.type ?? '',
    reply: replies.schema === undefined ? undefined : reader.shapeOf(replies.schema),
    replyForm: replies.form,
    accept: replies.accept,
    successes: replies.successes,
    refusals: [
      ...(isOther
        ? [
            `expected an operation whose request body is JSON, got ${method} ${path} with ${typesText(bodies)}`,
          ]
        : []),
      ...replies.refusals.map((got) => `expected answers of ${method} ${path} ${got}`),
    ],
    responses: isNode(operation.responses) ? operation.responses : {},
    schemas: { body: json?.schema, reply: replies.schema, fault: faultSchema(operation, reader) },
  };
}

/** The schema of errors with a status of 4xx, which in a derived document are the declared faults (A32). */
function faultSchema({ responses }: Node, reader: SchemaReader): unknown {
  const response = isNode(responses) ? reader.resolve(responses['4XX']) : undefined;
  return mediaIn(isNode(response) ? response.content : undefined, reader)[0]?.schema;
}

/** A media type of a body, with the form and the schema of such bodies. */
export interface TargetMedia {
  readonly type: string;
  readonly form: MediaForm | undefined;
  /** True for a range of types, such as `text/*`. */
  readonly isRange: boolean;
  /** As the document has it; an empty schema where it has none. */
  readonly schema: unknown;
}

/** The media types of an OpenAPI `content`, in the order of the document. */
export function mediaIn(content: unknown, reader: SchemaReader): readonly TargetMedia[] {
  return Object.entries(isNode(content) ? content : {}).flatMap(([stated, node]) => {
    if (!isNode(node)) return [];
    const schema = reader.resolve(node.schema);
    const type = concreteType(stated, schema);
    return [{ type, form: formOf(type, schema), isRange: type !== stated, schema: node.schema ?? {} }];
  });
}

/** The first media type of a form: a type of `application/` before others, a name before a range. */
export function mediaOfForm(all: readonly TargetMedia[], form: MediaForm): TargetMedia | undefined {
  const alike = all.filter((media) => media.form === form);
  const named = alike.filter(({ isRange }) => !isRange);
  return named.find(({ type }) => /^application\//i.test(type)) ?? named[0] ?? alike[0];
}

function typesText(all: readonly TargetMedia[]): string {
  return all.map(({ type }) => type.slice(0, 60)).join(', ');
}

/** What the document says about successful answers. */
interface Replies {
  /** The schema of their JSON; of several the schema that each of them fits. */
  readonly schema: unknown;
  readonly form: ReplyForm;
  readonly accept: string;
  readonly successes: TargetOperation['successes'];
  readonly refusals: readonly string[];
}

const plainJson = 'application/json';

/** JSON is UTF-8 whatever parameters the document adds (RFC 8259 §8.1). */
function acceptOf(type: string): string {
  return /^application\/json\b/i.test(type) ? plainJson : type;
}

const replyForms = ['json', 'text', 'binary'] as const;

/** The successful answers: those of 2xx, else of `default`. No call asks for a part of a body, so 206 is not one of them. */
function repliesOf(operation: Node, method: string, reader: SchemaReader): Replies {
  const responses = isNode(operation.responses) ? operation.responses : {};
  const stated = Object.keys(responses)
    .filter((status) => /^2(?:\d\d|XX)$/i.test(status) && status !== '206')
    .toSorted();
  const statuses = stated.length === 0 && responses.default !== undefined ? ['default'] : stated;
  const successes: TargetOperation['successes'][number][] = [];
  const refusals: string[] = [];
  const chosen: (TargetMedia & { readonly form: (typeof replyForms)[number] })[] = [];
  for (const status of statuses) {
    const response = reader.resolve(responses[status]);
    const isEmpty = method === 'HEAD' || status === '204' || status === '205';
    const all = isEmpty ? [] : mediaIn(isNode(response) ? response.content : undefined, reader);
    const code = /^\d+$/.test(status) ? Number(status) : 200;
    if (all.length === 0) {
      successes.push({ status: code, body: undefined });
      continue;
    }
    const form = replyForms.find((one) => all.some((media) => media.form === one));
    const media = form === undefined ? undefined : mediaOfForm(all, form);
    if (form === undefined || media === undefined)
      refusals.push(`in JSON, text or bytes, got ${typesText(all)} for status ${status}`);
    else {
      chosen.push({ ...media, form });
      if (form === 'json') successes.push({ status: code, body: reader.shapeOf(media.schema) });
    }
  }
  const forms = new Set(chosen.map(({ form }) => form));
  if (forms.size > 1) refusals.push(`in one form, got ${typesText(chosen)}`);
  const [first] = chosen;
  const json = chosen.filter(({ form }) => form === 'json');
  // equal references are one schema
  const distinct = new Map(json.map(({ schema }) => [reader.resolve(schema), schema]));
  return {
    schema: distinct.size > 1 ? { anyOf: [...distinct.values()] } : json[0]?.schema,
    form: first?.form ?? (statuses.length === 0 ? 'json' : 'none'),
    accept: [...new Set(chosen.map(({ type }) => acceptOf(type)))].join(', ') || plainJson,
    successes,
    refusals,
  };
}

/** Whether a header is a call's own: not what the gateway itself says of the body and the connection. */
function isOwn(name: string): boolean {
  const header = name.toLowerCase();
  return (
    /^[\w!#$%&'*+.^`|~-]+$/.test(name) &&
    !['accept', 'content-type'].includes(header) &&
    !connectionHeaders.has(header)
  );
}

/** Parameters that rules may fill; `Authorization` has to be filled by none, as it may be the caller's credential (OpenAPI 3.1, 4.8.12.1). */
function parametersOf(item: Node, operation: Node, reader: SchemaReader): readonly TargetParameter[] {
  const byName = new Map<string, TargetParameter>();
  for (const list of [item.parameters, operation.parameters])
    for (const one of Array.isArray(list) ? list : []) {
      const node = reader.resolve(one);
      if (!isNode(node) || typeof node.name !== 'string') continue;
      const { name } = node;
      const place = String(node.in) as TargetParameter['in'];
      if (place === 'header' && !isOwn(name)) continue;
      const style = node.style ?? (place === 'query' || place === 'cookie' ? 'form' : 'simple');
      const explode = node.explode ?? style === 'form';
      const isForm = style === 'form' || style === 'simple';
      byName.set(`${place} ${name}`, {
        name,
        in: place,
        required: node.required === true && !(place === 'header' && name.toLowerCase() === 'authorization'),
        shape: reader.shapeOf(node.schema ?? {}),
        lists: !isForm ? undefined : explode === true && place === 'query' ? 'repeat' : 'comma',
      });
    }
  return [...byName.values()];
}

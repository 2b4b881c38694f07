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
  /**
   * `comma` separates the items of a list with commas, `repeat` repeats the name. Undefined: the style is not
   * supported.
   */
  readonly lists: 'comma' | 'repeat' | undefined;
}

/** An operation of an OpenAPI document, as used by a mapping. */
export interface TargetOperation {
  readonly method: string;
  /** Path as documented, with `{name}` for parameters. */
  readonly path: string;
  /** Path as sent: characters that are not allowed in URLs are percent-encoded. */
  readonly template: string;
  readonly parameters: readonly TargetParameter[];
  /** Body of the request. Undefined for an operation without a JSON body. */
  readonly body: Shape | undefined;
  readonly bodyRequired: boolean;
  readonly bodyType: string;
  /** JSON body of a success response. Undefined for other forms, or without a documented success response. */
  readonly reply: Shape | undefined;
  /** Form of the success response. `none`: no documented body, and any received body is ignored. */
  readonly replyForm: ReplyForm;
  /** The media types of successful answers, for `Accept`. */
  readonly accept: string;
  /** The documented success responses. */
  readonly successes: readonly { readonly status: number; readonly body: Shape | undefined }[];
  /** Reasons why a mapping cannot call the operation: body forms that rules cannot make or read. */
  readonly refusals: readonly string[];
  /** Documented responses by status, with unresolved references. */
  readonly responses: Node;
  /** The original schemas, for validators. */
  readonly schemas: { readonly body: unknown; readonly reply: unknown; readonly fault: unknown };
}

/** Form of a response body. Text is mapped as a string, binary as base64. */
export type ReplyForm = 'json' | 'text' | 'binary' | 'none';

const methods = ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE'];

/** Returns the operation with a method and path, or an error message if it does not exist. */
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
    return `expected a method of ${path}, which are ${there.join(', ') || 'none'}, got ${method}`;
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

/** Returns the schema of 4xx errors, which in a derived document are the declared faults (A32). */
function faultSchema({ responses }: Node, reader: SchemaReader): unknown {
  const response = isNode(responses) ? reader.resolve(responses['4XX']) : undefined;
  return mediaIn(isNode(response) ? response.content : undefined, reader)[0]?.schema;
}

/** A media type of a body, with its form and schema. */
export interface TargetMedia {
  readonly type: string;
  readonly form: MediaForm | undefined;
  /** True for a range of types, for example `text/*`. */
  readonly isRange: boolean;
  /** Schema as documented; empty if there is no schema. */
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

/** Returns the preferred media type of a form: `application/` types before others, names before ranges. */
export function mediaOfForm(all: readonly TargetMedia[], form: MediaForm): TargetMedia | undefined {
  const alike = all.filter((media) => media.form === form);
  const named = alike.filter(({ isRange }) => !isRange);
  return named.find(({ type }) => /^application\//i.test(type)) ?? named[0] ?? alike[0];
}

function typesText(all: readonly TargetMedia[]): string {
  return all.map(({ type }) => type.slice(0, 60)).join(', ');
}

/** The documented success responses. */
interface Replies {
  /** Schema of the JSON responses; if there are several, a schema that each of these matches. */
  readonly schema: unknown;
  readonly form: ReplyForm;
  readonly accept: string;
  readonly successes: TargetOperation['successes'];
  readonly refusals: readonly string[];
}

const plainJson = 'application/json';

/** Returns a JSON type without parameters, because JSON is always UTF-8 (RFC 8259 §8.1). */
function acceptOf(type: string): string {
  return /^application\/json\b/i.test(type) ? plainJson : type;
}

const replyForms = ['json', 'text', 'binary'] as const;

/**
 * Returns the success responses: 2xx, or else `default`. 206 is excluded because calls never request a part of a body.
 */
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
  // Equal references are the same schema.
  const distinct = new Map(json.map(({ schema }) => [reader.resolve(schema), schema]));
  return {
    schema: distinct.size > 1 ? { anyOf: [...distinct.values()] } : json[0]?.schema,
    form: first?.form ?? (statuses.length === 0 ? 'json' : 'none'),
    accept: [...new Set(chosen.map(({ type }) => acceptOf(type)))].join(', ') || plainJson,
    successes,
    refusals,
  };
}

/** Returns true for a header that rules may set. The gateway sets headers of the body and the connection. */
function isOwn(name: string): boolean {
  const header = name.toLowerCase();
  return (
    /^[\w!#$%&'*+.^`|~-]+$/.test(name) &&
    !['accept', 'content-type'].includes(header) &&
    !connectionHeaders.has(header)
  );
}

/**
 * Returns the parameters that rules may set. `Authorization` is never required, because it may be the caller's
 * credential (OpenAPI 3.1, 4.8.12.1).
 */
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

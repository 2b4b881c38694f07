import { isNode, type Node } from '../loader/document/node.ts';
import { connectionHeaders, encodeTarget } from '../places.ts';
import { jsonSchemaIn, jsonTypeIn, type SchemaReader, type Shape } from './schemas.ts';

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
  /** The body of an answer that went well; undefined where there is none in JSON. */
  readonly reply: Shape | undefined;
  /** The schemas themselves, for validators. */
  readonly schemas: { readonly body: unknown; readonly reply: unknown };
}

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
    const hint = others.length === 0 ? '' : `; there are ${others.slice(0, 10).join(', ')}`;
    return `expected a path of the OpenAPI document, got ${path}${hint}`;
  }
  const operation = methods.includes(method) ? item[method.toLowerCase()] : undefined;
  if (!isNode(operation)) {
    const there = methods.filter((one) => isNode(item[one.toLowerCase()]));
    return `expected a method that ${path} has, which are ${there.join(', ') || 'none'}, got ${method}`;
  }
  const body = reader.resolve(operation.requestBody);
  const content = isNode(body) ? body.content : undefined;
  const schema = jsonSchemaIn(content);
  const reply = replySchema(operation, reader);
  return {
    method,
    path,
    template: encodeTarget(path),
    parameters: parametersOf(item, operation, reader),
    body: schema === undefined ? undefined : reader.shapeOf(schema),
    bodyRequired: isNode(body) && body.required === true,
    bodyType: jsonTypeIn(content) ?? '',
    reply: reply === undefined ? undefined : reader.shapeOf(reply),
    schemas: { body: schema, reply },
  };
}

/** The schema of the first answer that means success. */
function replySchema(operation: Node, reader: SchemaReader): unknown {
  const responses = isNode(operation.responses) ? operation.responses : {};
  const statuses = Object.keys(responses)
    .filter((status) => /^2/.test(status))
    .toSorted();
  for (const status of [...statuses, 'default']) {
    const response = reader.resolve(responses[status]);
    const schema = isNode(response) ? jsonSchemaIn(response.content) : undefined;
    if (schema !== undefined) return schema;
  }
  return undefined;
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

import type {
  Contract,
  CredentialPart,
  Credentials,
  NamedType,
  Operation,
  Parameter,
  RecordType,
  Route,
  RouteSegment,
  ScalarType,
  Type,
  UpstreamCall,
} from '../model.ts';
import { ContractError, type ContractProblem, pointerSegment, type Report } from './error.ts';
import { isNode, type Node, textOf } from './node.ts';
import { type Overlay, readOverlay } from './overlay.ts';
import {
  createTypeBuilder,
  identifier,
  type JsonNote,
  type TypeBuilder,
  upperFirst,
  type WrapperField,
} from './types.ts';

/** The two documents of a contract as parsed, with the names to call them by in an error. */
export interface ContractSource {
  readonly openapi: unknown;
  readonly openapiName: string;
  readonly overlay: unknown;
  readonly overlayName: string;
}

export interface LoadedContract {
  readonly contract: Contract;
  /** What travels as JSON text, because no closed type fits. */
  readonly notes: readonly JsonNote[];
}

const methods = ['get', 'put', 'post', 'delete', 'patch'] as const;

/** Turns a document and its overlay into the model. Throws ContractError with everything that is wrong. */
export function buildContract(source: ContractSource): LoadedContract {
  const problems: ContractProblem[] = [];
  const reportTo =
    (file: string): Report =>
    (pointer, message) => {
      problems.push({ file, pointer, message });
    };
  const overlayReport = reportTo(source.overlayName);
  const documentReport = reportTo(source.openapiName);
  const report: Report = (pointer, message) =>
    pointer.startsWith('overlay:')
      ? overlayReport(pointer.slice(8), message)
      : documentReport(pointer, message);

  const overlay = readOverlay(source.overlay, overlayReport);
  if (!isNode(source.openapi) || !/^3\.[01]/.test(textOf(source.openapi.openapi) ?? '')) {
    report('/openapi', 'expected an OpenAPI 3.0 or 3.1 document');
    throw new ContractError(problems);
  }
  const document = source.openapi;
  const info = isNode(document.info) ? document.info : {};
  const service = overlay.service ?? upperFirst(pascal(textOf(info.title) ?? ''));
  if (!/^[A-Za-z_]\w*$/.test(service))
    overlayReport('/service', 'expected the service’s name, an identifier');
  const typesNamespace = overlay.typesNamespace ?? `urn:${service}`;

  const builder = createTypeBuilder(document, overlay, report);
  const drafts = readOperations(document, overlay, builder, report);
  for (const name of overlay.operations) {
    if (!drafts.some((operation) => operation.name === name)) {
      overlayReport(`/operations${pointerSegment(name)}`, 'the document has no such operation');
    }
  }
  const responseStatus = findResponseStatus(builder);
  const types = builder.finish(
    drafts.map(({ output }) => output),
    drafts.map(({ input }) => input),
  );
  for (const name of overlay.types.keys()) {
    if (!types.some((type) => type.name === name)) {
      overlayReport(`/types${pointerSegment(name)}`, 'no operation reaches a type of this name');
    }
  }
  const credentials = buildCredentials(overlay, drafts, overlayReport);
  const operations = drafts.map((draft) => Object.freeze(withBinary(draft)));
  const routes = readRoutes(overlay, operations, overlayReport);
  if (operations.length === 0) report('/paths', 'expected at least one operation');
  if (
    overlay.settings.soapErrors === 'in-band' &&
    !operations.every((operation) => carriesStatus(operation, responseStatus))
  ) {
    overlayReport('/soapErrors', 'in-band errors need a data.responseStatus in every reply; choose fault');
  }
  if (problems.length > 0) throw new ContractError(problems);
  return {
    contract: deepFreeze({
      service,
      documentation: (textOf(info.description) ?? '').trim(),
      basePath: overlay.basePath,
      namespaces: { types: typesNamespace, arrays: overlay.arraysNamespace ?? typesNamespace },
      operations,
      types,
      routes,
      credentials,
      responseStatus,
      settings: overlay.settings,
    }),
    notes: builder.notes,
  };
}

type OperationDraft = Omit<Operation, 'binaryInput' | 'binaryOutput'>;

function readOperations(
  document: Node,
  overlay: Overlay,
  builder: TypeBuilder,
  report: Report,
): OperationDraft[] {
  const operations: OperationDraft[] = [];
  const names = new Map<string, string>();
  for (const [path, item] of Object.entries(isNode(document.paths) ? document.paths : {})) {
    const pathPointer = `/paths${pointerSegment(path)}`;
    const pathItem = builder.resolve(item, pathPointer).node;
    if (!isNode(pathItem)) continue;
    for (const method of methods) {
      const operation = pathItem[method];
      if (!isNode(operation)) continue;
      const pointer = `${pathPointer}/${method}`;
      const name = identifier(textOf(operation.operationId) ?? `${method}${pascal(path)}`);
      const clash = names.get(name.toLowerCase());
      if (clash !== undefined)
        report(pointer, `its name would be ${name}, as that of ${clash}; give it another operationId`);
      names.set(name.toLowerCase(), pointer);
      operations.push(
        readOperation(
          { name, method: method.toUpperCase(), path, pathItem, operation, pointer },
          overlay,
          builder,
          report,
        ),
      );
    }
  }
  return operations;
}

interface OperationSource {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly pathItem: Node;
  readonly operation: Node;
  readonly pointer: string;
}

function readOperation(
  source: OperationSource,
  overlay: Overlay,
  builder: TypeBuilder,
  report: Report,
): OperationDraft {
  const { name, method, path, operation } = source;
  const documentation = [textOf(operation.summary), textOf(operation.description)]
    .filter((text) => text !== undefined)
    .map((text) => text.trim())
    .join('\n');
  const parameters = readParameters(source, builder, report);
  const request = readRequestBody(source, overlay, builder, report);
  const input = builder.wrapper(name, documentation, [...parameters.fields, ...request.fields]);
  const reply = readReply(source, overlay, builder, report);
  const output = builder.wrapper(`${name}Response`, '', reply.fields);
  return {
    name,
    documentation,
    readOnly: method === 'GET' || overlay.readOnly.has(name),
    input,
    output,
    upstream: { method, path, parameters: parameters.parameters, body: request.body, reply: reply.reply },
  };
}

function readParameters(
  { name, path, pathItem, operation, pointer }: OperationSource,
  builder: TypeBuilder,
  report: Report,
): { fields: WrapperField[]; parameters: Parameter[] } {
  const fields = new Map<string, WrapperField>();
  const parameters = new Map<string, Parameter>();
  const listed = [
    ...listOf(pathItem.parameters, `${pointer.slice(0, pointer.lastIndexOf('/'))}/parameters`),
    ...listOf(operation.parameters, `${pointer}/parameters`),
  ];
  for (const entry of listed) {
    const { node, pointer: at } = builder.resolve(entry.node, entry.pointer);
    if (!isNode(node)) continue;
    const parameter = textOf(node.name) ?? '';
    const place = node.in;
    // OpenAPI 3.1, 4.8.12.1: parameters of these names "SHALL be ignored"
    if (place === 'header' && /^(?:accept|content-type|authorization)$/i.test(parameter)) continue;
    if (place !== 'path' && place !== 'query' && place !== 'header') {
      report(at, `parameters in ${JSON.stringify(place)} aren't carried; expected path, query or header`);
      continue;
    }
    fields.set(parameter, {
      json: parameter,
      schema: node.schema,
      pointer: `${at}/schema`,
      required: node.required === true,
      typeName: name + upperFirst(identifier(parameter)),
    });
    parameters.set(parameter, { field: parameter, in: place, name: parameter });
    const used = builder.typeOf(node.schema, `${at}/schema`, name + upperFirst(identifier(parameter)));
    if (used.type.kind !== 'scalar' && used.type.kind !== 'enum') {
      report(`${at}/schema`, 'expected a scalar; parameters of arrays and objects aren’t carried');
    }
  }
  for (const [, hole] of path.matchAll(/\{([^{}]*)\}/g)) {
    if (parameters.get(hole ?? '')?.in !== 'path')
      report(pointer, `the path's {${hole}} is no path parameter`);
  }
  return { fields: [...fields.values()], parameters: [...parameters.values()] };
}

function readRequestBody(
  { name, operation, pointer }: OperationSource,
  overlay: Overlay,
  builder: TypeBuilder,
  report: Report,
): { fields: WrapperField[]; body: UpstreamCall['body'] } {
  if (operation.requestBody === undefined) return { fields: [], body: { kind: 'none' } };
  const { node, pointer: at } = builder.resolve(operation.requestBody, `${pointer}/requestBody`);
  const media = jsonMedia(node);
  if (media === undefined) {
    report(`${at}/content`, 'expected application/json; other request bodies aren’t carried');
    return { fields: [], body: { kind: 'none' } };
  }
  const schemaPointer = `${at}/content${pointerSegment(media.type)}/schema`;
  if (overlay.dialect.body !== 'members') {
    const field: WrapperField = {
      json: overlay.dialect.body.element,
      schema: media.schema,
      pointer: schemaPointer,
      required: isNode(node) && node.required === true,
      typeName: `${name}Body`,
    };
    return { fields: [field], body: { kind: 'field', field: field.json } };
  }
  return {
    fields: memberFields(name, '', media.schema, schemaPointer, builder, report),
    body: { kind: 'members' },
  };
}

function readReply(
  { name, operation, pointer }: OperationSource,
  overlay: Overlay,
  builder: TypeBuilder,
  report: Report,
): { fields: WrapperField[]; reply: UpstreamCall['reply'] } {
  const responses = isNode(operation.responses) ? operation.responses : {};
  const status = Object.keys(responses).find((key) => /^2(?:\d\d|XX)$/i.test(key)) ?? 'default';
  const { node, pointer: at } = builder.resolve(
    responses[status],
    `${pointer}/responses${pointerSegment(status)}`,
  );
  const media = jsonMedia(node);
  const schemaPointer = `${at}/content${pointerSegment(media?.type ?? '')}/schema`;
  if (overlay.dialect.reply !== 'members') {
    const { element } = overlay.dialect.reply;
    const field: WrapperField = {
      json: element,
      schema: media?.schema ?? { type: 'object', additionalProperties: false },
      pointer: schemaPointer,
      required: false,
      typeName: `${name}Result`,
    };
    return { fields: [field], reply: { kind: 'member', name: element } };
  }
  if (media === undefined) {
    report(`${pointer}/responses`, 'expected a 2xx reply with application/json');
    return { fields: [], reply: { kind: 'object' } };
  }
  return {
    fields: memberFields(name, 'Response', media.schema, schemaPointer, builder, report),
    reply: { kind: 'object' },
  };
}

function memberFields(
  name: string,
  suffix: string,
  schema: unknown,
  pointer: string,
  builder: TypeBuilder,
  report: Report,
): WrapperField[] {
  const members = builder.membersOf(schema, pointer);
  if (members === undefined) {
    report(pointer, 'expected an object with members; this dialect makes them the children of the wrapper');
    return [];
  }
  return members.map((member) => ({
    ...member,
    typeName: name + suffix + upperFirst(identifier(member.json)),
  }));
}

function jsonMedia(node: unknown): { readonly type: string; readonly schema: unknown } | undefined {
  const content = isNode(node) && isNode(node.content) ? node.content : {};
  for (const [type, media] of Object.entries(content)) {
    if (/^application\/(?:[\w.+-]*\+)?json(?:\s*;.*)?$/i.test(type)) {
      return { type, schema: isNode(media) ? (media.schema ?? {}) : {} };
    }
  }
  return undefined;
}

function listOf(value: unknown, pointer: string): { node: unknown; pointer: string }[] {
  return Array.isArray(value)
    ? value.map((node: unknown, index) => ({ node, pointer: `${pointer}/${index}` }))
    : [];
}

const text: ScalarType = { kind: 'scalar', scalar: 'string' };

/** The record of an in-band error: the document's own, or the family's (specification, Errors 1 and 2). */
function findResponseStatus(builder: TypeBuilder): RecordType {
  const own = builder.component('ResponseStatus');
  if (own !== undefined && own.kind === 'record' && own.fields.some((field) => field.json === 'errorCode'))
    return own;
  const field = (json: string, type: Type) => ({
    json,
    xml: upperFirst(json),
    type,
    nillable: true,
    required: false,
    notEmpty: false,
    allowed: undefined,
  });
  const meta: NamedType = {
    kind: 'map',
    name: 'ArrayOfKeyValueOfstringstring',
    namespace: 'arrays',
    entryName: 'KeyValueOfstringstring',
    value: text,
  };
  const error: RecordType = {
    kind: 'record',
    name: 'ResponseError',
    documentation: '',
    fields: [field('errorCode', text), field('fieldName', text), field('message', text), field('meta', meta)],
  };
  const errors: NamedType = {
    kind: 'array',
    name: 'ArrayOfResponseError',
    namespace: 'types',
    itemName: 'ResponseError',
    item: error,
  };
  return {
    kind: 'record',
    name: 'ResponseStatus',
    documentation: '',
    fields: [
      field('errorCode', text),
      field('message', text),
      field('stackTrace', text),
      field('errors', errors),
      field('meta', meta),
    ],
  };
}

/** True when the operation's replies have the family's place for an error, `data.responseStatus`. */
function carriesStatus(operation: Operation, responseStatus: RecordType): boolean {
  const data = operation.output.fields.find((field) => field.json === 'data')?.type;
  return (
    data?.kind === 'record' &&
    data.fields.some((field) => field.json === 'responseStatus' && field.type === responseStatus)
  );
}

function buildCredentials(
  overlay: Overlay,
  operations: readonly OperationDraft[],
  report: Report,
): Credentials | undefined {
  const stated = overlay.credentials;
  if (stated === undefined) return undefined;
  let record: RecordType | undefined;
  if (stated.member !== undefined) {
    for (const operation of operations) {
      const type = operation.input.fields.find((field) => field.json === stated.member)?.type;
      if (type?.kind === 'record') record ??= type;
      if (type?.kind !== 'record' || type !== record) {
        report(
          '/credentials/member',
          `expected an object ${stated.member} of one type in every request, ${operation.name} has none`,
        );
        return undefined;
      }
    }
  }
  const parts: CredentialPart[] = [];
  for (const [name, header] of stated.headers) {
    const field = record?.fields.find((candidate) => candidate.json === name);
    if (record !== undefined && field === undefined) {
      report(`/credentials/headers${pointerSegment(name)}`, `${record.name} has no member ${name}`);
    }
    parts.push({
      name,
      xml: field?.xml ?? name,
      header,
      required: stated.required?.includes(name) ?? field?.required ?? true,
      secret: stated.secret.includes(name),
    });
  }
  return { member: stated.member, parts, send: stated.send };
}

function readRoutes(overlay: Overlay, operations: readonly Operation[], report: Report): Route[] {
  const routes: Route[] = [];
  for (const [key, name] of overlay.routes) {
    const pointer = `/routes${pointerSegment(key)}`;
    const operation = operations.find((candidate) => candidate.name === name);
    const match = /^(GET|PUT|POST|DELETE|PATCH) ((?:\/[^/?\s]+)+)(?:\?(\S+))?$/.exec(key);
    if (match === null || operation === undefined) {
      report(
        pointer,
        operation === undefined
          ? `the document has no operation ${name}`
          : 'expected `METHOD /path/{Input}?input`',
      );
      continue;
    }
    const [, method = '', path = '', query] = match;
    const fieldOf = (input: string): string => {
      const field = operation.input.fields.find(({ json }) => json.toLowerCase() === input.toLowerCase());
      if (field === undefined || (field.type.kind !== 'scalar' && field.type.kind !== 'enum')) {
        report(pointer, `${name} has no scalar input ${input}`);
      }
      return field?.json ?? input;
    };
    const segments = path
      .slice(1)
      .split('/')
      .map((segment): RouteSegment => {
        const hole = /^\{(.+)\}$/.exec(segment)?.[1];
        return hole === undefined
          ? { kind: 'literal', text: segment }
          : { kind: 'parameter', field: fieldOf(hole) };
      });
    const parameters = query === undefined ? [] : query.split('&').map(fieldOf);
    if ((method === 'PUT' || method === 'POST' || method === 'PATCH') && parameters.length > 0) {
      report(pointer, `${method} takes its inputs from the body alone (W38)`);
    }
    routes.push({ method, segments, query: parameters, operation });
  }
  return routes;
}

function withBinary(draft: OperationDraft): Operation {
  return { ...draft, binaryInput: holdsBinary(draft.input), binaryOutput: holdsBinary(draft.output) };
}

function holdsBinary(type: Type, seen = new Set<Type>()): boolean {
  if (type.kind === 'scalar') return type.scalar === 'base64Binary';
  if (seen.has(type)) return false;
  seen.add(type);
  if (type.kind === 'record') return type.fields.some((field) => holdsBinary(field.type, seen));
  if (type.kind === 'array') return holdsBinary(type.item, seen);
  return type.kind === 'map' && holdsBinary(type.value, seen);
}

function pascal(title: string): string {
  return title
    .split(/[^A-Za-z0-9]+/)
    .map(upperFirst)
    .join('');
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}

import type { Operation, Parameter, RecordType, UpstreamCall } from '../model.ts';
import { chooseOperations } from './chosen.ts';
import { pointerSegment, type Report } from './error.ts';
import { membersOf } from './members.ts';
import { identifier, pascal, upperFirst } from './names.ts';
import { childOf, isNode, type Node, shown, textOf, textsOf } from './node.ts';
import type { Overlay } from './overlay.ts';
import { isUnresolved, type Located, type References } from './references.ts';
import type { TypeBuilder, WrapperField } from './type-builder.ts';

/** An operation but for what only the finished types tell. */
export type OperationDraft = Omit<Operation, 'binaryInput' | 'binaryOutput'>;

export interface OperationsSource {
  readonly document: Node;
  readonly references: References;
  readonly overlay: Overlay;
  readonly builder: TypeBuilder;
  readonly report: Report;
  readonly reportOverlay: Report;
}

/** One operation of the document. */
export interface Entry {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly pathItem: Located & { readonly node: Node };
  readonly operation: Node;
  readonly pointer: string;
  /** What the overlay says; undefined leaves it to the method. */
  readonly readOnly: boolean | undefined;
}

const methods = ['get', 'put', 'post', 'delete', 'patch'] as const;

/** An operation of the document that can't be carried, with every reason. */
export interface NotServed {
  readonly name: string;
  /** Where the operation stands. */
  readonly pointer: string;
  readonly reasons: readonly { readonly pointer: string; readonly why: string }[];
}

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

/** The operations of all paths; what is none goes to `notServed`. */
function listEntries({ document, references }: OperationsSource, notServed: NotServed[]): Entry[] {
  const entries: Entry[] = [];
  const leaveOut = (name: string, pointer: string, why: string, at = pointer): void => {
    notServed.push({ name, pointer, reasons: [{ pointer: at, why }] });
  };
  for (const [path, item] of Object.entries(childOf(document, 'paths'))) {
    const pointer = `/paths${pointerSegment(path)}`;
    const found = references.resolve(item, pointer);
    if (isUnresolved(found)) {
      leaveOut(path, pointer, found.why, found.pointer);
      continue;
    }
    const { node, pointer: at } = found;
    if (!isNode(node)) {
      leaveOut(path, pointer, `expected an object of methods, got ${shown(node)}`);
      continue;
    }
    for (const method of methods) {
      const operation = node[method];
      if (operation === undefined) continue;
      if (!isNode(operation)) {
        const why = `expected an operation, an object, got ${shown(operation)}`;
        leaveOut(`${method.toUpperCase()} ${path}`, `${at}/${method}`, why);
        continue;
      }
      const name = identifier(textOf(operation.operationId) || `${method}${pascal(path)}`);
      entries.push({
        name,
        method: method.toUpperCase(),
        path,
        pathItem: { node, pointer: at },
        operation,
        pointer: `${at}/${method}`,
        readOnly: undefined,
      });
    }
  }
  return entries;
}

function readOperation(entry: Entry, source: OperationsSource): OperationDraft {
  const { name, method, path, operation } = entry;
  const { builder } = source;
  const documentation = [textOf(operation.summary), textOf(operation.description)]
    .filter((text) => text !== undefined)
    .map((text) => text.trim())
    .join('\n');
  const parameters = readParameters(entry, source);
  const request = readRequestBody(entry, source);
  const fields = parameters.map(({ field }) => field);
  const input = builder.wrapper(name, documentation, [...fields, ...request.fields]);
  refuseCompound(parameters, input, source.report);
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
      reply: reply.reply,
    },
  };
}

/** A node, or what it refers to; undefined once it is reported that there is nothing. */
function follow({ node, pointer }: Located, { references, report }: OperationsSource): Located | undefined {
  const found = references.resolve(node, pointer);
  if (!isUnresolved(found)) return found;
  report(found.pointer, found.why);
  return undefined;
}

// --- parameters ------------------------------------------------------------------------------------

interface ReadParameter {
  readonly parameter: Parameter;
  readonly field: WrapperField;
}

/**
 * Headers that are no inputs: the three that OpenAPI says "SHALL be ignored" as parameters (3.1, 4.8.12.1), and those
 * that are the connection's to say, not a caller's.
 */
const ownHeaders = new Set([
  ...['accept', 'content-type', 'authorization'],
  ...['accept-encoding', 'connection', 'content-encoding', 'content-length', 'expect', 'host', 'keep-alive'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

function readParameters(
  { name, path, pathItem, operation, pointer }: Entry,
  source: OperationsSource,
): ReadParameter[] {
  const { report, overlay } = source;
  const isCredential = (header: string): boolean =>
    [...(overlay.credentials?.headers.values() ?? [])].some((stated) => stated.toLowerCase() === header);
  // by place and name: an operation's own takes the place of its path's
  const found = new Map<string, ReadParameter>();
  const listed = [
    ...listOf(pathItem.node.parameters, `${pathItem.pointer}/parameters`, report),
    ...listOf(operation.parameters, `${pointer}/parameters`, report),
  ];
  for (const entry of listed) {
    const target = follow(entry, source);
    if (target === undefined) continue;
    const { node, pointer: at } = target;
    if (!isNode(node)) {
      report(at, `expected a parameter, an object, got ${shown(node)}`);
      continue;
    }
    const parameter = textOf(node.name) ?? '';
    const place = node.in;
    if (parameter === '') {
      report(`${at}/name`, `expected the parameter's name, got ${shown(node.name)}`);
      continue;
    }
    if (place !== 'path' && place !== 'query' && place !== 'header') {
      report(
        `${at}/in`,
        `expected path, query or header, got ${shown(place)}; other parameters aren't carried`,
      );
      continue;
    }
    const header = parameter.toLowerCase();
    if (place === 'header' && (ownHeaders.has(header) || isCredential(header))) continue;
    if (place === 'header' && !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(parameter))
      report(`${at}/name`, `expected the name of an HTTP header, got ${shown(parameter)}`);
    if (node.schema === undefined)
      report(at, "expected a schema; parameters described by content aren't carried");
    found.set(`${place} ${place === 'header' ? header : parameter}`, {
      parameter: { field: parameter, in: place, name: parameter },
      field: {
        json: parameter,
        schema: node.schema ?? {},
        pointer: `${at}/schema`,
        required: node.required === true || place === 'path',
        typeName: name + upperFirst(identifier(parameter)),
      },
    });
  }
  const parameters = [...found.values()];
  checkPath(path, parameters, pointer, report);
  return parameters;
}

function checkPath(
  path: string,
  parameters: readonly ReadParameter[],
  pointer: string,
  report: Report,
): void {
  if (!/^\/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2}|\{[^{}/]+\})*$/.test(path))
    report(pointer, `expected a path of URL characters and {parameters}, no query, got ${shown(path)}`);
  const holes = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, hole]) => hole);
  const names = parameters.filter(({ parameter }) => parameter.in === 'path').map(({ field }) => field.json);
  for (const hole of holes) {
    if (!names.includes(hole ?? ''))
      report(pointer, `expected a path parameter for the path's {${hole}}, got none`);
  }
  for (const name of names) {
    if (!holes.includes(name))
      report(pointer, `expected {${name}} in the path, as it has a parameter ${name}`);
  }
}

function refuseCompound(parameters: readonly ReadParameter[], input: RecordType, report: Report): void {
  for (const { field } of parameters) {
    const type = input.fields.find(({ json }) => json === field.json)?.type;
    if (type?.kind !== 'scalar' && type?.kind !== 'enum')
      report(
        field.pointer,
        "expected a string, number or boolean; parameters of arrays and objects aren't carried",
      );
  }
}

function listOf(value: unknown, pointer: string, report: Report): Located[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    report(pointer, `expected a list, got ${shown(value)}`);
    return [];
  }
  return value.map((node: unknown, index) => ({ node, pointer: `${pointer}/${index}` }));
}

// --- bodies ----------------------------------------------------------------------------------------

interface RequestBody {
  readonly fields: readonly WrapperField[];
  readonly body: UpstreamCall['body'];
}

function readRequestBody(entry: Entry, source: OperationsSource): RequestBody {
  const { name, operation, pointer } = entry;
  const { overlay, report } = source;
  const none: RequestBody = { fields: [], body: { kind: 'none' } };
  if (operation.requestBody === undefined) return none;
  const found = follow({ node: operation.requestBody, pointer: `${pointer}/requestBody` }, source);
  if (found === undefined) return none;
  const { node, pointer: at } = found;
  const media = jsonMedia(node, at);
  if (media === undefined) {
    report(
      `${at}/content`,
      `expected application/json, got ${mediaTypes(node)}; other request bodies aren't carried`,
    );
    return none;
  }
  if (overlay.dialect.body === 'members')
    return { fields: memberFields(name, media, source), body: { kind: 'members' } };
  const { element } = overlay.dialect.body;
  const field: WrapperField = {
    json: element,
    schema: media.node,
    pointer: media.pointer,
    required: isNode(node) && node.required === true,
    typeName: `${name}Body`,
  };
  return { fields: [field], body: { kind: 'field', field: element } };
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
  const media = jsonMedia(success.node, success.pointer);
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
    const fields = media === undefined ? [] : memberFields(`${name}Response`, media, source);
    return { fields, reply: { kind: 'object' } };
  }
  const { element } = overlay.dialect.reply;
  const field: WrapperField = {
    json: element,
    schema: media?.node ?? { type: 'object', additionalProperties: false },
    pointer: media?.pointer ?? success.pointer,
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
  return (
    located.find((found) => found !== undefined && jsonMedia(found.node, found.pointer) !== undefined) ??
    located[0]
  );
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

/** The schema of the JSON that a body may hold; undefined when it holds none. */
function jsonMedia(body: unknown, pointer: string): Located | undefined {
  const content = isNode(body) ? childOf(body, 'content') : {};
  for (const [type, media] of Object.entries(content)) {
    if (/^application\/(?:[\w.+-]*\+)?json(?:\s*;.*)?$/i.test(type)) {
      const node = isNode(media) ? (media.schema ?? {}) : {};
      return { node, pointer: `${pointer}/content${pointerSegment(type)}/schema` };
    }
  }
  return undefined;
}

function mediaTypes(body: unknown): string {
  const types = isNode(body) ? Object.keys(childOf(body, 'content')) : [];
  return types.length === 0 ? 'none' : types.join(', ');
}

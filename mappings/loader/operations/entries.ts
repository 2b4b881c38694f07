import type { Server } from '../../contract/model.ts';
import { type Note, pointerSegment, type Report } from '../document/error.ts';
import { childOf, isNode, type Node, shown, textOf, textsOf } from '../document/node.ts';
import { isUnresolved, type Located, type References } from '../document/references.ts';
import { classIdentifier, type Names, pascal } from '../names/names.ts';
import { compileOperationNames } from '../names/operation-names.ts';
import { componentTypeName } from '../names/schema-name.ts';
import type { Overlay } from '../overlay/overlay.ts';
import type { TypeBuilder } from '../schema/type-builder.ts';

/** What operations are read from, and where to report what is wrong with one. */
export interface OperationsSource {
  readonly document: Node;
  readonly references: References;
  readonly overlay: Overlay;
  readonly builder: TypeBuilder;
  /** Finds where an operation's calls go. */
  readonly findServer: (entry: Entry) => Server;
  /** Names of operations that stay whatever else would have them. */
  readonly pinned: Names;
  readonly report: Report;
  readonly reportOverlay: Report;
}

/** An operation of the document that can't be carried, with every reason. */
export interface NotServed {
  readonly name: string;
  /** Where the operation stands. */
  readonly pointer: string;
  readonly reasons: readonly (Note & {
    /** The WSDL or schema that the reason is in, if the contract is a WSDL. */
    readonly file?: string;
    readonly line?: number | undefined;
  })[];
}

/** One operation of the document. */
export interface Entry {
  /** Under `paths`, whatever its path refers to: what its name is kept by. */
  readonly key: string;
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly pathItem: Located & { readonly node: Node };
  readonly operation: Node;
  readonly pointer: string;
  /** What the overlay says; undefined leaves it to the method. */
  readonly readOnly: boolean | undefined;
  /** Whether a file of it may flow through. */
  readonly stream: boolean;
  /** The request body's media type by the overlay; undefined takes the usual one. */
  readonly mediaType: string | undefined;
  /** The media type of its replies, likewise. */
  readonly accept: string | undefined;
  /** The operation that it is in another media type. */
  readonly of: string | undefined;
  /** Path parameters that may hold slashes. */
  readonly spansSegments: readonly string[];
}

/** Why callbacks and webhooks are left out. */
const theirCalls = 'the service calls others with it, past this gateway';

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const;

/** An operation of a path item. */
interface Stated {
  /** As the document writes it. */
  readonly method: string;
  readonly operation: unknown;
  /** Behind the path item's pointer. */
  readonly at: string;
}

/** The operations of a path item; from OpenAPI 3.2 on `query`, and those of other methods in `additionalOperations`. */
function statedOperations(item: Node, version: string): readonly Stated[] {
  const fixed = version.startsWith('3.2') ? [...methods, 'query'] : methods;
  const stated = fixed.map((method) => ({ method, operation: item[method], at: `/${method}` }));
  if (!version.startsWith('3.2')) return stated;
  const others = Object.entries(childOf(item, 'additionalOperations')).map(([method, operation]) => {
    return { method, operation, at: `/additionalOperations${pointerSegment(method)}` };
  });
  return [...stated, ...others];
}

/** A method of HTTP (RFC 9110, 9.1) that a call can be made by. */
function isMethod(method: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}$/.test(method) && !/^(?:CONNECT|TRACE)$/i.test(method);
}

/** Records why an operation is not served: at `at`, or at the operation's own pointer. */
type LeaveOut = (name: string, pointer: string, why: string, at?: string) => void;

/** Returns the operations of all paths. Adds those that cannot be served to `notServed`. */
export function listEntries(
  { document, references, overlay }: OperationsSource,
  notServed: NotServed[],
): Entry[] {
  const nameOperation = compileOperationNames(overlay.operationNames);
  const entries: Entry[] = [];
  const leaveOut: LeaveOut = (name, pointer, why, at = pointer) => {
    notServed.push({ name, pointer, reasons: [{ pointer: at, why }] });
  };
  for (const [path, item] of Object.entries(childOf(document, 'paths'))) {
    if (path.startsWith('x-')) continue; // an extension
    const pointer = `/paths${pointerSegment(path)}`;
    const pathItem = resolvePathItem(path, pointer, references.resolve(item, pointer), leaveOut);
    if (pathItem === undefined) continue;
    const { node, pointer: at } = pathItem;
    for (const { method: written, operation, at: below } of statedOperations(node, references.version)) {
      if (operation === undefined) continue;
      const isFixed = below === `/${written}`;
      if (!isNode(operation)) {
        const why = `expected an operation, an object, got ${shown(operation)}`;
        leaveOut(`${written.toUpperCase()} ${path}`, at + below, why);
        continue;
      }
      if (!isFixed && !isMethod(written)) {
        const why = `expected a method that a call can be made by, got ${shown(written)}`;
        leaveOut(`${written} ${path}`, at + below, why);
        continue;
      }
      const name = nameOf(operation, path, written.toLowerCase(), nameOperation);
      entries.push({
        key: pointer + below,
        name,
        method: isFixed ? written.toUpperCase() : written,
        path,
        pathItem,
        operation,
        pointer: references.placeOf(at + below),
        ...noSettings,
      });
      for (const callback of Object.keys(childOf(operation, 'callbacks')))
        leaveOut(`${callback} of ${name}`, `${at}${below}/callbacks${pointerSegment(callback)}`, theirCalls);
    }
  }
  for (const webhook of Object.keys(childOf(document, 'webhooks')))
    leaveOut(webhook, `/webhooks${pointerSegment(webhook)}`, theirCalls);
  return entries;
}

/** Settings of an operation that the overlay does not configure. */
const noSettings = {
  readOnly: undefined,
  stream: false,
  mediaType: undefined,
  accept: undefined,
  of: undefined,
  spansSegments: [],
} as const;

function resolvePathItem(
  path: string,
  pointer: string,
  found: ReturnType<References['resolve']>,
  leaveOut: LeaveOut,
): Entry['pathItem'] | undefined {
  if (isUnresolved(found)) {
    leaveOut(path, pointer, found.why, found.pointer);
    return undefined;
  }
  const { node, pointer: at } = found;
  if (!isNode(node)) {
    leaveOut(path, pointer, `expected an object of methods, got ${shown(node)}`);
    return undefined;
  }
  if (node.trace !== undefined) leaveOut(`TRACE ${path}`, `${at}/trace`, 'it would show what proxies add');
  return { node, pointer: at };
}

function nameOf(
  operation: Node,
  path: string,
  method: string,
  nameOperation: ReturnType<typeof compileOperationNames>,
): string {
  const operationId = textOf(operation.operationId) ?? '';
  const tag = textsOf(operation.tags)?.[0] ?? '';
  const ruled = nameOperation({ operationId, path, method, tag });
  return ruled || classIdentifier(operationId || `${method}${pascal(path)}`);
}

/** A node, or what it refers to; undefined once it is reported that there is nothing. */
export function follow(
  { node, pointer }: Located,
  { references, report }: OperationsSource,
): Located | undefined {
  const found = references.resolve(node, pointer);
  if (!isUnresolved(found)) return found;
  report(found.pointer, found.why);
  return undefined;
}

/**
 * What the inline types of a parameter, a body or a response at a pointer are called: a component's after the component,
 * so that they are made once however many operations refer to it; others after the operation. Where `names.lock` keeps
 * names after the operation, they stay.
 */
export function sharedTypeName(pointer: string, own: string, { kept }: TypeBuilder): string {
  const shared = componentTypeName(pointer);
  return shared === undefined || kept.keepsType(own) ? own : shared;
}

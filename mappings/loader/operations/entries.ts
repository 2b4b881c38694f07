import type { Server } from '../../contract/model.ts';
import { type Note, pointerSegment, type Report } from '../document/error.ts';
import { childOf, isNode, type Node, shown, textOf, textsOf } from '../document/node.ts';
import { isUnresolved, type Located, type References } from '../document/references.ts';
import { classIdentifier, type Names, pascal } from '../names/names.ts';
import { compileOperationNames } from '../names/operation-names.ts';
import { componentTypeName } from '../names/schema-name.ts';
import type { Overlay } from '../overlay/overlay.ts';
import type { TypeBuilder } from '../schema/type-builder.ts';

/** Input for reading operations, with the receivers of error reports. */
export interface OperationsSource {
  readonly document: Node;
  readonly references: References;
  readonly overlay: Overlay;
  readonly builder: TypeBuilder;
  /** Returns the server that receives an operation's calls. */
  readonly findServer: (entry: Entry) => Server;
  /** Kept operation names, which take precedence. */
  readonly pinned: Names;
  readonly report: Report;
  readonly reportOverlay: Report;
}

/** An operation of the document that cannot be served, with all reasons. */
export interface NotServed {
  readonly name: string;
  /** JSON pointer of the operation. */
  readonly pointer: string;
  readonly reasons: readonly (Note & {
    /** The WSDL or schema with the problem, if the contract is a WSDL. */
    readonly file?: string;
    readonly line?: number | undefined;
  })[];
}

/** An operation of the document. */
export interface Entry {
  /** Pointer under `paths`, even if the path item is a reference. It is the key of the operation's name. */
  readonly key: string;
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly pathItem: Located & { readonly node: Node };
  readonly operation: Node;
  readonly pointer: string;
  /** Setting of the overlay; undefined derives it from the method. */
  readonly readOnly: boolean | undefined;
  /** Timeout of the overlay, in ms. */
  readonly timeoutMs: number | undefined;
  /** True if a file in the request may be streamed. */
  readonly stream: boolean;
  /** Media type of the request body from the overlay; undefined selects the default. */
  readonly mediaType: string | undefined;
  /** Media type of the response from the overlay; undefined selects the default. */
  readonly accept: string | undefined;
  /** Name of the operation that this is a variant of, with another media type. */
  readonly of: string | undefined;
  /** Path parameters with values that may contain slashes. */
  readonly spansSegments: readonly string[];
}

/** Reason for leaving out callbacks and webhooks. */
const theirCalls = 'the service sends this call itself, so it does not pass the gateway';

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const;

/** An operation of a path item. */
interface Stated {
  /** Method as written in the document. */
  readonly method: string;
  readonly operation: unknown;
  /** Pointer relative to the path item. */
  readonly at: string;
}

/** Returns the operations of a path item. OpenAPI 3.2 adds `query`, and other methods in `additionalOperations`. */
function statedOperations(item: Node, version: string): readonly Stated[] {
  const fixed = version.startsWith('3.2') ? [...methods, 'query'] : methods;
  const stated = fixed.map((method) => ({ method, operation: item[method], at: `/${method}` }));
  if (!version.startsWith('3.2')) return stated;
  const others = Object.entries(childOf(item, 'additionalOperations')).map(([method, operation]) => {
    return { method, operation, at: `/additionalOperations${pointerSegment(method)}` };
  });
  return [...stated, ...others];
}

/** Returns true for an HTTP method (RFC 9110, 9.1) that a call can use. */
function isMethod(method: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}$/.test(method) && !/^(?:CONNECT|TRACE)$/i.test(method);
}

/**
 * Records why an operation is not served. `at` is the pointer of the reason; the default is the operation's pointer.
 */
type RecordNotServed = (name: string, pointer: string, why: string, at?: string) => void;

/** Returns the operations of all paths. Adds those that cannot be served to `notServed`. */
export function listEntries(
  { document, references, overlay }: OperationsSource,
  notServed: NotServed[],
): Entry[] {
  const nameOperation = compileOperationNames(overlay.operationNames);
  const entries: Entry[] = [];
  const recordNotServed: RecordNotServed = (name, pointer, why, at = pointer) => {
    notServed.push({ name, pointer, reasons: [{ pointer: at, why }] });
  };
  for (const [path, item] of Object.entries(childOf(document, 'paths'))) {
    if (path.startsWith('x-')) continue; // an extension
    const pointer = `/paths${pointerSegment(path)}`;
    const pathItem = resolvePathItem(path, pointer, references.resolve(item, pointer), recordNotServed);
    if (pathItem === undefined) continue;
    const { node, pointer: at } = pathItem;
    for (const { method: written, operation, at: below } of statedOperations(node, references.version)) {
      if (operation === undefined) continue;
      const isFixed = below === `/${written}`;
      if (!isNode(operation)) {
        const why = `expected an operation, an object, got ${shown(operation)}`;
        recordNotServed(`${written.toUpperCase()} ${path}`, at + below, why);
        continue;
      }
      if (!isFixed && !isMethod(written)) {
        const why = `expected a supported HTTP method, got ${shown(written)}`;
        recordNotServed(`${written} ${path}`, at + below, why);
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
        recordNotServed(
          `${callback} of ${name}`,
          `${at}${below}/callbacks${pointerSegment(callback)}`,
          theirCalls,
        );
    }
  }
  for (const webhook of Object.keys(childOf(document, 'webhooks')))
    recordNotServed(webhook, `/webhooks${pointerSegment(webhook)}`, theirCalls);
  return entries;
}

/** Settings of an operation that the overlay does not configure. */
const noSettings = {
  readOnly: undefined,
  timeoutMs: undefined,
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
  recordNotServed: RecordNotServed,
): Entry['pathItem'] | undefined {
  if (isUnresolved(found)) {
    recordNotServed(path, pointer, found.why, found.pointer);
    return undefined;
  }
  const { node, pointer: at } = found;
  if (!isNode(node)) {
    recordNotServed(path, pointer, `expected an object of methods, got ${shown(node)}`);
    return undefined;
  }
  if (node.trace !== undefined)
    recordNotServed(`TRACE ${path}`, `${at}/trace`, 'it would show headers that proxies add');
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

/** Resolves a node. An unresolved reference is reported and gives undefined. */
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
 * Returns the name for the inline types of a parameter, a body or a response. Types of a component are named after it,
 * so that all operations share them. Other types, and types with a kept name in `names.lock`, are named after the
 * operation.
 */
export function sharedTypeName(pointer: string, own: string, { kept }: TypeBuilder): string {
  const shared = componentTypeName(pointer);
  return shared === undefined || kept.keepsType(own) ? own : shared;
}

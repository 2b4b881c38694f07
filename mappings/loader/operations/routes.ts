import type { Credentials } from '../../contract/credentials.ts';
import type { Operation, Route, RouteSegment } from '../../contract/model.ts';
import { didYouMean } from '../../contract/nearest.ts';
import { pointerSegment, type Report } from '../document/error.ts';
import { shown } from '../document/node.ts';
import type { Overlay } from '../overlay/overlay.ts';

/** Characters of a literal segment: `pchar` of RFC 3986 without escapes. */
const literal = /^[A-Za-z0-9._~!$&'()*+,;=:@-]+$/;

/**
 * Reads the overlay's REST routes, `METHOD /path/{Input}?input` each, and binds them to operations and inputs (W38).
 */
export function readRoutes(
  overlay: Overlay,
  operations: readonly Operation[],
  credentials: Credentials | undefined,
  report: Report,
): Route[] {
  const routes: Route[] = [];
  const shapes = new Map<string, string>();
  const byName = new Map(operations.map((operation) => [operation.name, operation]));
  for (const [key, name] of overlay.routes) {
    const at = `/routes${pointerSegment(key)}`;
    const operation = byName.get(name);
    if (operation === undefined)
      report(at, `expected the name of an operation, got ${shown(name)}${didYouMean(name, byName.keys())}`);
    const match = /^(GET|PUT|POST|DELETE|PATCH) \/([^?\s]+)(?:\?(\S+))?$/.exec(key);
    const [, method = '', path = '', query] = match ?? [];
    if (match === null) report(at, `expected "METHOD /path/{Input}?input", got ${shown(key)}`);
    if (match === null || operation === undefined) continue;
    const route: Route = {
      method,
      segments: path.split('/').map((segment) => readSegment(segment, operation, at, report)),
      query: (query?.split('&') ?? []).map((input) => inputOf(input, operation, at, report)),
      operation,
    };
    checkPath(path, at, report);
    checkQuery(route, overlay.settings.jsonp, at, report);
    checkInputs(route, credentials, at, report);
    const shape = [
      method,
      ...path
        .toLowerCase()
        .split('/')
        .map((segment) => (segment.startsWith('{') ? '{}' : segment)),
    ].join('/');
    const same = shapes.get(shape);
    if (same !== undefined) report(at, `expected a path other than ${shown(same)}`);
    shapes.set(shape, key);
    routes.push(route);
  }
  return routes;
}

function readSegment(segment: string, operation: Operation, at: string, report: Report): RouteSegment {
  const hole = /^\{([^{}]+)\}$/.exec(segment)?.[1];
  if (hole !== undefined) return { kind: 'parameter', field: inputOf(hole, operation, at, report) };
  if (!literal.test(segment))
    report(at, `expected letters of a path or {Input} between two slashes, got ${shown(segment)}`);
  return { kind: 'literal', text: segment };
}

/** Returns the JSON name of the input that a path or query names, ignoring case. */
function inputOf(input: string, { name, input: { fields } }: Operation, at: string, report: Report): string {
  const field = fields.find(({ json }) => json.toLowerCase() === input.toLowerCase());
  if (field === undefined || (field.type.kind !== 'scalar' && field.type.kind !== 'enum')) {
    report(
      at,
      `expected an input of ${name} that is not an object or array, got ${shown(input)}${
        field === undefined
          ? didYouMean(
              input,
              fields.map(({ json }) => json),
            )
          : ''
      }`,
    );
  }
  return field?.json ?? input;
}

/**
 * Reports paths that never match: the gateway's own endpoints take precedence (W2), and a format suffix is removed
 * (W5).
 */
function checkPath(path: string, at: string, report: Report): void {
  if (/^(?:soap1[12]|(?:json|xml)\/reply\/[^/]+)$/i.test(path))
    report(
      at,
      'expected a path that the gateway does not use itself (soap11, soap12, json/reply, xml/reply)',
    );
  if (/\.(?:json|xml|soap11|soap12)$/i.test(path))
    report(
      at,
      'expected a path without .json, .xml, .soap11 or .soap12 at its end, because these select the format of the reply',
    );
}

/** Reports query parameters that select the reply format (W5, W6). They cannot be inputs. */
function checkQuery({ query }: Route, jsonp: boolean, at: string, report: Report): void {
  const taken = jsonp ? /^(?:format|callback|_)$/i : /^(?:format|_)$/i;
  for (const field of query)
    if (taken.test(field))
      report(
        at,
        `expected no input ${field} in the query, because the gateway uses this name for the format of the reply`,
      );
}

function checkInputs(
  { method, segments, query, operation }: Route,
  credentials: Credentials | undefined,
  at: string,
  report: Report,
): void {
  const given = [
    ...segments.flatMap((segment) => (segment.kind === 'parameter' ? [segment.field] : [])),
    ...query,
  ];
  for (const field of new Set(given)) {
    if (given.indexOf(field) !== given.lastIndexOf(field))
      report(at, `expected ${field} once, got ${field} twice`);
  }
  if (method === 'GET' || method === 'DELETE') {
    for (const { json, required } of operation.input.fields) {
      if (required && json !== credentials?.member && !given.includes(json))
        report(at, `${method} has no body; expected the required ${json} in the path or the query`);
    }
  } else if (given.length > 0) {
    report(
      at,
      `${method} takes its inputs only from the body (W38), not ${given.join(', ')} from the path or query`,
    );
  }
}

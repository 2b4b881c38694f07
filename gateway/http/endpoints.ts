import type { CompiledContract, CompiledOperation } from '../../mappings/compile.ts';
import type { Contract, Port, Route } from '../../mappings/contract/model.ts';
import { oldLocations } from '../../wsdl/adopted-locations.ts';
import { type SoapAddress, soap11, soap12 } from '../protocols/soap/versions.ts';
import { cutSuffix, type Format } from './negotiate.ts';

/** The endpoint at a path, independent of the method (W2). */
export type Endpoint =
  | ({ readonly kind: 'soap' } & SoapAddress)
  | { readonly kind: 'page' }
  /**
   * A document of an adopted service by its name, for example `xsd=0`. Clients with a stored WSDL load it from this
   * path (A2).
   */
  | { readonly kind: 'document'; readonly name: string }
  | {
      readonly kind: 'generic';
      readonly form: 'json' | 'xml';
      readonly operation: CompiledOperation;
      readonly suffix: Format | undefined;
    }
  | { readonly kind: 'unknownOperation'; readonly form: 'json' | 'xml'; readonly suffix: Format | undefined }
  | { readonly kind: 'routes'; readonly matches: readonly RouteMatch[]; readonly suffix: Format | undefined }
  | { readonly kind: 'nothing'; readonly suffix: Format | undefined };

/** A REST-style route that matches a path. */
export interface RouteMatch {
  readonly route: Route;
  readonly operation: CompiledOperation;
  /** Path parameters by their JSON name in the input, percent-decoded; undefined if the decoded bytes are not UTF-8. */
  readonly parameters: readonly { readonly field: string; readonly text: string | undefined }[];
}

/** The paths of a contract. Names match in any case (W1), and one trailing slash is ignored (W40). */
export class Endpoints {
  readonly #contract: Contract;
  readonly #operations: ReadonlyMap<string, CompiledOperation>;
  readonly #base: string;
  readonly #byName: ReadonlyMap<string, CompiledOperation>;
  readonly #soapEndpoints: ReadonlyMap<string, Endpoint>;
  readonly #portEndpoints: ReadonlyMap<string, Endpoint>;
  readonly #documentPaths: ReadonlyMap<string, string>;
  /** Endpoints of calls by their paths, spelled as in the contract. */
  readonly calls: ReadonlyMap<string, Endpoint>;

  constructor({ contract, operations }: CompiledContract) {
    this.#contract = contract;
    this.#operations = operations;
    this.#base = contract.basePath.toLowerCase();
    this.#byName = new Map([...operations].map(([name, operation]) => [name.toLowerCase(), operation]));
    this.#soapEndpoints = endpointsOfVersions(contract.ports);
    this.#portEndpoints = endpointsOfPorts(contract.ports);
    this.#documentPaths = documentsByPath(contract);
    this.calls = this.#callsByPath();
  }

  #callsByPath(): ReadonlyMap<string, Endpoint> {
    const { basePath } = this.#contract;
    const calls = new Map<string, Endpoint>();
    for (const [name, endpoint] of this.#soapEndpoints) calls.set(`${basePath}/${name}`, endpoint);
    for (const endpoint of this.#portEndpoints.values())
      if (endpoint.kind === 'soap') calls.set(`${basePath}${endpoint.endpoint}`, endpoint);
    for (const [name, operation] of this.#operations)
      for (const form of ['json', 'xml'] as const)
        calls.set(`${basePath}/${form}/reply/${name}`, {
          kind: 'generic',
          form,
          operation,
          suffix: undefined,
        });
    return calls;
  }

  /** Returns the endpoint of a path; undefined if the path is not below the contract's base path. */
  find(path: string): Endpoint | undefined {
    const known = this.calls.get(path);
    if (known !== undefined) return known;
    const plain = plainPath(path);
    const soap = plain === path ? undefined : this.#findPlain(plain);
    return soap?.kind === 'soap' ? soap : this.#findPlain(path);
  }

  #findPlain(path: string): Endpoint | undefined {
    const lower = path.toLowerCase();
    const base = this.#base;
    if (!(lower === base || lower.startsWith(`${base}/`))) return undefined;
    const rest = path.slice(base.length + 1);
    if (rest === '') return { kind: 'page' };
    const port = this.#portEndpoints.get(withoutEndSlash(lower.slice(base.length)));
    if (port !== undefined) return port;
    const segments = withoutEndSlash(rest).split('/');
    if (segments.includes('')) return { kind: 'nothing', suffix: undefined };
    const [first = '', second = ''] = segments;
    const form = first.toLowerCase();
    const soap = segments.length === 1 ? this.#soapEndpoints.get(form) : undefined;
    if (soap !== undefined) return soap;
    const cut = cutSuffix(segments.at(-1) ?? '');
    if (segments.length === 3 && (form === 'json' || form === 'xml') && second.toLowerCase() === 'reply')
      return this.#genericEndpoint(form, cut.segment, cut.format);
    const matches = this.#matchRoutes([...segments.slice(0, -1), cut.segment]);
    if (matches.length > 0) return { kind: 'routes', matches, suffix: cut.format };
    const document = this.#documentPaths.get(lower.slice(base.length));
    return document === undefined
      ? { kind: 'nothing', suffix: cut.format }
      : { kind: 'document', name: document };
  }

  #genericEndpoint(form: 'json' | 'xml', segment: string, suffix: Format | undefined): Endpoint {
    const name = decode(segment);
    const operation = name === undefined ? undefined : this.#byName.get(name.toLowerCase());
    return operation === undefined
      ? { kind: 'unknownOperation', form, suffix }
      : { kind: 'generic', form, operation, suffix };
  }

  /** Returns the routes of a path for all verbs. A route with a literal segment wins over a parameter there (W40). */
  #matchRoutes(segments: readonly string[]): RouteMatch[] {
    let best: RouteMatch[] = [];
    let bestLiterals = -1;
    for (const route of this.#contract.routes) {
      const match = this.#matchRoute(route, segments);
      if (match === undefined) continue;
      const literals = route.segments.filter(({ kind }) => kind === 'literal').length;
      if (literals > bestLiterals) best = [];
      if (literals >= bestLiterals) {
        bestLiterals = literals;
        best.push(match);
      }
    }
    return best;
  }

  #matchRoute(route: Route, segments: readonly string[]): RouteMatch | undefined {
    if (route.segments.length !== segments.length) return undefined;
    const parameters: { field: string; text: string | undefined }[] = [];
    for (const [index, expected] of route.segments.entries()) {
      const text = decode(segments[index] ?? '');
      // a malformed escape is an invalid parameter value, not an unknown path (W38)
      if (expected.kind === 'parameter') parameters.push({ field: expected.field, text });
      else if (expected.text.toLowerCase() !== text?.toLowerCase()) return undefined;
    }
    const operation = this.#operations.get(route.operation.name);
    return operation === undefined ? undefined : { route, operation, parameters };
  }
}

/**
 * Returns the SOAP endpoints for all operations, by the last segment of their paths: one for each version of the ports
 * (A5). A Map, because a path may be `constructor`.
 */
function endpointsOfVersions(ports: readonly Port[]): ReadonlyMap<string, Endpoint> {
  const endpoints = new Map<string, Endpoint>();
  for (const version of [soap11, soap12]) {
    const isOffered = ports.some(({ soap }) => soap === version.name);
    if (isOffered) endpoints.set(version.format, { kind: 'soap', version, endpoint: undefined });
  }
  return endpoints;
}

/** Returns the names of documents by their lower-case paths for GET (A2, A5). */
function documentsByPath(contract: Contract): ReadonlyMap<string, string> {
  // the WSDL is at /soap11 for all versions
  return new Map([['/soap11', 'wsdl'], ...oldLocations(contract).byPath]);
}

/**
 * A path without empty segments and without the session identifier that servlet containers append (`;jsessionid=…`).
 * SOAP clients send both: the former if an address ends with a slash, the latter if they keep a redirect.
 */
export function plainPath(path: string): string {
  if (!path.includes('//') && !path.includes(';')) return path;
  return path.replace(/;jsessionid=[^/;]*/gi, '').replace(/\/{2,}/g, '/');
}

/** Returns the endpoints of ports by their lower-case paths (A5). */
function endpointsOfPorts(all: readonly Port[]): ReadonlyMap<string, Endpoint> {
  const endpoints = new Map<string, Endpoint>();
  for (const [path, ports] of Map.groupBy(all, (port) => port.path)) {
    const version = ports.every(({ soap }) => soap === '1.2') ? soap12 : soap11;
    const hasBothVersions = version === soap11 && ports.some(({ soap }) => soap === '1.2');
    endpoints.set(path.toLowerCase(), { kind: 'soap', version, hasBothVersions, endpoint: path });
  }
  return endpoints;
}

function withoutEndSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

/** Returns a percent-decoded path segment; undefined if the decoded bytes are not UTF-8. */
function decode(segment: string): string | undefined {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined; // leads to 404
  }
}

/**
 * Splits a request target into path and query (without the `?`). Removes an http origin before them and a fragment
 * after them.
 */
export function targetOf(url: string): { readonly path: string; readonly query: string } {
  const start = url.startsWith('/') ? 0 : /^https?:\/\/[^/?#]*/i.exec(url)?.[0].length;
  const fragment = url.indexOf('#');
  const target = url.slice(start ?? 0, fragment === -1 ? url.length : fragment);
  const mark = target.indexOf('?');
  return mark === -1
    ? { path: target, query: '' }
    : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}

import type { IncomingMessage } from 'node:http';
import type { BlendCodec } from '../../mappings/compare/blend-codecs.ts';
import { movedHeadersOf } from '../../mappings/contract/credentials.ts';
import type { Contract, Port } from '../../mappings/contract/model.ts';
import { encodeTarget, hasDots } from '../../mappings/places.ts';
import { CallError } from '../call/error.ts';
import type { ClientCertificateOptions } from '../http/client-certificate.ts';
import { plainPath, targetOf } from '../http/endpoints.ts';
import type { RequestContext } from '../http/request-context.ts';
import { noteFailure } from '../telemetry/request-stats.ts';
import { withinDeadline } from '../upstream/deadlines.ts';
import type { Tokens } from '../upstream/tokens.ts';
import type { BlendWorker } from './blend-worker.ts';
import type { Comparisons } from './comparisons.ts';
import type { RoutingCounts } from './counts.ts';
import type { Decide } from './decide.ts';
import { type ForwardedHeaders, type HeadersOf, requestFilter, requestHeaders } from './forward-headers.ts';
import type { IdentifyCaller, IdentityOf } from './identity.ts';
import type { LegacyService } from './legacy-service.ts';
import type { Recorder } from './recording/recording.ts';
import { isOf, isUnconditional, type Override, type Routing } from './routing.ts';

/** Everything that routing needs of one contract, compiled at start. */
export interface Place {
  readonly contract: Contract;
  readonly routing: Routing;
  readonly decide: Decide;
  readonly override: Override | undefined;
  /** Operations without a rule in `mapping.yaml`. */
  readonly unmapped: ReadonlySet<string>;
  readonly identify: IdentifyCaller;
  /** Returns true if calls of an operation need the caller, who may be named in a header block (A8). */
  readonly readsCaller: (operation: string) => boolean;
  readonly legacy: LegacyService;
  readonly counts: RoutingCounts;
  readonly blendWorker: BlendWorker;
  /** Codecs of blended operations by name (G28). */
  readonly blendCodecs: ReadonlyMap<string, BlendCodec>;
  /** Compares the replies of both services; undefined if no call can have mode `compare` or `blend`. */
  readonly comparisons: Comparisons | undefined;
  /** Records exchanges; undefined without `migration.record`. */
  readonly recorder: Recorder | undefined;
  /** False if requests that are no calls get 404 (G17). */
  readonly forwardsOthers: boolean;
  /** True if a route leads to the legacy service, so that unreadable requests are forwarded (G12). */
  readonly leadsToLegacy: boolean;
  readonly isBelowPort: (path: string) => boolean;
  /**
   * Returns path and query of a request at the legacy service. Throws CallError NotFound for a path with dot segments,
   * which could leave the path of the port.
   *
   * @param endpoint path of the port; undefined for an endpoint of several ports
   */
  readonly targetOf: (request: IncomingMessage, endpoint: string | undefined) => string;
  /** Returns the headers of a forwarded request. Throws CallError without a token before the deadline. */
  readonly headersOf: HeadersOf;
  /** Called with the token of a request that the legacy service answered with 401. */
  readonly onUnauthorized: (token: string) => void;
  /** Called when a reply broke off after its head was sent. */
  readonly onCut: (requestId: string) => void;
  /** Called for a request with credentials for its whole connection (G18). */
  readonly onConnectionCredentials: () => void;
}

/** Returns true if a call of some operation may be forwarded by the routes. */
export function leadsToLegacy({ rules }: Routing, operations: readonly { readonly name: string }[]): boolean {
  return operations.some(({ name }) => {
    const own = rules.filter((rule) => isOf(rule, name));
    const last = own.findIndex(isUnconditional);
    const reached = last === -1 ? own : own.slice(0, last + 1);
    return last === -1 || reached.some(({ mode }) => mode !== 'new');
  });
}

/**
 * Compiles the function that tells for which operations the caller must be read from the payload: a rule, the override
 * header or `identity` uses the caller, and credentials are in declared header blocks (A8).
 *
 * @param mayRefuse returns true for a deprecated operation whose callers may be exempt
 */
export function compileReadsCaller(
  { credentials }: Contract,
  { rules, override }: Routing,
  identity: 'caller' | string | undefined,
  mayRefuse: (operation: string) => boolean,
): Place['readsCaller'] {
  if (movedHeadersOf(credentials).length === 0) return () => false;
  const isAlways = override !== undefined || identity === 'caller';
  const using = rules.filter(
    ({ when: { callers, percent } }) =>
      callers !== undefined || (percent !== undefined && percent.by === undefined),
  );
  return (operation) => isAlways || mayRefuse(operation) || using.some((rule) => isOf(rule, operation));
}

/** Paths of a contract's ports at the gateway and at the legacy service. */
export interface PortPaths {
  readonly isBelowPort: Place['isBelowPort'];
  readonly targetOf: Place['targetOf'];
}

/**
 * Returns the paths of the ports (G2).
 *
 * @param legacyPath path of the legacy URL; `''` if the ports have the paths
 * @param addressOf path of a port's `soap:address` by the port's name
 */
export function portPaths(
  { basePath, ports }: Contract,
  legacyPath: string,
  addressOf: (port: Port) => string,
): PortPaths {
  const all = ports.map((port) => ({
    own: (basePath + port.path).toLowerCase(),
    endpoint: port.path,
    legacy: legacyPath === '' ? encodeTarget(addressOf(port)) : legacyPath,
  }));
  const [first] = all;
  all.sort((a, b) => b.own.length - a.own.length);
  const of = (path: string) => {
    const lower = path.toLowerCase();
    return all.find(
      ({ own }) => lower === own || (lower.startsWith(own) && /^[/;]/.test(lower.slice(own.length))),
    );
  };
  return {
    isBelowPort: (path) => !hasDots(path) && of(plainPath(path)) !== undefined,
    targetOf: ({ url = '' }, endpoint) => {
      const { path, query } = targetOf(url);
      if (hasDots(path)) throw new CallError('NotFound');
      const suffix = query === '' && !url.includes('?') ? '' : `?${query}`;
      const port = of(path) ?? of(plainPath(path));
      if (port !== undefined && of(path) !== undefined)
        return port.legacy + path.slice(port.own.length) + suffix;
      const named = port ?? all.find((one) => one.endpoint === endpoint) ?? first;
      return `${named?.legacy ?? '/'}${suffix}`;
    },
  };
}

/** Data for the headers of forwarded requests. */
export interface HeaderParts {
  readonly legacy: LegacyService;
  /** Headers of the gateway's own credentials, by name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tokens: Tokens | undefined;
  readonly identity: { readonly header: string; readonly of: IdentityOf } | undefined;
  readonly clientCertificate: ClientCertificateOptions | undefined;
  readonly override: Override | undefined;
  readonly isProxy: (address: string) => boolean;
}

/** Compiles the function that returns the headers of forwarded requests (G16). */
export function compileHeaders(parts: HeaderParts): Place['headersOf'] {
  const { legacy, headers, tokens, identity, clientCertificate, override, isProxy } = parts;
  const filter = requestFilter(
    [
      override?.header ?? 'x-soapbridge-route',
      clientCertificate?.header,
      clientCertificate?.sentIn,
      clientCertificate?.verifiedBy,
      identity?.header,
    ].filter((name) => name !== undefined),
  );
  const ofProxy = legacy.proxyAuthorization;
  const own = { ...headers, ...(ofProxy === undefined ? {} : { 'proxy-authorization': ofProxy }) };
  const secrets = Object.values(own).flatMap(withoutScheme);
  const headersWith = (
    context: RequestContext,
    caller: string | undefined,
    trace: Readonly<Record<string, string>>,
    token: string | undefined,
  ): ForwardedHeaders => {
    const { request, requestId } = context;
    const added: Record<string, string> = { ...trace, ...own };
    const value = identity?.of(request, caller);
    if (identity !== undefined && value !== undefined) added[identity.header] = value;
    if (token !== undefined) added.authorization = `Bearer ${token}`;
    const sent = requestHeaders(request, {
      host: legacy.url.host,
      requestId,
      isFromProxy: isProxy(request.socket.remoteAddress ?? ''),
      filter,
      added,
    });
    // services may repeat them in replies, which recordings and findings keep
    const sentSecrets = [...secrets, value, token].filter((secret) => secret !== undefined);
    if (sentSecrets.length > 0) context.ownSecrets = [...new Set([...context.ownSecrets, ...sentSecrets])];
    return { headers: sent, token };
  };
  if (tokens === undefined) return (context, caller, trace) => headersWith(context, caller, trace, undefined);
  return async (context, caller, trace) =>
    headersWith(context, caller, trace, await tokenOf(tokens, context, legacy));
}

/** Returns a header value, and the part after its scheme, such as `Basic`. */
function withoutScheme(value: string): readonly string[] {
  const space = value.indexOf(' ');
  return space === -1 ? [value] : [value, value.slice(space + 1)];
}

/** Returns a token of the gateway. Throws CallError UpstreamTokenUnavailable or UpstreamTimeout. */
async function tokenOf(
  tokens: Tokens,
  { deadline, started, stats }: RequestContext,
  { limits }: LegacyService,
): Promise<string> {
  const { refusalOf, TokenError } = await import('../upstream/token-error.ts');
  try {
    const latest = Math.min(deadline, started + limits.totalMs);
    return await withinDeadline(tokens.take(undefined), latest, 'UpstreamTimeout');
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    noteFailure(stats, { cause: 'token', reason: error.message }, 0);
    throw refusalOf(error);
  }
}

/** Returns true for a query that names the WSDL or a schema. */
export function asksForWsdl(words: URLSearchParams): boolean {
  for (const word of words.keys()) if (/^(?:wsdl|xsd|singlewsdl)$/i.test(word)) return true;
  return false;
}

import type { IncomingMessage } from 'node:http';
import { usualForm } from '../http/forwarded.ts';
import type { RequestContext } from '../http/request-context.ts';
import { isTls } from '../node-http.ts';

// HTTP headers of forwarded messages (G16).

/** Headers of a forwarded request. */
export interface ForwardedHeaders {
  /** Alternating names and values. */
  readonly headers: readonly string[];
  /** The gateway's token in the headers; undefined for none. */
  readonly token: string | undefined;
}

/** Returns the headers of a forwarded request. Throws CallError without a token before the deadline. */
export type HeadersOf = (
  context: RequestContext,
  caller: string | undefined,
  added: Readonly<Record<string, string>>,
) => Promise<ForwardedHeaders>;

/** Headers of one connection, in lower case (RFC 9110, 7.6.1). */
const ofConnection: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers of requests that the gateway replaces, in lower case. */
const replaced: ReadonlySet<string> = new Set([
  'host',
  'expect',
  'x-soapbridge-shadow',
  'x-request-id',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
]);

/**
 * Returns a header name in lower case for comparisons. Servers that pass headers as variables, such as CGI and WSGI, do not
 * distinguish `X-Name` from `X_Name`.
 */
export function headerKey(name: string): string {
  return name.toLowerCase().replace(/[^a-z\d]/g, '-');
}

function isHopByHop(name: string): boolean {
  return ofConnection.has(name) || name.startsWith('proxy-');
}

/** Returns the names that `Connection` headers list, in lower case; undefined for none. */
function namedByConnection(raw: readonly string[]): ReadonlySet<string> | undefined {
  let names: Set<string> | undefined;
  for (let at = 0; at < raw.length; at += 2) {
    if (raw[at]?.toLowerCase() !== 'connection') continue;
    names ??= new Set();
    for (const name of (raw[at + 1] ?? '').toLowerCase().split(',')) names.add(name.trim());
  }
  return names;
}

/** Returns alternating names and values without the headers of a connection and those that `isRemoved` selects. */
function endToEnd(raw: readonly string[], isRemoved: (name: string) => boolean): string[] {
  const named = namedByConnection(raw);
  const kept: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] as string;
    const lower = name.toLowerCase();
    if (isHopByHop(lower) || named?.has(lower) === true || isRemoved(name)) continue;
    kept.push(name, raw[at + 1] as string);
  }
  return kept;
}

/** Returns the headers of a reply for the caller. */
export function replyHeaders(raw: readonly string[]): string[] {
  return endToEnd(raw, () => false);
}

/** Data for the headers of a request. */
export interface RequestHeaderParts {
  readonly host: string;
  readonly requestId: string;
  /** True if the peer is a trusted proxy. The gateway then extends its `X-Forwarded-…` headers. */
  readonly isFromProxy: boolean;
  /** Names of headers that are not forwarded, as `headerKey` returns them. */
  readonly removed: ReadonlySet<string>;
  /** Headers to add, by name. They replace headers of the caller with the same name. */
  readonly added: Readonly<Record<string, string>>;
}

/** Returns the headers of a request to the legacy service. */
export function requestHeaders(request: IncomingMessage, parts: RequestHeaderParts): string[] {
  const { host, requestId, isFromProxy, removed, added } = parts;
  const own = new Set(Object.keys(added).map(headerKey));
  const headers = endToEnd(request.rawHeaders, (name) => {
    const key = headerKey(name);
    return replaced.has(key) || removed.has(key) || own.has(key);
  });
  const peer = usualForm(request.socket.remoteAddress ?? '');
  const before = isFromProxy ? textOf(request, 'x-forwarded-for') : undefined;
  const proto = isFromProxy ? textOf(request, 'x-forwarded-proto') : undefined;
  const forwardedHost = isFromProxy ? textOf(request, 'x-forwarded-host') : undefined;
  headers.push('Host', host, 'X-Request-Id', requestId);
  headers.push('X-Forwarded-For', before === undefined ? peer : `${before}, ${peer}`);
  headers.push('X-Forwarded-Proto', proto ?? (isTls(request.socket) ? 'https' : 'http'));
  const callerHost = forwardedHost ?? request.headers.host;
  if (callerHost !== undefined) headers.push('X-Forwarded-Host', callerHost);
  for (const [name, value] of Object.entries(added)) headers.push(name, value);
  return headers;
}

/**
 * Returns true if headers have credentials that a server applies to the whole connection (G18). Another caller must not
 * use that connection.
 */
export function authenticatesConnection(headers: readonly string[]): boolean {
  for (let at = 0; at < headers.length; at += 2)
    if (headers[at]?.toLowerCase() === 'authorization' && ofWholeConnection.test(headers[at + 1] ?? ''))
      return true;
  return false;
}

const ofWholeConnection = /^(?:ntlm|negotiate)(?:\W|$)/i;

function textOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

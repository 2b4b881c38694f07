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

/**
 * Returns the headers of a forwarded request, or a promise if they have a token. It rejects with CallError without a token
 * before the deadline.
 */
export type HeadersOf = (
  context: RequestContext,
  caller: string | undefined,
  added: Readonly<Record<string, string>>,
) => ForwardedHeaders | Promise<ForwardedHeaders>;

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

/** Maximum number and length of the names whose treatment is kept. Clients repeat the same few names. */
const keptNames = { count: 1_000, characters: 64 } as const;

/** Treatment of a header with a name: it is passed on, left out, or lists headers of its connection. */
type Treatment = 'passed' | 'removed' | 'connection';

/** Selects the headers of a message that are passed on: not those of a connection, and not those that `isRemoved` selects. */
export class HeaderFilter {
  readonly #isRemoved: (name: string) => boolean;
  readonly #known = new Map<string, Treatment>();

  constructor(isRemoved: (name: string) => boolean) {
    this.#isRemoved = isRemoved;
  }

  /** Returns the headers to pass on. Names and values alternate. */
  apply(raw: readonly string[]): string[] {
    const passed: string[] = [];
    let named: Set<string> | undefined;
    for (let at = 0; at < raw.length; at += 2) {
      const name = raw[at] as string;
      const value = raw[at + 1] as string;
      const treatment = this.#known.get(name) ?? this.#treatmentOf(name);
      if (treatment === 'passed') passed.push(name, value);
      else if (treatment === 'connection') named = withNames(named, value);
    }
    return named === undefined ? passed : without(passed, (name) => named.has(name.toLowerCase()));
  }

  #treatmentOf(name: string): Treatment {
    const lower = name.toLowerCase();
    const isRemoved = ofConnection.has(lower) || lower.startsWith('proxy-') || this.#isRemoved(name);
    const found = lower === 'connection' ? lower : isRemoved ? 'removed' : 'passed';
    if (this.#known.size < keptNames.count && name.length <= keptNames.characters)
      this.#known.set(name, found);
    return found;
  }
}

/** Adds the names that a `Connection` header lists, in lower case. */
function withNames(named: Set<string> | undefined, value: string): Set<string> | undefined {
  if (value === 'keep-alive' || value === 'close') return named;
  const names = named ?? new Set();
  for (const name of value.toLowerCase().split(',')) names.add(name.trim());
  return names;
}

/** Returns alternating names and values without those that `isRemoved` selects. */
function without(raw: readonly string[], isRemoved: (name: string) => boolean): string[] {
  return raw.filter((_, at) => !isRemoved(raw[at - (at % 2)] as string));
}

const ofReplies = new HeaderFilter(() => false);

/** Returns the headers of a reply for the caller. */
export function replyHeaders(raw: readonly string[]): string[] {
  return ofReplies.apply(raw);
}

/** Returns alternating names and values without those with a listed key. */
function withoutNames(raw: readonly string[], keys: ReadonlySet<string>): string[] {
  return without(raw, (name) => keys.has(headerKey(name)));
}

/** Data for the headers of a request. */
export interface RequestHeaderParts {
  readonly host: string;
  readonly requestId: string;
  /** True if the peer is a trusted proxy. The gateway then extends its `X-Forwarded-…` headers. */
  readonly isFromProxy: boolean;
  /** Selects the headers of the caller that are forwarded. */
  readonly filter: HeaderFilter;
  /** Headers to add, by name. They replace headers of the caller with the same name. */
  readonly added: Readonly<Record<string, string>>;
}

/**
 * Returns the filter of requests.
 *
 * @param names names of headers that are not forwarded, in addition to those that the gateway replaces
 */
export function requestFilter(names: readonly string[]): HeaderFilter {
  const removed = new Set([...replaced, ...names.map(headerKey)]);
  return new HeaderFilter((name) => removed.has(headerKey(name)));
}

/** Returns the headers of a request to the legacy service. */
export function requestHeaders(request: IncomingMessage, parts: RequestHeaderParts): string[] {
  const { host, requestId, isFromProxy, filter, added } = parts;
  const names = Object.keys(added);
  const passed = filter.apply(request.rawHeaders);
  const headers = names.length === 0 ? passed : withoutNames(passed, new Set(names.map(headerKey)));
  const peer = usualForm(request.socket.remoteAddress ?? '');
  const before = isFromProxy ? textOf(request, 'x-forwarded-for') : undefined;
  const proto = isFromProxy ? textOf(request, 'x-forwarded-proto') : undefined;
  const forwardedHost = isFromProxy ? textOf(request, 'x-forwarded-host') : undefined;
  headers.push('Host', host, 'X-Request-Id', requestId);
  headers.push('X-Forwarded-For', before === undefined ? peer : `${before}, ${peer}`);
  headers.push('X-Forwarded-Proto', proto ?? (isTls(request.socket) ? 'https' : 'http'));
  const callerHost = forwardedHost ?? request.headers.host;
  if (callerHost !== undefined) headers.push('X-Forwarded-Host', callerHost);
  for (const name of names) headers.push(name, added[name] as string);
  return headers;
}

/**
 * Returns true if headers have credentials that a server applies to the whole connection (G18). Another caller must not
 * use that connection.
 */
export function authenticatesConnection(headers: readonly string[]): boolean {
  for (let at = 0; at < headers.length; at += 2)
    if (isAuthorization(headers[at] as string) && ofWholeConnection.test(headers[at + 1] ?? '')) return true;
  return false;
}

function isAuthorization(name: string): boolean {
  return name.length === 13 && name.toLowerCase() === 'authorization';
}

const ofWholeConnection = /^(?:ntlm|negotiate)(?:\W|$)/i;

function textOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

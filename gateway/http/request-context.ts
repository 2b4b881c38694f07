import type { IncomingMessage, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { CompiledOperation } from '../../mappings/compile.ts';
import type { Input } from '../../mappings/http-mapping/call.ts';
import { Permit } from '../admission/permit.ts';
import type { Exchange, Prepared } from '../call/call-service.ts';
import type { HeaderValues, MessageCredentials } from '../call/credentials.ts';
import type { CallError } from '../call/error.ts';
import { readHead } from '../call/head.ts';
import type { Service } from '../protocols/read-request.ts';
import type { SoapAddress } from '../protocols/soap/versions.ts';
import { type RequestRecord, type RequestStats, startStats } from '../telemetry/request-stats.ts';
import type { Arrival } from './body.ts';
import type { CorsHeaders } from './cors.ts';
import type { Documents } from './documents.ts';
import type { Pages } from './pages.ts';
import type { WhenWaiting } from './reply.ts';
import type { ListedService } from './services-page.ts';

/** Parts and settings of an application. */
export interface AppOptions {
  readonly service: Service;
  readonly documents: Documents;
  /** The console pages; undefined if there are none. */
  readonly pages?: Pages | undefined;
  /** Returns true if a Host header names this gateway; undefined if any host is accepted. */
  readonly isOwnHost: ((host: string | undefined) => boolean) | undefined;
  /** Returns the address of the client, for the log. */
  readonly addressOf: (request: IncomingMessage) => string | undefined;
  /**
   * Compares a URL with the public address of a request: it is the same, another one of this gateway, or of another
   * server (X17, X26).
   */
  readonly compareAddress?: (url: string, request: IncomingMessage) => 'same' | 'other path' | 'other server';
  /** False once the process is stopping: /readyz answers 503 and connections close. */
  readonly isReady: () => boolean;
  /** Returns the reason for a 503 of /readyz while the process accepts calls (G54); undefined for none. */
  readonly unreadyReason?: (() => string | undefined) | undefined;
  /** Called for each request of monitoring (health checks and metrics), which repeats often. */
  readonly onProbe: (record: RequestRecord) => void;
  /** Called for a reply that the connection did not accept at once. */
  readonly whenWaiting: WhenWaiting;
  /** Returns the page for /metrics; undefined while the process stops. */
  readonly metrics: () => Promise<string | undefined>;
  /** Returns the contracts that `/` lists; undefined for no list. */
  readonly services: () => readonly ListedService[] | undefined;
  /** Routes calls between the upstream and a legacy service; undefined for a contract without a legacy service. */
  readonly migration?: Migration | undefined;
  /** The deprecated operations; undefined for a contract without any. */
  readonly deprecated?: Deprecated | undefined;
}

/** The deprecated operations of one contract. */
export interface Deprecated {
  /** Returns the headers of all replies of an operation; undefined if it is not deprecated. */
  readonly headersOf: (operation: string | undefined) => Readonly<Record<string, string>> | undefined;
  /** Returns true if calls of an operation are refused at some time, unless their caller is exempt. */
  readonly mayRefuse: (operation: string) => boolean;
  /**
   * Counts a call, and returns the error for its caller if it is refused now.
   *
   * @param given credentials in the message
   */
  readonly refusalOf: (
    context: RequestContext,
    operation: string,
    given: (HeaderValues & Partial<MessageCredentials>) | undefined,
  ) => CallError | undefined;
  /** Adds the dates of deprecations to a served document of an adopted WSDL. */
  readonly document: (bytes: Uint8Array) => Uint8Array;
}

/** Routes the requests of one contract between its upstream and a legacy service. */
export interface Migration {
  /** When replies of the upstream are MTOM packages (G23); undefined for the setting of the contract. */
  readonly packaging: 'never' | 'requested' | 'always' | undefined;
  /**
   * Serves a request at a SOAP endpoint. Returns undefined for a request that the gateway answers itself, such as one
   * for the WSDL.
   */
  readonly serve: (address: SoapAddress, context: RequestContext) => Promise<void> | undefined;
  /** Returns true for a path below that of a port. */
  readonly takesPath: (path: string) => boolean;
  /** Serves a request to such a path. */
  readonly serveBelow: (context: RequestContext) => Promise<void>;
  /** Throws CallError NotMigrated if the upstream does not answer a call that is not SOAP. */
  readonly admit: (context: RequestContext, operation: CompiledOperation, input: Input | Prepared) => void;
}

/**
 * One request from its head to its reply: the immutable request data, the capacity that it holds, and `stats` for the
 * log and the metrics.
 */
export interface RequestContext extends Exchange, Arrival {
  readonly options: AppOptions;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The query string without `?`. */
  readonly query: string;
  /** Deadline of the call, in ms of `performance.now()`. It is extended for a streamed body (W64). */
  deadline: number;
  readonly cors: CorsHeaders | undefined;
  readonly stats: RequestStats;
}

let requests = 0;
const processPart = Math.floor(Math.random() * 36 ** 6).toString(36);

/** Returns the request id that the client sent if it is valid, otherwise a new one. */
function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  if (typeof given === 'string' && /^[\w-]{8,64}$/.test(given)) return given;
  return newRequestId();
}

/** Returns a new request id. */
export function newRequestId(): string {
  requests++;
  return `${processPart}-${requests.toString(36)}`;
}

/** Creates the context of a request. Its time limits start now. */
export function startRequest(
  request: IncomingMessage,
  response: ServerResponse,
  query: string,
  options: AppOptions,
  cors: CorsHeaders | undefined,
): RequestContext {
  const started = performance.now();
  const requestId = requestIdOf(request);
  const stats = startStats(requestId, request.method ?? '', started);
  return {
    options,
    request,
    head: readHead(request),
    response,
    query,
    requestId,
    started,
    deadline: started + options.service.compiled.limits.totalMs,
    cors,
    stats,
    permit: new Permit(options.service.admission, stats),
    index: -1,
    bodyTaken: false,
    reached: false,
    isWritten: false,
    ownSecrets: [],
    passed: undefined,
  };
}

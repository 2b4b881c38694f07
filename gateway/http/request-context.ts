import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CompiledOperation } from '../../mappings/compile.ts';
import type { Exchange, Noted, Service } from '../call/call.ts';
import { CallError } from '../call/error.ts';
import type { WriteOutcome } from '../telemetry/audit.ts';
import { hasBody, hasSmallBody, isAwaited } from './body.ts';
import { endWithCare } from './connections.ts';
import type { CorsHeaders } from './cors.ts';
import type { Documents } from './documents.ts';
import { type Reply, type ReplyContext, sendReply, type WhenWaiting } from './reply.ts';

/** What a request came to, for one line of the log. Never a value that a caller sent. */
export interface RequestRecord {
  readonly requestId: string;
  readonly method: string;
  readonly transport: string;
  readonly operation: string | undefined;
  readonly status: number;
  readonly meant: number | undefined;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly ms: number;
  readonly clientIp: string | undefined;
  readonly caller: string | undefined;
  readonly error: string | undefined;
  readonly fault: string | undefined;
  readonly sent: number;
  readonly upstreamStatus: number;
  readonly upstreamMs: number;
  readonly queueMs: number;
  /** Whether the caller left before its reply. */
  readonly aborted: boolean;
  readonly noted: Noted | undefined;
  readonly written: WriteOutcome | undefined;
}

/** What an application is made of. */
export interface AppOptions {
  readonly service: Service;
  readonly documents: Documents;
  /** Whether a Host header names this gateway; undefined where any does. */
  readonly isOwnHost: ((host: string | undefined) => boolean) | undefined;
  /** False once the process is stopping: /readyz answers 503 and connections close. */
  readonly isReady: () => boolean;
  readonly onRequest: (record: RequestRecord) => void;
  /** The same of those that watch the process, which come again and again. */
  readonly onProbe: (record: RequestRecord) => void;
  /** Told of a reply that the connection didn't take at once. */
  readonly whenWaiting: WhenWaiting;
  /** The page of /metrics; undefined where it can't be had any more. */
  readonly metrics: () => Promise<string | undefined>;
}

/** One request on its way through a contract's endpoints. */
export interface Visit extends Exchange {
  readonly options: AppOptions;
  /** The query string, without its mark. */
  readonly query: string;
  readonly started: number;
  readonly cors: CorsHeaders | undefined;
}

let requests = 0;
const processPart = Math.floor(Math.random() * 36 ** 6).toString(36);

/** The caller's request id where it is one, else one of ours. */
function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  if (typeof given === 'string' && /^[\w-]{8,64}$/.test(given)) return given;
  return newRequestId();
}

/** An id of ours for a request. */
export function newRequestId(): string {
  requests++;
  return `${processPart}-${requests.toString(36)}`;
}

/** A request that has just come; its time runs from here. */
export function startVisit(
  request: IncomingMessage,
  response: ServerResponse,
  query: string,
  options: AppOptions,
  cors: CorsHeaders | undefined,
): Visit {
  const started = performance.now();
  return {
    options,
    query,
    request,
    response,
    requestId: requestIdOf(request),
    started,
    deadline: started + options.service.compiled.limits.totalMs,
    operation: undefined,
    caller: undefined,
    error: undefined,
    fault: undefined,
    bytesIn: 0,
    bodyTaken: false,
    noted: undefined,
    written: undefined,
    place: -1,
    passed: undefined,
    sent: 0,
    reached: false,
    upstreamStatus: 0,
    upstreamMs: 0,
    admitted: false,
    enteredAfter: 0,
    queueMs: 0,
    heldBytes: 0,
    cors,
  };
}

/** What the reply to a visit is written for. */
export function replyContext(
  { options, requestId }: Visit,
  operation: CompiledOperation | undefined,
  header: ReplyContext['header'],
  asXml = false,
): ReplyContext {
  return { compiled: options.service.compiled, operation, requestId, header, asXml };
}

/** The refusal of a verb that its address does not take. */
export function wrongVerb(allow: string): CallError {
  return new CallError('MethodNotAllowed', { message: `expected one of ${allow}`, allow });
}

/** Answers an OPTIONS request: the verbs, and to a browser whether its page may call. */
export function serveOptions(visit: Visit, allow: string): void {
  const { request, response, cors } = visit;
  response.writeHead(204, { ...cors?.(request, allow), Allow: allow }).end();
  tell(visit, 204, 0);
}

/** Sends a reply and tells of the request. */
export function send(visit: Visit, transport: string, reply: Reply): void {
  const { request, response, options, requestId } = visit;
  const aborted = response.destroyed;
  let bytesOut = 0;
  if (!response.headersSent && !aborted) {
    // Of a body that was not read to its end there may be any amount to come. A call that was shed keeps its
    // connection, where Node reads the little that follows away: callers that come back on new ones cost more.
    const shed = reply.status === 503 && !isAwaited(request) && hasSmallBody(request);
    const unread = !request.complete && !visit.bodyTaken && hasBody(request) && !shed;
    // a socket that is closed on bytes nobody read is reset, and the reply is lost with it
    if (unread && !isAwaited(request)) endWithCare(request.socket);
    // from here on its bytes are those of a reply on its way out
    options.service.admission.shrink(visit, 0);
    bytesOut = sendReply(response, reply, requestId, {
      close: unread || !options.isReady(),
      more: visit.cors === undefined ? visit.passed : { ...visit.passed, ...visit.cors(request) },
      whenWaiting: options.whenWaiting,
    });
  }
  // one whose body broke was answered when it did
  const status = aborted && response.statusCode >= 400 ? response.statusCode : reply.status;
  options.onRequest(recordOf(visit, transport, status, bytesOut, reply.xStatus, aborted));
}

/**
 * What a request came to, once it has its reply.
 *
 * @param bytesOut bytes of the reply's body
 * @param meant the status in X-Status
 */
export function recordOf(
  visit: Visit,
  transport: string,
  status: number,
  bytesOut: number,
  meant: number | undefined,
  aborted: boolean,
): RequestRecord {
  const { request } = visit;
  return {
    requestId: visit.requestId,
    method: request.method ?? '',
    transport,
    operation: visit.operation,
    status,
    meant,
    bytesIn: visit.bytesIn,
    bytesOut,
    ms: performance.now() - visit.started,
    clientIp: request.socket.remoteAddress,
    caller: visit.caller,
    error: visit.error,
    fault: visit.fault,
    sent: visit.sent,
    upstreamStatus: visit.upstreamStatus,
    upstreamMs: visit.upstreamMs,
    queueMs: visit.queueMs,
    aborted,
    noted: visit.noted,
    written: visit.written,
  };
}

/** Tells of a request that was answered without a call. */
export function tell(visit: Visit, status: number, bytesOut: number): void {
  visit.options.onRequest(recordOf(visit, 'http', status, bytesOut, undefined, visit.response.destroyed));
}

import { performance } from 'node:perf_hooks';
import { logText, type RequestRecord } from '../telemetry/request-stats.ts';
import { hasBody, hasSmallBody, isAwaited } from './body.ts';
import { paceRefused } from './connections.ts';
import { dropBody, isWaiting, type Reply, sendReply } from './reply.ts';
import type { RequestContext } from './request-context.ts';
import { endWithCare } from './sockets.ts';

/**
 * Closes the connection after the reply if the request body is not read, because the rest may have any size. Node
 * discards a short body, so the connection stays open unless the client asked to close it.
 */
export function closeIfUnread({ request, response }: Pick<RequestContext, 'request' | 'response'>): void {
  if (request.complete || !hasBody(request)) return;
  if (!hasSmallBody(request)) response.shouldKeepAlive = false;
  if (!isAwaited(request)) endWithCare(request.socket);
}

/** Answers an OPTIONS request with the allowed methods and the CORS headers. */
export function serveOptions(context: RequestContext, allow: string): void {
  const { request, response, cors, options, requestId } = context;
  closeIfUnread(context);
  response.writeHead(204, { ...cors?.(request, allow), Allow: allow }).end();
  if (!response.destroyed && isWaiting(response)) options.whenWaiting(response, requestId, 0);
  report(context, 204, 0);
}

/** Sends a reply and logs the request. */
export function send(context: RequestContext, transport: string, reply: Reply): void {
  const { request, response, options, requestId, stats } = context;
  const aborted = response.destroyed;
  let bytesOut = 0;
  if (!response.headersSent && !aborted) {
    // The rest of an incomplete body may have any size, so the connection is closed. A call rejected with 503 keeps its
    // connection if Node can discard its small body, because new connections of retrying clients cost more.
    const shed = reply.status === 503 && !isAwaited(request) && hasSmallBody(request);
    const left = !request.complete && !context.bodyTaken && hasBody(request);
    const unread = left && !shed;
    // closing a socket with unread bytes resets it, and the reply is lost
    if (left && !isAwaited(request)) endWithCare(request.socket);
    if (stats.error === 'Overloaded') paceRefused(request.socket);
    // from now on, the reply's bytes are counted by its transfer
    context.permit.shrink(0);
    bytesOut = sendReply(response, reply, requestId, {
      close: unread || !options.isReady(),
      more: moreHeaders(context),
      whenWaiting: options.whenWaiting,
    });
  } else dropBody(reply.body);
  // a request with a malformed body was answered when the error was found
  const status = aborted && response.statusCode >= 400 ? response.statusCode : reply.status;
  stats.transport = transport;
  stats.meant = reply.xStatus ?? reply.counted;
  finish(context, status, bytesOut, aborted);
  options.service.observer.finished(context);
}

/** Returns the headers of a reply that do not depend on its form. */
function moreHeaders({ passed, cors, request, options, stats }: RequestContext): RequestContext['passed'] {
  const ofDeprecation = options.deprecated?.headersOf(stats.operation);
  if (cors === undefined && ofDeprecation === undefined) return passed;
  return { ...passed, ...ofDeprecation, ...cors?.(request) };
}

/** Completes the stats of a request after its reply was sent or its client disconnected. */
export function finish(
  context: RequestContext,
  status: number,
  bytesOut: number,
  aborted: boolean = context.response.destroyed,
): RequestRecord {
  const { stats, started, request } = context;
  stats.status = status;
  stats.bytesOut = bytesOut;
  stats.endedAt = performance.now();
  stats.ms = stats.endedAt - started;
  stats.clientIp = context.options.addressOf(request);
  stats.aborted = aborted;
  if (stats.operation === undefined || stats.error !== undefined || stats.fault !== undefined) {
    const hasValues = stats.operation !== undefined && stats.transport === 'rest';
    if (!hasValues) stats.path = logText(request.url?.replace(/[?#].*$/s, '') ?? '');
    const agent = request.headers['user-agent'];
    if (agent !== undefined) stats.userAgent = logText(agent);
  }
  return stats;
}

/** Logs a request that was answered without a call. */
export function report(context: RequestContext, status: number, bytesOut: number): void {
  finish(context, status, bytesOut);
  context.options.service.observer.finished(context);
}

import { performance } from 'node:perf_hooks';
import { logText, type RequestRecord } from '../telemetry/request-stats.ts';
import { hasBody, hasSmallBody, isAwaited } from './body.ts';
import { endWithCare } from './connections.ts';
import { dropBody, isWaiting, type Reply, sendReply } from './reply.ts';
import type { RequestContext } from './request-context.ts';

/**
 * Has a connection end behind the reply to a request whose body nobody reads: there may be any amount of it to come. A short one
 * is read away by Node, unless the caller has the connection end.
 */
export function leaveBody({ request, response }: Pick<RequestContext, 'request' | 'response'>): void {
  if (request.complete || !hasBody(request)) return;
  if (!hasSmallBody(request)) response.shouldKeepAlive = false;
  if (!isAwaited(request)) endWithCare(request.socket);
}

/** Answers an OPTIONS request: the verbs, and to a browser whether its page may call. */
export function serveOptions(context: RequestContext, allow: string): void {
  const { request, response, cors, options, requestId } = context;
  leaveBody(context);
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
    // Of a body that was not read to its end there may be any amount to come. A call that was shed keeps its
    // connection, where Node reads the little that follows away: callers that come back on new ones cost more.
    const shed = reply.status === 503 && !isAwaited(request) && hasSmallBody(request);
    const left = !request.complete && !context.bodyTaken && hasBody(request);
    const unread = left && !shed;
    // a socket that is closed on bytes nobody read is reset, and the reply is lost with it
    if (left && !isAwaited(request)) endWithCare(request.socket);
    // from here on its bytes are those of a reply on its way out
    context.permit.shrink(0);
    bytesOut = sendReply(response, reply, requestId, {
      close: unread || !options.isReady(),
      more: context.cors === undefined ? context.passed : { ...context.passed, ...context.cors(request) },
      whenWaiting: options.whenWaiting,
    });
  } else dropBody(reply.body);
  // one whose body broke was answered when it did
  const status = aborted && response.statusCode >= 400 ? response.statusCode : reply.status;
  stats.transport = transport;
  stats.meant = reply.xStatus;
  finish(context, status, bytesOut, aborted);
  options.service.observer.finished(context);
}

/** The stats of a request that has its reply, or that nobody takes one for any more. */
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
  if (stats.operation === undefined) {
    stats.path = logText(request.url?.replace(/[?#].*$/s, '') ?? '');
    const agent = request.headers['user-agent'];
    if (agent !== undefined) stats.userAgent = logText(agent);
  }
  return stats;
}

/** Tells of a request that was answered without a call. */
export function report(context: RequestContext, status: number, bytesOut: number): void {
  finish(context, status, bytesOut);
  context.options.service.observer.finished(context);
}

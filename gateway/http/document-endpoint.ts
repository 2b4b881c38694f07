import { failureFor } from '../call/call.ts';
import { CallError, wrongVerb } from '../call/error.ts';
import { plainReply, replyContext } from '../protocols/reply.ts';
import type { Document } from './documents.ts';
import { navigationHeaders } from './pages.ts';
import { isWaiting, textReply } from './reply.ts';
import type { RequestContext } from './request-context.ts';
import { closeIfUnread, report, send, serveOptions } from './send.ts';

/** Methods of a path that serves only documents, for `Allow`. */
export const pageVerbs = 'GET, HEAD, OPTIONS';

/**
 * Serves a path that has only documents. `unnamed` is the document without a query, for example `page` at the base
 * path.
 */
export function servePage(context: RequestContext, unnamed: string): Promise<void> | void {
  const { method } = context.request;
  if (method === 'GET' || method === 'HEAD') return serveDocument(context, unnamed);
  if (method === 'OPTIONS') serveOptions(context, pageVerbs);
  else {
    const failure = failureFor(context.options.service, context, wrongVerb(pageVerbs));
    const replyTo = replyContext(context, undefined, undefined);
    const reply = plainReply('json', undefined, { kind: 'failure', failure }, replyTo);
    send(context, 'http', { ...reply, allow: pageVerbs });
  }
}

/**
 * Serves the WSDL, a schema, or the metadata page (W2). `unnamed` is the document if the query names none. A WSDL of
 * some operations needs a permit, like a call, if it is not cached. Complete documents need none.
 */
export async function serveDocument(context: RequestContext, unnamed: string): Promise<void> {
  const { options, request, query } = context;
  const words = new URLSearchParams(query);
  const found = options.documents.find(words, unnamed, request);
  if (found.kind !== 'unwritten') {
    sendDocument(context, found);
    return;
  }
  try {
    const permit = found.needsPermit ? context.permit.enter() : undefined;
    if (permit !== undefined) await permit;
    sendDocument(context, await found.write());
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    context.stats.error = error.code;
    send(context, 'http', textReply(error.status, error.message, context.requestId));
  }
}

function sendDocument(context: RequestContext, document: Document): void {
  const { options, request, response } = context;
  if (document.kind === 'missing') {
    send(context, 'http', textReply(404, document.text, context.requestId));
    return;
  }
  closeIfUnread(context);
  const headers: Record<string, string | number> = {
    'Content-Type': document.contentType,
    'Content-Length': document.bytes.length,
    ETag: document.etag,
    'X-Content-Type-Options': 'nosniff',
  };
  const vary = [options.documents.vary, options.pages === undefined ? undefined : navigationHeaders];
  const varies = vary.filter((name) => name !== undefined).join(', ');
  if (varies !== '') headers.Vary = varies;
  if (!options.isReady()) headers.Connection = 'close';
  if (document.kind === 'page')
    headers['Content-Security-Policy'] = "default-src 'none'; style-src 'unsafe-inline'";
  const isUnchanged = isKnown(request.headers['if-none-match'], document.etag);
  if (isUnchanged) {
    delete headers['Content-Length'];
    response.writeHead(304, headers).end();
  } else response.writeHead(200, headers).end(document.bytes);
  if (isWaiting(response)) options.whenWaiting(response, context.requestId, document.bytes);
  const hasBody = !isUnchanged && request.method !== 'HEAD';
  report(context, isUnchanged ? 304 : 200, hasBody ? document.bytes.length : 0);
}

/** Returns true if the client has the current version of the document (RFC 9110 §13.1.2). */
function isKnown(stated: string | undefined, etag: string): boolean {
  if (stated === undefined) return false;
  return stated.split(',').some((tag) => [etag, `W/${etag}`, '*'].includes(tag.trim()));
}

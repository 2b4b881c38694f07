import type { Outcome } from './exchange.ts';
import { contentTypes, plainReply, textReply } from './reply.ts';
import { tellFailure } from './service.ts';
import { replyContext, send, serveOptions, type Visit, wrongVerb } from './visit.ts';

const pageVerbs = 'GET, HEAD, OPTIONS';

/** The base path: the metadata page, and the documents by query. */
export function servePage(visit: Visit): void {
  const { method } = visit.request;
  if (method === 'GET' || method === 'HEAD') serveDocument(visit, false);
  else if (method === 'OPTIONS') serveOptions(visit, pageVerbs);
  else {
    const refusal = wrongVerb(pageVerbs);
    const outcome: Outcome = { kind: 'failure', failure: tellFailure(visit.options.service, visit, refusal) };
    const reply = plainReply('json', undefined, outcome, replyContext(visit, undefined, undefined));
    send(visit, 'http', { ...reply, allow: pageVerbs });
  }
}

/** The WSDL, a schema, or at the base path without a query the metadata page (W2). */
export function serveDocument(visit: Visit, wsdlWithoutQuery: boolean): void {
  const { options, request, response, query } = visit;
  const words = new URLSearchParams(query);
  const document = options.documents.find(words, wsdlWithoutQuery, request);
  if (document.kind === 'missing') {
    send(visit, 'http', textReply(404, document.text, visit.requestId));
    return;
  }
  const headers: Record<string, string | number> = {
    'Content-Type': document.kind === 'page' ? contentTypes.html : contentTypes.wsdl,
    'Content-Length': Buffer.byteLength(document.text),
    'X-Content-Type-Options': 'nosniff',
  };
  if (!options.isReady()) headers.Connection = 'close';
  if (document.kind === 'page')
    headers['Content-Security-Policy'] = "default-src 'none'; style-src 'unsafe-inline'";
  response.writeHead(200, headers).end(document.text);
}

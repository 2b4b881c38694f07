import type { IncomingMessage, ServerResponse } from 'node:http';
import Koa from 'koa';
import Router from 'koa-router';
import { serveCall } from '../protocols/call-endpoint.ts';
import { serveSoap } from '../protocols/soap/endpoint.ts';
import { compileCors } from './cors.ts';
import { servePage } from './document-endpoint.ts';
import { compileEndpoints, type Endpoint } from './endpoints.ts';
import { ambiguityOf } from './framing.ts';
import { textReply } from './reply.ts';
import { type AppOptions, recordOf, send, startVisit, tell, type Visit } from './request-context.ts';

/** Answers one HTTP request; a promise ends with the reply handed over, and never fails. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/**
 * The gateway of one contract as a Koa application: its endpoints first, then the process's own pages. A call at its
 * usual address goes straight to its endpoint, as nothing of Koa's is needed for it (decision 5).
 */
export function createApp(options: AppOptions): Handler {
  const endpoints = compileEndpoints(options.service.compiled);
  const cors = compileCors(options.service.compiled.contract);
  const app = new Koa();
  const serveEndpoint = endpointServer(options, ({ request, response }, error) =>
    app.createContext(request, response).onerror(error as Error),
  );
  app.on('error', (error: unknown) => {
    if (!isGone(error)) options.service.onError(error, '-');
  });
  app.use(async (ctx, next) => {
    const endpoint = endpoints.find(ctx.path) ?? { kind: 'nothing', suffix: undefined };
    const visit = startVisit(ctx.req, ctx.res, ctx.querystring, options, cors);
    if (endpoint.kind === 'nothing') {
      await next(); // under a contract at the root is every path
      if (ctx.status !== 404 || ctx.body !== undefined) {
        tellPage(ctx, visit);
        return;
      }
    }
    ctx.respond = false;
    ctx.res.statusCode = 200; // Koa began with 404, which the log would take for an answer
    await serveEndpoint(endpoint, visit);
  });
  const pages = processPages(options);
  app.use(pages.routes());
  app.use(pages.allowedMethods());
  const serveKoa = app.callback();
  return (request, response) => {
    const ambiguity = ambiguityOf(request);
    if (ambiguity !== undefined) return refuse(request, response, ambiguity);
    const endpoint = request.method === 'POST' ? endpoints.calls.get(request.url ?? '') : undefined;
    if (endpoint === undefined) return serveKoa(request, response);
    return serveEndpoint(endpoint, startVisit(request, response, '', options, cors));
  };

  /** Answers a message that isn't clear, the last one on its connection. */
  function refuse(request: IncomingMessage, response: ServerResponse, ambiguity: string): void {
    response.shouldKeepAlive = false;
    const visit = startVisit(request, response, '', options, undefined);
    send(visit, 'http', textReply(400, ambiguity, visit.requestId));
  }
}

/** Tells of a request for one of the process's own pages, which those that watch it ask for again and again. */
function tellPage({ status, length = 0, method }: Koa.Context, visit: Visit): void {
  const isProbe = method === 'GET' || method === 'HEAD';
  const { onProbe, onRequest } = visit.options;
  const bytesOut = method === 'HEAD' ? 0 : length;
  const record = recordOf(visit, 'http', status, bytesOut, undefined, visit.response.destroyed);
  (isProbe ? onProbe : onRequest)(record);
}

/** Whether the process lives, whether it takes calls, and how it does. */
function processPages({ isReady, metrics }: AppOptions): Router {
  const router = new Router();
  router.use((ctx, next) => {
    ctx.set('Cache-Control', 'no-store'); // true at the moment of asking alone
    ctx.set('X-Content-Type-Options', 'nosniff');
    return next();
  });
  router.get('/healthz', (ctx) => {
    ctx.body = 'ok\n';
  });
  router.get('/readyz', (ctx) => {
    const ready = isReady();
    ctx.status = ready ? 200 : 503;
    ctx.body = ready ? 'ready\n' : 'stopping\n';
  });
  router.get('/metrics', async (ctx) => {
    const page = await metrics();
    ctx.status = page === undefined ? 503 : 200;
    ctx.type = 'text/plain; version=0.0.4; charset=utf-8';
    ctx.body = page ?? 'stopping\n';
  });
  return router;
}

/**
 * One function that serves an endpoint by its own flow, once the request's headers are known to be few and for us.
 *
 * @param onError told of what no flow has an answer to
 */
function endpointServer(
  { service, isOwnHost }: AppOptions,
  onError: (visit: Visit, error: unknown) => void,
): (endpoint: Endpoint, visit: Visit) => Promise<void> {
  const { limits } = service.compiled;
  return async (endpoint, visit) => {
    try {
      if (visit.request.rawHeaders.length > limits.headerCount * 2) {
        const says = `expected at most ${limits.headerCount} header lines, got more`;
        send(visit, 'http', textReply(431, says, visit.requestId));
      } else if (isOwnHost?.(visit.request.headers.host) === false) {
        send(visit, 'http', textReply(421, 'expected a Host that is served here', visit.requestId));
      } else if (endpoint.kind === 'soap') await serveSoap(endpoint.version, visit);
      else if (endpoint.kind === 'page') await servePage(visit);
      else await serveCall(endpoint, visit);
    } catch (error) {
      const isTold = visit.response.headersSent;
      onError(visit, error);
      if (!isTold) tell(visit, 500, 0);
    } finally {
      service.admission.leave(visit);
    }
  };
}

/** Whether all that is wrong is a caller that left before its reply was out, or went on with what is no HTTP. */
function isGone(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && /^(?:ECONNRESET|EPIPE|HPE_\w+)$/.test(String(error.code))
  );
}

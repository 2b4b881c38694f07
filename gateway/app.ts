import type { IncomingMessage, ServerResponse } from 'node:http';
import Koa, { type Context } from 'koa';
import Router from 'koa-router';
import { serveCall } from './call-endpoint.ts';
import { compileCors } from './cors.ts';
import { servePage } from './document-endpoint.ts';
import { compileEndpoints, type Endpoint } from './endpoints.ts';
import { ambiguityOf } from './framing.ts';
import { textReply } from './reply.ts';
import { serveSoap } from './soap-endpoint.ts';
import { type AppOptions, send, startVisit, type Visit } from './visit.ts';

/** Answers one HTTP request; the promise ends with the reply handed over, and never fails. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * The gateway of one contract as a Koa application: its endpoints first, then the process's own pages. A call at its
 * usual address goes from Koa's context straight to its endpoint, as nothing that Koa does to a reply of its own is
 * needed for the gateway's (decision 5).
 */
export function createApp(options: AppOptions): Handler {
  const endpoints = compileEndpoints(options.service.compiled);
  const serveEndpoint = endpointServer(options);
  const app = new Koa();
  app.on('error', (error: unknown) => {
    if (!isGone(error)) options.service.onError(error, '-');
  });
  app.use(async (ctx, next) => {
    const endpoint = endpoints.find(ctx.path);
    if (endpoint !== undefined && endpoint.kind !== 'nothing') return serveEndpoint(endpoint, ctx);
    await next(); // under a contract at the root is every path
    if (ctx.status !== 404 || ctx.body !== undefined) return;
    await serveEndpoint(endpoint ?? { kind: 'nothing', suffix: undefined }, ctx);
  });
  const pages = processPages(options);
  app.use(pages.routes());
  app.use(pages.allowedMethods());
  const serveKoa = app.callback();
  return (request, response) => {
    const ambiguity = ambiguityOf(request);
    if (ambiguity !== undefined) return refuse(app.createContext(request, response), ambiguity);
    const endpoint = request.method === 'POST' ? endpoints.calls.get(request.url ?? '') : undefined;
    if (endpoint === undefined) return serveKoa(request, response);
    const ctx = app.createContext(request, response);
    return serveEndpoint(endpoint, ctx).catch((error) => ctx.onerror(error));
  };

  /** Answers a message that isn't clear, the last one on its connection. */
  async function refuse(ctx: Context, ambiguity: string): Promise<void> {
    ctx.res.shouldKeepAlive = false;
    const visit = startVisit(ctx, options, undefined);
    send(visit, 'http', textReply(400, ambiguity, visit.requestId));
  }
}

/** Whether the process lives, whether it takes calls, and how it does. */
function processPages({ isReady, metrics }: AppOptions): Router {
  const router = new Router();
  router.use((ctx, next) => {
    ctx.set('Cache-Control', 'no-store'); // true at the moment of asking alone
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

/** One function that serves an endpoint by its own flow, once the request's headers are known to be few and for us. */
function endpointServer(options: AppOptions): (endpoint: Endpoint, ctx: Context) => Promise<void> {
  const { limits, contract } = options.service.compiled;
  const cors = compileCors(contract);
  return async (endpoint, ctx) => {
    const visit = startVisit(ctx, options, cors);
    try {
      if (visit.request.rawHeaders.length > limits.headerCount * 2) {
        const says = `expected at most ${limits.headerCount} header lines, got more`;
        send(visit, 'http', textReply(431, says, visit.requestId));
      } else if (options.isOwnHost?.(visit.request.headers.host) === false) {
        send(visit, 'http', textReply(421, 'expected a Host that is served here', visit.requestId));
      } else if (endpoint.kind === 'soap') await serveSoap(endpoint.version, visit);
      else if (endpoint.kind === 'page') servePage(visit);
      else await serveCall(endpoint, visit);
    } finally {
      leave(visit);
    }
  };
}

/** In bytes: what a connection takes at once, so that a reply made of it is as good as out. */
const atOnce = 64 * 1024;

/** Gives back what the call had; one with much in memory keeps it until its caller took the reply. */
function leave(visit: Visit): void {
  const { response, options } = visit;
  const { admission } = options.service;
  if (visit.heldBytes <= atOnce || response.closed) admission.leave(visit);
  else response.once('close', () => admission.leave(visit));
}

/** Whether all that is wrong is a caller that left before its reply was out, or went on with what is no HTTP. */
function isGone(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && /^(?:ECONNRESET|EPIPE|HPE_\w+)$/.test(String(error.code))
  );
}

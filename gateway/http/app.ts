import type { IncomingMessage, ServerResponse } from 'node:http';
import Koa from 'koa';
import Router from 'koa-router';
import { CallError, wrongVerb } from '../call/error.ts';
import { serveCall } from '../protocols/call-endpoint.ts';
import { refusePath, serveSoap } from '../protocols/soap/endpoint.ts';
import { hasBody, hasOtherExpectation, isAwaited, readWhole } from './body.ts';
import { endWithCare, readWholeBehindReply } from './connections.ts';
import { compileCors } from './cors.ts';
import { pageVerbs, servePage } from './document-endpoint.ts';
import { type Endpoint, Endpoints } from './endpoints.ts';
import { ambiguityOf } from './framing.ts';
import type { Pages } from './pages.ts';
import { isWaiting, type Reply, textReply } from './reply.ts';
import { type AppOptions, type RequestContext, startRequest } from './request-context.ts';
import { finish, leaveBody, report, send } from './send.ts';
import { servicesPage } from './services-page.ts';

// What lives here: HTTP as callers speak it, from a connection to a request context and from a reply to its bytes. What a
// message says is of protocols/, how many calls there is room for of admission/.

/** Answers one HTTP request; a promise ends with the reply handed over, and never fails. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/** What Koa gives to middleware, as far as a gateway needs it. */
export interface MiddlewareContext {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly path: string;
  readonly querystring: string;
  readonly body: unknown;
  status: number;
  /** False: the reply is written here, and not by Koa. */
  respond?: boolean;
  readonly onerror: (error: Error) => void;
}

/** Middleware of Koa. */
export type Middleware = (context: MiddlewareContext, next: () => Promise<unknown>) => Promise<void>;

/**
 * The gateway of one contract as a Koa application: its endpoints first, then the process's own pages. A call at its
 * usual address goes straight to its endpoint, as nothing of Koa's is needed for it (decision 5).
 */
export function createApp(options: AppOptions): Handler {
  const site = compileSite(options);
  const app = createKoa(options);
  app.use(middlewareOf(site, (ctx, context) => reportPage(ctx as Koa.Context, context)));
  const pages = processPages(options);
  app.use(pages.routes());
  app.use(pages.allowedMethods());
  const serveKoa = app.callback();
  const fail = failureOf(app);
  return (request, response) => {
    const ambiguity = ambiguityOf(request);
    if (ambiguity !== undefined) return refuse(request, response, ambiguity, site);
    if (hasOtherExpectation(request)) return refuseExpectation(request, response, site);
    const endpoint = request.method === 'POST' ? site.endpoints.calls.get(request.url ?? '') : undefined;
    if (endpoint === undefined) return serveKoa(request, response);
    return serveEndpoint(endpoint, startRequest(request, response, '', options, site.cors), fail);
  };
}

/**
 * The gateway of one contract as middleware for another Koa application, which answers what is under no path of the
 * contract. What is wrong with the gateway itself goes to that application's 'error' event.
 */
function embeddedMiddleware(site: Site): Middleware {
  const serve = middlewareOf(site, () => {});
  return async (context, next) => {
    const { req, res } = context;
    if (site.endpoints.find(context.path) === undefined) {
      await next();
      return;
    }
    readWholeBehindReply(req.socket);
    refuseReadBody(req);
    const ambiguity = ambiguityOf(req);
    if (ambiguity === undefined) return serve(context, next);
    context.respond = false;
    refuse(req, res, ambiguity, site);
  };
}

/** What answers requests of `node:http`, and of frames with such a `next`; without one, what is not the contract's is 404. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse, next?: () => unknown) => void;

/** The gateway of one contract without a frame. */
function embeddedHandler(site: Site): NodeHandler {
  const fail = failureOf(createKoa(site.options));
  return (request, response, next) => {
    const { path, query } = targetOf(request.url ?? '');
    const found = site.endpoints.find(path);
    const isOurs = found !== undefined && (found.kind !== 'nothing' || site.hasBasePath);
    if (!isOurs && next !== undefined) {
      next();
      return;
    }
    readWholeBehindReply(request.socket);
    refuseReadBody(request);
    const ambiguity = ambiguityOf(request);
    if (ambiguity !== undefined) refuse(request, response, ambiguity, site);
    else {
      const context = startRequest(request, response, query, site.options, site.cors);
      void serveEndpoint(found ?? nothing, context, fail);
    }
  };
}

/** The gateway of one contract for another program. */
export function createEmbedded(options: AppOptions): {
  readonly middleware: Middleware;
  readonly handler: NodeHandler;
} {
  const site = compileSite(options);
  return { middleware: embeddedMiddleware(site), handler: embeddedHandler(site) };
}

/** A request's target as path and query, the latter without its mark; a host before them or a fragment behind them is left out. */
export function targetOf(url: string): { readonly path: string; readonly query: string } {
  const start = url.startsWith('/') ? 0 : /^https?:\/\/[^/?#]*/i.exec(url)?.[0].length;
  const fragment = url.indexOf('#');
  const target = url.slice(start ?? 0, fragment === -1 ? url.length : fragment);
  const mark = target.indexOf('?');
  return mark === -1
    ? { path: target, query: '' }
    : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}

/** Whoever reads a body before the gateway leaves nothing of it. */
function refuseReadBody(request: IncomingMessage): void {
  if (hasBody(request) && request.readableDidRead)
    throw new Error(
      'expected a body that nobody has read, got a read one: the gateway goes before body parsers',
    );
}

const nothing: Endpoint = { kind: 'nothing', suffix: undefined };

/** Answers what no flow has an answer to. */
type Fail = (context: RequestContext, error: unknown) => void;

/** What a contract's paths are served by. */
interface Site {
  readonly options: AppOptions;
  readonly endpoints: Endpoints;
  readonly hasBasePath: boolean;
  readonly cors: ReturnType<typeof compileCors>;
}

function compileSite(options: AppOptions): Site {
  const { compiled } = options.service;
  return {
    options,
    endpoints: new Endpoints(compiled),
    hasBasePath: compiled.contract.basePath !== '',
    cors: compileCors(compiled.contract),
  };
}

/** @param reportPage called for a request that came under the contract's base path and was answered by what comes after */
function middlewareOf(
  { options, endpoints, cors }: Site,
  reportPage: (ctx: MiddlewareContext, context: RequestContext) => void,
): Middleware {
  return async (ctx, next) => {
    const endpoint = endpoints.find(ctx.path) ?? nothing;
    const context = startRequest(ctx.req, ctx.res, ctx.querystring, options, cors);
    if (options.pages?.takes(ctx.req, ctx.path, ctx.querystring) === true) {
      ctx.respond = false;
      await servePages(options.pages, context);
      return;
    }
    if (endpoint.kind === 'nothing') {
      await next(); // under a contract at the root is every path
      if (ctx.status !== 404 || ctx.body !== undefined) {
        reportPage(ctx, context);
        return;
      }
    }
    ctx.respond = false;
    ctx.res.statusCode = 200; // Koa began with 404, which the log would take for an answer
    await serveEndpoint(endpoint, context, (_context, error) => ctx.onerror(error as Error));
  };
}

function createKoa({ service }: AppOptions): Koa {
  const app = new Koa();
  app.on('error', (error: unknown) => {
    if (!isGone(error)) service.onError(error, '-');
  });
  return app;
}

function failureOf(app: Koa): Fail {
  return ({ request, response }, error) => app.createContext(request, response).onerror(error as Error);
}

/** Answers a message that isn't clear, the last one on its connection. */
function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  ambiguity: string,
  { options }: Site,
): void {
  response.shouldKeepAlive = false;
  const context = startRequest(request, response, '', options, undefined);
  send(context, 'http', textReply(400, ambiguity, context.requestId));
}

/** Node itself answers these where nobody listens for them, which is so for programs that embed a gateway. */
function refuseExpectation(request: IncomingMessage, response: ServerResponse, { options }: Site): void {
  const context = startRequest(request, response, '', options, undefined);
  send(context, 'http', textReply(417, 'expected Expect to be 100-continue', context.requestId));
}

/** Tells of a request for one of the process's own pages, which those that watch it ask for again and again. */
function reportPage({ status, length = 0, method }: Koa.Context, context: RequestContext): void {
  const isProbe = method === 'GET' || method === 'HEAD';
  const { onProbe, service } = context.options;
  leaveBody(context);
  context.response.setHeader('X-Request-Id', context.requestId);
  const bytesOut = method === 'HEAD' ? 0 : length;
  const record = finish(context, status, bytesOut);
  if (isProbe) onProbe(record);
  else service.observer.finished(context);
  setImmediate(() => watchReply(context, bytesOut)); // by then Koa has written it
}

/** Has a reply that Koa wrote keep to the limits of replies, where its connection didn't take it at once. */
function watchReply({ response, options, requestId }: RequestContext, bytes: number | Buffer): void {
  const isOnItsWay = !response.destroyed && !response.writableFinished;
  if (isOnItsWay && isWaiting(response)) options.whenWaiting(response, requestId, bytes);
}

/** Whether the process lives, whether it takes calls, and how it does. */
function processPages({ isReady, metrics, services, service }: AppOptions): Router {
  const { basePath } = service.compiled.contract;
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
  router.get('/', async (ctx, next) => {
    const listed = services();
    if (listed === undefined) {
      // relative, because a proxy in front may have a path of its own
      if (basePath !== '' && isNavigation(ctx.req)) ctx.redirect(`.${basePath}`);
      else await next();
      return;
    }
    ctx.type = 'html';
    ctx.set('Content-Security-Policy', "default-src 'none'");
    ctx.body = servicesPage(listed);
  });
  router.get('/metrics', async (ctx) => {
    const page = await metrics();
    ctx.status = page === undefined ? 503 : 200;
    ctx.type = 'text/plain; version=0.0.4; charset=utf-8';
    ctx.body = page ?? 'stopping\n';
  });
  return router;
}

/** Returns true for a GET of a page by a browser. Outside of TLS and localhost browsers send no Sec-Fetch header. */
function isNavigation({ url = '', headers }: IncomingMessage): boolean {
  if (targetOf(url).query !== '') return false;
  return headers['sec-fetch-dest'] === 'document' || /\btext\/html\b/.test(headers.accept ?? '');
}

/** Serves an endpoint by its own flow. Its headers are checked first. */
async function serveEndpoint(endpoint: Endpoint, context: RequestContext, fail: Fail): Promise<void> {
  try {
    const refusal = refusalOf(context);
    if (refusal !== undefined) send(context, 'http', refusal);
    else if (endpoint.kind === 'soap') await serveSoap(endpoint, context);
    else if (takesNoCalls(endpoint) && refusePath(context, noCallAt(endpoint))) return;
    else if (endpoint.kind === 'page') await servePage(context, 'page');
    else if (endpoint.kind === 'document') await servePage(context, endpoint.name);
    else await serveCall(endpoint, context);
  } catch (error) {
    const isAnswered = context.response.headersSent;
    fail(context, error);
    if (!isAnswered) report(context, 500, 0);
  } finally {
    context.permit.leave();
  }
}

function takesNoCalls({ kind }: Endpoint): boolean {
  return kind === 'nothing' || kind === 'page' || kind === 'document';
}

/** The error of a call at a path that takes none. */
function noCallAt({ kind }: Endpoint): CallError {
  return kind === 'nothing' ? new CallError('NotFound') : wrongVerb(pageVerbs);
}

/** The received value is not repeated: it is text of an untrusted client. */
const wrongHost =
  'Host: expected a Host that is served here, such as localhost on a loopback address, got another one; SOAPBRIDGE_ALLOWED_HOSTS or --allowed-hosts lists the names that are served';

/** Header lines of a request. */
export const maxHeaderLines = 100;

/** The answer to a request whose headers are too many or for another host; undefined for any other. */
function refusalOf({ options, request, requestId }: RequestContext): Reply | undefined {
  const { headerCount = maxHeaderLines } = options.service.compiled.limits;
  if (request.rawHeaders.length > headerCount * 2)
    return textReply(431, `expected at most ${headerCount} header lines, got more`, requestId);
  if (options.isOwnHost?.(request.headers.host) === false) return textReply(421, wrongHost, requestId);
  return undefined;
}

/** Answers by a page; what the pages couldn't do they have told. */
async function servePages(pages: Pages, context: RequestContext): Promise<void> {
  const { request, response, requestId } = context;
  const refusal = refusalOf(context);
  if (refusal !== undefined) {
    send(context, 'http', refusal);
    return;
  }
  leaveBody(context); // what pages read is short, mostly
  response.setHeader('X-Request-Id', requestId);
  if (!context.options.isReady()) response.setHeader('Connection', 'close');
  try {
    const sent = await pages.handle(request, response, (most) => readForPage(context, most));
    if (response.destroyed) {
      reportGone(context);
      return;
    }
    watchReply(context, sent);
    report(context, response.statusCode, typeof sent === 'number' ? sent : sent.length);
  } finally {
    context.permit.leave();
  }
}

/** Tells of a visitor who left before the page was out, as of a caller; a body that broke has its own reason. */
function reportGone(context: RequestContext): void {
  const { stats, response } = context;
  if (stats.error !== undefined) {
    report(context, response.statusCode, 0);
    return;
  }
  const { code, status } = new CallError('CallerGone');
  stats.error = code;
  report(context, status, 0);
}

/** The body of a request for a page, by the limits of all bodies. Throws an error that Koa tells the visitor. */
async function readForPage(context: RequestContext, most: number): Promise<Buffer> {
  const { request, response, stats, options } = context;
  const { compiled, admission } = options.service;
  try {
    return await readWhole(context, { bodyLimit: most, compiled, admission });
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    stats.error = error.code;
    response.statusCode = error.status; // for the log, where nobody is there to be told
    // of a body that was not read to its end there may be any amount to come
    if (!request.complete) {
      response.shouldKeepAlive = false;
      if (!isAwaited(request)) endWithCare(request.socket);
    }
    const { status, message, retryAfter, code } = error;
    const headers = retryAfter === undefined ? {} : { 'Retry-After': retryAfter };
    throw Object.assign(new Error(message), { status, code, headers, expose: true });
  }
}

/** Whether all that is wrong is a caller that left before its reply was out, or went on with what is no HTTP. */
export function isGone(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && /^(?:ECONNRESET|EPIPE|HPE_\w+)$/.test(String(error.code))
  );
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import type Koa from 'koa';
import { CallError, wrongVerb } from '../call/error.ts';
import { serveCall } from '../protocols/call-endpoint.ts';
import { refusePath, serveSoap } from '../protocols/soap/endpoint.ts';
import { hasBody, hasOtherExpectation, isAwaited, readWhole } from './body.ts';
import { compileCors } from './cors.ts';
import { pageVerbs, servePage } from './document-endpoint.ts';
import { type Endpoint, Endpoints, targetOf } from './endpoints.ts';
import type { Frame } from './frame.ts';
import { ambiguityOf } from './framing.ts';
import type { Pages } from './pages.ts';
import { isWaiting, type Reply, textReply } from './reply.ts';
import { type AppOptions, type RequestContext, startRequest } from './request-context.ts';
import { closeIfUnread, finish, report, send } from './send.ts';
import { endWithCare, readThroughStream } from './sockets.ts';

// This folder contains HTTP: from a connection to a request context, and from a reply to its bytes. protocols/ reads
// and writes the messages; admission/ limits how many calls run at the same time.

/** Answers one HTTP request. A returned promise resolves when the reply was passed to Node, and never rejects. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/** The members of Koa's context that the gateway uses. */
export interface MiddlewareContext {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly path: string;
  readonly querystring: string;
  readonly body: unknown;
  status: number;
  /** Set to false because the gateway writes the reply instead of Koa. */
  respond?: boolean;
  readonly onerror: (error: Error) => void;
}

/** Middleware of Koa. */
export type Middleware = (context: MiddlewareContext, next: () => Promise<unknown>) => Promise<void>;

/**
 * Returns the gateway of one contract: its endpoints and its console pages, then a Koa application with the process's
 * own pages. Calls do not need Koa (decision 5), so it is loaded for the first request that does.
 */
export function createApp(options: AppOptions): Handler {
  const site = compileSite(options);
  const { endpoints, cors } = site;
  const frameOf = frameOnUse(site);
  const fail = failureOf(frameOf);
  return (request, response) => {
    const ambiguity = ambiguityOf(request);
    if (ambiguity !== undefined) return refuse(request, response, ambiguity, site);
    if (hasOtherExpectation(request)) return refuseExpectation(request, response, site);
    const { url = '' } = request;
    const call = request.method === 'POST' ? endpoints.calls.get(url) : undefined;
    if (call !== undefined)
      return serveEndpoint(call, startRequest(request, response, '', options, cors), fail);
    const { path, query } = targetOf(url);
    if (options.pages?.takes(request, path, query) === true)
      return servePages(options.pages, startRequest(request, response, query, options, cors), fail);
    const endpoint = endpoints.find(path) ?? nothing;
    if (endpoint.kind !== 'nothing' || options.migration?.takesPath(path) === true)
      return serveEndpoint(endpoint, startRequest(request, response, query, options, cors), fail);
    return frameOf().then(({ serve }) => serve(request, response));
  };
}

/** Returns a function that loads Koa and creates the application of the process's own pages at its first call. */
function frameOnUse(site: Site): () => Promise<Frame> {
  let frame: Promise<Frame> | undefined;
  return () => {
    frame ??= import('./frame.ts').then(({ createFrame }) =>
      createFrame(site.options, ownMiddleware(site) as Koa.Middleware),
    );
    return frame;
  };
}

/**
 * Returns the gateway of one contract as middleware for another Koa application. That application answers all paths
 * outside the contract. Internal errors of the gateway are emitted as its 'error' event.
 */
function embeddedMiddleware(site: Site): Middleware {
  const { options, endpoints, cors } = site;
  return async (ctx, next) => {
    const { req, res } = ctx;
    const endpoint = endpoints.find(ctx.path);
    if (endpoint === undefined) {
      await next();
      return;
    }
    readThroughStream(req.socket);
    refuseReadBody(req);
    const ambiguity = ambiguityOf(req);
    if (ambiguity !== undefined) {
      ctx.respond = false;
      refuse(req, res, ambiguity, site);
      return;
    }
    const context = startRequest(req, res, ctx.querystring, options, cors);
    if (endpoint.kind === 'nothing') {
      await next(); // if the contract is at the root, every path is below its base path
      if (isAnswered(ctx)) return;
    }
    await serveInKoa(endpoint, ctx, context);
  };
}

/**
 * Request handler for `node:http` and for frameworks that pass `next`. Without `next`, paths outside the contract get
 * 404.
 */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse, next?: () => unknown) => void;

/** Returns the gateway of one contract as a handler that needs no framework. */
function embeddedHandler(site: Site): NodeHandler {
  const fail = failureOf(frameOnUse(site));
  return (request, response, next) => {
    const { path, query } = targetOf(request.url ?? '');
    const found = site.endpoints.find(path);
    const isOurs = found !== undefined && (found.kind !== 'nothing' || site.hasBasePath);
    if (!isOurs && next !== undefined) {
      next();
      return;
    }
    readThroughStream(request.socket);
    refuseReadBody(request);
    const ambiguity = ambiguityOf(request);
    if (ambiguity !== undefined) refuse(request, response, ambiguity, site);
    else {
      const context = startRequest(request, response, query, site.options, site.cors);
      void serveEndpoint(found ?? nothing, context, fail);
    }
  };
}

/** Returns the gateway of one contract as middleware and as a handler for an embedding program. */
export function createEmbedded(options: AppOptions): {
  readonly middleware: Middleware;
  readonly handler: NodeHandler;
} {
  const site = compileSite(options);
  return { middleware: embeddedMiddleware(site), handler: embeddedHandler(site) };
}

/** Throws an Error if another middleware has read the body, because the gateway can no longer read it. */
function refuseReadBody(request: IncomingMessage): void {
  if (hasBody(request) && request.readableDidRead)
    throw new Error(
      'expected an unread body, got a body that was read before. Add the gateway before body parsers',
    );
}

const nothing: Endpoint = { kind: 'nothing', suffix: undefined };

/** Answers a request after an unexpected error. */
type Fail = (context: RequestContext, error: unknown) => Promise<void> | void;

/** Answers an unexpected error with Koa, which also reports it. */
function failureOf(frameOf: () => Promise<Frame>): Fail {
  return async ({ request, response }, error) => (await frameOf()).fail(request, response, error);
}

/** A contract with its endpoints and CORS headers. */
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

/**
 * Returns middleware for requests that `createApp` found no endpoint and no console page for. The next middleware has the
 * process's own pages.
 */
function ownMiddleware({ options, endpoints, cors }: Site): Middleware {
  return async (ctx, next) => {
    const context = startRequest(ctx.req, ctx.res, ctx.querystring, options, cors);
    await next();
    if (isAnswered(ctx)) reportPage(ctx as Koa.Context, context);
    // the suffix of an unknown path sets the format of its error
    else await serveInKoa(endpoints.find(ctx.path) ?? nothing, ctx, context);
  };
}

/** Returns true if the next middleware has answered. */
function isAnswered({ status, body }: MiddlewareContext): boolean {
  return status !== 404 || body !== undefined;
}

function serveInKoa(endpoint: Endpoint, ctx: MiddlewareContext, context: RequestContext): Promise<void> {
  ctx.respond = false;
  ctx.res.statusCode = 200; // Koa starts with 404, which the log would take for the reply's status
  return serveEndpoint(endpoint, context, (_context, error) => ctx.onerror(error as Error));
}

/**
 * Logs a request for one of the process's own pages. Monitoring requests them often, so they have a listener of their
 * own.
 */
function reportPage({ status, length = 0, method }: Koa.Context, context: RequestContext): void {
  const isProbe = method === 'GET' || method === 'HEAD';
  const { onProbe, service } = context.options;
  closeIfUnread(context);
  context.response.setHeader('X-Request-Id', context.requestId);
  const bytesOut = method === 'HEAD' ? 0 : length;
  const record = finish(context, status, bytesOut);
  if (isProbe) onProbe(record);
  else service.observer.finished(context);
  setImmediate(() => watchReply(context, bytesOut)); // Koa has written the reply by then
}

/** Applies the limits of replies to a reply that Koa wrote, if the connection did not accept it at once. */
function watchReply({ response, options, requestId }: RequestContext, bytes: number | Buffer): void {
  const isOnItsWay = !response.destroyed && !response.writableFinished;
  if (isOnItsWay && isWaiting(response)) options.whenWaiting(response, requestId, bytes);
}

/** Answers an ambiguous message with 400 and closes the connection. */
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

/**
 * Answers an unsupported Expect header with 417. Node does this itself if there is no listener for these requests, as
 * in embedding programs.
 */
function refuseExpectation(request: IncomingMessage, response: ServerResponse, { options }: Site): void {
  const context = startRequest(request, response, '', options, undefined);
  send(
    context,
    'http',
    textReply(417, 'Expect: expected 100-continue, got another value', context.requestId),
  );
}

/** Serves an endpoint after checking the request's headers. */
async function serveEndpoint(endpoint: Endpoint, context: RequestContext, fail: Fail): Promise<void> {
  try {
    const refusal = refusalOf(context);
    if (refusal !== undefined) send(context, 'http', refusal);
    else if (endpoint.kind === 'soap') await serveSoap(endpoint, context);
    else if (endpoint.kind === 'nothing' && context.options.migration?.takesPath(pathOf(context)) === true)
      await context.options.migration.serveBelow(context);
    else if (takesNoCalls(endpoint) && refusePath(context, noCallAt(endpoint))) return;
    else if (endpoint.kind === 'page') await servePage(context, 'page');
    else if (endpoint.kind === 'document') await servePage(context, endpoint.name);
    else await serveCall(endpoint, context);
  } catch (error) {
    const isAnswered = context.response.headersSent;
    await fail(context, error);
    if (!isAnswered) report(context, 500, 0);
  } finally {
    context.permit.release();
  }
}

function pathOf({ request }: RequestContext): string {
  return targetOf(request.url ?? '').path;
}

function takesNoCalls({ kind }: Endpoint): boolean {
  return kind === 'nothing' || kind === 'page' || kind === 'document';
}

/** Returns the error of a call to a path that accepts no calls. */
function noCallAt({ kind }: Endpoint): CallError {
  return kind === 'nothing' ? new CallError('NotFound') : wrongVerb(pageVerbs);
}

/** The received value is not repeated: it is text of an untrusted client. */
const wrongHost =
  'Host: expected an allowed host, such as localhost on a loopback address, got another host. SOAPBRIDGE_ALLOWED_HOSTS or --allowed-hosts sets the allowed names';

/** Maximum number of header lines of a request. */
export const maxHeaderLines = 100;

/** Returns the reply to a request with too many headers or for another host; undefined for other requests. */
function refusalOf({ options, request, requestId }: RequestContext): Reply | undefined {
  const { headerCount = maxHeaderLines } = options.service.compiled.limits;
  if (request.rawHeaders.length > headerCount * 2)
    return textReply(431, `expected at most ${headerCount} header lines, got more lines`, requestId);
  if (options.isOwnHost?.(request.headers.host) === false) return textReply(421, wrongHost, requestId);
  return undefined;
}

/** Answers a request with a console page. The pages report their own errors. */
async function servePages(pages: Pages, context: RequestContext, fail: Fail): Promise<void> {
  const { request, response, requestId } = context;
  const refusal = refusalOf(context);
  if (refusal !== undefined) {
    send(context, 'http', refusal);
    return;
  }
  closeIfUnread(context); // pages read only short bodies
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
  } catch (error) {
    await fail(context, error);
  } finally {
    context.permit.release();
  }
}

/**
 * Logs a client that closed its connection before the page was sent, as CallerGone. An error of the body is logged
 * instead if there was one.
 */
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

/**
 * Reads the body of a request for a page, within the limits of all bodies. Throws an error with a message that Koa
 * sends to the client.
 */
async function readForPage(context: RequestContext, most: number): Promise<Buffer> {
  const { request, response, stats, options } = context;
  const { compiled, admission } = options.service;
  try {
    return await readWhole(context, { bodyLimit: most, compiled, admission });
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    stats.error = error.code;
    response.statusCode = error.status; // for the log, even if the client is gone
    // the rest of an incomplete body may have any size
    if (!request.complete) {
      response.shouldKeepAlive = false;
      if (!isAwaited(request)) endWithCare(request.socket);
    }
    const { status, message, retryAfter, code } = error;
    const headers = retryAfter === undefined ? {} : { 'Retry-After': retryAfter };
    throw Object.assign(new Error(message), { status, code, headers, expose: true });
  }
}

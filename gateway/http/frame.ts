import type { IncomingMessage, ServerResponse } from 'node:http';
import Koa from 'koa';
import Router from 'koa-router';
import { targetOf } from './endpoints.ts';
import type { AppOptions } from './request-context.ts';
import { servicesPage } from './services-page.ts';
import { isGone } from './sockets.ts';

/** A Koa application with the process's own pages. */
export interface Frame {
  readonly serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Reports an unexpected error, and answers the request if it has no reply yet. */
  readonly fail: (request: IncomingMessage, response: ServerResponse, error: unknown) => void;
}

/** @param serveSite middleware for the paths of the contract, which runs before the pages */
export function createFrame(options: AppOptions, serveSite: Koa.Middleware): Frame {
  const app = new Koa();
  app.on('error', (error: unknown) => {
    if (!isGone(error)) options.service.onError(error, '-');
  });
  app.use(serveSite);
  const pages = processPages(options);
  app.use(pages.routes());
  app.use(pages.allowedMethods());
  return {
    serve: app.callback(),
    fail: (request, response, error) => app.createContext(request, response).onerror(error as Error),
  };
}

/** Returns the routes of the process's own pages: liveness, readiness, metrics, and the list of contracts. */
function processPages({ isReady, unreadyReason, metrics, services, service }: AppOptions): Router {
  const { basePath } = service.compiled.contract;
  const router = new Router();
  router.use((ctx, next) => {
    ctx.set('Cache-Control', 'no-store'); // the state is valid only at the time of the request
    ctx.set('X-Content-Type-Options', 'nosniff');
    return next();
  });
  router.get('/healthz', (ctx) => {
    ctx.body = 'ok\n';
  });
  router.get('/readyz', (ctx) => {
    const reason = isReady() ? unreadyReason?.() : 'stopping';
    ctx.status = reason === undefined ? 200 : 503;
    ctx.body = `${reason ?? 'ready'}\n`;
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

import Koa from 'koa';
import Router from 'koa-router';
import { serveCall } from './call-endpoint.ts';
import { compileCors } from './cors.ts';
import { servePage } from './document-endpoint.ts';
import { compileEndpoints, type Endpoint, type FindEndpoint } from './endpoints.ts';
import { textReply } from './reply.ts';
import { serveSoap } from './soap-endpoint.ts';
import { type AppOptions, send, startVisit, type Visit } from './visit.ts';

/** The gateway of one contract as a Koa application: its endpoints first, then the process's own pages. */
export function createApp(options: AppOptions): Koa {
  const app = new Koa();
  const router = new Router();
  router.get('/healthz', (ctx) => {
    ctx.body = 'ok\n';
  });
  router.get('/readyz', (ctx) => {
    const ready = options.isReady();
    ctx.status = ready ? 200 : 503;
    ctx.body = ready ? 'ready\n' : 'stopping\n';
  });
  app.on('error', (error: unknown) => {
    if (!isGone(error)) options.service.onError(error, '-');
  });
  app.use(contractEndpoints(options));
  app.use(router.routes());
  app.use(router.allowedMethods());
  return app;
}

/** The contract's endpoints: path, verb, then the endpoint's own flow (W43). */
function contractEndpoints(options: AppOptions): Koa.Middleware {
  const find: FindEndpoint = compileEndpoints(options.service.compiled);
  const { limits, contract } = options.service.compiled;
  const cors = compileCors(contract);
  return async (ctx, next) => {
    let endpoint = find(ctx.path);
    if (endpoint === undefined) {
      await next();
      if (ctx.status !== 404 || ctx.body !== undefined) return;
      endpoint = { kind: 'nothing', suffix: undefined };
    }
    const visit = startVisit(ctx, options, cors);
    if (visit.request.rawHeaders.length > limits.headerCount * 2) {
      send(
        visit,
        'http',
        textReply(431, `expected at most ${limits.headerCount} header lines, got more`, visit.requestId),
      );
      return;
    }
    await visitEndpoint(endpoint, visit);
  };
}

async function visitEndpoint(endpoint: Endpoint, visit: Visit): Promise<void> {
  if (endpoint.kind === 'soap') await serveSoap(endpoint.version, visit);
  else if (endpoint.kind === 'page') servePage(visit);
  else await serveCall(endpoint, visit);
}

/** Whether all that is wrong is a caller that left before its reply was out. */
function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
}

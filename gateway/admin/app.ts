import Koa, { type Context } from 'koa';
import Router from 'koa-router';
import { hasBody } from '../http/body.ts';
import { ambiguityOf } from '../http/framing.ts';
import type { AdminState } from '../process/admin.ts';
import { Problem, problemType } from './problem.ts';
import type { RequestRates } from './request-rates.ts';
import type { AdminReply, AdminRoute } from './route.ts';
import { type AdminToken, identify } from './tokens.ts';

/** Parts of the admin application. */
export interface AdminAppOptions {
  readonly routes: readonly AdminRoute[];
  readonly state: AdminState;
  readonly tokens: () => readonly AdminToken[];
  /** Returns true if a Host header names this listener. */
  readonly isOwnHost: (host: string) => boolean;
  readonly rates: RequestRates;
  /** Counts a response. */
  readonly onStatus: (status: number) => void;
  readonly onError: (error: unknown) => void;
}

/** Returns the Koa application of the admin listener. */
export function createAdminApp(options: AdminAppOptions): Koa {
  const { routes, state, onError } = options;
  const app = new Koa();
  app.on('error', onError);
  const router = new Router();
  const byName = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));
  for (const [name, { method, path, answer }] of byName) {
    router.register(
      path,
      [method],
      async (context) => {
        const { query, params } = context;
        send(context, await answer({ query, params }, state));
      },
      { name },
    );
  }
  app.use((context, next) => withProblems(context, next, options));
  app.use((context, next) => {
    const atPath = router
      .match(context.path, context.method)
      .path.flatMap(({ name }) => byName.get(name ?? '') ?? []);
    check(context, atPath, options);
    return next();
  });
  app.use(router.routes());
  return app;
}

/** Sends the response of `next`, or the Problem that it throws. */
async function withProblems(
  context: Context,
  next: () => Promise<unknown>,
  { onStatus, onError }: AdminAppOptions,
): Promise<void> {
  context.set('Cache-Control', 'no-store');
  context.set('X-Content-Type-Options', 'nosniff');
  context.set('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
  // No route reads a body, and Node would receive it to its end on a kept connection.
  if (hasBody(context.req)) context.set('Connection', 'close');
  try {
    await next();
  } catch (error) {
    const problem = error instanceof Problem ? error : new Problem(500, 'internal error');
    if (problem !== error) onError(error);
    context.set(problem.headers);
    send(context, { status: problem.status, text: problem.text, type: problemType });
  }
  onStatus(context.status);
}

/** Throws the Problem of a request that no route may answer. */
function check(
  context: Context,
  atPath: readonly AdminRoute[],
  { tokens, isOwnHost, rates }: AdminAppOptions,
): void {
  const { req, method } = context;
  if (!rates.take(req.socket.remoteAddress ?? ''))
    throw new Problem(429, 'too many requests from this network', { 'Retry-After': '1' });
  const ambiguity = ambiguityOf(req);
  if (ambiguity !== undefined) throw new Problem(400, ambiguity, { Connection: 'close' });
  const acceptsAnyHost = atPath.some((route) => route.acceptsAnyHost);
  if (!acceptsAnyHost && !isOwnHost(req.headers.host ?? ''))
    throw new Problem(421, 'Host: expected the address in admin.listen, got another host');
  const isOpen = atPath.some(({ access }) => access === 'open');
  const token = isOpen ? undefined : identify(req, tokens(), Date.now());
  if (token === 'none')
    throw new Problem(401, 'expected a bearer token or a client certificate, got none', {
      'WWW-Authenticate': 'Bearer realm="soapbridge"',
    });
  if (token === 'unknown')
    throw new Problem(
      401,
      'expected a token or certificate of the token file, got an unknown or expired one',
      {
        'WWW-Authenticate': 'Bearer realm="soapbridge", error="invalid_token"',
      },
    );
  if (atPath.length === 0) throw new Problem(404, 'no resource has this path');
  const route = atPath.find((each) => each.method === (method === 'HEAD' ? 'GET' : method));
  if (route === undefined) {
    const allowed = atPath.flatMap((each) => (each.method === 'GET' ? ['GET', 'HEAD'] : [each.method]));
    throw new Problem(405, `expected ${allowed.join(', ')}, got another method`, {
      Allow: allowed.join(', '),
    });
  }
  if (route.access === 'change' && token?.role !== 'change')
    throw new Problem(403, 'expected an entry with role change, got role read');
}

function send(context: Context, reply: AdminReply): void {
  const isJson = 'json' in reply;
  context.status = isJson ? 200 : reply.status;
  context.set('Content-Type', isJson ? 'application/json; charset=utf-8' : reply.type);
  context.body = isJson ? `${JSON.stringify(reply.json)}\n` : reply.text;
}

import type { IncomingMessage } from 'node:http';
import Koa, { type Context } from 'koa';
import Router from 'koa-router';
import { hasBody } from '../http/body.ts';
import { ambiguityOf } from '../http/framing.ts';
import { networkOf } from '../http/networks.ts';
import type { AdminOptions, AdminState } from '../process/admin.ts';
import { describeError } from '../telemetry/log.ts';
import { Audit, recordOf } from './audit.ts';
import { type Actor, Authenticator, type AuthenticatorOptions } from './authenticator.ts';
import { readInput } from './input.ts';
import type { OperatorPages } from './operator-pages.ts';
import { Problem, problemOf, problemType } from './problem.ts';
import type { RequestRates } from './request-rates.ts';
import type { AdminReply, AdminRoute } from './route.ts';

/** Parts of the admin application. */
export interface AdminAppOptions extends AuthenticatorOptions {
  readonly routes: readonly AdminRoute[];
  /** Renders the problems of pages; undefined without pages. */
  readonly pages?: OperatorPages | undefined;
  readonly state: AdminState;
  /** Returns true if a Host header names this listener. */
  readonly isOwnHost: (host: string) => boolean;
  readonly rates: RequestRates;
  /** Rates of the refused requests without credentials that are written to the audit. */
  readonly anonymousRates: RequestRates;
  /** Counts a response. */
  readonly onStatus: (status: number) => void;
  readonly log: AdminOptions['log'];
}

/** Content security policy of all responses. Pages use only scripts and styles of the listener (G70). */
const securityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Returns the Koa application of the admin listener. */
export function createAdminApp(options: AdminAppOptions): Koa {
  const { routes, state, log } = options;
  const app = new Koa();
  app.on('error', (error) => log.error(describeError(error), internalError));
  const authenticator = new Authenticator(options);
  const audit = new Audit(state.store, log);
  const router = new Router();
  const byName = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));
  for (const [name, route] of byName)
    router.register(
      route.path,
      [route.method],
      async (context) => {
        const visit = context.state.visit as Visit;
        send(context, await answer(context, route, visit, { ...options, authenticator, audit }));
      },
      { name },
    );
  app.use((context, next) => withProblems(context, next, options));
  app.use(async (context, next) => {
    const atPath = router
      .match(context.path, context.method)
      .path.flatMap(({ name }) => byName.get(name ?? '') ?? []);
    const { method } = context;
    const route = atPath.find((each) => each.method === (method === 'HEAD' ? 'GET' : method));
    const isUnknown = atPath.length === 0 && !context.path.startsWith('/api/');
    context.state.isPage = isUnknown || (route ?? atPath[0])?.isPage === true;
    context.state.visit = await enter(context, route, atPath, { ...options, authenticator });
    return next();
  });
  app.use(router.routes());
  return app;
}

const internalError = 'internal error of the admin listener';

/** Sends the response of `next`, or the Problem that it throws. */
async function withProblems(
  context: Context,
  next: () => Promise<unknown>,
  { onStatus, log, pages, state }: AdminAppOptions,
): Promise<void> {
  context.set('Cache-Control', 'no-store');
  context.set('X-Content-Type-Options', 'nosniff');
  context.set('Content-Security-Policy', securityPolicy);
  try {
    await next();
  } catch (error) {
    const problem = problemOf(error);
    if (problem.status === 500) log.error(describeError(error), internalError);
    context.set(problem.headers);
    const page = context.state.isPage === true ? pages?.problem(problem, context.url, state) : undefined;
    send(context, page ?? { status: problem.status, text: problem.text, type: problemType });
  }
  // Node would receive an unread body to its end on a kept connection.
  if (hasBody(context.req) && !context.req.readableEnded) context.set('Connection', 'close');
  onStatus(context.status);
}

/** A request that a route may answer. */
interface Visit {
  readonly network: string;
  readonly actor: Actor | undefined;
  /** The refusal of a change, which `answer` throws after it is in the audit. */
  readonly refusal: unknown;
}

/** Throws the Problem of a request that no route answers. */
async function enter(
  { req }: Context,
  route: AdminRoute | undefined,
  atPath: readonly AdminRoute[],
  options: EnterOptions,
): Promise<Visit> {
  const network = networkOf(req.socket.remoteAddress ?? '');
  let actor: Actor | undefined;
  try {
    actor = await clientOf(req, network, route ?? atPath[0], options);
  } catch (refusal) {
    if (route?.action === undefined) throw refusal;
    return { network, actor, refusal };
  }
  if (atPath.length === 0) throw new Problem(404, 'no resource has this path');
  if (route !== undefined) return { network, actor, refusal: undefined };
  const allowed = atPath.flatMap((each) => (each.method === 'GET' ? ['GET', 'HEAD'] : [each.method]));
  const allow = [...new Set(allowed)].join(', ');
  throw new Problem(405, `expected ${allow}, got another method`, { Allow: allow });
}

interface EnterOptions extends AdminAppOptions {
  readonly authenticator: Authenticator;
}

const overRate = 'too many requests from this network';

/** Returns the client of a request; undefined for a route that is open to all. Throws Problem 400, 401, 421 and 429. */
async function clientOf(
  request: IncomingMessage,
  network: string,
  { access, acceptsAnyHost }: Partial<AdminRoute> = {},
  { rates, isOwnHost, authenticator }: EnterOptions,
): Promise<Actor | undefined> {
  if (!rates.take(network)) throw new Problem(429, overRate, { 'Retry-After': '1' });
  const ambiguity = ambiguityOf(request);
  if (ambiguity !== undefined) throw new Problem(400, ambiguity, { Connection: 'close' });
  if (acceptsAnyHost !== true && !isOwnHost(request.headers.host ?? ''))
    throw new Problem(421, 'Host: expected the address in admin.listen or admin.origin, got another host');
  // an orchestrator calls the probes, which show no data, while its network is blocked
  const isProbe = acceptsAnyHost === true && access === 'open';
  const session = isProbe ? undefined : await authenticator.enter(request, network);
  return access === 'open' ? undefined : authenticator.identify(request, network, session);
}

/** Returns the reply of a route. A refused change is in the audit before the Problem is thrown (G72). */
async function answer(
  { req, query, params }: Context,
  route: AdminRoute,
  { network, actor, refusal }: Visit,
  { state, authenticator, audit, anonymousRates }: AnswerOptions,
): Promise<AdminReply> {
  const { action, access, input, method } = route;
  const request = { query, params, body: undefined, actor, network, incoming: req, authenticator, audit };
  let body: unknown;
  try {
    if (refusal !== undefined) throw refusal;
    if (access === 'change' && actor?.role !== 'change')
      throw new Problem(403, 'expected an entry with role change, got role read');
    if (method !== 'GET') authenticator.checkOrigin(req, actor);
    body = input === undefined ? undefined : await readInput(req, input);
    return await route.answer({ ...request, body }, state);
  } catch (error) {
    const { status, message: detail } = problemOf(error);
    if (action !== undefined) {
      const record = { ...recordOf({ ...request, body }, action, status), detail };
      // the block of G69 limits the number of wrong tokens
      const isLimited = actor !== undefined || (status === 401 && req.headers.authorization !== undefined);
      if (isLimited || anonymousRates.take(network)) await audit.writeOrLog(record);
      else if (detail !== overRate) audit.log(record);
    }
    throw error;
  }
}

interface AnswerOptions extends EnterOptions {
  readonly audit: Audit;
}

function send(context: Context, reply: AdminReply): void {
  const { status = 200, headers = {} } = reply;
  const isJson = 'json' in reply;
  context.status = status;
  context.set({ ...headers, 'Content-Type': isJson ? 'application/json; charset=utf-8' : reply.type });
  if (status === 204) context.remove('Content-Type');
  else context.body = isJson ? `${JSON.stringify(reply.json)}\n` : reply.text;
}

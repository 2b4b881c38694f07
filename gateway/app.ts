import type { IncomingMessage, ServerResponse } from 'node:http';
import Koa, { type Context } from 'koa';
import Router from 'koa-router';
import type { CompiledOperation, Frame, RouteValue } from '../mappings/codec/operation.ts';
import { startReading } from '../mappings/codec/problem.ts';
import { hasBody, isAwaited } from './body.ts';
import { type CorsHeaders, compileCors } from './cors.ts';
import type { Documents } from './documents.ts';
import { compileEndpoints, type Endpoint, type FindEndpoint, type RouteMatch } from './endpoints.ts';
import { CallError } from './error.ts';
import type { Outcome } from './exchange.ts';
import { acceptedFormat, type Format, formatNamed, isCallback } from './negotiate.ts';
import {
  contentTypes,
  faultReply,
  frameOf,
  plainReply,
  type Reply,
  type ReplyContext,
  sendReply,
  soapReply,
  textReply,
} from './reply.ts';
import {
  bodyForm,
  type Exchange,
  type Noted,
  readCallBody,
  readSoapCall,
  runCall,
  type Service,
  tellFailure,
} from './service.ts';
import { Fault, replyFrame, type SoapVersion } from './soap.ts';

/** What a request came to, for one line of the log. Never a value that a caller sent. */
export interface RequestRecord {
  readonly requestId: string;
  readonly method: string;
  readonly transport: string;
  readonly operation: string | undefined;
  readonly status: number;
  readonly meant: number | undefined;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly ms: number;
  readonly clientIp: string | undefined;
  readonly noted: Noted | undefined;
}

export interface AppOptions {
  readonly service: Service;
  readonly documents: Documents;
  /** False once the process is stopping: /readyz answers 503 and connections close. */
  readonly isReady: () => boolean;
  readonly onRequest: (record: RequestRecord) => void;
}

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

/** Whether all that is wrong is a caller that left before its reply was out. */
function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
}

/** One request on its way through a contract's endpoints. */
interface Visit extends Exchange {
  readonly ctx: Context;
  readonly options: AppOptions;
  readonly started: number;
  readonly cors: CorsHeaders | undefined;
}

let requests = 0;
const processPart = Math.floor(Math.random() * 36 ** 6).toString(36);

/** The caller's request id where it is one, else one of ours. */
function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  if (typeof given === 'string' && /^[\w-]{8,64}$/.test(given)) return given;
  requests++;
  return `${processPart}-${requests.toString(36)}`;
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
    const { req: request, res: response } = ctx;
    const started = performance.now();
    const visit: Visit = {
      ctx,
      options,
      request,
      response,
      requestId: requestIdOf(request),
      started,
      deadline: started + limits.totalMs,
      operation: undefined,
      bytesIn: 0,
      noted: undefined,
      cors,
    };
    if (request.rawHeaders.length > limits.headerCount * 2) {
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

// --- SOAP endpoints --------------------------------------------------------------------------------

const soapVerbs = 'GET, HEAD, OPTIONS, POST';

async function serveSoap(version: SoapVersion, visit: Visit): Promise<void> {
  const { method } = visit.request;
  if (method === 'POST') {
    const transport = version.format;
    try {
      send(visit, transport, await answerSoap(version, visit));
    } catch (error) {
      // a codec of ours failed on a reply of ours: still in the caller's own protocol
      send(visit, transport, soapRefusal(visit, version, error));
    }
  } else if (method === 'GET' || method === 'HEAD') serveDocument(visit, true);
  else if (method === 'OPTIONS') serveOptions(visit, soapVerbs);
  else send(visit, 'http', textReply(405, `expected ${soapVerbs}`, visit.requestId, soapVerbs));
}

async function answerSoap(version: SoapVersion, visit: Visit): Promise<Reply> {
  const { service } = visit.options;
  let call: Awaited<ReturnType<typeof readSoapCall>>;
  try {
    call = await readSoapCall(service, visit, version);
  } catch (error) {
    return soapRefusal(visit, version, error);
  }
  const frame = replyFrame(call.version, call.operation.operation.name, call.addressing);
  const outcome = await runCall(service, visit, call.operation, call.input, 'xml', frame);
  const context = replyContext(visit, call.operation, call.addressing, asksForXml(visit));
  return soapReply(call.version, outcome, context);
}

/** A SOAP request that no operation could answer: plain text before it was read, a fault after (W44). */
function soapRefusal(visit: Visit, version: SoapVersion, error: unknown): Reply {
  if (error instanceof CallError) return textReply(error.status, error.message, visit.requestId);
  const context = replyContext(visit, undefined, undefined, asksForXml(visit));
  if (error instanceof Fault) return faultReply(error, context);
  visit.options.service.onError(error, visit.requestId);
  return faultReply(new Fault(version, 'receiver', 'internal error', { cause: error }), context);
}

/** A SOAP request that accepts the specification's literal `application/xml` and nothing else gets it (W7). */
function asksForXml({ request }: Visit): boolean {
  return request.headers.accept === 'application/xml';
}

function replyContext(
  { options, requestId }: Visit,
  operation: CompiledOperation | undefined,
  addressing: ReplyContext['addressing'],
  asXml = false,
): ReplyContext {
  return { compiled: options.service.compiled, operation, requestId, addressing, asXml };
}

// --- JSON, XML and REST endpoints ------------------------------------------------------------------

/** What a query string says (W5, W6, W38): names in any case. */
interface Query {
  readonly callbacks: readonly string[];
  readonly formats: readonly string[];
  readonly others: readonly { readonly name: string; readonly value: string }[];
}

const emptyQuery: Query = { callbacks: [], formats: [], others: [] };

function readQuery(text: string, jsonp: boolean): Query {
  if (text === '') return emptyQuery;
  const callbacks: string[] = [];
  const formats: string[] = [];
  const others: { name: string; value: string }[] = [];
  for (const [name, value] of new URLSearchParams(text)) {
    const lower = name.toLowerCase();
    if (lower === 'callback' && jsonp) callbacks.push(value);
    else if (lower === 'format') formats.push(value);
    else if (lower !== '_') others.push({ name, value });
  }
  return { callbacks, formats, others };
}

/** How the reply is to be written: the first that speaks of callback, suffix, format, Accept and the endpoint (W5). */
interface Choice {
  readonly formatFor: (own: Format) => Format;
  readonly callback: string | undefined;
  /** What was wrong with callback or format; told in the format that is left. */
  readonly refusal: CallError | undefined;
}

function choose(query: Query, suffix: Format | undefined, visit: Visit): Choice {
  const { callbacks, formats } = query;
  const [callback] = callbacks;
  const good = callbacks.length === 1 && callback !== undefined && isCallback(callback);
  let refusal: CallError | undefined;
  if (callbacks.length > 0 && !good) refusal = new CallError('InvalidCallback');
  const stated = formats.length === 1 ? formatNamed(formats[0] ?? '') : undefined;
  if (formats.length > 0 && stated === undefined) refusal ??= new CallError('UnsupportedFormat');
  if (good) return { formatFor: () => 'json', callback, refusal };
  if (refusal !== undefined) return { formatFor: (own) => own, callback: undefined, refusal };
  const { accept } = visit.request.headers;
  const fixed = suffix ?? stated;
  const { limits } = visit.options.service.compiled;
  const formatFor = (own: Format): Format =>
    fixed ?? (accept === undefined || accept === '*/*' ? own : (acceptedFormat(accept, own, limits) ?? own));
  return { formatFor, callback: undefined, refusal };
}

/** A generic endpoint or a route once its verb is known. */
interface Target {
  readonly operation: CompiledOperation | undefined;
  readonly match: RouteMatch | undefined;
  /** The body's form where the path says it; undefined where the message does. */
  readonly form: 'json' | 'xml' | undefined;
  readonly refusal: CallError | undefined;
}

const genericVerbs = 'OPTIONS, POST';

async function serveCall(
  endpoint: Exclude<Endpoint, { kind: 'soap' | 'page' }>,
  visit: Visit,
): Promise<void> {
  const { service } = visit.options;
  const query = readQuery(visit.ctx.querystring, service.compiled.contract.settings.jsonp);
  const choice = choose(query, endpoint.suffix, visit);
  const target = findTarget(endpoint, visit.request.method ?? '');
  if (visit.request.method === 'OPTIONS' && target.refusal?.allow !== undefined) {
    serveOptions(visit, target.refusal.allow);
    return;
  }
  visit.operation = target.operation?.operation.name;
  let own: Format = target.form ?? (endpoint.kind === 'nothing' ? 'json' : ownFormat(visit.request));
  let outcome: Outcome;
  try {
    const refusal = target.refusal ?? choice.refusal;
    if (refusal !== undefined || target.operation === undefined) throw refusal ?? new CallError('NotFound');
    outcome = await answerCall(target.operation, target, query, visit, (form) => {
      own = form ?? own;
      return frameOf(choice.formatFor(own));
    });
  } catch (error) {
    outcome = { kind: 'failure', failure: tellFailure(service, visit, error) };
  }
  const allow = target.refusal?.allow;
  const context = replyContext(visit, target.operation, undefined);
  const reply = plainReply(choice.formatFor(own), choice.callback, outcome, context);
  send(visit, target.match === undefined ? own : 'rest', allow === undefined ? reply : { ...reply, allow });
}

/** Own format of a route before its body is read: by its media type, JSON where that says nothing (W5). */
function ownFormat(request: IncomingMessage): Format {
  if (!hasBody(request)) return 'json';
  try {
    return bodyForm(request) ?? 'json';
  } catch (error) {
    if (error instanceof CallError) return 'json'; // told later, in its turn
    throw error;
  }
}

function findTarget(endpoint: Exclude<Endpoint, { kind: 'soap' | 'page' }>, method: string): Target {
  const none = { operation: undefined, match: undefined, form: undefined } as const;
  switch (endpoint.kind) {
    case 'generic':
    case 'unknownOperation': {
      const { form } = endpoint;
      if (method !== 'POST') return { ...none, form, refusal: wrongVerb(genericVerbs) };
      if (endpoint.kind === 'generic')
        return { ...none, form, operation: endpoint.operation, refusal: undefined };
      return { ...none, form, refusal: new CallError('OperationNotFound') };
    }
    case 'routes': {
      const match = endpoint.matches.find(({ route }) => route.method === method);
      if (match !== undefined)
        return { operation: match.operation, match, form: undefined, refusal: undefined };
      const verbs = ['OPTIONS', ...new Set(endpoint.matches.map(({ route }) => route.method))]
        .sort()
        .join(', ');
      return { ...none, refusal: wrongVerb(verbs) };
    }
    case 'nothing':
      return { ...none, refusal: new CallError('NotFound') };
  }
}

function wrongVerb(allow: string): CallError {
  return new CallError('MethodNotAllowed', { message: `expected one of ${allow}`, allow });
}

async function answerCall(
  operation: CompiledOperation,
  { match, form }: Target,
  query: Query,
  visit: Visit,
  frameFor: (form: 'json' | 'xml' | undefined) => Frame | undefined,
): Promise<Outcome> {
  const { service } = visit.options;
  const takesBody = match === undefined || (match.route.method !== 'GET' && match.route.method !== 'DELETE');
  if (!takesBody && hasBody(visit.request)) {
    throw new CallError('MalformedRequest', {
      message: `expected no body with ${match?.route.method}; credentials go in the headers`,
    });
  }
  if (takesBody) {
    const stated = form ?? bodyForm(visit.request);
    const read = await readCallBody(service, visit, operation, stated);
    const frame = frameFor(read.form);
    refuseParameters(query, [], read.input.reading, service);
    return runCall(service, visit, operation, read.input, read.form, frame);
  }
  const reading = startReading(service.compiled.limits.errors);
  const declared = match?.route.query ?? [];
  refuseParameters(query, declared, reading, service);
  const values: RouteValue[] = (match?.parameters ?? []).map(({ field, text }) => ({
    field,
    said: field,
    text,
  }));
  for (const { name, value } of query.others) {
    const field = declared.find((candidate) => candidate.toLowerCase() === name.toLowerCase());
    if (field !== undefined) values.push({ field, said: name, text: value });
  }
  return runCall(
    service,
    visit,
    operation,
    operation.readParameters(values, reading),
    'json',
    frameFor(undefined),
  );
}

/** Query parameters that the route doesn't declare, or that came twice (W38). */
function refuseParameters(
  query: Query,
  declared: readonly string[],
  reading: ReturnType<typeof startReading>,
  service: Service,
): void {
  const ignore = service.compiled.contract.settings.unknownElements === 'ignore';
  const seen = new Set<string>();
  for (const { name } of query.others) {
    const known = declared.find((candidate) => candidate.toLowerCase() === name.toLowerCase());
    const field = name.slice(0, 64);
    if (reading.problems.length >= reading.limit) return;
    if (known === undefined) {
      if (ignore) reading.ignored.push(field);
      else {
        const expected = declared.length === 0 ? 'none is taken here' : `expected ${declared.join(', ')}`;
        reading.problems.push({
          code: 'UnknownParameter',
          field,
          message: `${field}: unknown query parameter, ${expected}`,
        });
      }
    } else if (seen.has(known)) {
      reading.problems.push({
        code: 'DuplicateParameter',
        field,
        message: `${field}: expected it once, got it again`,
      });
    } else seen.add(known);
  }
}

// --- documents -------------------------------------------------------------------------------------

const pageVerbs = 'GET, HEAD, OPTIONS';

function servePage(visit: Visit): void {
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
function serveDocument(visit: Visit, wsdlWithoutQuery: boolean): void {
  const { ctx, options, request } = visit;
  const words = new URLSearchParams(ctx.querystring);
  const document = options.documents.find(words, wsdlWithoutQuery, request);
  if (document === undefined) {
    send(
      visit,
      'http',
      textReply(404, 'no such document; ?wsdl, ?xsd=0 and ?xsd=1 are served here', visit.requestId),
    );
    return;
  }
  ctx.set('Content-Type', document.kind === 'page' ? contentTypes.html : contentTypes.wsdl);
  ctx.set('X-Content-Type-Options', 'nosniff');
  if (!options.isReady()) ctx.set('Connection', 'close');
  if (document.kind === 'page')
    ctx.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'");
  ctx.body = document.text;
}

function serveOptions({ ctx, request, cors }: Visit, allow: string): void {
  ctx.set(cors?.(request, allow) ?? {});
  ctx.status = 204;
  ctx.set('Allow', allow);
}

// --- the way out -----------------------------------------------------------------------------------

/** Sends a reply and tells of the request. Koa's own response step is left out: one write, nothing copied. */
function send(visit: Visit, transport: string, reply: Reply): void {
  const { ctx, request, response, options, requestId, started } = visit;
  ctx.respond = false;
  let bytesOut = 0;
  if (!response.headersSent) {
    // a body that was not read to its end would be taken for the next request
    const unread = !request.complete && hasBody(request);
    const coming = unread && !isAwaited(request);
    bytesOut = sendReply(response, reply, requestId, {
      close: unread || !options.isReady(),
      end: !coming,
      cors: visit.cors?.(request),
    });
    if (coming) endAfterBody(request, response);
  }
  options.onRequest({
    requestId,
    method: request.method ?? '',
    transport,
    operation: visit.operation,
    status: reply.status,
    meant: reply.xStatus,
    bytesIn: visit.bytesIn,
    bytesOut,
    ms: Math.round((performance.now() - started) * 1000) / 1000,
    clientIp: request.socket.remoteAddress,
    noted: visit.noted,
  });
}

/** How long a caller whose body isn't wanted may go on sending it. */
const lingerMs = 1_000;

/**
 * Ends a reply once the rest of the request's body came, or didn't for a while: a socket that is closed on bytes
 * nobody read is reset, and the reply is lost with it.
 */
function endAfterBody(request: IncomingMessage, response: ServerResponse): void {
  const end = (): void => {
    clearTimeout(timer);
    request.off('end', end).off('close', end);
    response.end();
  };
  const timer = setTimeout(end, lingerMs);
  request.on('end', end).on('close', end).resume();
}

import { isUtf8 } from 'node:buffer';
import { isFull, maxReportedProblems, type Reading, startReading } from '../../mappings/codec/problem.ts';
import type { CompiledOperation, Frame, RouteValue } from '../../mappings/compile.ts';
import { failureFor, givenIn, runCall } from '../call/call.ts';
import { CallError, wrongVerb } from '../call/error.ts';
import type { Outcome } from '../call/outcome.ts';
import { countRefused, isMistake } from '../call/refused.ts';
import { hasBody, readBody } from '../http/body.ts';
import type { Endpoint, RouteMatch } from '../http/endpoints.ts';
import { acceptedFormat, type Format, formatNamed, isCallback } from '../http/negotiate.ts';
import type { RequestContext } from '../http/request-context.ts';
import { send, serveOptions } from '../http/send.ts';
import { type BodyForm, bodyForm } from './read-call.ts';
import { admitCall, readBodyHere, readParametersHere, type Service } from './read-request.ts';
import type { QueryFindings } from './read-task.ts';
import { frameOf, plainReply, replyContext } from './reply.ts';

/** Endpoints of calls in JSON or XML: a generic endpoint, a REST route, or an unknown path. */
type CallEndpoint = Exclude<Endpoint, { kind: 'soap' | 'page' | 'document' }>;

const genericVerbs = 'OPTIONS, POST';

/**
 * Serves a call outside the SOAP endpoints. Checks the query, the format, the method and the operation, then makes the
 * call (W43).
 */
export async function serveCall(endpoint: CallEndpoint, context: RequestContext): Promise<void> {
  const { service } = context.options;
  const query = readQuery(context.query, service.compiled.contract.settings.jsonp);
  const choice = choose(query, endpoint.suffix, context);
  const target = findTarget(endpoint, context.request.method ?? '');
  if (context.request.method === 'OPTIONS' && target.refusal?.allow !== undefined) {
    serveOptions(context, target.refusal.allow);
    return;
  }
  context.stats.operation = target.operation?.operation.name;
  let own: Format = target.form ?? (endpoint.kind === 'nothing' ? 'json' : ownFormat(context));
  let outcome: Outcome;
  try {
    const refusal = target.refusal ?? unsignedRefusal(service) ?? choice.refusal;
    if (refusal !== undefined || target.operation === undefined) throw refusal ?? new CallError('NotFound');
    if (choice.callback !== undefined) service.refuseForeignScript?.(context.request);
    outcome = await answerCall(target.operation, target, query, context, (form) => {
      own = form ?? own;
      return frameOf(choice.formatFor(own));
    });
  } catch (error) {
    const refused = { error, isMistake: isMistake(error), operation: context.stats.operation };
    const reported = await countRefused(service, context, refused);
    outcome = { kind: 'failure', failure: failureFor(service, context, reported) };
  }
  const allow = target.refusal?.allow;
  const replyTo = replyContext(context, target.operation, undefined);
  const reply = plainReply(choice.formatFor(own), choice.callback, outcome, replyTo);
  send(context, target.match === undefined ? own : 'rest', allow === undefined ? reply : { ...reply, allow });
}

/** Returns the error of calls that cannot be signed, if the contract requires a signature of every call (X4). */
function unsignedRefusal({ compiled }: Service): CallError | undefined {
  const { wsse } = compiled.contract;
  if (wsse?.x509 === undefined || wsse.x509.require.length === 0) return undefined;
  return new CallError('Unauthorized', {
    detail: 'this contract requires signed messages, so only its SOAP endpoints accept calls',
  });
}

/** Content of a query string (W5, W6, W38). Parameter names match in any case. */
interface Query {
  readonly callbacks: readonly string[];
  readonly formats: readonly string[];
  /** A value is undefined if its escapes are not valid UTF-8. */
  readonly others: readonly { readonly name: string; readonly value: string | undefined }[];
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
  // URLSearchParams replaces invalid bytes by U+FFFD
  const isText = ({ value }: { readonly value: string }): boolean => !value.includes('\ufffd');
  if (others.every(isText) || isUtf8Escaped(text)) return { callbacks, formats, others };
  const known = others.map((each) => (isText(each) ? each : { name: each.name, value: undefined }));
  return { callbacks, formats, others: known };
}

function isUtf8Escaped(query: string): boolean {
  const bytes = query.replace(/%([\da-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return isUtf8(Buffer.from(bytes, 'latin1'));
}

/**
 * The format of the reply. The first that is given decides: callback, suffix, format parameter, Accept, endpoint (W5).
 */
interface Choice {
  readonly formatFor: (own: Format) => Format;
  readonly callback: string | undefined;
  /** The error of an invalid callback or format. It is sent in the next applicable format. */
  readonly refusal: CallError | undefined;
}

function choose(query: Query, suffix: Format | undefined, context: RequestContext): Choice {
  const { callbacks, formats } = query;
  const [callback] = callbacks;
  const good = callbacks.length === 1 && callback !== undefined && isCallback(callback);
  let refusal: CallError | undefined;
  if (callbacks.length > 0 && !good) refusal = new CallError('InvalidCallback');
  const stated = formats.length === 1 ? formatNamed(formats[0] ?? '') : undefined;
  if (formats.length > 0 && stated === undefined) refusal ??= new CallError('UnsupportedFormat');
  if (good) return { formatFor: () => 'json', callback, refusal };
  if (refusal !== undefined) return { formatFor: (own) => own, callback: undefined, refusal };
  const { accept } = context.head.headers;
  const fixed = suffix ?? stated;
  const { limits } = context.options.service.compiled;
  const formatFor = (own: Format): Format =>
    fixed ?? (accept === undefined || accept === '*/*' ? own : (acceptedFormat(accept, own, limits) ?? own));
  return { formatFor, callback: undefined, refusal };
}

/** The target of a request: a generic endpoint or a route for its method. */
interface Target {
  readonly operation: CompiledOperation | undefined;
  readonly match: RouteMatch | undefined;
  /** The format of the body if the path determines it; undefined if the message does. */
  readonly form: BodyForm | undefined;
  readonly refusal: CallError | undefined;
}

function findTarget(endpoint: CallEndpoint, method: string): Target {
  const none = { operation: undefined, match: undefined, form: undefined, refusal: undefined } as const;
  switch (endpoint.kind) {
    case 'generic':
    case 'unknownOperation': {
      const { form } = endpoint;
      if (method !== 'POST') return { ...none, form, refusal: wrongVerb(genericVerbs) };
      if (endpoint.kind === 'generic') return { ...none, form, operation: endpoint.operation };
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

/** Returns the default reply format of a route before the body is read, from the media type, otherwise JSON (W5). */
function ownFormat({ request, head }: Pick<RequestContext, 'request' | 'head'>): Format {
  if (!hasBody(request)) return 'json';
  try {
    return bodyForm(head) ?? 'json';
  } catch (error) {
    if (error instanceof CallError) return 'json'; // reported later, when the body is read
    throw error;
  }
}

async function answerCall(
  operation: CompiledOperation,
  { match, form }: Target,
  query: Query,
  context: RequestContext,
  frameFor: (form: BodyForm | undefined) => Frame | undefined,
): Promise<Outcome> {
  const { service } = context.options;
  const takesBody = match === undefined || (match.route.method !== 'GET' && match.route.method !== 'DELETE');
  if (!takesBody && hasBody(context.request)) {
    throw new CallError('MalformedRequest', {
      expected: `no body with ${match?.route.method}`,
      detail: 'credentials go in the headers',
    });
  }
  if (takesBody) {
    const stated = form ?? bodyForm(context.head);
    admitCall(service, context);
    await undefined; // in the next microtask, Node's parser has passed on the bytes that arrived with the head
    const body = readBody(context, service);
    const bytes = Buffer.isBuffer(body) ? body : await body;
    const read = readBodyHere(service, context, operation, bytes, stated);
    if (read === undefined) {
      const found = findingsOf(query, [], service);
      const prepared = await service.readInWorker.body(context, operation, bytes, stated, found);
      return await call(service, context, operation, prepared.input, prepared.form, frameFor(prepared.form));
    }
    const { input, form: spelling } = read;
    const frame = frameFor(spelling);
    refuseParameters(query, [], input.reading, service);
    return await call(service, context, operation, input, spelling, frame);
  }
  // a page can make a browser send a GET with the address of an image, but not a DELETE
  if (match?.route.method === 'GET' && !operation.operation.readOnly)
    service.refuseForeign?.(context.request, '');
  const admitted = context.permit.enter();
  if (admitted !== undefined) await admitted;
  const reading = startReading(service.compiled.limits.errors ?? maxReportedProblems, service.mostSteps);
  const declared = match?.route.query ?? [];
  refuseParameters(query, declared, reading, service);
  const values: RouteValue[] = (match?.parameters ?? []).map(({ field, text }) => ({
    field,
    shownName: field,
    text,
  }));
  for (const { name, value } of query.others) {
    const field = declared.find((candidate) => candidate.toLowerCase() === name.toLowerCase());
    if (field !== undefined) values.push({ field, shownName: name, text: value });
  }
  const input =
    readParametersHere(operation, values, reading) ??
    (await service.readInWorker.parameters(context, operation, values, findingsOf(query, declared, service)));
  return await call(service, context, operation, input, 'json', frameFor(undefined));
}

/** Makes a call, unless a legacy service answers its operation. Throws CallError NotMigrated, Gone, Brownout. */
function call(service: Service, context: RequestContext, ...rest: CallArguments): Promise<Outcome> {
  const [operation, input] = rest;
  const refusal = context.options.deprecated?.refusalOf(
    context,
    operation.operation.name,
    givenIn(operation, input),
  );
  if (refusal !== undefined) throw refusal;
  context.options.migration?.admit(context, operation, input);
  return runCall(service, context, ...rest);
}

type CallArguments = [
  operation: CompiledOperation,
  input: Parameters<typeof runCall>[3],
  spelling: Parameters<typeof runCall>[4],
  frame: Frame | undefined,
];

/** Returns the errors in the query of a request that is read in a worker thread. */
function findingsOf(query: Query, declared: readonly string[], service: Service): QueryFindings {
  const reading = startReading(service.compiled.limits.errors ?? maxReportedProblems);
  refuseParameters(query, declared, reading, service);
  return { problems: reading.problems, ignored: reading.ignored };
}

/** Reports query parameters that the route does not declare, or that are repeated (W38). */
function refuseParameters(
  query: Query,
  declared: readonly string[],
  reading: Reading,
  service: Service,
): void {
  const ignore = service.compiled.contract.settings.unknownElements === 'ignore';
  const seen = new Set<string>();
  for (const { name } of query.others) {
    const known = declared.find((candidate) => candidate.toLowerCase() === name.toLowerCase());
    const path = name.slice(0, 64);
    if (isFull(reading)) return;
    if (known === undefined) {
      if (ignore) reading.ignored.push(path);
      else {
        const detail = `unknown query parameter, ${declared.length === 0 ? 'no parameter is supported' : `expected ${declared.join(', ')}`}`;
        reading.problems.push({ code: 'UnknownParameter', path, detail });
      }
    } else if (seen.has(known)) {
      reading.problems.push({
        code: 'DuplicateParameter',
        path,
        expected: 'the parameter once',
        got: 'the parameter again',
      });
    } else seen.add(known);
  }
}

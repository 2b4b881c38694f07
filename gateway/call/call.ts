import { Buffer } from 'node:buffer';
import { FilledBody } from '../../mappings/codec/filled-body.ts';
import type { Hide } from '../../mappings/codec/scalars/text.ts';
import { StreamedFile } from '../../mappings/codec/streamed-file.ts';
import type { CompiledOperation, Frame } from '../../mappings/compile.ts';
import type { Input, UpstreamRequest } from '../../mappings/http-mapping/call.ts';
import { smallBytes } from '../admission/admission.ts';
import { mistakesOf } from '../telemetry/mistakes.ts';
import { noteFailure, type WriteOutcome } from '../telemetry/request-stats.ts';
import { dropPiece } from '../upstream/collector.ts';
import { withinDeadline } from '../upstream/deadlines.ts';
import type { UpstreamReply } from '../upstream/upstream.ts';
import type { CallService, Exchange, Prepared } from './call-service.ts';
import type { FoundCredentials, HeaderValues, MessageCredentials, Spelling } from './credentials.ts';
import { CallError, type Failure, failureOf } from './error.ts';
import { hideCredentials, hideGiven, secrets } from './hidden-credentials.ts';
import { readLargeReply, refuseLarge } from './large-reply.ts';
import { keepOnce, refuseUsed } from './nonces.ts';
import { noted, type Outcome, readReply } from './outcome.ts';
import { countRefused, isMistake } from './refused.ts';
import { requestOf } from './request.ts';

// One call of any protocol, from its inputs to its outcome. Sockets, markup and paths belong to http/ and protocols/.
// This folder does not import them.

/** Returns the credentials in a message, before they are checked. */
export function givenIn(
  operation: CompiledOperation,
  input: Input | Prepared,
  header?: HeaderValues,
): MessageCredentials {
  return 'given' in input ? input.given : { body: operation.credentialsOf(input), ...header };
}

/**
 * Runs a call from its inputs to its outcome: members, credentials, required members, upstream, reply (W43). Never
 * throws: each error becomes the outcome's failure.
 *
 * @param input input of the operation, or the result of reading it in a worker thread
 * @param frame frame of the reply; undefined for a caller of JSON
 * @param header credentials of the SOAP header
 */
export async function runCall(
  service: CallService,
  exchange: Exchange,
  operation: CompiledOperation,
  input: Input | Prepared,
  spelling: Spelling,
  frame: Frame | undefined,
  header?: HeaderValues,
): Promise<Outcome> {
  const { reading } = input;
  exchange.stats.isReadTwice = reading.isReadTwice;
  exchange.stats.isReordered = reading.isReordered;
  const credentials = new CallCredentials(service, exchange, givenIn(operation, input, header));
  let release: (() => void) | undefined;
  let isCounted = false;
  let request: UpstreamRequest | undefined;
  const isLarge = 'given' in input || exchange.permit.heldBytes > smallBytes;
  try {
    request =
      'given' in input
        ? requestOfPrepared(service, exchange, operation, input, credentials)
        : requestOfInput(service, exchange, operation, input, spelling, credentials);
    if (isLarge) exchange.permit.require(sentBytes(request));
    isCounted = true;
    const { values } = credentials;
    if (service.callerLimits !== undefined) release = await enterLimits(service, exchange, operation, values);
    const kept = values === undefined ? undefined : keepOnce(service.nonces, values);
    if (kept instanceof Promise) await kept; // awaiting a non-promise costs a microtask
    if (exchange.response.destroyed) throw new CallError('CallerGone');
    const { readOnly, timeoutMs } = request.operation;
    if (!readOnly) refuseLarge(service, request);
    if (timeoutMs !== undefined) exchange.deadline = performance.now() + timeoutMs;
    const reply = await callObserved(service, exchange, request);
    const { replyHeaders } = service.compiled.contract.settings;
    exchange.passed = passedOn(exchange.passed, reply.headers, replyHeaders);
    const { hide } = credentials;
    const outcome =
      reply.body.length > smallBytes
        ? await readLargeReply(service, exchange, operation, reply, { frame, values, hide })
        : readSmallReply(service, exchange, operation, reply, frame, credentials);
    exchange.stats.noted = noted(reading, outcome);
    if (outcome.kind === 'failure') exchange.stats.error = outcome.failure.errorCode;
    return outcome;
  } catch (error) {
    const { name } = operation.operation;
    const refused = { error, isMistake: isMistake(error), operation: name, given: credentials.given };
    const reported = isCounted ? error : await countRefused(service, exchange, refused);
    return { kind: 'failure', failure: failureFor(service, exchange, reported, credentials.hide) };
  } finally {
    release?.();
    if (exchange.isWritten || !exchange.reached) dropBody(request); // otherwise the operating system may still read it
  }
}

/** Builds the upstream request of inputs that were read here. Throws CallError. */
function requestOfInput(
  service: CallService,
  exchange: Exchange,
  operation: CompiledOperation,
  input: Input,
  spelling: Spelling,
  credentials: CallCredentials,
): UpstreamRequest {
  const { observer, shown } = service;
  const { head, permit } = exchange;
  const { given } = credentials;
  if (shown !== undefined) observer.read(exchange, operation, shown.request(head, operation, input, given));
  const request = requestOf(service, head, operation, input, given, spelling, credentials.use);
  if (permit.heldBytes <= smallBytes) return request;
  credentials.detach();
  return withoutMessage(input, request);
}

/** Continues a call that was read in a worker thread. Throws CallError. */
function requestOfPrepared(
  { observer }: CallService,
  exchange: Exchange,
  operation: CompiledOperation,
  { shown, values, request }: Prepared,
  credentials: CallCredentials,
): UpstreamRequest {
  if (shown !== undefined) observer.read(exchange, operation, shown);
  credentials.use(values);
  if (request instanceof CallError) throw request;
  exchange.permit.shrink(0); // the worker thread now holds the body's memory
  return request;
}

function readSmallReply(
  { compiled, observer, shown }: CallService,
  exchange: Exchange,
  operation: CompiledOperation,
  reply: UpstreamReply,
  frame: Frame | undefined,
  { values, hide }: CallCredentials,
): Outcome {
  const outcome = readReply(reply, compiled, operation, hide, frame);
  if (outcome.kind === 'reply' && shown !== undefined)
    observer.replied(exchange, operation, shown.reply(operation, outcome.json, values, exchange.ownSecrets));
  return outcome;
}

/** Releases the memory of a large body that was built for the upstream request. */
function dropBody(request: UpstreamRequest | undefined): void {
  if (request?.ownsBody === true && Buffer.isBuffer(request.body)) dropPiece(request.body);
}

/**
 * Counts a call against its caller's limits. Returns a function to call when the call ends. A replayed digest is not
 * counted, because anyone may have sent it. Throws CallError TooManyRequests, FailedAuthentication.
 */
async function enterLimits(
  { callerLimits, limitKeyOf, nonces }: CallService,
  exchange: Exchange,
  { operation }: CompiledOperation,
  values: FoundCredentials | undefined,
): Promise<(() => void) | undefined> {
  await refuseUsed(nonces, values);
  return callerLimits?.enter({
    key: limitKeyOf(values, exchange),
    caller: exchange.stats.caller,
    operation: operation.name,
    setHeaders: (headers) => {
      exchange.passed = headers;
    },
  });
}

/** Makes the upstream call and reports it to the observer. Throws CallError. */
async function callObserved(
  { observer, upstream }: CallService,
  exchange: Exchange,
  request: UpstreamRequest,
): Promise<UpstreamReply> {
  const headers = observer.sending(exchange, request);
  const sent = headers === undefined ? request : { ...request, headers: { ...request.headers, ...headers } };
  let outcome: WriteOutcome | undefined;
  try {
    const reply = await upstream.call(sent, exchange);
    exchange.onUpstreamReply?.(reply);
    if (request.body instanceof StreamedFile && reply.status < 300) {
      outcome = 'unknown';
      // only a complete message is a success (W64)
      await withinDeadline(request.body.readToEnd(), exchange.deadline, 'RequestTimeout');
    }
    outcome = exchange.reached ? 'answered' : 'unsent'; // a mapping can answer without an upstream call
    return reply;
  } finally {
    outcome ??= exchange.isAnswered === true ? 'answered' : exchange.reached ? 'unknown' : 'unsent';
    observer.settled(exchange, request, outcome);
  }
}

/**
 * Releases all memory of a large request except the upstream request. A substring keeps its whole source text in
 * memory, so texts are copied.
 */
function withoutMessage(input: Input, request: UpstreamRequest): UpstreamRequest {
  const { reading } = input;
  const ignored = structuredClone(reading.ignored);
  reading.ignored.splice(0, ignored.length, ...ignored);
  for (const parts of [reading.slots, reading.spans, reading.edits, reading.missing]) parts.length = 0;
  reading.credentials = undefined;
  reading.attachments = undefined;
  input.text = '';
  return typeof request.body === 'string'
    ? { ...request, body: Buffer.from(request.body), ownsBody: true }
    : request;
}

/** Returns the number of bytes of the upstream request that are not counted yet. */
function sentBytes({ body }: UpstreamRequest): number {
  if (body instanceof FilledBody) return body.ownBytes; // the remaining bytes are memory of the message
  return body instanceof StreamedFile ? 0 : (body?.length ?? 0);
}

/** Returns the gateway's own headers and the response headers that the contract lists for the caller. */
function passedOn(
  own: Exchange['passed'],
  headers: UpstreamReply['headers'],
  names: readonly string[],
): Exchange['passed'] {
  if (names.length === 0) return own;
  const passed: Record<string, string> = { ...own };
  for (const name of names) {
    const value = headers[name];
    if (value !== undefined) passed[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return passed;
}

/** Converts any error to a failure for the caller. An internal error is logged once and becomes InternalError. */
export function failureFor(
  service: CallService,
  exchange: Exchange,
  error: unknown,
  hide: Hide = (text) => text,
): Failure {
  exchange.stats.error = error instanceof CallError ? error.code : 'InternalError';
  if (error instanceof CallError && error.status < 500) {
    const reasons =
      error.problems.length > 0 ? error.problems : error.reason === undefined ? [] : [error.reason];
    exchange.stats.refusal = mistakesOf(service.compiled.contract, reasons);
  }
  if (error instanceof CallError && error.logged !== undefined)
    noteFailure(exchange.stats, { cause: 'invalid', reason: error.logged });
  if (error instanceof CallError) return failureOf(error, exchange.requestId, hide);
  service.onError(error, exchange.requestId);
  return failureOf(new CallError('InternalError', { cause: error }), exchange.requestId, hide);
}

/** The credentials of a call in progress. */
class CallCredentials {
  readonly #service: CallService;
  readonly #exchange: Exchange;
  /** Credentials in the message, before they are checked. */
  given: MessageCredentials;
  /** Undefined before they are checked, and for a contract without credentials. */
  values: FoundCredentials | undefined;
  #hide: Hide | undefined;

  constructor(service: CallService, exchange: Exchange, given: MessageCredentials) {
    this.#service = service;
    this.#exchange = exchange;
    this.given = given;
  }

  /** Records the checked credentials, and the caller that they name. */
  readonly use = (values: FoundCredentials | undefined): void => {
    this.values = values;
    if (values !== undefined) this.#exchange.stats.caller = this.#service.callerOf(values);
  };

  /** Copies the texts, because a substring keeps its whole source text in memory. */
  detach(): void {
    this.given = structuredClone(this.given);
    this.values = structuredClone(this.values);
  }

  /** Hides the credentials in a text. Given credentials are hidden even before they are checked. */
  readonly hide: Hide = (text, most) => {
    const { credentials } = this.#service.compiled.contract;
    this.#hide ??=
      this.values === undefined
        ? hideGiven(credentials, this.given, this.#exchange.head, secrets)
        : hideCredentials(credentials, this.values, secrets, this.#exchange.ownSecrets);
    return this.#hide(text, most);
  };
}

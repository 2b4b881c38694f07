import { Buffer } from 'node:buffer';
import { FilledBody } from '../../mappings/codec/filled-body.ts';
import type { Deviation } from '../../mappings/codec/problem.ts';
import type { Hide } from '../../mappings/codec/scalars/text.ts';
import { StreamedFile } from '../../mappings/codec/streamed-file.ts';
import type { CompiledContract, CompiledOperation, Frame } from '../../mappings/compile.ts';
import type { CredentialValues, Input, UpstreamRequest } from '../../mappings/http-mapping/call.ts';
import { type Admission, smallBytes } from '../admission/admission.ts';
import type { CallerLimits } from '../admission/caller-limits.ts';
import type { InFlight } from '../admission/in-flight-set.ts';
import type { ShownMessages } from '../telemetry/messages.ts';
import { mistakesOf } from '../telemetry/mistakes.ts';
import type { Observer } from '../telemetry/observer.ts';
import { type Noted, noteFailure, type RequestStats, type WriteOutcome } from '../telemetry/request-stats.ts';
import { dropPiece, giveBack } from '../upstream/collector.ts';
import { maxLoopReplyBytes, type Upstream, type UpstreamReply, type Waiting } from '../upstream/upstream.ts';
import {
  type FoundCredentials,
  type HeaderValues,
  hideCredentials,
  hideGiven,
  type MessageCredentials,
  type ReadCredentials,
  type Spelling,
  secrets,
} from './credentials.ts';
import { CallError, type Failure, failureOf } from './error.ts';
import type { RequestHead } from './head.ts';
import type { NonceAnswer, NonceStore } from './nonces.ts';
import { bytesOf, type Outcome, readReply } from './outcome.ts';
import { countRefused, isMistake } from './refused.ts';
import { requestOf } from './request.ts';

// One call of any protocol, from its inputs to its outcome. Sockets, markup and paths belong to http/ and protocols/.
// This folder does not import them.

/** The parts that every call of one contract needs. They are created at start. */
export interface CallService {
  readonly compiled: CompiledContract;
  /** Undefined for a contract without credentials. */
  readonly readCredentials: ReadCredentials | undefined;
  /** `WWW-Authenticate` challenge for a call without credentials; undefined if the contract has none to give. */
  readonly challenge: string | undefined;
  /** Remembers the nonces of digests (W49). */
  readonly nonces: NonceStore;
  /** Reads large replies in a worker thread. */
  readonly readInWorker: ReplyReader;
  readonly upstream: Upstream;
  readonly admission: Admission;
  /** Receives the events of every call, stage by stage. */
  readonly observer: Required<Observer>;
  /** Formats the parts of messages that observers may show; undefined if no observer shows messages. */
  readonly shown: ShownMessages | undefined;
  /** Returns the caller's name or pseudonym for the log and metrics; undefined if the caller gave no id. */
  readonly callerOf: (values: CredentialValues) => string | undefined;
  /** Limits per caller; undefined if none is configured. */
  readonly callerLimits: CallerLimits | undefined;
  /** Returns the key under which `callerLimits` counts a call. The key does not reveal the caller's credentials. */
  readonly limitKeyOf: (values: CredentialValues | undefined, exchange: Exchange) => string;
  /** Reports an internal error once. */
  readonly onError: (error: unknown, requestId: string) => void;
}

/** The data of an HTTP request that its call uses. */
export interface Exchange extends Waiting, InFlight {
  readonly head: RequestHead;
  readonly requestId: string;
  readonly stats: RequestStats;
  /** Time of receipt, in ms of `performance.now()`. */
  readonly started: number;
  /** It is replaced by the timeout of the operation, if it has one. */
  deadline: number;
  /** Headers for the reply: upstream headers that are passed on, and headers of the caller's limits. */
  passed: Readonly<Record<string, string>> | undefined;
  /** Called with the upstream's reply before it is read, which may release its memory. Undefined for most calls. */
  onUpstreamReply?: (reply: UpstreamReply) => void;
}

/** A call that was read in a worker thread. Its inputs are checked and released, and its upstream request is built. */
export interface Prepared {
  readonly reading: {
    readonly illegalReferences: number;
    readonly deviations: ReadonlySet<Deviation> | undefined;
    readonly ignored: readonly string[];
    readonly isReadTwice: boolean;
    readonly isReordered: boolean;
  };
  readonly given: MessageCredentials;
  /** Credentials of the call; undefined if the contract has none or they were not checked. */
  readonly values: FoundCredentials | undefined;
  /** Text of the request for the message log; undefined if there is no message log. */
  readonly shown: string | undefined;
  /** JSON of a call of a legacy WSDL if an error prevents its upstream request; otherwise undefined. */
  readonly json: string | undefined;
  /** The upstream request, or the error that prevents it. */
  readonly request: UpstreamRequest | CallError;
}

/** The data needed to read a large reply. */
export interface ReplyTerms {
  /** Frame of the reply; undefined for a caller of JSON. */
  readonly frame: Frame | undefined;
  /** Credentials of the call. Errors never contain them. */
  readonly values: CredentialValues | undefined;
  /** Secrets that the gateway itself sent with the call. Errors never contain them. */
  readonly ownSecrets: readonly string[];
  /**
   * Called when reading is about to begin. Returns the free memory in bytes, or undefined if reading must not begin.
   */
  readonly freeBytes: () => number | undefined;
}

/** A large reply after it was read. */
export interface ReadReply {
  /** Contains the JSON only for a caller of JSON. */
  readonly outcome: Outcome;
  /** Text of the reply for the message log; undefined if there is no message log, and for a failure. */
  readonly shown: string | undefined;
}

/** Reads large replies of one contract in a worker thread. */
export interface ReplyReader {
  /**
   * Reads an upstream response and transfers its memory to the thread. Returns undefined and leaves the response
   * unchanged if reading must not begin. The reply to a write waits however long the queue is.
   * Throws CallError CallerGone. After the deadline it throws Overloaded for a read and UpstreamTimeout for a write. It
   * also throws the errors of `readReply`.
   */
  readonly reply: (
    exchange: Exchange,
    operation: CompiledOperation,
    reply: UpstreamReply,
    terms: ReplyTerms,
  ) => Promise<ReadReply | undefined>;
}

const nothingNoted = { dropped: 0, replaced: 0, passed: 0, mismatches: undefined } as const;

/** Returns the counts of tolerated deviations in a reply or a declared fault. */
function countsOf(
  outcome: Outcome,
): Pick<Extract<Outcome, { kind: 'reply' }>, 'dropped' | 'replaced' | 'passed' | 'inexact' | 'mismatches'> {
  if (outcome.kind === 'reply') return outcome;
  const { fault } = outcome.failure;
  if (fault === undefined) return nothingNoted;
  return { ...fault, mismatches: { missing: fault.missing, described: [] } };
}

function noted(
  { ignored, illegalReferences, deviations }: Prepared['reading'],
  outcome: Outcome,
): Noted | undefined {
  const { dropped, replaced, passed, inexact = 0, mismatches } = countsOf(outcome);
  const missing = mismatches?.missing ?? 0;
  if (
    ignored.length === 0 &&
    deviations === undefined &&
    illegalReferences + dropped + replaced + passed + inexact + missing === 0
  )
    return undefined;
  const names = ignored.slice(0, 20).map((name) => name.slice(0, 64));
  const members =
    mismatches === undefined || mismatches.described.length === 0 ? {} : { members: mismatches.described };
  const numbers = inexact === 0 ? {} : { inexact };
  const deviating = deviations === undefined ? {} : { deviations: [...deviations] };
  return {
    ignored: names,
    quirks: illegalReferences, // the name of a documented log field (docs/operations.md)
    dropped,
    missing,
    replaced,
    passed,
    ...numbers,
    ...deviating,
    ...members,
  };
}

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
 * throws: each error becomes the outcome's failure. It is one function so that the order of the steps is visible.
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
  const { compiled, observer, shown } = service;
  const { head } = exchange;
  const { credentials, settings } = compiled.contract;
  const { reading } = input;
  exchange.stats.isReadTwice = reading.isReadTwice;
  exchange.stats.isReordered = reading.isReordered;
  let given = givenIn(operation, input, header);
  let values: FoundCredentials | undefined;
  let hideKnown: Hide | undefined;
  let release: (() => void) | undefined;
  let isCounted = false;
  let request: UpstreamRequest | undefined;
  const hide: Hide = (text, most) => {
    // Both branches hide the same values. Given credentials are hidden even before they are checked.
    hideKnown ??=
      values === undefined
        ? hideGiven(credentials, given, head, secrets)
        : hideCredentials(credentials, values, secrets, exchange.ownSecrets);
    return hideKnown(text, most);
  };
  try {
    if ('given' in input) {
      values = input.values;
      request = requestOfPrepared(service, exchange, operation, input);
      exchange.permit.shrink(0); // the worker thread now holds the body's memory
      exchange.permit.require(sentBytes(request));
    } else {
      if (shown !== undefined)
        observer.read(exchange, operation, shown.request(head, operation, input, given));
      request = requestOf(service, head, operation, input, given, spelling, (checked) => {
        values = checked;
        if (checked !== undefined) exchange.stats.caller = service.callerOf(checked);
      });
      if (exchange.permit.heldBytes > smallBytes) {
        request = withoutMessage(input, request);
        exchange.permit.require(sentBytes(request));
        given = structuredClone(given);
        values = structuredClone(values);
      }
    }
    isCounted = true;
    if (service.callerLimits !== undefined) release = await enterLimits(service, exchange, operation, values);
    const kept = values === undefined ? undefined : keepOnce(service, values);
    if (kept instanceof Promise) await kept; // awaiting a non-promise costs a microtask
    if (exchange.response.destroyed) throw new CallError('CallerGone');
    const { readOnly, timeoutMs } = request.operation;
    if (!readOnly) refuseLarge(service, request);
    if (timeoutMs !== undefined) exchange.deadline = performance.now() + timeoutMs;
    const reply = await callObserved(service, exchange, request);
    exchange.passed = passedOn(exchange.passed, reply.headers, settings.replyHeaders);
    let outcome: Outcome;
    if (reply.body.length > smallBytes) {
      outcome = await readLargeReply(service, exchange, operation, reply, { frame, values, hide });
    } else {
      outcome = readReply(reply, compiled, operation, hide, frame);
      if (outcome.kind === 'reply' && shown !== undefined)
        observer.replied(
          exchange,
          operation,
          shown.reply(operation, outcome.json, values, exchange.ownSecrets),
        );
    }
    exchange.stats.noted = noted(reading, outcome);
    if (outcome.kind === 'failure') exchange.stats.error = outcome.failure.errorCode;
    return outcome;
  } catch (error) {
    const { name } = operation.operation;
    const refused = { error, isMistake: isMistake(error), operation: name, given };
    const reported = isCounted ? error : await countRefused(service, exchange, refused);
    return { kind: 'failure', failure: failureFor(service, exchange, reported, hide) };
  } finally {
    release?.();
    if (exchange.isWritten || !exchange.reached) dropBody(request); // otherwise the operating system may still read it
  }
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
  if (values?.nonce !== undefined && (await nonces.holds(values.nonce.key, Date.now())))
    throw new CallError('FailedAuthentication');
  for (const { key } of values?.signatures ?? [])
    if (await nonces.holds(key, Date.now())) throw new CallError('ReplayedMessage');
  return callerLimits?.enter({
    key: limitKeyOf(values, exchange),
    caller: exchange.stats.caller,
    operation: operation.name,
    setHeaders: (headers) => {
      exchange.passed = headers;
    },
  });
}

/**
 * Reads a message to its end after the upstream answered early, because only a complete message is a success (W64).
 * Throws CallError: MalformedRequest, RequestTimeout.
 */
async function readRest(file: StreamedFile, exchange: Exchange): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new CallError('RequestTimeout')),
      Math.max(0, exchange.deadline - performance.now()),
    );
  });
  try {
    await Promise.race([file.readToEnd(), late]);
  } finally {
    clearTimeout(timer);
  }
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
      await readRest(request.body, exchange);
    }
    outcome = exchange.reached ? 'answered' : 'unsent'; // a mapping can answer without an upstream call
    return reply;
  } finally {
    outcome ??= exchange.isAnswered === true ? 'answered' : exchange.reached ? 'unknown' : 'unsent';
    observer.settled(exchange, request, outcome);
  }
}

/**
 * Stores the nonce of a correct digest and the signatures of a message, after all other checks of its call passed. They
 * are stored in one step. Throws CallError, or rejects with it (W49, X17).
 */
function keepOnce(
  { nonces }: CallService,
  { nonce, signatures }: FoundCredentials,
): Promise<void> | undefined {
  if (signatures !== undefined) {
    const entries = nonce === undefined ? signatures : [...signatures, nonce];
    const answer = nonces.keepAll(entries, Date.now());
    if (answer instanceof Promise) return answer.then(refuseRepeated);
    refuseRepeated(answer);
  } else if (nonce !== undefined) {
    const answer = nonces.keep(nonce.key, nonce.until, Date.now(), nonce.caller);
    if (answer instanceof Promise) return answer.then(refuseNonce);
    refuseNonce(answer);
  }
  return undefined;
}

function refuseRepeated(answer: NonceAnswer): void {
  if (answer === 'used') throw new CallError('ReplayedMessage');
  refuseNonce(answer);
}

function refuseNonce(answer: NonceAnswer): void {
  if (answer === 'used') throw new CallError('FailedAuthentication');
  if (answer === 'full' || answer === 'away')
    throw new CallError('Overloaded', {
      detail: `the store of valid digests is ${answer === 'full' ? 'full' : 'unavailable'}. Try again later`,
      retryAfter: '1',
    });
}

/** Continues a call that was read in a worker thread. Throws CallError. */
function requestOfPrepared(
  { observer, callerOf }: CallService,
  exchange: Exchange,
  operation: CompiledOperation,
  { shown, values, request }: Prepared,
): UpstreamRequest {
  if (shown !== undefined) observer.read(exchange, operation, shown);
  if (values !== undefined) exchange.stats.caller = callerOf(values);
  if (request instanceof CallError) throw request;
  return request;
}

/**
 * Maximum number of writes that wait for memory for their replies. While that many wait, a write is rejected if its
 * operation recently returned a large reply.
 */
export const maxMemoryWaits = 8;

/**
 * Rejects a write that is likely to wait for memory while too many writes already wait. A write is likely to wait if
 * its operation recently returned large replies. Throws CallError Overloaded.
 */
function refuseLarge({ admission, compiled }: CallService, { operation }: UpstreamRequest): void {
  const { replyQueue, largeReplies } = admission;
  const { roomWaits = maxMemoryWaits } = compiled.limits;
  if (replyQueue.size >= roomWaits && largeReplies.isLikelyOf(operation)) throw admission.shed();
}

/**
 * Reads a large reply once there is memory for the result. A worker thread reads it, unless most of the reply is
 * base64, which was already checked during receipt. Throws CallError.
 */
async function readLargeReply(
  service: CallService,
  exchange: Exchange,
  operation: CompiledOperation,
  reply: UpstreamReply,
  { frame, values, hide }: { frame: Frame | undefined; values: CredentialValues | undefined; hide: Hide },
): Promise<Outcome> {
  const { admission, compiled, observer, readInWorker } = service;
  const { readOnly } = operation.operation;
  const bytes = reply.body.length; // read it now: a body that was transferred to the thread has length 0
  const isWritten = frame !== undefined;
  const { ownSecrets, permit } = exchange;
  const freeBytes = (): number | undefined => {
    if (!isWritten) return Number.POSITIVE_INFINITY;
    const spare = permit.spare();
    return readOnly || spare === undefined ? spare : Number.POSITIVE_INFINITY;
  };
  let outcome: Outcome | undefined;
  let shown: string | undefined;
  try {
    if (isWritten && !permit.hold(0)) await waitForMemory(admission, exchange, readOnly);
    if (bytes - (reply.runs?.total ?? 0) > (compiled.limits.replyAsideBytes ?? maxLoopReplyBytes)) {
      let read = await readInWorker.reply(exchange, operation, reply, {
        frame,
        values,
        ownSecrets,
        freeBytes,
      });
      while (read === undefined) {
        await waitForMemory(admission, exchange, readOnly);
        read = await readInWorker.reply(exchange, operation, reply, { frame, values, ownSecrets, freeBytes });
      }
      ({ outcome, shown } = read);
    } else {
      outcome = readReply(reply, compiled, operation, hide, frame);
      if (outcome.kind === 'reply') shown = service.shown?.reply(operation, outcome.json, values, ownSecrets);
    }
    const grown = isWritten ? writtenBytes(outcome) - bytes : 0;
    if (grown > 0 && !permit.hold(grown) && readOnly) throw admission.shed();
  } catch (error) {
    giveBack(reply.body);
    if (outcome !== undefined) dropOutcome(outcome);
    throw error;
  }
  if (shown !== undefined) observer.replied(exchange, operation, shown);
  if (isWritten && outcome.kind === 'reply' && Buffer.isBuffer(outcome.xml)) giveBack(reply.body);
  return outcome;
}

/** Releases the memory of a reply that is not sent. */
function dropOutcome(outcome: Outcome): void {
  for (const bytes of bytesOf(outcome)) giveBack(bytes);
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

/**
 * Delays the large reply of a write until there is memory to write it as XML, which may take several times its size.
 * Throws CallError: Overloaded for a read, UpstreamTimeout.
 */
async function waitForMemory(admission: Admission, exchange: Exchange, readOnly: boolean): Promise<void> {
  if (readOnly) throw admission.shed();
  await new Promise<void>((resolve, reject) => {
    const waitMs = Math.max(0, exchange.deadline - performance.now());
    const timer = setTimeout(() => reject(new CallError('UpstreamTimeout')), waitMs);
    exchange.permit.whenFree(0, () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Returns the size of a reply in XML, or of a declared fault's detail. Returns 0 if there is no XML. */
function writtenBytes(outcome: Outcome): number {
  if (outcome.kind === 'failure') return outcome.failure.fault?.detail.length ?? 0;
  const { xml } = outcome;
  return Array.isArray(xml) ? xml.reduce((sum, piece) => sum + piece.length, 0) : (xml?.length ?? 0);
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

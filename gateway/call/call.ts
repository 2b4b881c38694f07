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
import type { Observer } from '../telemetry/observer.ts';
import { type Noted, noteFailure, type RequestStats, type WriteOutcome } from '../telemetry/request-stats.ts';
import { dropPiece, giveBack } from '../upstream/collector.ts';
import { maxLoopReplyBytes, type Upstream, type UpstreamReply, type Waiting } from '../upstream/upstream.ts';
import {
  type FoundCredentials,
  type HeaderCredentials,
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
import { refuseProblems, requestOf } from './request.ts';

// What lives here: one call, whatever its protocol, from inputs to outcome. No sockets, no markup, no paths: those are of http/
// and protocols/, which this folder doesn't import.

/** What every call of one contract needs, put together at start. */
export interface CallService {
  readonly compiled: CompiledContract;
  /** Undefined for a contract without credentials. */
  readonly readCredentials: ReadCredentials | undefined;
  /** The ways to give credentials in headers, for who gave none; undefined where there are none to give. */
  readonly challenge: string | undefined;
  /** Remembers the nonces of digests (W49). */
  readonly nonces: NonceStore;
  /** Reads large replies beside the event loop. */
  readonly readAside: ReplyReader;
  readonly upstream: Upstream;
  readonly admission: Admission;
  /** Told of every call, stage by stage. */
  readonly observer: Required<Observer>;
  /** What observers may show of messages; undefined where none shows any. */
  readonly shown: ShownMessages | undefined;
  /** What a caller is called in the log and in metrics, a name or a pseudonym; undefined where it gave no id. */
  readonly callerOf: (values: CredentialValues) => string | undefined;
  /** What callers may do; undefined where nothing limits them one by one. */
  readonly callerLimits: CallerLimits | undefined;
  /** What a call is counted by, for `callerLimits`; nothing of it can be told from it. */
  readonly limitKeyOf: (values: CredentialValues | undefined, exchange: Exchange) => string;
  /** Told of an error that is ours, once. */
  readonly onError: (error: unknown, requestId: string) => void;
}

/** A request as its call sees it. */
export interface Exchange extends Waiting, InFlight {
  readonly head: RequestHead;
  readonly requestId: string;
  readonly stats: RequestStats;
  /** When it came, in ms of `performance.now()`. */
  readonly started: number;
  /** Headers that the reply has too: those of the upstream's answer, and those of the caller's limits. */
  passed: Readonly<Record<string, string>> | undefined;
}

/** A call that was read beside the event loop: its inputs are checked and gone, its call upstream is made. */
export interface Prepared {
  readonly reading: {
    readonly quirks: number;
    readonly deviations: ReadonlySet<Deviation> | undefined;
    readonly ignored: readonly string[];
  };
  readonly given: MessageCredentials;
  /** Those of the call; undefined where the contract has none, and where they weren't looked at. */
  readonly values: FoundCredentials | undefined;
  /** What the log of messages shows of it; undefined where there is no such log. */
  readonly shown: string | undefined;
  /** The call upstream, or why there is none. */
  readonly request: UpstreamRequest | CallError;
}

/** What a large reply is read for. */
export interface ReplyTerms {
  /** What it goes out in; undefined for a caller of JSON. */
  readonly frame: Frame | undefined;
  /** The call's credentials, which no error tells. */
  readonly values: CredentialValues | undefined;
  /** What the gateway itself sent with the call, which no error tells either. */
  readonly ownSecrets: readonly string[];
  /** Asked when its turn has come: how many bytes more there is room for; undefined where it may not be begun. */
  readonly roomFor: () => number | undefined;
}

/** A large reply that was read. */
export interface ReadReply {
  /** Its JSON is there for a caller of JSON alone. */
  readonly outcome: Outcome;
  /** What the log of messages shows of it; undefined where there is no such log, and for a failure. */
  readonly shown: string | undefined;
}

/** Reads large replies of one contract beside the event loop. */
export interface ReplyReader {
  /**
   * Reads an upstream's answer, whose memory goes over to the thread; undefined, with the answer as it was, where it may
   * not begin. That of a write waits however many do. Throws CallError CallerGone; for who is too late Overloaded, or for a
   * write UpstreamTimeout; and what reading it here would.
   */
  readonly reply: (
    exchange: Exchange,
    operation: CompiledOperation,
    reply: UpstreamReply,
    terms: ReplyTerms,
  ) => Promise<ReadReply | undefined>;
}

const nothingNoted = { dropped: 0, replaced: 0, passed: 0, misfits: undefined } as const;

/** What a reply or a declared fault was let through with. */
function countsOf(
  outcome: Outcome,
): Pick<Extract<Outcome, { kind: 'reply' }>, 'dropped' | 'replaced' | 'passed' | 'inexact' | 'misfits'> {
  if (outcome.kind === 'reply') return outcome;
  const { fault } = outcome.failure;
  if (fault === undefined) return nothingNoted;
  return { ...fault, misfits: { missing: fault.missing, told: [] } };
}

function noted({ ignored, quirks, deviations }: Prepared['reading'], outcome: Outcome): Noted | undefined {
  const { dropped, replaced, passed, inexact = 0, misfits } = countsOf(outcome);
  const missing = misfits?.missing ?? 0;
  if (
    ignored.length === 0 &&
    deviations === undefined &&
    quirks + dropped + replaced + passed + inexact + missing === 0
  )
    return undefined;
  const names = ignored.slice(0, 20).map((name) => name.slice(0, 64));
  const told = misfits === undefined || misfits.told.length === 0 ? {} : { members: misfits.told };
  const numbers = inexact === 0 ? {} : { inexact };
  const deviating = deviations === undefined ? {} : { deviations: [...deviations] };
  return { ignored: names, quirks, dropped, missing, replaced, passed, ...numbers, ...deviating, ...told };
}

/**
 * From inputs to outcome: members, credentials, required members, upstream, reply (W43). Never throws: whatever
 * fails is the outcome's failure. One function, as it is a call's story from top to bottom.
 *
 * @param input of the operation, or all that was made of it beside the loop
 * @param frame what the reply goes out in; undefined for a caller of JSON
 * @param header the credentials in a SOAP header
 */
export async function runCall(
  service: CallService,
  exchange: Exchange,
  operation: CompiledOperation,
  input: Input | Prepared,
  spelling: Spelling,
  frame: Frame | undefined,
  header?: HeaderCredentials,
): Promise<Outcome> {
  const { compiled, observer, shown } = service;
  const { head } = exchange;
  const { credentials, settings } = compiled.contract;
  const { reading } = input;
  let given: MessageCredentials =
    'given' in input ? input.given : { body: operation.credentialsOf(input), ...header };
  let values: FoundCredentials | undefined;
  let hideKnown: Hide | undefined;
  let leave: (() => void) | undefined;
  let request: UpstreamRequest | undefined;
  const hide: Hide = (text, most) => {
    // both tell of the same values: those that are given are looked at before they are known to be good
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
      exchange.permit.shrink(0); // the body went over to the thread
      exchange.permit.require(sentBytes(request));
    } else {
      if (shown !== undefined)
        observer.read(exchange, operation, shown.request(head, operation, input, given));
      refuseProblems(input.reading);
      values = service.readCredentials?.(given, head, spelling);
      if (values !== undefined) exchange.stats.caller = service.callerOf(values);
      request = requestOf(compiled, operation, input, values);
      if (exchange.permit.heldBytes > smallBytes) {
        request = withoutMessage(input, request);
        exchange.permit.require(sentBytes(request));
        given = structuredClone(given);
        values = structuredClone(values);
      }
    }
    if (service.callerLimits !== undefined) leave = await enterLimits(service, exchange, operation, values);
    const kept = values?.nonce === undefined ? undefined : keepNonce(service, values.nonce);
    if (kept instanceof Promise) await kept; // a promise where none is needed takes a turn
    if (exchange.response.destroyed) throw new CallError('CallerGone');
    const { readOnly } = request.operation;
    if (!readOnly) refuseLarge(service, request);
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
    return { kind: 'failure', failure: failureFor(service, exchange, error, hide) };
  } finally {
    leave?.();
    if (exchange.isWritten || !exchange.reached) dropBody(request); // else the system may still read it
  }
}

/** Releases the memory of a large request that was made for the call upstream. */
function dropBody(request: UpstreamRequest | undefined): void {
  if (request?.ownsBody === true && Buffer.isBuffer(request.body)) dropPiece(request.body);
}

/**
 * Counts a call by the limits of its caller; what is returned is called once it is over. A used digest takes nothing of them, as
 * who sends it again may be anybody. Throws CallError TooManyRequests, FailedAuthentication.
 */
async function enterLimits(
  { callerLimits, limitKeyOf, nonces }: CallService,
  exchange: Exchange,
  { operation }: CompiledOperation,
  values: FoundCredentials | undefined,
): Promise<(() => void) | undefined> {
  if (values?.nonce !== undefined && (await nonces.holds(values.nonce.key, Date.now())))
    throw new CallError('FailedAuthentication');
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
 * Reads a message to its end whose upstream answered early, as only a complete message is a success (W64). Throws CallError:
 * MalformedRequest, RequestTimeout.
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

/** Makes the call upstream, before the eyes of observers. Throws CallError. */
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
    if (request.body instanceof StreamedFile && reply.status < 300) {
      outcome = 'unknown';
      await readRest(request.body, exchange);
    }
    outcome = exchange.reached ? 'answered' : 'unsent'; // a mapping may make no call of it
    return reply;
  } finally {
    outcome ??= exchange.isAnswered === true ? 'answered' : exchange.reached ? 'unknown' : 'unsent';
    observer.settled(exchange, request, outcome);
  }
}

/** Remembers the nonce of a digest that was found right, once all else of its call is. Throws CallError, or rejects with it (W49). */
function keepNonce(
  { nonces }: CallService,
  { key, until, caller }: NonNullable<FoundCredentials['nonce']>,
): Promise<void> | undefined {
  const answer = nonces.keep(key, until, Date.now(), caller);
  if (answer instanceof Promise) return answer.then(refuseNonce);
  refuseNonce(answer);
  return undefined;
}

function refuseNonce(answer: NonceAnswer): void {
  if (answer === 'used') throw new CallError('FailedAuthentication');
  if (answer === 'full')
    throw new CallError('Overloaded', {
      detail: 'as many digests as can be remembered are live: try again later',
      retryAfter: '1',
    });
}

/** Goes on with a call that was read beside the event loop. Throws CallError. */
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
 * Writes that wait for memory for their replies. While as many wait, no other write begins of an operation that gave a
 * large reply of late.
 */
export const maxRoomWaits = 8;

/**
 * Refuses a write whose reply would wait for room where too many do: one whose operation gave large replies of late. Throws
 * CallError Overloaded.
 */
function refuseLarge({ admission, compiled }: CallService, { operation }: UpstreamRequest): void {
  const { room, largeReplies } = admission;
  const { roomWaits = maxRoomWaits } = compiled.limits;
  if (room.size >= roomWaits && largeReplies.isLikelyOf(operation)) throw admission.shed();
}

/**
 * Reads a large reply once there is room for what is made of it; beside the event loop but for what is base64 in the most
 * part, which was looked through as it came. Throws CallError.
 */
async function readLargeReply(
  service: CallService,
  exchange: Exchange,
  operation: CompiledOperation,
  reply: UpstreamReply,
  { frame, values, hide }: { frame: Frame | undefined; values: CredentialValues | undefined; hide: Hide },
): Promise<Outcome> {
  const { admission, compiled, observer, readAside } = service;
  const { readOnly } = operation.operation;
  const bytes = reply.body.length; // none is left of one that went over to the thread
  const isWritten = frame !== undefined;
  const { ownSecrets, permit } = exchange;
  const roomFor = (): number | undefined => {
    if (!isWritten) return Number.POSITIVE_INFINITY;
    const spare = permit.spare();
    return readOnly || spare === undefined ? spare : Number.POSITIVE_INFINITY;
  };
  let outcome: Outcome | undefined;
  let shown: string | undefined;
  try {
    if (isWritten && !permit.hold(0)) await roomToWrite(admission, exchange, readOnly);
    if (bytes - (reply.runs?.total ?? 0) > (compiled.limits.replyAsideBytes ?? maxLoopReplyBytes)) {
      let read = await readAside.reply(exchange, operation, reply, { frame, values, ownSecrets, roomFor });
      while (read === undefined) {
        await roomToWrite(admission, exchange, readOnly);
        read = await readAside.reply(exchange, operation, reply, { frame, values, ownSecrets, roomFor });
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

/** Gives back the memory of a reply that nobody gets. */
function dropOutcome(outcome: Outcome): void {
  for (const bytes of bytesOf(outcome)) giveBack(bytes);
}

/** Lets go of all of a large request but what goes upstream, in bytes: a part of a text keeps the whole text in memory. */
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

/** The size in bytes of what goes upstream and is not counted yet. */
function sentBytes({ body }: UpstreamRequest): number {
  if (body instanceof FilledBody) return body.ownBytes; // the rest is memory of the message
  return body instanceof StreamedFile ? 0 : (body?.length ?? 0);
}

/**
 * Has the large reply of a write wait until there is room to write it out in XML, which may take several times its size.
 * Throws CallError: Overloaded for a read, UpstreamTimeout.
 */
async function roomToWrite(admission: Admission, exchange: Exchange, readOnly: boolean): Promise<void> {
  if (readOnly) throw admission.shed();
  await new Promise<void>((resolve, reject) => {
    const waitMs = Math.max(0, exchange.deadline - performance.now());
    const timer = setTimeout(() => reject(new CallError('UpstreamTimeout')), waitMs);
    exchange.permit.whenRoom(0, () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** The size in XML of a reply, or of a declared fault's detail; 0 for anything short. */
function writtenBytes(outcome: Outcome): number {
  if (outcome.kind === 'failure') return outcome.failure.fault?.detail.length ?? 0;
  const { xml } = outcome;
  return Array.isArray(xml) ? xml.reduce((sum, piece) => sum + piece.length, 0) : (xml?.length ?? 0);
}

/** The headers of an answer that go on to the caller, none but those that the contract names, beside our own. */
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

/** Any error as what the caller is told; one that is ours is logged once and told as InternalError. */
export function failureFor(
  service: CallService,
  exchange: Exchange,
  error: unknown,
  hide: Hide = (text) => text,
): Failure {
  exchange.stats.error = error instanceof CallError ? error.code : 'InternalError';
  if (error instanceof CallError && error.logged !== undefined)
    noteFailure(exchange.stats, { cause: 'invalid', reason: error.logged });
  if (error instanceof CallError) return failureOf(error, exchange.requestId, hide);
  service.onError(error, exchange.requestId);
  return failureOf(new CallError('InternalError', { cause: error }), exchange.requestId, hide);
}

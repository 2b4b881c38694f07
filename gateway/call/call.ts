import type { ServerResponse } from 'node:http';
import { type Reading, TooManySteps } from '../../mappings/codec/problem.ts';
import type { Hide } from '../../mappings/codec/scalars/text.ts';
import type { CompiledOperation, Frame, RouteValue } from '../../mappings/compile.ts';
import type { CredentialValues, Input, UpstreamRequest } from '../../mappings/http-mapping/call.ts';
import { type Admission, smallBytes } from '../http/admission.ts';
import { type Arrival, admitBody } from '../http/body.ts';
import type { RefuseForeign } from '../http/foreign.ts';
import type { Prepared, ReadAside } from '../protocols/read-aside.ts';
import {
  type BodyCall,
  type BodyForm,
  contentTypeOf,
  type Readers,
  readCallBody,
  readSoapCall,
  refuseMultipart,
  refuseProblems,
  requestOf,
} from '../protocols/read-call.ts';
import type { SoapCall } from '../protocols/soap/envelope.ts';
import type { SoapVersion } from '../protocols/soap/versions.ts';
import type { Audit, WriteOutcome } from '../telemetry/audit.ts';
import type { MessageLog } from '../telemetry/messages.ts';
import { giveBack } from '../upstream/collector.ts';
import type { Standing } from '../upstream/in-flight-set.ts';
import type { Upstream, UpstreamReply, Waiting } from '../upstream/upstream.ts';
import {
  hideCredentials,
  hideGiven,
  type MessageCredentials,
  type Spelling,
  secrets,
} from './credentials.ts';
import { CallError, type Failure, failureOf } from './error.ts';
import { type Outcome, readReply } from './outcome.ts';

/** What every call of one contract needs, put together at start. */
export interface Service extends Readers {
  /** Reads what would hold the event loop for long, requests and replies. */
  readonly readAside: ReadAside;
  /** Undefined where every call needs credentials. */
  readonly refuseForeign: RefuseForeign | undefined;
  readonly upstream: Upstream;
  readonly admission: Admission;
  /** Largest request body, in bytes. */
  readonly bodyLimit: number;
  /** Told of every write; undefined where nobody listens. */
  readonly audit: Audit | undefined;
  /** Told of messages; undefined where nobody listens. */
  readonly messages: MessageLog | undefined;
  /** A pseudonym for the value by which callers are told apart; undefined where there is none. */
  readonly pseudonymOf: (values: CredentialValues) => string | undefined;
  /** Told of an error that is ours, once. */
  readonly onError: (error: unknown, requestId: string) => void;
}

/** One HTTP exchange as the calls below see it. */
export interface Exchange extends Waiting, Arrival, Standing {
  readonly requestId: string;
  readonly response: ServerResponse;
  /** Filled in on the way, for the log. */
  operation: string | undefined;
  /** A pseudonym of who calls. */
  caller: string | undefined;
  /** The errorCode or the fault's code that the caller is told. */
  error: string | undefined;
  fault: string | undefined;
  bytesIn: number;
  noted: Noted | undefined;
  written: WriteOutcome | undefined;
  /** Headers of the upstream's answer that the reply has too. */
  passed: Readonly<Record<string, string>> | undefined;
}

/** What a call was let through with, counted; of what a caller sent, names alone (W10, W12, W20, W21). */
export interface Noted {
  /** Names of members left out of the request. */
  readonly ignored: readonly string[];
  /** Character references that XML forbids. */
  readonly quirks: number;
  /** Members left out of the reply. */
  readonly dropped: number;
  /** Characters of the reply that became U+FFFD. */
  readonly replaced: number;
  /** Values of the reply that aren't of their type: of an enum, or dates. */
  readonly passed: number;
}

const nothingNoted = { dropped: 0, replaced: 0, passed: 0 } as const;

function noted({ ignored, quirks }: Prepared['reading'], outcome: Outcome): Noted | undefined {
  const { dropped, replaced, passed } = outcome.kind === 'reply' ? outcome : nothingNoted;
  if (ignored.length === 0 && quirks + dropped + replaced + passed === 0) return undefined;
  const names = ignored.slice(0, 20).map((name) => name.slice(0, 64));
  return { ignored: names, quirks, dropped, replaced, passed };
}

/** Looks whether anything speaks against reading a call's body, before any of it is read. Throws CallError. */
export function admitCall(service: Service, exchange: Exchange): void {
  const { type } = contentTypeOf(exchange.request);
  refuseMultipart(type);
  service.refuseForeign?.(exchange.request, type);
  admitBody(exchange, service);
}

/**
 * Reads a body as a SOAP request; undefined for one that would hold the event loop for long, which is to be read beside
 * it. Throws CallError, Fault.
 */
export function readSoapHere(
  service: Service,
  exchange: Exchange,
  version: SoapVersion,
  body: Buffer,
): SoapCall | undefined {
  if (body.length > service.compiled.limits.readAsideBytes) return undefined;
  try {
    const call = readSoapCall(service, exchange.request, version, body);
    exchange.operation = call.operation.operation.name;
    return call;
  } catch (error) {
    if (error instanceof TooManySteps) return undefined;
    throw error;
  }
}

/** The same of a call outside SOAP. Throws CallError. */
export function readBodyHere(
  service: Service,
  exchange: Exchange,
  operation: CompiledOperation,
  body: Buffer,
  stated: BodyForm | undefined,
): BodyCall | undefined {
  if (body.length > service.compiled.limits.readAsideBytes) return undefined;
  try {
    return readCallBody(service, exchange.request, operation, body, stated);
  } catch (error) {
    if (error instanceof TooManySteps) return undefined;
    throw error;
  }
}

/** The same of a route's parameters. */
export function readParametersHere(
  operation: CompiledOperation,
  values: readonly RouteValue[],
  reading: Reading,
): Input | undefined {
  try {
    return operation.readParameters(values, reading);
  } catch (error) {
    if (error instanceof TooManySteps) return undefined;
    throw error;
  }
}

/**
 * From inputs to outcome: members, credentials, required members, upstream, reply (W43). Never throws: whatever
 * fails is the outcome's failure.
 *
 * @param input of the operation, or all that was made of it beside the loop
 * @param frame what the reply goes out in; undefined for a caller of JSON
 * @param block the credentials in a SOAP header
 */
export async function runCall(
  service: Service,
  exchange: Exchange,
  operation: CompiledOperation,
  input: Input | Prepared,
  spelling: Spelling,
  frame: Frame | undefined,
  block?: ReadonlyMap<string, string>,
): Promise<Outcome> {
  const { compiled, messages } = service;
  const { credentials, settings } = compiled.contract;
  const { reading } = input;
  let given: MessageCredentials =
    'given' in input ? input.given : { body: operation.credentialsOf(input), block };
  let values: CredentialValues | undefined;
  let hideKnown: Hide | undefined;
  const hide: Hide = (text, most) => {
    // both tell of the same values: those that are given are looked at before they are known to be good
    hideKnown ??=
      values === undefined
        ? hideGiven(credentials, given, exchange.request, secrets)
        : hideCredentials(credentials, values, secrets);
    return hideKnown(text, most);
  };
  try {
    let request: UpstreamRequest;
    if ('given' in input) {
      if (input.shown !== undefined) messages?.write('request', exchange, operation, input.shown);
      values = input.values;
      if (values !== undefined) exchange.caller = service.pseudonymOf(values);
      if (input.request instanceof CallError) throw input.request;
      request = input.request;
      // the body went over to the thread
      service.admission.shrink(exchange, 0);
      holdRequest(service.admission, exchange, request);
    } else {
      if (messages !== undefined) {
        const shown = messages.shown.request(exchange.request, operation, input, given);
        messages.write('request', exchange, operation, shown);
      }
      refuseProblems(input.reading);
      values = service.readCredentials?.(given, exchange.request, spelling);
      if (values !== undefined) exchange.caller = service.pseudonymOf(values);
      request = requestOf(service, operation, input, values);
      if (exchange.heldBytes > smallBytes) {
        request = withoutMessage(input, request);
        holdRequest(service.admission, exchange, request);
        given = structuredClone(given);
        values = structuredClone(values);
      }
    }
    if (exchange.response.destroyed) throw new CallError('CallerGone');
    const { readOnly } = request.operation;
    if (!readOnly) refuseLarge(service, request);
    const audit = readOnly ? undefined : service.audit;
    audit?.sending(exchange);
    let reply: UpstreamReply;
    try {
      reply = await service.upstream.call(request, exchange);
    } catch (error) {
      audit?.settled(exchange, exchange.reached ? 'unknown' : 'unsent');
      throw error;
    }
    audit?.settled(exchange, 'answered');
    exchange.passed = passedOn(reply.headers, settings.replyHeaders);
    let outcome: Outcome;
    if (reply.body.length > smallBytes) {
      outcome = await readLargeReply(service, exchange, operation, reply, { frame, values, hide });
    } else {
      outcome = readReply(reply, compiled, operation, hide, frame);
      if (outcome.kind === 'reply' && messages !== undefined) {
        const shown = messages.shown.reply(operation, outcome.json, values);
        messages.write('reply', exchange, operation, shown);
      }
    }
    exchange.noted = noted(reading, outcome);
    if (outcome.kind === 'failure') exchange.error = outcome.failure.errorCode;
    return outcome;
  } catch (error) {
    return { kind: 'failure', failure: tellFailure(service, exchange, error, hide) };
  }
}

/**
 * Refuses a write whose reply would wait for room where too many do: one whose operation gave large replies of late. Throws
 * CallError Overloaded.
 */
function refuseLarge({ admission, compiled }: Service, { operation }: UpstreamRequest): void {
  const { room, largeReplies } = admission;
  if (room.size >= compiled.limits.roomWaits && largeReplies.isLikelyOf(operation)) throw admission.shed();
}

/** What a reply is read for: what it goes out in, the call's credentials, and what takes these out of errors. */
interface ReplyTerms {
  readonly frame: Frame | undefined;
  readonly values: CredentialValues | undefined;
  readonly hide: Hide;
}

/**
 * Reads a large reply once there is room for what is made of it; beside the event loop but for what is base64 in the most
 * part, which was looked through as it came. Throws CallError.
 */
async function readLargeReply(
  service: Service,
  exchange: Exchange,
  operation: CompiledOperation,
  reply: UpstreamReply,
  { frame, values, hide }: ReplyTerms,
): Promise<Outcome> {
  const { admission, compiled, messages, readAside } = service;
  const { readOnly } = operation.operation;
  const bytes = reply.body.length; // none is left of one that went over to the thread
  const isWritten = frame !== undefined;
  const mayBegin = (): boolean => !isWritten || admission.mayGrow(exchange);
  if (isWritten && !admission.hold(exchange, 0)) await roomToWrite(admission, exchange, readOnly);
  let outcome: Outcome;
  let shown: string | undefined;
  if (bytes - (reply.runs?.total ?? 0) > compiled.limits.replyAsideBytes) {
    let read = await readAside.reply(exchange, operation, reply, { frame, values, mayBegin });
    while (read === undefined) {
      await roomToWrite(admission, exchange, readOnly);
      read = await readAside.reply(exchange, operation, reply, { frame, values, mayBegin });
    }
    ({ outcome, shown } = read);
  } else {
    outcome = readReply(reply, compiled, operation, hide, frame);
    if (outcome.kind === 'reply') shown = messages?.shown.reply(operation, outcome.json, values);
  }
  if (isWritten) holdWritten(admission, exchange, readOnly, outcome, bytes);
  if (shown !== undefined) messages?.write('reply', exchange, operation, shown);
  if (isWritten && outcome.kind === 'reply' && Buffer.isBuffer(outcome.xml)) giveBack(reply.body);
  return outcome;
}

/** Lets go of all of a large request but what goes upstream, in bytes: a part of a text keeps the whole text in memory. */
function withoutMessage(input: Input, request: UpstreamRequest): UpstreamRequest {
  const { reading } = input;
  const ignored = structuredClone(reading.ignored);
  reading.ignored.splice(0, ignored.length, ...ignored);
  for (const parts of [reading.slots, reading.spans, reading.edits, reading.missing]) parts.length = 0;
  reading.credentials = undefined;
  input.text = '';
  const body = typeof request.body === 'string' ? Buffer.from(request.body) : request.body;
  return { ...request, body };
}

/** Counts what of a large request goes upstream. Throws CallError Overloaded. */
function holdRequest(admission: Admission, exchange: Exchange, { body }: UpstreamRequest): void {
  const bytes = body?.length ?? 0;
  if (!admission.hold(exchange, bytes) && bytes > smallBytes) throw admission.shed();
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
    admission.room.wait(exchange, 0, () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Counts what a reply takes more in XML. Throws CallError Overloaded for a read. */
function holdWritten(
  admission: Admission,
  exchange: Exchange,
  readOnly: boolean,
  outcome: Outcome,
  bytes: number,
): void {
  if (outcome.kind !== 'reply' || outcome.xml === undefined) return;
  const { xml } = outcome;
  const written = Array.isArray(xml) ? xml.reduce((sum, piece) => sum + piece.length, 0) : xml.length;
  const hasRoom = written <= bytes || admission.hold(exchange, written - bytes);
  if (!hasRoom && readOnly) throw admission.shed();
}

/** The headers of an answer that go on to the caller, none but those that the contract names. */
function passedOn(headers: UpstreamReply['headers'], names: readonly string[]): Exchange['passed'] {
  if (names.length === 0) return undefined;
  const passed: Record<string, string> = {};
  for (const name of names) {
    const value = headers[name];
    if (value !== undefined) passed[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return passed;
}

/** Any error as what the caller is told; one that is ours is logged once and told as InternalError. */
export function tellFailure(
  service: Service,
  exchange: Exchange,
  error: unknown,
  hide: Hide = (text) => text,
): Failure {
  exchange.error = error instanceof CallError ? error.code : 'InternalError';
  if (error instanceof CallError) return failureOf(error, exchange.requestId, hide);
  service.onError(error, exchange.requestId);
  return failureOf(new CallError('InternalError', { cause: error }), exchange.requestId, hide);
}

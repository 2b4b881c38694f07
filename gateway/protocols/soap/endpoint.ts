import type { Frame } from '../../../mappings/compile.ts';
import { type RelatedType, RelatedTypeError } from '../../../mappings/http-mapping/related.ts';
import { failureFor, givenIn, runCall } from '../../call/call.ts';
import { CallError, failureOf } from '../../call/error.ts';
import type { RequestHead } from '../../call/head.ts';
import type { Outcome } from '../../call/outcome.ts';
import { countRefused, isMistake, type Refused } from '../../call/refused.ts';
import { serveDocument } from '../../http/document-endpoint.ts';
import { type Reply, textReply } from '../../http/reply.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { send, serveOptions } from '../../http/send.ts';
import { mistakesOf } from '../../telemetry/mistakes.ts';
import { logText, type RequestStats } from '../../telemetry/request-stats.ts';
import type { PreparedSoapCall } from '../read-in-worker.ts';
import { readSoap, readSoapBody } from '../read-request.ts';
import { faultReply, replyContext, soapReply } from '../reply.ts';
import { inPackage } from './attached-reply.ts';
import { mtomFrame, replyFrame } from './envelope.ts';
import { Fault, type FaultCode, isSecurityCode } from './faults.ts';
import type { ReplyHeader } from './headers/reply-header.ts';
import type { SoapCall } from './soap-reader.ts';
import { receiveStreamed, type StreamedCall } from './streamed-call.ts';
import { type SoapAddress, type SoapVersion, soap11, soap12 } from './versions.ts';

const soapVerbs = 'GET, HEAD, OPTIONS, POST';

/** Serves a SOAP endpoint: POST calls an operation, GET returns the WSDL (W2). */
export function serveSoap(address: SoapAddress, context: RequestContext): Promise<void> | void {
  const served = context.options.migration?.serve(claimedAddress(address, context.head), context);
  if (served !== undefined) return served;
  const { method } = context.request;
  if (method === 'POST') return serveByUpstream(claimedAddress(address, context.head), context);
  if (method === 'GET' || method === 'HEAD') return serveDocument(context, 'wsdl');
  if (method === 'OPTIONS') serveOptions(context, soapVerbs);
  else send(context, 'http', textReply(405, `expected ${soapVerbs}`, context.requestId, soapVerbs));
}

/** Changes the outcome of a call before its reply is written. Returns undefined if it has answered the caller. */
export type ChangeOutcome = (outcome: Outcome) => Promise<Outcome | undefined>;

/**
 * Makes a call and returns its outcome with the reply in the frame. Returns undefined if it has answered the caller. Does
 * not throw CallError.
 */
export type MakeCall = (call: SoapCall | PreparedSoapCall, frame: Frame) => Promise<Outcome | undefined>;

/**
 * Serves a SOAP call by the upstream.
 *
 * @param claimed the address with the version that applies until the envelope is read (W3)
 */
export function serveByUpstream(
  claimed: SoapAddress,
  context: RequestContext,
  change?: ChangeOutcome,
): Promise<void> {
  const type = streamedType(context);
  return type === undefined
    ? answerSoap(claimed, context, change)
    : answerStreamed(claimed, context, type, change);
}

/**
 * Returns the address with the SOAP version of the request. If the path has ports of both versions, the Content-Type
 * decides (W3).
 */
function claimedAddress(address: SoapAddress, head: RequestHead): SoapAddress {
  if (address.hasBothVersions !== true || !isSoap12(head)) return address;
  return { version: soap12, endpoint: address.endpoint };
}

/** Answers a SOAP call to a path without operations with a fault (W44). Returns false if the request is not SOAP. */
export function refusePath(context: RequestContext, error: CallError): boolean {
  if (context.request.method !== 'POST' || !isMarkedSoap(context.head)) return false;
  const version = isSoap12(context.head) ? soap12 : soap11;
  send(context, version.format, refusalOf(error, context, version));
  return true;
}

/** Answers a call. */
function answerSoap(address: SoapAddress, context: RequestContext, change?: ChangeOutcome): Promise<void> {
  return answer(context, address.version, () => readSoap(context, address), undefined, change);
}

/** Answers a multipart call that may contain a file to stream to the upstream (W64). */
async function answerStreamed(
  address: SoapAddress,
  context: RequestContext,
  type: RelatedType,
  change?: ChangeOutcome,
): Promise<void> {
  let streamed: StreamedCall | undefined;
  const read = async (): Promise<SoapCall | PreparedSoapCall> => {
    streamed = await receiveStreamed(context, address, type);
    return streamed.call ?? readSoapBody(context, address, streamed.body);
  };
  try {
    await answer(context, address.version, read, () => streamed?.failure(), change);
  } finally {
    streamed?.end();
  }
}

/**
 * Returns the multipart Content-Type of a request with a file that may be streamed; undefined for any other request.
 * Its envelope is read before the rest has arrived (W64).
 */
function streamedType({ options, head }: RequestContext): RelatedType | undefined {
  const { related, headers } = head;
  if (!options.service.streams || headers['content-encoding'] !== undefined) return undefined;
  return related instanceof RelatedTypeError ? undefined : related;
}

/**
 * Reads a call, makes it and sends the reply. Errors are sent in the caller's protocol.
 *
 * @param claimed the version that applies until the envelope is read (W3)
 * @param read throws CallError, Fault
 * @param failure returns the error if the request ended early during the call
 * @param change returns the outcome for the caller; undefined if the caller was answered in another way
 * @param make makes the call in place of `runCall`
 */
export async function answer(
  context: RequestContext,
  claimed: SoapVersion,
  read: () => Promise<SoapCall | PreparedSoapCall>,
  failure?: () => unknown,
  change?: ChangeOutcome,
  make?: MakeCall,
): Promise<void> {
  const { stats, options, head } = context;
  const { service } = options;
  let version = claimed;
  let reply: Reply;
  let call: SoapCall | PreparedSoapCall | undefined;
  try {
    call = await read();
    const { operation, input, header, values } = call;
    version = call.version;
    noteSecurity(stats, header, undefined);
    refuseRecipient(call, context);
    const frame = frameOf(call, context);
    const refused = refusedDeprecated(context, call);
    const made =
      refused ??
      (make === undefined
        ? await runCall(service, context, operation, input, 'xml', frame, values)
        : await make(call, frame));
    if (made === undefined) return;
    const broken = failure?.();
    if (broken !== undefined) throw broken;
    if (stats.error === 'FailedAuthentication' || stats.error === 'ReplayedMessage')
      stats.wsse = 'FailedAuthentication';
    const outcome = change === undefined ? made : await change(made);
    if (outcome === undefined) return;
    reply = soapReply(version, outcome, replyContext(context, operation, header, acceptsXml(head)));
  } catch (error) {
    // includes internal errors of the codecs while writing the reply
    const refusal = undecodable(error, version);
    if (error instanceof Fault) version = error.version;
    const reported =
      call === undefined ? await countRefused(service, context, refusedOf(refusal, stats)) : refusal;
    reply = refusalOf(reported, context, version, call?.header);
  }
  const isPackaged = options.migration?.packaging === 'always';
  send(context, version.format, isPackaged ? inPackage(version, reply) : reply);
}

/**
 * Returns the failure of a call of a deprecated operation that is refused (G65). With a legacy service, the call was
 * checked before its decision.
 */
function refusedDeprecated(
  context: RequestContext,
  { operation, input, values }: SoapCall | PreparedSoapCall,
): Outcome | undefined {
  const { deprecated, migration, service } = context.options;
  if (deprecated === undefined || migration !== undefined) return undefined;
  const { name } = operation.operation;
  const refusal = deprecated.refusalOf(context, name, givenIn(operation, input, values));
  return refusal && { kind: 'failure', failure: failureFor(service, context, refusal) };
}

/** Returns the frame for the reply of a call. */
function frameOf(
  { version, operation, header, isMtom }: SoapCall | PreparedSoapCall,
  { options }: RequestContext,
): Frame {
  const frame = replyFrame(version, operation.replyAction, header);
  const { mtomReplies, mtomThreshold } = options.service.compiled.contract.settings;
  const packaging = options.migration?.packaging ?? mtomReplies;
  const isAttached = packaging === 'always' || (isMtom && packaging === 'requested');
  return isAttached ? mtomFrame(frame, mtomThreshold) : frame;
}

/**
 * Throws a Fault for a SAML Assertion that is for another address (X26), and for a signed `wsa:To` with another address of
 * this gateway (X17).
 */
function refuseRecipient(
  { version, input, header, values }: SoapCall | PreparedSoapCall,
  { options, request }: RequestContext,
): void {
  const { recipients, to = [] } = ('given' in input ? input.given.signed : values?.signed) ?? {};
  const compare = (one: string) => options.compareAddress?.(one, request);
  const refuse = (logged: string, detail: string): never => {
    if (header?.security !== undefined) header.security.refused = logged;
    throw new Fault(version, 'FailedAuthentication', { detail }, { header });
  };
  if (recipients !== undefined && !recipients.some((one) => compare(one) === 'same'))
    refuse('recipient', 'the Assertion is for another address than that of this service');
  if (to.some((one) => compare(one) === 'other path'))
    refuse('to', 'the signed To is another address than that of this service');
}

/** Records the result of a Security block for the log. Nothing else of the block is kept (W46, W56). */
function noteSecurity(
  stats: RequestStats,
  header: ReplyHeader | undefined,
  code: FaultCode | undefined,
): void {
  const security = header?.security;
  if (security !== undefined) {
    const { token, signed, decrypted, refused } = security;
    const facts = [
      signed?.signature && 'signed',
      decrypted && 'encrypted',
      signed?.assertion && 'saml',
      token === 'none' ? undefined : token,
    ];
    stats.wsse = facts.filter((fact) => fact !== undefined).join('+') || 'none';
    stats.signed = signed;
    stats.decrypted = decrypted;
    stats.wsseReason = refused;
    stats.unverified = [...new Set(security.unverified)];
  }
  if (code !== undefined && isSecurityCode(code)) stats.wsse = code;
}

/** Records for the log why no operation was called, and a header block that was not understood. */
function noteFault(stats: RequestStats, error: unknown): void {
  stats.fault = error instanceof Fault ? error.kind : 'InternalError';
  if (!(error instanceof Fault) || error.block === undefined) return;
  const { namespace, local } = error.block;
  stats.block = logText(`{${namespace.slice(0, 100)}}${local.slice(0, 64)}`);
}

/** Converts the error of a body that does not match its Content-Encoding to a Fault, as for a wrong charset (W27). */
function undecodable(error: unknown, version: SoapVersion): unknown {
  if (!(error instanceof CallError && error.code === 'MalformedRequest')) return error;
  return new Fault(version, 'sender', error.messageData, { kind: 'MalformedRequest', cause: error });
}

/** Describes a message whose operation is not called. */
function refusedOf(error: unknown, { operation }: RequestStats): Refused {
  const isFaultOfCaller = error instanceof Fault && error.code !== 'receiver';
  return { error, isMistake: isFaultOfCaller || isMistake(error), operation };
}

/**
 * Returns the reply to a SOAP request that failed before its call: a fault, or plain text (W44). Plain text is used if
 * the status is 5xx, so that proxies recognise an overloaded gateway, or if nothing marks the request as SOAP. CXF,
 * Metro and WCF show a fault to users, but only the status of other 4xx replies.
 *
 * @param header request headers that the fault of an internal error answers
 */
function refusalOf(
  error: unknown,
  context: RequestContext,
  version: SoapVersion,
  header?: ReplyHeader,
): Reply {
  const { stats, head, requestId, options } = context;
  const replyTo = replyContext(context, undefined, undefined, acceptsXml(head));
  const { contract } = options.service.compiled;
  if (error instanceof CallError) {
    const { status, message, code } = error;
    stats.error = code;
    if (status < 500 && error.reason !== undefined) stats.refusal = mistakesOf(contract, [error.reason]);
    if (status >= 500 || !isMarkedSoap(head)) {
      const reply = textReply(status, message, requestId);
      return { ...reply, retryAfter: error.retryAfter ?? reply.retryAfter };
    }
    const failure = failureOf(error, requestId, (text) => text); // these errors contain no credentials
    return faultReply(new Fault(version, 'sender', error.messageData, { cause: error }), replyTo, failure);
  }
  noteFault(stats, error);
  if (error instanceof Fault) {
    stats.refusal = mistakesOf(contract, [error.reason]);
    noteSecurity(stats, error.header, error.code);
    return faultReply(error, replyTo);
  }
  options.service.onError(error, requestId);
  const internal = { detail: 'internal error' };
  return faultReply(new Fault(version, 'receiver', internal, { cause: error, header }), replyTo);
}

/** Returns true if the head marks the request as SOAP: SOAP 1.1 by SOAPAction (§6.1.1), SOAP 1.2 by its media type. */
function isMarkedSoap(head: RequestHead): boolean {
  return head.soapAction !== undefined || isSoap12(head);
}

/** Returns true if Accept is exactly `application/xml` (W7). */
function acceptsXml({ headers }: RequestHead): boolean {
  return headers.accept === 'application/xml';
}

function isSoap12({ headers }: RequestHead): boolean {
  return headers['content-type']?.toLowerCase().includes('application/soap+xml') === true;
}

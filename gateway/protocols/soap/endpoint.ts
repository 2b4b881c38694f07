import type { Frame } from '../../../mappings/compile.ts';
import { type RelatedType, RelatedTypeError } from '../../../mappings/http-mapping/related.ts';
import { runCall } from '../../call/call.ts';
import { CallError } from '../../call/error.ts';
import type { RequestHead } from '../../call/head.ts';
import { serveDocument } from '../../http/document-endpoint.ts';
import { type Reply, textReply } from '../../http/reply.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { send, serveOptions } from '../../http/send.ts';
import { logText, type RequestStats } from '../../telemetry/request-stats.ts';
import type { PreparedSoapCall } from '../read-aside.ts';
import { readSoap, readSoapBody, type Service } from '../read-request.ts';
import { faultReply, replyContext, soapReply } from '../reply.ts';
import { mtomFrame, replyFrame } from './envelope.ts';
import { Fault, type FaultCode, isSecurityCode } from './faults.ts';
import type { ReplyHeader } from './headers/reply-header.ts';
import type { SoapCall } from './soap-reader.ts';
import { receiveStreamed, type StreamedCall } from './streamed-call.ts';
import { type SoapAddress, type SoapVersion, soap11, soap12 } from './versions.ts';

const soapVerbs = 'GET, HEAD, OPTIONS, POST';

/** A SOAP endpoint: POST calls an operation, GET gives the WSDL (W2). */
export function serveSoap(address: SoapAddress, context: RequestContext): Promise<void> | void {
  const { method } = context.request;
  if (method === 'POST') {
    const type = streamedType(context);
    const claimed = claimedAddress(address, context.head);
    return type === undefined ? answerSoap(claimed, context) : answerStreamed(claimed, context, type);
  }
  if (method === 'GET' || method === 'HEAD') return serveDocument(context, 'wsdl');
  if (method === 'OPTIONS') serveOptions(context, soapVerbs);
  else send(context, 'http', textReply(405, `expected ${soapVerbs}`, context.requestId, soapVerbs));
}

/** The address of a request. At a path with ports of both versions the Content-Type decides on the version (W3). */
function claimedAddress(address: SoapAddress, head: RequestHead): SoapAddress {
  if (address.hasBothVersions !== true || !isSoap12(head)) return address;
  return { version: soap12, endpoint: address.endpoint };
}

/** Answers a SOAP call at a path that takes none with a fault (W44). Returns false if the request is no SOAP call. */
export function refusePath(context: RequestContext, error: CallError): boolean {
  if (context.request.method !== 'POST' || !saysItIsSoap(context.head)) return false;
  const version = isSoap12(context.head) ? soap12 : soap11;
  send(context, version.format, refusalOf(error, context, version));
  return true;
}

/** Answers a call. */
function answerSoap(address: SoapAddress, context: RequestContext): Promise<void> {
  return answer(context, address.version, () => readSoap(context, address));
}

/** The same of a message whose file may flow through to the upstream (W64). */
async function answerStreamed(
  address: SoapAddress,
  context: RequestContext,
  type: RelatedType,
): Promise<void> {
  let streamed: StreamedCall | undefined;
  const read = async (): Promise<SoapCall | PreparedSoapCall> => {
    streamed = await receiveStreamed(context, address, type);
    return streamed.call ?? readSoapBody(context, address, streamed.body);
  };
  try {
    await answer(context, address.version, read, () => streamed?.failure());
  } finally {
    streamed?.end();
  }
}

/**
 * The Content-Type of a request whose body may hold a file that flows through: its envelope is read before the rest is there
 * (W64). Undefined for any other request.
 */
function streamedType({ options, head }: RequestContext): RelatedType | undefined {
  const { related, headers } = head;
  if (!options.service.streams || headers['content-encoding'] !== undefined) return undefined;
  return related instanceof RelatedTypeError ? undefined : related;
}

/**
 * Reads a call, makes it upstream and sends the reply: whatever fails on the way, in the caller's protocol.
 *
 * @param claimed the version until the envelope says its own (W3)
 * @param read throws CallError, Fault
 * @param failure why the request broke off while the call was under way
 */
async function answer(
  context: RequestContext,
  claimed: SoapVersion,
  read: () => Promise<SoapCall | PreparedSoapCall>,
  failure?: () => unknown,
): Promise<void> {
  const { stats, options, head } = context;
  const { service } = options;
  let version = claimed;
  let reply: Reply;
  try {
    const call = await read();
    const { operation, input, header, credentials } = call;
    version = call.version;
    noteSecurity(stats, header, undefined);
    const outcome = await runCall(
      service,
      context,
      operation,
      input,
      'xml',
      frameOf(call, service),
      credentials,
    );
    const broken = failure?.();
    if (broken !== undefined) throw broken;
    if (stats.error === 'FailedAuthentication') stats.wsse = stats.error;
    reply = soapReply(version, outcome, replyContext(context, operation, header, asksForXml(head)));
  } catch (error) {
    // at the latest a codec of ours failed on a reply of ours
    reply = refusalOf(undecodable(error, version), context, version);
    if (error instanceof Fault) version = error.version;
  }
  send(context, version.format, reply);
}

/** What the reply of a call goes out in. */
function frameOf(
  { version, operation, header, isMtom }: SoapCall | PreparedSoapCall,
  { compiled }: Service,
): Frame {
  const frame = replyFrame(version, operation.replyAction, header);
  const { mtomReplies, mtomThreshold } = compiled.contract.settings;
  return isMtom && mtomReplies === 'requested' ? mtomFrame(frame, mtomThreshold) : frame;
}

/** Notes what a request's Security block came to, of which nothing else is kept (W46, W56). */
function noteSecurity(
  stats: RequestStats,
  header: ReplyHeader | undefined,
  code: FaultCode | undefined,
): void {
  const security = header?.security;
  if (security !== undefined) {
    stats.wsse = security.token;
    stats.unverified = [...new Set(security.unverified)];
  }
  if (code !== undefined && isSecurityCode(code)) stats.wsse = code;
}

/** Notes why there is no operation to answer, and the header block that isn't understood. */
function noteFault(stats: RequestStats, error: unknown): void {
  stats.fault = error instanceof Fault ? error.kind : 'InternalError';
  if (!(error instanceof Fault) || error.block === undefined) return;
  const { namespace, local } = error.block;
  stats.block = logText(`{${namespace.slice(0, 100)}}${local.slice(0, 64)}`);
}

/** A body that isn't of its coding is as undecodable as one that isn't of its charset (W27). */
function undecodable(error: unknown, version: SoapVersion): unknown {
  if (!(error instanceof CallError && error.code === 'MalformedRequest')) return error;
  return new Fault(version, 'sender', error.said, { kind: 'MalformedRequest', cause: error });
}

/**
 * The reply to a SOAP request that no operation could answer: a fault; plain text where it was refused before it was read and
 * says nowhere that it is SOAP, or where it was shed (W44). CXF, Metro and WCF show their users a fault, and of any other reply
 * with a status of 4xx the status alone; a proxy in front is to see that a gateway is full.
 */
function refusalOf(error: unknown, context: RequestContext, version: SoapVersion): Reply {
  const { stats, head, requestId, options } = context;
  const replyTo = replyContext(context, undefined, undefined, asksForXml(head));
  if (error instanceof CallError) {
    const { status, message, code } = error;
    stats.error = code;
    if (status >= 500 || !saysItIsSoap(head)) return textReply(status, message, requestId);
    return {
      ...faultReply(new Fault(version, 'sender', error.said, { cause: error }), replyTo),
      xStatus: status,
    };
  }
  noteFault(stats, error);
  if (error instanceof Fault) {
    noteSecurity(stats, error.header, error.code);
    return faultReply(error, replyTo);
  }
  options.service.onError(error, requestId);
  return faultReply(new Fault(version, 'receiver', { detail: 'internal error' }, { cause: error }), replyTo);
}

/** Whether a request says that it is SOAP before it is read: SOAP 1.1 has a SOAPAction (6.1.1), 1.2 its media type. */
function saysItIsSoap(head: RequestHead): boolean {
  return head.soapAction !== undefined || isSoap12(head);
}

/** A SOAP request that accepts the specification's literal `application/xml` and nothing else gets it (W7). */
function asksForXml({ headers }: RequestHead): boolean {
  return headers.accept === 'application/xml';
}

function isSoap12({ headers }: RequestHead): boolean {
  return headers['content-type']?.toLowerCase().includes('application/soap+xml') === true;
}

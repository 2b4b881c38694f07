import { Buffer } from 'node:buffer';
import { runCall } from '../../call/call.ts';
import { CallError } from '../../call/error.ts';
import { readBody } from '../../http/body.ts';
import { serveDocument } from '../../http/document-endpoint.ts';
import { type Reply, textReply } from '../../http/reply.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { send, serveOptions } from '../../http/send.ts';
import { logText } from '../../telemetry/request-stats.ts';
import { admitSoap, mayFlow, readSoapHere } from '../read-request.ts';
import { faultReply, replyContext, soapReply } from '../reply.ts';
import { mtomFrame, replyFrame } from './envelope.ts';
import { Fault, type FaultCode, isSecurityCode } from './faults.ts';
import type { ReplyHeader } from './headers/reply-header.ts';
import { readStreamed, type StreamedCall } from './streamed-call.ts';
import { type SoapAddress, type SoapVersion, soap11, soap12 } from './versions.ts';

const soapVerbs = 'GET, HEAD, OPTIONS, POST';

/** A SOAP endpoint: POST calls an operation, GET gives the WSDL (W2). */
export function serveSoap(address: SoapAddress, context: RequestContext): Promise<void> | void {
  const { method } = context.request;
  if (method === 'POST') return answerSoap(address, context);
  if (method === 'GET' || method === 'HEAD') return serveDocument(context, 'wsdl');
  if (method === 'OPTIONS') serveOptions(context, soapVerbs);
  else send(context, 'http', textReply(405, `expected ${soapVerbs}`, context.requestId, soapVerbs));
}

/** Answers a SOAP call at a path that takes none with a fault (W44). Returns false if the request is no SOAP call. */
export function refusePath(context: RequestContext, error: CallError): boolean {
  if (context.request.method !== 'POST' || !saysItIsSoap(context)) return false;
  const version = isSoap12(context) ? soap12 : soap11;
  send(context, version.format, unread(context, version, error));
  return true;
}

async function answerSoap(address: SoapAddress, context: RequestContext): Promise<void> {
  const { version } = address;
  const { service } = context.options;
  let reply: Reply;
  let streamed: StreamedCall | undefined;
  try {
    admitSoap(service, context);
    await undefined; // Node's parser is about to bring what came with the head
    streamed = mayFlow(service, context) ? await readStreamed(context, address) : undefined;
    const read = streamed?.body ?? readBody(context, service);
    const body = Buffer.isBuffer(read) ? read : await read;
    const call =
      streamed?.call ??
      readSoapHere(service, context, address, body) ??
      (await service.readAside.soap(context, address, body));
    const { operation, header } = call;
    noteSecurity(context, header, undefined);
    const plainFrame = replyFrame(call.version, operation.replyAction, header);
    const { mtomReplies, mtomThreshold } = service.compiled.contract.settings;
    const isMtom = call.isMtom && mtomReplies === 'requested';
    const frame = isMtom ? mtomFrame(plainFrame, mtomThreshold) : plainFrame;
    const outcome = await runCall(service, context, operation, call.input, 'xml', frame, call.credentials);
    if (streamed?.failure() !== undefined) throw streamed.failure();
    if (context.stats.error === 'FailedAuthentication') context.stats.wsse = context.stats.error;
    const replyTo = replyContext(context, operation, header, asksForXml(context));
    reply = soapReply(call.version, outcome, replyTo);
  } catch (error) {
    // at the latest a codec of ours failed on a reply of ours: still in the caller's own protocol
    reply = soapRefusal(context, version, undecodable(error, version));
  } finally {
    streamed?.end();
  }
  send(context, version.format, reply);
}

/** Notes what a request's Security block came to, of which nothing else is kept (W46, W56). */
function noteSecurity(
  { stats }: RequestContext,
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
function noteFault({ stats }: RequestContext, error: unknown): void {
  stats.fault = error instanceof Fault ? error.kind : 'InternalError';
  if (!(error instanceof Fault) || error.block === undefined) return;
  const { namespace, local } = error.block;
  stats.block = logText(`{${namespace.slice(0, 100)}}${local.slice(0, 64)}`);
}

/** A body that isn't of its coding is as undecodable as one that isn't of its charset (W27). */
function undecodable(error: unknown, version: SoapVersion): unknown {
  if (!(error instanceof CallError && error.code === 'MalformedRequest')) return error;
  return new Fault(version, 'sender', error.message, { kind: 'MalformedRequest', cause: error });
}

/**
 * A SOAP request that no operation could answer: a fault, or plain text where it was refused before it was read and says
 * nowhere that it is SOAP, or where it was shed (W44).
 */
function soapRefusal(context: RequestContext, version: SoapVersion, error: unknown): Reply {
  if (error instanceof CallError) return unread(context, version, error);
  noteFault(context, error);
  if (error instanceof Fault) noteSecurity(context, error.header, error.code);
  const replyTo = replyContext(context, undefined, undefined, asksForXml(context));
  if (error instanceof Fault) return faultReply(error, replyTo);
  context.options.service.onError(error, context.requestId);
  return faultReply(new Fault(version, 'receiver', 'internal error', { cause: error }), replyTo);
}

/**
 * The refusal of a request that nobody read. CXF, Metro and WCF show their users a fault, and of any other reply with a status
 * of 4xx the status alone; a proxy in front is to see that a gateway is full, and gets that as it is.
 */
function unread(context: RequestContext, version: SoapVersion, error: CallError): Reply {
  const { status, message, code } = error;
  context.stats.error = code;
  if (status >= 500 || !saysItIsSoap(context)) return textReply(status, message, context.requestId);
  const replyTo = replyContext(context, undefined, undefined, asksForXml(context));
  const fault = new Fault(version, 'sender', message, { cause: error });
  return { ...faultReply(fault, replyTo), xStatus: status };
}

/** Whether a request says that it is SOAP before it is read: SOAP 1.1 has a SOAPAction (6.1.1), 1.2 its media type. */
function saysItIsSoap(context: RequestContext): boolean {
  return context.request.headers.soapaction !== undefined || isSoap12(context);
}

function isSoap12({ request: { headers } }: RequestContext): boolean {
  return headers['content-type']?.toLowerCase().includes('application/soap+xml') === true;
}

/** A SOAP request that accepts the specification's literal `application/xml` and nothing else gets it (W7). */
function asksForXml({ request }: RequestContext): boolean {
  return request.headers.accept === 'application/xml';
}

import { admitCall, readSoapHere, runCall } from '../../call/call.ts';
import { CallError } from '../../call/error.ts';
import { readBody } from '../../http/body.ts';
import { serveDocument } from '../../http/document-endpoint.ts';
import { faultReply, type Reply, soapReply, textReply } from '../../http/reply.ts';
import { replyContext, send, serveOptions, type Visit } from '../../http/request-context.ts';
import { replyFrame } from './envelope.ts';
import { Fault } from './faults.ts';
import type { SoapVersion } from './versions.ts';

const soapVerbs = 'GET, HEAD, OPTIONS, POST';

/** A SOAP endpoint: POST calls an operation, GET gives the WSDL (W2). */
export function serveSoap(version: SoapVersion, visit: Visit): Promise<void> | void {
  const { method } = visit.request;
  if (method === 'POST') return answerSoap(version, visit);
  if (method === 'GET' || method === 'HEAD') return serveDocument(visit, true);
  if (method === 'OPTIONS') serveOptions(visit, soapVerbs);
  else send(visit, 'http', textReply(405, `expected ${soapVerbs}`, visit.requestId, soapVerbs));
}

async function answerSoap(version: SoapVersion, visit: Visit): Promise<void> {
  const { service } = visit.options;
  let reply: Reply;
  try {
    admitCall(service, visit);
    await undefined; // Node's parser is about to bring what came with the head
    const read = readBody(visit, service);
    const body = Buffer.isBuffer(read) ? read : await read;
    const call =
      readSoapHere(service, visit, version, body) ?? (await service.readAside.soap(visit, version, body));
    const { operation, header } = call;
    const frame = replyFrame(call.version, operation.operation.name, header);
    const outcome = await runCall(service, visit, operation, call.input, 'xml', frame, call.credentials);
    const context = replyContext(visit, operation, header, asksForXml(visit));
    reply = soapReply(call.version, outcome, context);
  } catch (error) {
    // at the latest a codec of ours failed on a reply of ours: still in the caller's own protocol
    reply = soapRefusal(visit, version, undecodable(error, version));
  }
  send(visit, version.format, reply);
}

/** A body that isn't of its coding is as undecodable as one that isn't of its charset (W27). */
function undecodable(error: unknown, version: SoapVersion): unknown {
  if (!(error instanceof CallError && error.code === 'MalformedRequest')) return error;
  return new Fault(version, 'sender', error.message, { cause: error });
}

/** A SOAP request that no operation could answer: plain text before it was read, a fault after (W44). */
function soapRefusal(visit: Visit, version: SoapVersion, error: unknown): Reply {
  if (error instanceof CallError) visit.error = error.code;
  else visit.fault = error instanceof Fault ? error.code : 'receiver';
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

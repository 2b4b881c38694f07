import { serveDocument } from './document-endpoint.ts';
import { CallError } from './error.ts';
import { faultReply, type Reply, soapReply, textReply } from './reply.ts';
import { readSoapCall, runCall } from './service.ts';
import { Fault, replyFrame, type SoapVersion } from './soap.ts';
import { replyContext, send, serveOptions, type Visit } from './visit.ts';

const soapVerbs = 'GET, HEAD, OPTIONS, POST';

/** A SOAP endpoint: POST calls an operation, GET gives the WSDL (W2). */
export async function serveSoap(version: SoapVersion, visit: Visit): Promise<void> {
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
  const outcome = await runCall(service, visit, call.operation, call.input, 'xml', frame, call.credentials);
  const context = replyContext(visit, call.operation, call.addressing, asksForXml(visit));
  return soapReply(call.version, outcome, context);
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

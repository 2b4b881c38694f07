import { TooManySteps } from '../../mappings/codec/problem.ts';
import type { CompiledOperation } from '../../mappings/compile.ts';
import type { Input } from '../../mappings/http-mapping/call.ts';
import { maxLoopRequestBytes } from '../../mappings/http-mapping/related-stream.ts';
import type { Prepared } from '../call/call-service.ts';
import { CallError } from '../call/error.ts';
import { admitBody, unpackBody } from '../http/body.ts';
import type { RequestContext } from '../http/request-context.ts';
import { splitSoap } from '../protocols/read-call.ts';
import type { PreparedSoapCall } from '../protocols/read-in-worker.ts';
import { readSoapBody } from '../protocols/read-request.ts';
import type { Envelope, SoapCall } from '../protocols/soap/soap-reader.ts';
import type { SoapAddress } from '../protocols/soap/versions.ts';
import { type Received, receiveAll } from './receive.ts';

// Payloads of requests: as JSON, for conditions on values (G8), and for the upstream.

/** Returns the JSON of a request. One that was read in a worker thread has it, or has it as its upstream request. */
export function jsonOf(operation: CompiledOperation, input: Input | Prepared): string {
  if (!('given' in input)) return operation.jsonOf(input);
  const { request, json } = input;
  if (json !== undefined) return json;
  if (request instanceof CallError || !Buffer.isBuffer(request.body)) return '{}';
  return request.body.toString('utf8');
}

/**
 * Reads the request of an envelope as JSON, in a worker thread if it would take long. The call is undefined if it cannot
 * be used to answer. Also returns the credentials in its header blocks (A8). Throws the errors of `isUnreadable`.
 */
export async function readRequest(
  address: SoapAddress,
  context: RequestContext,
  received: Received,
  envelope: Envelope,
): Promise<{
  readonly json: string;
  readonly call: SoapCall | undefined;
  readonly moved: ReadonlyMap<string, string>;
}> {
  const { service } = context.options;
  const { readAsideBytes = maxLoopRequestBytes } = service.compiled.limits;
  const isLong = received.body !== undefined && received.body.length > readAsideBytes;
  try {
    if (isLong && context.head.related === undefined) throw new TooManySteps();
    const call = envelope.readPayload();
    const isReused = received.body !== undefined && context.head.related === undefined;
    const { operation, input } = call;
    return {
      json: operation.jsonOf(input),
      call: isReused ? call : undefined,
      moved: operation.credentialsOf(input),
    };
  } catch (error) {
    if (!(error instanceof TooManySteps)) throw error;
    await receiveAll(received, service.bodyLimit);
    received.body ??= await unpackBody(context, received.bytes, service);
    received.isAdmitted = true;
    // the thread takes over the memory that it reads
    const copy = Buffer.from(received.body);
    const split = splitSoap(service, context.head, address.version, copy);
    const { operation, input } = await service.readInWorker.soap(context, address, copy, split);
    return { json: jsonOf(operation, input), call: undefined, moved: input.given.body };
  }
}

/**
 * Reads a received call for the upstream. Throws CallError, Fault.
 *
 * @param known the call, if the decision has read it
 * @param isKept true if the legacy service may get the same bytes
 */
export async function readForUpstream(
  address: SoapAddress,
  context: RequestContext,
  received: Received,
  known: SoapCall | PreparedSoapCall | undefined,
  isKept: boolean,
): Promise<SoapCall | PreparedSoapCall> {
  const { request, head, options } = context;
  const { service } = options;
  service.refuseForeign?.(request, head.contentType.type);
  admitBody(request.headers, service);
  const body = received.body ?? (await unpackBody(context, received.bytes, service));
  return known ?? readSoapBody(context, address, isKept ? Buffer.from(body) : body);
}

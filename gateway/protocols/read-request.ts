import { type Reading, TooManySteps } from '../../mappings/codec/problem.ts';
import type { CompiledOperation, RouteValue } from '../../mappings/compile.ts';
import type { Input } from '../../mappings/http-mapping/call.ts';
import { bytesToRead, type SplitMessage } from '../../mappings/http-mapping/related.ts';
import { maxLoopRequestBytes } from '../../mappings/http-mapping/related-stream.ts';
import type { Admission } from '../admission/admission.ts';
import type { CallService, Exchange } from '../call/call-service.ts';
import type { RequestHead } from '../call/head.ts';
import { type Arrival, admitBody, readBody } from '../http/body.ts';
import type { RefuseForeign, RefuseForeignScript } from '../http/foreign.ts';
import type { Observed } from '../telemetry/observer.ts';
import type { NetworkOf, Upstream } from '../upstream/upstream.ts';
import {
  type BodyCall,
  type BodyForm,
  openSoap,
  type Readers,
  readCallBody,
  refuseMultipart,
  refuseUnreadable,
  splitSoap,
} from './read-call.ts';
import type { PreparedSoapCall, ReadInWorker, WorkerExchange, WorkerReader } from './read-in-worker.ts';
import type { ReadMessage, ReadReserved } from './soap/reserved-keys.ts';
import type { SoapCall } from './soap/soap-reader.ts';
import type { SoapAddress } from './soap/versions.ts';

// This folder implements the protocols of a contract. Each protocol is a file or folder that reads bodies to inputs and
// writes outcomes as replies (reply.ts). soap/ contains versions, envelope, faults and the table of header blocks. No
// sockets here.

/** Everything that the protocols of one contract need, compiled at start. */
export interface Service extends Readers, CallService {
  /** Reads requests and replies that would block the event loop for long. */
  readonly readInWorker: ReadInWorker;
  /** Reads messages whose keys must be reserved (X24); undefined for a contract without AES-CBC. */
  readonly readReserved: ReadReserved | undefined;
  /** Undefined if every call needs credentials that a browser does not add itself. */
  readonly refuseForeign: RefuseForeign | undefined;
  /** Undefined if JSONP is off or no credentials are ones that a browser adds itself. */
  readonly refuseForeignScript: RefuseForeignScript | undefined;
  /** True if an operation streams files. */
  readonly streams: boolean;
  readonly networkOf: NetworkOf;
  /** Maximum size of a request body, in bytes. */
  readonly bodyLimit: number;
  /** Returns the service of the contract for shadow requests. It observes nothing, and counts no call of a caller. */
  readonly openShadow: (parts: ShadowParts) => Service;
}

/** Parts that shadow requests use instead of those of callers, so that callers never wait for them (G27). */
export interface ShadowParts {
  readonly upstream: Upstream;
  /** Reads large messages in a worker thread. */
  readonly reader: WorkerReader;
  readonly admission: Admission;
}

/** A request with its parsed head. */
type HeadedArrival = Arrival & Pick<Exchange, 'head'>;

/** Context for reading a SOAP request. */
type SoapContext = WorkerExchange & HeadedArrival & { readonly options: { readonly service: Service } };

/** Checks the head of a call before its body is read. Throws CallError. */
export function admitCall(service: Service, context: HeadedArrival): void {
  const { type } = context.head.contentType;
  refuseMultipart(type);
  service.refuseForeign?.(context.request, type);
  admitBody(context.request.headers, service);
}

/** Checks the head of a SOAP request, which may be multipart (W57). Throws CallError. */
export function admitSoap(service: Service, context: HeadedArrival, bodyLimit = service.bodyLimit): void {
  const { head, request } = context;
  refuseUnreadable(head);
  service.refuseForeign?.(request, head.contentType.type);
  admitBody(head.headers, service, bodyLimit);
}

/** Receives a SOAP request and reads its inputs. Throws CallError, Fault. */
export async function readSoap(
  context: SoapContext & Observed,
  address: SoapAddress,
): Promise<SoapCall | PreparedSoapCall> {
  const { service } = context.options;
  admitSoap(service, context);
  await undefined; // in the next microtask, Node's parser has passed on the bytes that arrived with the head
  const read = readBody(context, service);
  const body = Buffer.isBuffer(read) ? read : await read;
  service.observer.opened(context, body);
  return readSoapBody(context, address, body);
}

/**
 * Reads a complete body as a SOAP request, in a worker thread if it would take long. The encrypted keys of a message with
 * AES-CBC are reserved before they are used (X24). Throws CallError, Fault.
 */
export function readSoapBody(
  context: SoapContext,
  address: SoapAddress,
  body: Buffer,
): SoapCall | PreparedSoapCall | Promise<SoapCall | PreparedSoapCall> {
  const { service } = context.options;
  const split = splitSoap(service, context.head, address.version, body);
  const read: ReadMessage<SoapCall | PreparedSoapCall> = (hasReservedKeys, onStart) =>
    readSplit(context, address, body, split, hasReservedKeys, onStart);
  return service.readReserved?.<SoapCall | PreparedSoapCall>(read) ?? read(false, () => undefined);
}

function readSplit(
  context: SoapContext,
  address: SoapAddress,
  body: Buffer,
  split: SplitMessage | undefined,
  hasReservedKeys: boolean,
  onStart: () => void,
): SoapCall | Promise<PreparedSoapCall> {
  const { head, stats, options } = context;
  const { service } = options;
  const call = readSoapHere(service, head, address, body, split, hasReservedKeys);
  if (call === undefined)
    return service.readInWorker.soap(context, address, body, split, hasReservedKeys, onStart);
  stats.operation = call.operation.operation.name;
  return call;
}

/**
 * Reads a body as a SOAP request. Returns undefined if this would block the event loop for long; a worker thread must
 * read it then. Throws CallError, Fault.
 *
 * @param split positions of the parts of a multipart message
 * @param hasReservedKeys true if encrypted keys may be used (X24)
 */
function readSoapHere(
  service: Service,
  head: RequestHead,
  address: SoapAddress,
  body: Buffer,
  split: SplitMessage | undefined,
  hasReservedKeys: boolean,
): SoapCall | undefined {
  const toRead = split === undefined ? body.length : bytesToRead(split);
  const { readAsideBytes = maxLoopRequestBytes } = service.compiled.limits;
  if (toRead > readAsideBytes) return undefined;
  try {
    const envelope = openSoap(service, head, address, body, split, hasReservedKeys);
    // at this point the operation is known, and nothing of the payload has been read
    return envelope.readPayload();
  } catch (error) {
    if (error instanceof TooManySteps) return undefined;
    throw error;
  }
}

/**
 * Reads a body that is not SOAP. Returns undefined if this would block the event loop for long; a worker thread must
 * read it then. Throws CallError.
 */
export function readBodyHere(
  service: Service,
  { head }: Pick<Exchange, 'head'>,
  operation: CompiledOperation,
  body: Buffer,
  stated: BodyForm | undefined,
): BodyCall | undefined {
  const { readAsideBytes = maxLoopRequestBytes } = service.compiled.limits;
  if (body.length > readAsideBytes) return undefined;
  try {
    return readCallBody(service, head, operation, body, stated);
  } catch (error) {
    if (error instanceof TooManySteps) return undefined;
    throw error;
  }
}

/** Reads the parameters of a route. Returns undefined if this would block the event loop for long. */
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

import { type Reading, TooManySteps } from '../../mappings/codec/problem.ts';
import type { CompiledOperation, RouteValue } from '../../mappings/compile.ts';
import type { Input } from '../../mappings/http-mapping/call.ts';
import { bytesToRead, type SplitMessage } from '../../mappings/http-mapping/related.ts';
import { maxLoopRequestBytes } from '../../mappings/http-mapping/related-stream.ts';
import type { CallService, Exchange } from '../call/call.ts';
import type { RequestHead } from '../call/head.ts';
import { type Arrival, admitBody, readBody } from '../http/body.ts';
import type { RefuseForeign, RefuseForeignScript } from '../http/foreign.ts';
import type { NetworkOf } from '../upstream/upstream.ts';
import type { AsideExchange, PreparedSoapCall, ReadAside } from './read-aside.ts';
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
import type { SoapCall } from './soap/soap-reader.ts';
import type { SoapAddress } from './soap/versions.ts';

// What lives here: the faces of a contract. A folder or file for each protocol turns bodies into inputs and outcomes into
// replies (reply.ts); soap/ has versions, envelope, faults and a table of header blocks. No sockets.

/** What all protocols of one contract need, put together at start. */
export interface Service extends Readers, CallService {
  /** Reads what would hold the event loop for long, requests and replies. */
  readonly readAside: ReadAside;
  /** Undefined where every call needs credentials. */
  readonly refuseForeign: RefuseForeign | undefined;
  /** Undefined where no browser gives credentials by itself. */
  readonly refuseForeignScript: RefuseForeignScript | undefined;
  /** Whether files of some operation flow through. */
  readonly streams: boolean;
  readonly networkOf: NetworkOf;
  /** Largest request body, in bytes. */
  readonly bodyLimit: number;
}

/** A request whose head was read. */
type HeadedArrival = Arrival & Pick<Exchange, 'head'>;

/** A SOAP request on its way to its inputs. */
type SoapContext = AsideExchange & HeadedArrival & { readonly options: { readonly service: Service } };

/** Refuses a call by its head, before any of its body is read. Throws CallError. */
export function admitCall(service: Service, context: HeadedArrival): void {
  const { type } = context.head.contentType;
  refuseMultipart(type);
  service.refuseForeign?.(context.request, type);
  admitBody(context.request.headers, service);
}

/** The same of a SOAP request, which may be a message of several parts (W57). Throws CallError. */
export function admitSoap(service: Service, context: HeadedArrival, bodyLimit = service.bodyLimit): void {
  const { head, request } = context;
  refuseUnreadable(head);
  service.refuseForeign?.(request, head.contentType.type);
  admitBody(head.headers, service, bodyLimit);
}

/** Receives a SOAP request and reads it, up to its inputs. Throws CallError, Fault. */
export async function readSoap(
  context: SoapContext,
  address: SoapAddress,
): Promise<SoapCall | PreparedSoapCall> {
  const { service } = context.options;
  admitSoap(service, context);
  await undefined; // Node's parser is about to bring what came with the head
  const read = readBody(context, service);
  const body = Buffer.isBuffer(read) ? read : await read;
  return readSoapBody(context, address, body);
}

/** Reads a whole body as a SOAP request, beside the event loop where that takes long. Throws CallError, Fault. */
export function readSoapBody(
  context: SoapContext,
  address: SoapAddress,
  body: Buffer,
): SoapCall | Promise<PreparedSoapCall> {
  const { head, stats, options } = context;
  const { service } = options;
  const split = splitSoap(service, head, address.version, body);
  const call = readSoapHere(service, head, address, body, split);
  if (call === undefined) return service.readAside.soap(context, address, body, split);
  stats.operation = call.operation.operation.name;
  return call;
}

/**
 * Reads a body as a SOAP request; undefined for one that would hold the event loop for long, which is to be read beside it.
 * Throws CallError, Fault.
 *
 * @param split where the parts of a multipart message are
 */
function readSoapHere(
  service: Service,
  head: RequestHead,
  address: SoapAddress,
  body: Buffer,
  split: SplitMessage | undefined,
): SoapCall | undefined {
  const toRead = split === undefined ? body.length : bytesToRead(split);
  const { readAsideBytes = maxLoopRequestBytes } = service.compiled.limits;
  if (toRead > readAsideBytes) return undefined;
  try {
    const envelope = openSoap(service, head, address, body, split);
    // what happens to the request is decided here: its operation is known, and nothing of its payload was read
    return envelope.readPayload();
  } catch (error) {
    if (error instanceof TooManySteps) return undefined;
    throw error;
  }
}

/**
 * Reads a body outside SOAP; undefined for one that would hold the event loop for long, which is to be read beside it. Throws
 * CallError.
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

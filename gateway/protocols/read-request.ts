import { type Reading, TooManySteps } from '../../mappings/codec/problem.ts';
import type { CompiledOperation, RouteValue } from '../../mappings/compile.ts';
import type { Input } from '../../mappings/http-mapping/call.ts';
import type { CallService, Exchange } from '../call/call.ts';
import { type Arrival, admitBody } from '../http/body.ts';
import type { RefuseForeign, RefuseForeignScript } from '../http/foreign.ts';
import type { NetworkOf } from '../upstream/upstream.ts';
import type { ReadAside } from './read-aside.ts';
import {
  type BodyCall,
  type BodyForm,
  contentTypeOf,
  type Readers,
  readCallBody,
  readSoapCall,
  refuseMultipart,
  refuseUnreadable,
  relatedType,
  splitSoapMessage,
} from './read-call.ts';
import type { SoapCall } from './soap/envelope.ts';
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

/** Looks whether anything speaks against reading a call's body, before any of it is read. Throws CallError. */
export function admitCall(service: Service, exchange: Arrival): void {
  const { type } = contentTypeOf(exchange.request);
  refuseMultipart(type);
  admitTyped(service, exchange, type);
}

/** The same of a SOAP request, which may be a message of several parts (W57). Throws CallError. */
export function admitSoap(service: Service, exchange: Arrival): void {
  const { type } = contentTypeOf(exchange.request);
  refuseUnreadable(exchange.request);
  if (mayFlow(service, exchange)) {
    const bodyLimit = Math.max(service.bodyLimit, service.compiled.limits.streamBytes);
    admitTyped({ ...service, bodyLimit }, exchange, type);
  } else admitTyped(service, exchange, type);
}

/** Whether a request's body may hold a file that flows through: then its envelope is read before the rest is there (W64). */
export function mayFlow({ streams }: Service, { request }: Arrival): boolean {
  if (!streams || request.headers['content-encoding'] !== undefined) return false;
  return contentTypeOf(request).type === relatedType;
}

function admitTyped(service: Service, exchange: Arrival, type: string): void {
  service.refuseForeign?.(exchange.request, type);
  admitBody(exchange, service);
}

/**
 * Reads a body as a SOAP request; undefined for one that would hold the event loop for long, which is to be read beside
 * it. Throws CallError, Fault.
 */
export function readSoapHere(
  service: Service,
  exchange: Pick<Exchange, 'request' | 'stats'>,
  address: SoapAddress,
  body: Buffer,
): SoapCall | undefined {
  if (isLong(service, exchange, address, body)) return undefined;
  try {
    const call = readSoapCall(service, exchange.request, address, body);
    exchange.stats.operation = call.operation.operation.name;
    return call;
  } catch (error) {
    if (error instanceof TooManySteps) return undefined;
    throw error;
  }
}

/** Whether to read a body takes long: of a multipart message its envelope, and what came as base64, counts. Throws Fault. */
function isLong(
  service: Service,
  { request }: Pick<Exchange, 'request'>,
  { version }: SoapAddress,
  body: Buffer,
): boolean {
  const { readAsideBytes } = service.compiled.limits;
  if (body.length <= readAsideBytes) return false;
  if (contentTypeOf(request).type !== relatedType) return true;
  const { rootBytes, encodedBytes } = splitSoapMessage(service, request, version, body);
  return rootBytes + encodedBytes > readAsideBytes;
}

/** The same of a call outside SOAP. Throws CallError. */
export function readBodyHere(
  service: Service,
  exchange: Pick<Exchange, 'request' | 'stats'>,
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

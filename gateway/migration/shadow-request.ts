import type { ServerResponse } from 'node:http';
import type { UpstreamRequest } from '../../mappings/http-mapping/call.ts';
import { CallError } from '../call/error.ts';
import { requestOf } from '../call/request.ts';
import { unpackSent } from '../http/body.ts';
import type { RequestContext } from '../http/request-context.ts';
import { http } from '../node-http.ts';
import type { PreparedSoapCall } from '../protocols/read-in-worker.ts';
import { admitSoap, readSoapBody, type Service } from '../protocols/read-request.ts';
import { Fault } from '../protocols/soap/faults.ts';
import type { SoapCall } from '../protocols/soap/soap-reader.ts';
import type { SoapAddress } from '../protocols/soap/versions.ts';
import { type RequestStats, startStats } from '../telemetry/request-stats.ts';
import { transferable } from './body-copy.ts';
import type { CallSecrets } from './call-secrets.ts';
import type { ReceivedReply } from './compare-task.ts';
import { CopyMemory } from './copy-memory.ts';
import type { ExchangeCopy } from './exchange-copy.ts';
import { authenticatesConnection, type ForwardedHeaders } from './forward-headers.ts';
import { LegacyCall } from './legacy-call.ts';
import type { LegacyService } from './legacy-service.ts';
import { ReplyCopy } from './reply-copy.ts';
import { announcedIn, headOf } from './reply-head.ts';
import { Skipped } from './skipped.ts';

// Shadow requests: calls whose replies are only compared (G25, G27).

/** Marks a shadow request for the service that receives it. */
export const shadowHeader = { 'X-Soapbridge-Shadow': '1' } as const;

/** A reply, and the duration of its call in ms. */
export type TimedReply = ReceivedReply & { readonly ms: number };

/** All shadow requests count as one caller, so that they share one circuit breaker per operation. */
const shadowKeys = { caller: 'shadow', network: 'shadow' } as const;

/** The data of a shadow request that its comparison provides. */
export interface ShadowParts {
  readonly context: RequestContext;
  /** The message as the caller sent it. */
  readonly body: Buffer;
  /** Counts the memory of the reply until the comparison ends. */
  readonly memory: CopyMemory;
  /** Receives the credentials of the call. */
  readonly secrets: CallSecrets;
  /** Becomes `destroyed` when the comparison is cancelled. */
  readonly end: ServerResponse;
  /** Copies the reply of the legacy service for a recording; undefined for none. */
  readonly record?: ExchangeCopy | undefined;
  /** Deadline in ms of `performance.now()`. */
  readonly deadline: number;
  /** Headers that are added to a request to the upstream. Default: the mark of a shadow request. */
  readonly added?: Readonly<Record<string, string>>;
  /** Called with the operation of the message before the call. An error that it throws ends the call. */
  readonly onOperation?: (name: string) => void;
}

/** Creates the end of a comparison, which has no connection. */
export function createEnd({ request }: RequestContext): ServerResponse {
  return new http.ServerResponse(request);
}

/**
 * Makes the call that mode `new` would make for a message. Returns the upstream's reply, or the error for a message that
 * the gateway refuses. Throws Skipped.
 *
 * @param service service of the contract for shadow requests
 */
export async function callNew(
  service: Service,
  address: SoapAddress,
  { context, body, memory, secrets, end, deadline, added = shadowHeader, onOperation }: ShadowParts,
): Promise<TimedReply> {
  const { compareBytes } = service.compiled.limits;
  const stats = startStats(context.requestId, 'POST');
  const readMemory = new CopyMemory(service.admission, compareBytes);
  const shadow: RequestContext = {
    ...context,
    options: { ...context.options, service },
    response: end,
    stats,
    permit: readMemory,
    deadline,
    index: -1,
    reached: false,
    isWritten: false,
    ownSecrets: [],
    passed: undefined,
  };
  try {
    admitSoap(service, shadow);
    const unpacked = await unpackSent(shadow, body, service);
    if (unpacked.length > compareBytes) throw new Skipped('size');
    const call = await readSoapBody(shadow, address, unpacked);
    secrets.read(call);
    onOperation?.(call.operation.operation.name);
    const request = upstreamRequestOf(service, shadow, call);
    const marked = { ...request, headers: { ...request.headers, ...added } };
    const reply = await service.upstream.call(marked, { ...shadow, permit: memory });
    memory.keep(reply.body.length);
    const { 'content-type': type } = reply.headers;
    const contentType = typeof type === 'string' ? type : undefined;
    const { status, body: bytes } = reply;
    return { status, contentType, coding: undefined, body: transferable(bytes), ms: stats.upstreamMs };
  } catch (error) {
    const refusal = refusalOf(error, stats, readMemory, memory);
    return { ...refusal, ms: stats.upstreamMs };
  } finally {
    secrets.sent(shadow.ownSecrets);
    readMemory.release();
  }
}

/** Builds the upstream request as `runCall` does, but keeps no nonce. Throws CallError. */
function upstreamRequestOf(
  service: Service,
  { head }: RequestContext,
  { operation, input, values }: SoapCall | PreparedSoapCall,
): UpstreamRequest {
  if ('given' in input) {
    if (input.request instanceof CallError) throw input.request;
    return input.request;
  }
  const given = { body: operation.credentialsOf(input), ...values };
  return requestOf(service, head, operation, input, given, 'xml', () => {});
}

/**
 * Returns the reply that mode `new` gives for an error of the gateway. Throws Skipped for an error without a reply of the
 * upstream.
 */
function refusalOf(
  error: unknown,
  stats: RequestStats,
  readMemory: CopyMemory,
  memory: CopyMemory,
): ReceivedReply {
  if (error instanceof Fault)
    return refusalReply(error.code === 'receiver' ? 500 : 400, error.kind, error.message);
  if (!(error instanceof CallError)) throw error;
  const { code, status, message } = error;
  if (code === 'CallerGone') throw new Skipped('aborted');
  if (code === 'Overloaded' || code === 'GatewayExhausted')
    throw memory.isTooLarge || readMemory.isTooLarge ? new Skipped('size') : new Skipped('busy');
  if (stats.failures?.at(-1)?.cause === 'breaker') throw new Skipped('breaker');
  // the reply was complete, but could not be mapped
  const isAnswered = code === 'UpstreamInvalidResponse' && stats.failures === undefined;
  if (status >= 500 && !isAnswered) throw new Skipped('aborted', true);
  return refusalReply(status, code, message);
}

/** Returns an error of the gateway as a reply in JSON. */
export function refusalReply(status: number, errorCode: string, message: string): ReceivedReply {
  const json = JSON.stringify({ responseStatus: { errorCode, message } });
  return {
    status,
    contentType: 'application/json',
    coding: undefined,
    body: new Uint8Array(Buffer.from(json)),
  };
}

/** Sends a message to the legacy service as a shadow request. Throws Skipped. */
export function callLegacy(
  service: LegacyService,
  {
    operation,
    target,
    forwarded,
  }: { readonly operation: string; readonly target: string; readonly forwarded: ForwardedHeaders },
  { context, body, memory, end, deadline, record }: ShadowParts,
): Promise<TimedReply> {
  const stats = startStats(context.requestId, 'POST');
  return new Promise((resolve, reject) => {
    let copy: ReplyCopy | undefined;
    const stop = (): void => call.abort(new CallError('CallerGone'));
    const call: LegacyCall = new LegacyCall(
      service,
      {
        method: 'POST',
        target,
        headers: forwarded.headers,
        endsConnection: authenticatesConnection(forwarded.headers),
        body,
        operation,
        isRead: true,
        mayRepeat: () => false,
        keysOf: () => ({ ...shadowKeys, operation }),
        deadline,
        isLeft: () => end.destroyed,
        isFed: () => true,
        stats,
      },
      {
        informed: () => {},
        began: (status, _text, rawHeaders) => {
          const head = headOf(status, rawHeaders);
          const announced = announcedIn(rawHeaders);
          copy = new ReplyCopy(head, memory, service.limits);
          record?.began(head, announced);
          if (!copy.isTooLarge(announced)) return;
          copy.drop(new Skipped('size'));
          stop();
        },
        received: (chunk) => {
          copy?.add(chunk);
          record?.received(chunk);
          if (copy?.dropped !== undefined) stop();
          return true;
        },
        ended: () => {
          const { ms } = call.progress;
          record?.complete(ms);
          try {
            if (copy === undefined) reject(new Skipped('aborted'));
            else resolve({ ...copy.take(), ms });
          } catch (error) {
            reject(error as Error);
          }
        },
        failed: ({ code }) => {
          const isBreaker = stats.failures?.at(-1)?.cause === 'breaker';
          const isCancelled = code === 'CallerGone';
          reject(
            copy?.dropped ?? (isBreaker ? new Skipped('breaker') : new Skipped('aborted', !isCancelled)),
          );
        },
      },
    );
    call.start();
  });
}

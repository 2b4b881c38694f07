import { Readable } from 'node:stream';
import type { Operation } from '../../mappings/contract/model.ts';
import { failureFor } from '../call/call.ts';
import { CallError } from '../call/error.ts';
import { dropRest, hasBody, isAwaited } from '../http/body.ts';
import { textReply } from '../http/reply.ts';
import type { RequestContext } from '../http/request-context.ts';
import { report, send } from '../http/send.ts';
import { bodyFlows, endWithCare } from '../http/sockets.ts';
import { replyContext, soapReply } from '../protocols/reply.ts';
import type { SoapVersion } from '../protocols/soap/versions.ts';
import type { WriteOutcome } from '../telemetry/request-stats.ts';
import type { ExchangeCopy } from './exchange-copy.ts';
import { authenticatesConnection, type ForwardedHeaders, replyHeaders } from './forward-headers.ts';
import { LegacyCall } from './legacy-call.ts';
import { keysOf, type LegacyReceiver } from './legacy-request.ts';
import type { LegacyService } from './legacy-service.ts';
import type { Received } from './receive.ts';
import { isReplayProtected } from './replay-protected.ts';
import { announcedIn, headOf } from './reply-head.ts';

/** A request to forward. */
export interface Forwarded {
  /** The operation; for a request without a known operation, one that is a write. */
  readonly operation: Operation;
  /** Version of the caller's faults; undefined for a request that is not SOAP. */
  readonly version: SoapVersion | undefined;
  /** Path and query at the legacy service. */
  readonly target: string;
  readonly received: Received;
  /** Copies the request and the reply for a comparison or a recording; undefined for neither. */
  readonly copy: ExchangeCopy | undefined;
  /** Key of the caller's limits. */
  readonly limitKey: () => string;
  /** Returns the headers of the request. Throws CallError. */
  readonly headersOf: (
    added: Readonly<Record<string, string>>,
  ) => ForwardedHeaders | Promise<ForwardedHeaders>;
  readonly onUnauthorized: (token: string) => void;
  /** Called when the reply of the legacy service is complete or has failed, or the request was refused. */
  readonly onSettled: () => void;
  readonly onCut: () => void;
  /** Called before a request with credentials for its whole connection is sent (G18). */
  readonly onConnectionCredentials: () => void;
}

/**
 * Forwards a request to the legacy service and passes on the reply, byte for byte (G14). Sends the caller's own kind of
 * error if there is no reply (G19).
 */
export async function forward(
  service: LegacyService,
  context: RequestContext,
  forwarded: Forwarded,
): Promise<void> {
  const { options, stats } = context;
  const { callerLimits } = options.service;
  const { operation, version, received, limitKey } = forwarded;
  stats.transport = version?.format ?? 'http';
  let release: (() => void) | undefined;
  try {
    if (!received.isAdmitted) await context.permit.enter();
    // the call of a fallback was counted before it reached the upstream
    if (stats.route?.fallback !== true)
      release = await callerLimits?.enter({
        key: limitKey(),
        caller: stats.caller,
        operation: operation.name,
        setHeaders: () => {}, // the reply of the legacy service stays as it is
      });
    await sendOn(service, context, forwarded);
  } catch (error) {
    if (context.response.headersSent) throw error;
    refuse(context, version, error);
  } finally {
    forwarded.copy?.close();
    forwarded.onSettled();
    release?.();
    bodyFlows(context.request.socket, false);
    if (received.rest !== undefined && !context.request.readableEnded)
      dropRest(context, new CallError('CallerGone'));
  }
}

/** Sends the caller its own kind of fault, or plain text if the request is not SOAP (G19). */
export function refuse(context: RequestContext, version: SoapVersion | undefined, error: unknown): void {
  const { options, requestId } = context;
  const failure = failureFor(options.service, context, error);
  if (version === undefined) {
    const message = error instanceof CallError ? error.message : 'internal error';
    const reply = textReply(failure.status, message, requestId);
    send(context, 'http', { ...reply, retryAfter: failure.retryAfter ?? reply.retryAfter });
    return;
  }
  const reply = soapReply(version, { kind: 'failure', failure }, replyContext(context, undefined, undefined));
  send(context, version.format, { ...reply, retryAfter: failure.retryAfter });
}

/** Sends the request between the audit lines of a write (G21). Throws CallError. */
async function sendOn(service: LegacyService, context: RequestContext, forwarded: Forwarded): Promise<void> {
  const { observer } = context.options.service;
  const { operation } = forwarded;
  const observed = { method: context.request.method ?? '', operation };
  const added = observer.sending(context, observed) ?? {};
  let outcome: WriteOutcome = 'unsent';
  let isSettled = false;
  const settle = (): void => {
    if (isSettled) return;
    isSettled = true;
    observer.settled(context, observed, outcome);
  };
  try {
    const { headers, token } = await forwarded.headersOf(added);
    if (context.response.destroyed) throw new CallError('CallerGone');
    await new Promise<void>((resolve, reject) => {
      const exchange = new Exchange(context, forwarded, resolve, reject);
      const call = exchange.callOf(service, headers);
      exchange.onProgress = () => {
        const { isReached, status, ms } = call.progress;
        if (status === 401 && token !== undefined) forwarded.onUnauthorized(token);
        outcome = exchange.isComplete ? 'answered' : isReached ? 'unknown' : 'unsent';
        const { route } = context.stats;
        if (route !== undefined && status !== 0) route.legacyStatus = status;
        if (route !== undefined && isReached) route.legacyMs = ms;
        settle(); // the log line that follows has the outcome
      };
      call.start();
    });
  } finally {
    settle();
  }
}

/** The two directions of one forwarded request. */
class Exchange implements LegacyReceiver {
  readonly #context: RequestContext;
  readonly #forwarded: Forwarded;
  readonly #resolve: () => void;
  readonly #reject: (error: CallError) => void;
  #isFed = true;
  #status = 0;
  /** Length of the reply by its headers; 0 if it has none. */
  #announced = 0;
  /** The chunk that completes this length. It is sent with the end of the reply, which costs less than twice. */
  #last: Buffer | undefined;
  #bytesOut = 0;
  /** True if the reply of the legacy service is complete. */
  isComplete = false;
  /** Called before the exchange ends. */
  onProgress = (): void => {};

  constructor(
    context: RequestContext,
    forwarded: Forwarded,
    resolve: () => void,
    reject: (error: CallError) => void,
  ) {
    this.#context = context;
    this.#forwarded = forwarded;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  callOf(service: LegacyService, headers: readonly string[]): LegacyCall {
    const { request, response, stats, deadline } = this.#context;
    const { operation, target, received } = this.#forwarded;
    const endsConnection = authenticatesConnection(headers);
    if (endsConnection) this.#forwarded.onConnectionCredentials();
    const call: LegacyCall = new LegacyCall(
      service,
      {
        method: request.method ?? '',
        target,
        headers,
        endsConnection,
        body: this.#bodyOf(received, (error) => call.abort(error)),
        operation: operation.name,
        isRead: operation.readOnly,
        mayRepeat: () => !isReplayProtected(received.bytes, this.#context),
        keysOf: () => keysOf(service, this.#context, operation.name),
        deadline: Math.min(deadline, this.#context.started + service.limits.totalMs),
        isLeft: () => response.destroyed,
        isFed: () => this.#isFed,
        stats,
      },
      this,
    );
    return call;
  }

  /** Returns the body as it was framed: with a length, or as a stream of chunks. */
  #bodyOf({ bytes, rest }: Received, abort: (error: CallError) => void): Buffer | Readable | null {
    const { request } = this.#context;
    const { copy } = this.#forwarded;
    if (!hasBody(request)) return null;
    copy?.sent(bytes);
    if (rest === undefined) copy?.sentAll();
    if (rest === undefined && request.headers['transfer-encoding'] === undefined) return bytes;
    bodyFlows(request.socket, true);
    return Readable.from(this.#piecesOf(bytes, rest, abort), { objectMode: false });
  }

  async *#piecesOf(
    bytes: Buffer,
    rest: Received['rest'],
    abort: (error: CallError) => void,
  ): AsyncGenerator<Buffer, void, undefined> {
    if (bytes.length > 0) yield bytes;
    if (rest === undefined) return;
    const { copy } = this.#forwarded;
    try {
      for (;;) {
        this.#isFed = false;
        const { value, done } = await rest.next();
        if (done === true) break;
        copy?.sent(value);
        yield value;
      }
      this.#isFed = true;
      copy?.sentAll();
    } catch (error) {
      if (error instanceof CallError) abort(error);
      throw error;
    }
  }

  informed(status: number, rawHeaders: readonly string[]): void {
    const { request, response } = this.#context;
    if (response.headersSent || response.destroyed || request.httpVersion === '1.0') return;
    if (response.socket?.writableNeedDrain !== false) return; // an interim response may be left out
    const headers = replyHeaders(rawHeaders);
    let text = `HTTP/1.1 ${status} ${informationOf(status)}\r\n`;
    for (let at = 0; at < headers.length; at += 2) text += `${headers[at]}: ${headers[at + 1]}\r\n`;
    response.socket?.write(`${text}\r\n`, 'latin1');
  }

  began(status: number, text: string, rawHeaders: readonly string[]): void {
    this.#status = status;
    this.#announced = announcedIn(rawHeaders);
    this.#forwarded.copy?.began(headOf(status, rawHeaders), this.#announced);
    const { request, response, options } = this.#context;
    if (response.destroyed) return;
    if (!request.complete && hasBody(request) && this.#forwarded.received.rest !== undefined) {
      response.shouldKeepAlive = false; // the rest of the request may have any size
      if (!isAwaited(request)) endWithCare(request.socket);
    }
    if (!options.isReady()) response.shouldKeepAlive = false;
    response.sendDate = false;
    const headers = replyHeaders(rawHeaders);
    const own = options.deprecated?.headersOf(this.#context.stats.operation);
    if (own !== undefined) headers.push(...Object.entries(own).flat());
    response.writeHead(status, reasonPhrase(text), headers);
  }

  received(chunk: Buffer, resume: () => void): boolean {
    const { response } = this.#context;
    this.#forwarded.copy?.received(chunk);
    if (response.destroyed) return true; // the reply to a write is read to its end
    this.#bytesOut += chunk.length;
    if (this.#bytesOut === this.#announced) {
      this.#last = chunk;
      return true;
    }
    if (response.write(chunk)) return true;
    let isResumed = false;
    const once = (): void => {
      if (isResumed) return;
      isResumed = true;
      response.off('drain', once).off('close', once);
      resume();
    };
    response.on('drain', once).on('close', once);
    return false;
  }

  ended(): void {
    this.isComplete = true;
    this.onProgress();
    const { response } = this.#context;
    if (!response.destroyed) response.end(this.#last);
    report(this.#context, this.#status, this.#bytesOut);
    this.#forwarded.copy?.complete();
    this.#resolve();
  }

  failed(error: CallError): void {
    this.onProgress();
    const { response, stats } = this.#context;
    if (!response.headersSent) {
      this.#reject(error);
      return;
    }
    response.destroy();
    stats.error = error.code;
    this.#forwarded.onCut();
    report(this.#context, this.#status, this.#bytesOut);
    this.#resolve();
  }
}

/**
 * Returns the reason phrase with the bytes that the legacy service sent, as Latin-1 text. undici decodes them as UTF-8.
 * Returns `''` for other bytes, which Node would refuse.
 */
export function reasonPhrase(text: string): string {
  if (/^[\t -~]*$/.test(text)) return text;
  if (text.includes('\ufffd')) return '';
  const bytes = Buffer.from(text).toString('latin1');
  return /^[\t -~\x80-\xff]*$/.test(bytes) ? bytes : '';
}

const information: ReadonlyMap<number, string> = new Map([
  [102, 'Processing'],
  [103, 'Early Hints'],
]);

function informationOf(status: number): string {
  return information.get(status) ?? 'Information';
}

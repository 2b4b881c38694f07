import type { Dispatcher } from 'undici';
import { CallError } from '../call/error.ts';
import { noteFailure, noteWait } from '../telemetry/request-stats.ts';
import type { Evidence, Subject } from '../upstream/breaker.ts';
import { type Cause, causeOf } from '../upstream/cause.ts';
import type { Connection } from '../upstream/connector.ts';
import { announcedBytes } from '../upstream/content-length.ts';
import type { Watched } from '../upstream/deadlines.ts';
import { isExhausted, isGarbage, isOurs, pauseBeforeRetry, retryAfterOf } from '../upstream/reply-checks.ts';
import type { CallKeys } from '../upstream/shares.ts';
import { maxOverheadBytes, maxQueueMs } from '../upstream/upstream-call.ts';
import type { Outgoing } from '../upstream/upstream-connections.ts';
import { invalid, retryAfterSeconds, timeout, unavailable } from './legacy-errors.ts';
import type { LegacyProgress, LegacyReceiver, LegacyRequest } from './legacy-request.ts';
import type { LegacyService } from './legacy-service.ts';

type Stage = 'waiting' | 'connecting' | 'sent' | 'answered';

/**
 * One request to the legacy service, streamed in both directions. It is sent once, or twice if it is a read that may be
 * repeated and nothing of its reply was passed on (G22).
 */
export class LegacyCall implements Dispatcher.DispatchHandler, Watched, Outgoing, Subject {
  readonly #service: LegacyService;
  readonly #request: LegacyRequest;
  readonly #receiver: LegacyReceiver;
  readonly progress: LegacyProgress = { isReached: false, status: 0, ms: 0, retries: 0 };
  index = -1;
  isParked = false;
  readonly #createdAt = performance.now();
  #dispatchedAt = this.#createdAt;
  #since = this.#createdAt;
  #heard = false;
  #stage: Stage = 'waiting';
  #controller: Dispatcher.DispatchController | undefined;
  #connection: Connection | undefined;
  #size = 0;
  /** Received bytes of the connection minus the body, at the first check of an attempt. */
  #readBefore: number | undefined;
  #isPaused = false;
  #isOver = false;
  #endsByClose = false;
  /** Pause in ms before the retry that a 503 asks for; its body is discarded. */
  #pauseMs: number | undefined;
  #nextTry: NodeJS.Timeout | undefined;

  constructor(service: LegacyService, request: LegacyRequest, receiver: LegacyReceiver) {
    this.#service = service;
    this.#request = request;
    this.#receiver = receiver;
  }

  get operation(): string {
    return this.#request.operation;
  }

  get keys(): CallKeys {
    return this.#request.keys;
  }

  get sentAt(): number {
    return this.#dispatchedAt;
  }

  get latest(): number {
    const { upstreamQueueMs = maxQueueMs } = this.#service.limits;
    return Math.min(this.#since + upstreamQueueMs, this.#request.deadline);
  }

  start(): void {
    const { breaker, retries, watch, url } = this.#service;
    this.#request.stats.upstream = url.origin;
    const retryAfter = breaker.refusal(this, this.#createdAt);
    if (retryAfter !== undefined) {
      this.#isOver = true;
      noteFailure(this.#request.stats, { cause: 'breaker' }, 0);
      this.#receiver.failed(unavailable(String(retryAfter)));
      return;
    }
    retries.earn();
    watch.add(this);
    this.#takeConnection();
  }

  #takeConnection(): void {
    const found = this.#service.connections.enter(this);
    if (found === 'go') this.#send();
    else if (found === 'late') this.#shed();
  }

  /** Rejects a call that got no connection. */
  #shed(): void {
    this.#give(unavailable(retryAfterSeconds), undefined, { cause: 'queue' });
  }

  go(): void {
    const now = performance.now();
    noteWait(this.#request.stats, this.#since, now);
    this.#dispatchedAt = now;
    this.#since = now;
    const { breaker } = this.#service;
    const refused = breaker.hasOpenedSince(this.operation, this.#createdAt)
      ? breaker.refusal(this, now)
      : undefined;
    if (refused === undefined) this.#send();
    else this.#give(unavailable(String(refused)), undefined, { cause: 'breaker' });
  }

  #send(): void {
    const { method, target, headers, body, endsConnection } = this.#request;
    this.#stage = 'connecting';
    this.progress.status = 0;
    this.#service.pool.dispatch(
      {
        method: method as 'POST',
        path: this.#service.prefix + target,
        headers: headers as string[],
        body,
        reset: endsConnection,
      },
      this,
    );
  }

  onConnection(connection: Connection): void {
    this.#connection = connection;
  }

  get #isLeft(): boolean {
    return this.#request.isLeft() && (this.#request.isRead || !this.progress.isReached);
  }

  due(now: number): number {
    if (this.#isFlooded()) return 0;
    if (this.#heard) this.#since = now;
    this.#heard = false;
    if (this.#stage === 'waiting' && this.#nextTry === undefined) this.#service.connections.park(this, now);
    return this.#isLeft ? 0 : Math.min(this.#since + this.#longest, this.#request.deadline);
  }

  /** Returns true if the legacy service sent too many bytes outside the body, for example responses with 1xx. */
  #isFlooded(): boolean {
    if (this.#stage !== 'sent' && this.#stage !== 'answered') return false;
    const overheadBytes = (this.#connection?.bytesRead ?? 0) - this.#size;
    this.#readBefore ??= overheadBytes;
    const { upstreamOverheadBytes = maxOverheadBytes } = this.#service.limits;
    return overheadBytes - this.#readBefore > upstreamOverheadBytes + this.#size;
  }

  /** Maximum duration of the present stage, in ms. */
  get #longest(): number {
    const { limits } = this.#service;
    if (this.#stage === 'waiting')
      return this.#nextTry === undefined ? (limits.upstreamQueueMs ?? maxQueueMs) : Number.POSITIVE_INFINITY;
    if (this.#stage === 'connecting' || this.#isPaused) return Number.POSITIVE_INFINITY;
    if (this.#stage === 'answered') return limits.upstreamIdleMs;
    if (this.#request.isFed()) return limits.upstreamFirstByteMs;
    this.#heard = true; // the time starts when the request is complete
    return Number.POSITIVE_INFINITY;
  }

  onDue(): void {
    if (this.#isLeft) {
      this.#give(new CallError('CallerGone'), undefined);
      return;
    }
    if (this.#stage === 'waiting') {
      this.#shed();
      return;
    }
    if (this.#isFlooded()) {
      this.#giveTooLong('too many bytes outside the body');
      return;
    }
    const hadItsTime = performance.now() - this.#since >= this.#longest;
    const reason =
      performance.now() >= this.#request.deadline
        ? 'the total time of the request expired'
        : `nothing arrived within ${this.#longest} ms`;
    const error = this.#stage === 'connecting' ? unavailable(retryAfterSeconds) : timeout();
    this.#give(error, hadItsTime ? 'failed' : undefined, { cause: 'timeout', reason });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error('cancelled'));
    else if (this.#isLeft) this.#give(new CallError('CallerGone'), undefined);
    else {
      this.#stage = 'sent';
      this.#heard = true;
      this.progress.isReached = true;
    }
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
    text = '',
  ): void {
    const raw = textsOf(controller.rawHeaders);
    if (status < 200) {
      this.#heard = true;
      if (!this.#isOver) this.#receiver.informed(status, raw);
      return;
    }
    this.#stage = 'answered';
    this.#heard = true;
    this.progress.status = status;
    const length = headers['content-length'];
    this.#endsByClose = length === undefined && headers['transfer-encoding'] === undefined;
    const most = this.#service.limits.streamBytes;
    if (this.#request.method !== 'HEAD' && typeof length === 'string' && announcedBytes(length) > most) {
      this.#giveTooLong(this.#moreThanAllowed);
      return;
    }
    const retryAfter = retryAfterOf(headers);
    this.#pauseMs =
      status === 503 ? pauseBeforeRetry(retryAfter, this.#service.limits, this.#request.deadline) : undefined;
    if (this.#pauseMs !== undefined && !this.#maySendAgain()) this.#pauseMs = undefined;
    if (this.#pauseMs === undefined) this.#receiver.began(status, text, raw);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    this.#heard = true;
    this.#size += chunk.length;
    if (this.#size > this.#service.limits.streamBytes) {
      this.#giveTooLong(this.#moreThanAllowed);
      return;
    }
    if (this.#pauseMs !== undefined) return;
    const takesMore = this.#receiver.received(chunk, () => {
      this.#isPaused = false;
      this.#heard = true;
      if (!this.#isOver) controller.resume();
    });
    if (takesMore) return;
    this.#isPaused = true;
    controller.pause();
  }

  get #moreThanAllowed(): string {
    return `more than ${this.#service.limits.streamBytes} bytes (limit streamBytes)`;
  }

  #giveTooLong(got: string): void {
    this.#give(invalid(`its response has ${got}`), 'failed', { cause: 'invalid', reason: got });
  }

  onResponseEnd(): void {
    // undici treats a reset as the end of a response that ends with its connection (RFC 9112, 8)
    const broken = this.#endsByClose ? this.#connection?.error : undefined;
    if (broken !== undefined) {
      this.onResponseError(undefined, broken);
      return;
    }
    if (this.#isOver) {
      this.#service.connections.release(this);
      return;
    }
    if (this.#pauseMs !== undefined) {
      this.#sendAgain(this.#pauseMs);
      return;
    }
    const { status } = this.progress;
    if (status >= 502) noteFailure(this.#request.stats, { cause: 'status', status }, this.#attempt);
    // a SOAP fault has status 500 and is an answer of the service
    this.#settle(status <= 500 ? 'answered' : 'failed');
    this.#receiver.ended();
    this.#service.connections.release(this);
  }

  onResponseError(_controller: unknown, cause: Error): void {
    if (this.#isOver) {
      this.#service.connections.release(this);
      return;
    }
    noteFailure(this.#request.stats, causeOf(cause), this.#attempt);
    const isUnanswered = this.#stage !== 'answered' && !isGarbage(cause) && !isExhausted(cause);
    if (isUnanswered && this.#maySendAgain()) {
      this.#sendAgain(0);
      return;
    }
    const evidence = this.#stage === 'connecting' ? 'unreached' : 'failed';
    const error = this.#errorOf(cause);
    this.#settle(isOurs(cause) ? undefined : evidence);
    this.#receiver.failed(error);
    this.#service.connections.release(this);
  }

  #errorOf(cause: Error): CallError {
    if (cause instanceof CallError) return cause;
    if (isExhausted(cause))
      return new CallError('GatewayExhausted', { retryAfter: retryAfterSeconds, cause });
    if (this.#stage === 'connecting' && !isGarbage(cause)) return unavailable(retryAfterSeconds);
    return invalid('it closed the connection before the end of its response');
  }

  get #attempt(): number {
    return this.progress.retries + 1;
  }

  #maySendAgain(): boolean {
    const { isRead, body, mayRepeat } = this.#request;
    const isWhole = body === null || Buffer.isBuffer(body);
    return isRead && isWhole && this.progress.retries === 0 && mayRepeat() && this.#service.retries.spend();
  }

  #sendAgain(pauseMs: number): void {
    const now = performance.now();
    this.progress.ms += now - this.#dispatchedAt;
    this.progress.retries++;
    this.#stage = 'waiting';
    this.#size = 0;
    this.#readBefore = undefined;
    this.#pauseMs = undefined;
    this.#controller = undefined;
    this.#nextTry = setTimeout(() => {
      this.#nextTry = undefined;
      this.#since = performance.now();
      this.#dispatchedAt = this.#since;
      this.#takeConnection();
    }, pauseMs);
    this.#service.connections.release(this);
  }

  /** Ends the call because its request cannot be completed. */
  abort(error: CallError): void {
    this.#give(error, undefined);
  }

  #give(error: CallError, evidence: Evidence | undefined, cause?: Cause): void {
    if (this.#isOver) return;
    if (cause !== undefined) noteFailure(this.#request.stats, cause, this.#attempt);
    const isWaiting = this.#stage === 'waiting';
    this.#settle(evidence);
    this.#receiver.failed(error);
    if (isWaiting) this.#service.connections.drop(this);
    else this.#controller?.abort(error);
  }

  #settle(evidence: Evidence | undefined): void {
    const now = performance.now();
    this.#isOver = true;
    this.#service.watch.delete(this);
    clearTimeout(this.#nextTry);
    if (this.#stage !== 'waiting') this.progress.ms += now - this.#dispatchedAt;
    if (evidence !== undefined) this.#service.breaker.settle(this, evidence, this.#dispatchedAt, now);
  }
}

function textsOf(raw: Dispatcher.DispatchController['rawHeaders']): readonly string[] {
  if (!Array.isArray(raw)) return [];
  return raw.map((part: Buffer | string) => (typeof part === 'string' ? part : part.toString('latin1')));
}

import type { Dispatcher } from 'undici';
import { CallError } from '../call/error.ts';
import { noteFailure } from '../telemetry/request-stats.ts';
import { causeOf } from '../upstream/cause.ts';
import { announcedBytes } from '../upstream/content-length.ts';
import { Exchange } from '../upstream/exchange.ts';
import { isExhausted, isGarbage, isOurs, pauseBeforeRetry, retryAfterOf } from '../upstream/reply-checks.ts';
import type { CallKeys } from '../upstream/shares.ts';
import { invalid, retryAfterSeconds, timeout, unavailable } from './legacy-errors.ts';
import type { LegacyProgress, LegacyReceiver, LegacyRequest } from './legacy-request.ts';
import type { LegacyService } from './legacy-service.ts';

/**
 * One request to the legacy service, streamed in both directions. It is sent once, or twice if it is a read that may be
 * repeated and nothing of its reply was passed on (G22).
 */
export class LegacyCall extends Exchange implements Dispatcher.DispatchHandler {
  protected readonly service: LegacyService;
  protected readonly context: LegacyRequest;
  readonly #receiver: LegacyReceiver;
  readonly progress: LegacyProgress = { isReached: false, status: 0, ms: 0, retries: 0 };
  protected size = 0;
  #keys: CallKeys | undefined;
  /** Pause in ms before the retry that a 503 asks for; its body is discarded. */
  #pauseMs: number | undefined;

  constructor(service: LegacyService, request: LegacyRequest, receiver: LegacyReceiver) {
    super();
    this.service = service;
    this.context = request;
    this.#receiver = receiver;
  }

  get operation(): string {
    return this.context.operation;
  }

  get keys(): CallKeys {
    this.#keys ??= this.context.keysOf();
    return this.#keys;
  }

  protected get attempt(): number {
    return this.progress.retries + 1;
  }

  protected get isLeft(): boolean {
    return this.context.isLeft() && (this.context.isRead || !this.progress.isReached);
  }

  protected get isFed(): boolean {
    return this.context.isFed();
  }

  protected get status(): number {
    return this.progress.status;
  }

  protected get firstByteMs(): number {
    return this.service.limits.upstreamFirstByteMs;
  }

  override start(): void {
    this.context.stats.upstream = this.service.url.origin;
    super.start();
  }

  protected refusal(now: number): number | undefined {
    return this.service.breaker.refusal(this, now);
  }

  protected unavailable(retryAfter: number): CallError {
    return unavailable(String(retryAfter));
  }

  protected rejection(): CallError {
    return unavailable(retryAfterSeconds);
  }

  protected noteReached(): void {
    this.progress.isReached = true;
  }

  protected noteTime(ms: number): void {
    this.progress.ms += ms;
  }

  protected fail(error: CallError): void {
    this.#receiver.failed(error);
  }

  protected send(): void {
    const { method, target, headers, body, endsConnection } = this.context;
    this.stage = 'connecting';
    this.progress.status = 0;
    this.service.pool.dispatch(
      {
        method: method as 'POST',
        path: this.service.prefix + target,
        headers: headers as string[],
        body,
        reset: endsConnection,
      },
      this,
    );
  }

  protected onTimeout(now: number): void {
    const hadItsTime = now - this.since >= this.longest;
    const error = this.stage === 'connecting' ? unavailable(retryAfterSeconds) : timeout();
    this.give(error, hadItsTime ? 'failed' : undefined, this.timeoutCause(now));
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
    text = '',
  ): void {
    const raw = textsOf(controller.rawHeaders);
    if (status < 200) {
      this.heard = true;
      if (!this.isOver) this.#receiver.informed(status, raw);
      return;
    }
    this.stage = 'answered';
    this.heard = true;
    this.progress.status = status;
    const length = headers['content-length'];
    this.endsByClose = length === undefined && headers['transfer-encoding'] === undefined;
    const most = this.service.limits.streamBytes;
    if (this.context.method !== 'HEAD' && typeof length === 'string' && announcedBytes(length) > most) {
      this.giveInvalid(this.#moreThanAllowed);
      return;
    }
    const retryAfter = retryAfterOf(headers);
    this.#pauseMs =
      status === 503 ? pauseBeforeRetry(retryAfter, this.service.limits, this.context.deadline) : undefined;
    if (this.#pauseMs !== undefined && !this.#maySendAgain()) this.#pauseMs = undefined;
    if (this.#pauseMs === undefined) this.#receiver.began(status, text, raw);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isOver) return;
    this.heard = true;
    this.size += chunk.length;
    if (this.size > this.service.limits.streamBytes) {
      this.giveInvalid(this.#moreThanAllowed);
      return;
    }
    if (this.#pauseMs !== undefined) return;
    const takesMore = this.#receiver.received(chunk, () => {
      this.isPaused = false;
      this.heard = true;
      if (!this.isOver) controller.resume();
    });
    if (takesMore) return;
    this.isPaused = true;
    controller.pause();
  }

  get #moreThanAllowed(): string {
    return `more than ${this.service.limits.streamBytes} bytes (limit streamBytes)`;
  }

  protected giveInvalid(got: string): void {
    this.give(invalid(`its response has ${got}`), 'failed', { cause: 'invalid', reason: got });
  }

  onResponseEnd(): void {
    const broken = this.endError;
    if (broken !== undefined) {
      this.onResponseError(undefined, broken);
      return;
    }
    if (this.isOver) {
      this.service.connections.release(this, false);
      return;
    }
    if (this.#pauseMs !== undefined) {
      this.#sendAgain(this.#pauseMs);
      return;
    }
    const { status } = this.progress;
    if (status >= 502) noteFailure(this.context.stats, { cause: 'status', status }, this.attempt);
    // a SOAP fault has status 500 and is an answer of the service
    const isAnswered = status <= 500;
    this.settle(isAnswered ? 'answered' : 'failed');
    this.#receiver.ended();
    this.service.connections.release(this, isAnswered);
  }

  onResponseError(_controller: unknown, cause: Error): void {
    if (this.isOver) {
      this.service.connections.release(this, false);
      return;
    }
    noteFailure(this.context.stats, causeOf(cause), this.attempt);
    const isUnanswered = this.stage !== 'answered' && !isGarbage(cause) && !isExhausted(cause);
    if (isUnanswered && this.#maySendAgain()) {
      this.#sendAgain(0);
      return;
    }
    const evidence = this.stage === 'connecting' ? 'unreached' : 'failed';
    const error = this.#errorOf(cause);
    this.settle(isOurs(cause) ? undefined : evidence);
    this.fail(error);
    this.service.connections.release(this, false);
  }

  #errorOf(cause: Error): CallError {
    if (cause instanceof CallError) return cause;
    if (isExhausted(cause))
      return new CallError('GatewayExhausted', { retryAfter: retryAfterSeconds, cause });
    if (this.stage === 'connecting' && !isGarbage(cause)) return unavailable(retryAfterSeconds);
    return invalid('it closed the connection before the end of its response');
  }

  #maySendAgain(): boolean {
    const { isRead, body, mayRepeat } = this.context;
    const isWhole = body === null || Buffer.isBuffer(body);
    return isRead && isWhole && this.progress.retries === 0 && mayRepeat() && this.service.retries.spend();
  }

  #sendAgain(pauseMs: number): void {
    this.progress.retries++;
    this.size = 0;
    this.#pauseMs = undefined;
    this.restart(pauseMs);
  }

  /** Ends the call because its request cannot be completed. */
  abort(error: CallError): void {
    this.give(error, undefined);
  }
}

function textsOf(raw: Dispatcher.DispatchController['rawHeaders']): readonly string[] {
  if (!Array.isArray(raw)) return [];
  return raw.map((part: Buffer | string) => (typeof part === 'string' ? part : part.toString('latin1')));
}

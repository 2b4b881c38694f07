import { performance } from 'node:perf_hooks';
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { FilledBody } from '../../mappings/codec/filled-body.ts';
import { StreamedFile } from '../../mappings/codec/streamed-file.ts';
import type { Got } from '../../mappings/contract/got.ts';
import type { Quote } from '../../mappings/contract/reason.ts';
import type { UpstreamRequest } from '../../mappings/http-mapping/call.ts';
import { overloaded, smallBytes } from '../admission/admission.ts';
import { CallError, overLimit } from '../call/error.ts';
import { noteFailure } from '../telemetry/request-stats.ts';
import type { Evidence } from './breaker.ts';
import { causeOf } from './cause.ts';
import { type Collected, Collector, maxIterationBytes, readOnLater } from './collector.ts';
import { announcedBytes } from './content-length.ts';
import { Exchange } from './exchange.ts';
import {
  exchangeError,
  headProblem,
  invalid,
  isExhausted,
  isGarbage,
  isOurs,
  pauseBeforeRetry,
  retryAfterOf,
  unavailable,
} from './reply-checks.ts';
import { headersOf } from './request-headers.ts';
import type { CallKeys } from './shares.ts';
import type { UpstreamReply, Waiting } from './upstream.ts';
import type { Line } from './upstream-state.ts';

/** Makes a call as described at `Upstream`. */
export function callUpstream(line: Line, request: UpstreamRequest, waiting: Waiting): Promise<UpstreamReply> {
  return new Promise((resolve, reject) => {
    new UpstreamCall(line, request, waiting, resolve, reject).start();
  });
}

const noLines: readonly Line[] = [];

/**
 * Minimum share of an operation's timeout that the upstream must have had before it counts as its failure. The timeout
 * starts before the call waits for a connection.
 */
const leastShareOfTimeout = 0.9;

/**
 * One upstream call. It is sent once, or twice if it only reads, nothing arrived except a request to retry soon, and
 * the retry budget allows it (W35). If no connection can be opened, any call tries the other addresses of its upstream.
 */
class UpstreamCall extends Exchange implements Dispatcher.DispatchHandler {
  #line: Line;
  readonly #request: UpstreamRequest;
  protected readonly context: Waiting;
  readonly #resolve: (reply: UpstreamReply) => void;
  readonly #reject: (error: Error) => void;
  protected isFed = true;
  protected status = 0;
  #headers: UpstreamReply['headers'] = {};
  #collector = new Collector(true);
  /** Bytes of the response counted as memory: all announced bytes of a large response, otherwise the received bytes. */
  #held = 0;
  /** Bytes of the response read since it last paused for an event-loop iteration. */
  #iterationBytes = 0;
  /** True for a retry. */
  #isAgain = false;
  /** Addresses that failed for this call; undefined if there are none. */
  #tried: Line[] | undefined;
  #keys: CallKeys | undefined;

  constructor(
    line: Line,
    request: UpstreamRequest,
    waiting: Waiting,
    resolve: (reply: UpstreamReply) => void,
    reject: (error: Error) => void,
  ) {
    super();
    this.#line = line;
    this.#request = request;
    this.context = waiting;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get operation(): string {
    return this.#request.operation.name;
  }

  get keys(): CallKeys {
    if (this.#keys !== undefined) return this.#keys;
    const { request, stats } = this.context;
    const network = this.#line.networkOf(request);
    this.#keys = { caller: `${network} ${stats.caller ?? ''}`, network, operation: this.operation };
    return this.#keys;
  }

  get target(): Line {
    return this.#line;
  }

  protected get service(): Line {
    return this.#line;
  }

  protected get attempt(): number {
    return this.context.stats.sent;
  }

  protected get size(): number {
    return this.#collector.size;
  }

  /**
   * Chooses the address, if the upstream has several. Returns undefined if the call may be sent, else the whole seconds
   * until the next attempt.
   */
  protected refusal(now: number): number | undefined {
    const { balancer, breaker, address } = this.#line;
    if (balancer === undefined) {
      this.context.stats.upstream = address;
      return breaker.refusal(this, now);
    }
    const chosen = balancer.choose(this, this.#tried ?? noLines, now);
    if (typeof chosen === 'number') return chosen;
    if (chosen !== undefined) this.#line = chosen;
    this.context.stats.upstream = this.#line.address;
    return undefined;
  }

  protected override isAddressLost(now: number): boolean {
    return super.isAddressLost(now) || this.#line.balancer?.isUsable(this.#line, now) === false;
  }

  protected unavailable(retryAfter: number): CallError {
    return unavailable(retryAfter);
  }

  protected rejection(): CallError {
    this.#line.shed++;
    return overloaded();
  }

  protected send(): void {
    const { pool, prefix, headers: line } = this.#line;
    const { method, path, headers, body } = this.#request;
    this.stage = 'connecting';
    if (this.context.stats.sent === 0) this.context.stats.sentAt = this.dispatchedAt;
    this.context.stats.sent++;
    if (this.#isAgain) this.context.stats.retries++;
    this.context.stats.upstreamStatus = 0;
    pool.dispatch(
      {
        method: method as 'POST',
        path: prefix + path,
        headers: headersOf(headers, body, this.context, line),
        body: this.#written(body),
      },
      this,
    );
  }

  #written(body: UpstreamRequest['body']): string | Buffer | Readable | null {
    if (body instanceof FilledBody) return Readable.from(body, { objectMode: false });
    if (body instanceof StreamedFile) return Readable.from(this.#piecesOf(body), { objectMode: false });
    return body ?? null;
  }

  /**
   * Yields a file as its caller sends it. If the caller breaks off, the call ends and the upstream request remains
   * incomplete.
   */
  async *#piecesOf(file: StreamedFile): AsyncGenerator<Buffer, void, undefined> {
    const pieces = file[Symbol.asyncIterator]();
    try {
      for (;;) {
        this.isFed = false;
        const { done, value } = await pieces.next();
        this.isFed = true;
        this.heard = true;
        if (done === true) return;
        yield value;
      }
    } catch (error) {
      if (error instanceof CallError) this.give(error, undefined);
      throw error;
    }
  }

  /** True if the caller has disconnected. A write that was sent is completed anyway. */
  protected get isLeft(): boolean {
    const { readOnly } = this.#request.operation;
    return this.context.response.destroyed && (readOnly || !this.context.reached);
  }

  protected get firstByteMs(): number {
    const { upstreamFirstByteMs } = this.#line.limits;
    const { timeoutMs, binaryOutput } = this.#request.operation;
    return timeoutMs ?? (binaryOutput ? upstreamFirstByteMs * 1.5 : upstreamFirstByteMs);
  }

  protected noteReached(): void {
    this.context.reached = true;
  }

  protected noteTime(ms: number): void {
    this.context.stats.upstreamMs += ms;
  }

  protected onTimeout(now: number): void {
    // A deadline that was near from the start, for example after a slow request, is no failure of the upstream.
    const wasOutFor = this.stage === 'connecting' ? 0 : now - this.dispatchedAt;
    const { timeoutMs } = this.#request.operation;
    const enough = timeoutMs === undefined ? this.firstByteMs : timeoutMs * leastShareOfTimeout;
    const hadItsTime = now - this.since >= this.longest || wasOutFor >= enough;
    const code = this.stage === 'connecting' ? 'UpstreamUnavailable' : 'UpstreamTimeout';
    this.give(new CallError(code), hadItsTime ? 'failed' : undefined, this.timeoutCause(now));
  }

  /** Ends the call with an invalid response. */
  protected giveInvalid(got: Got | Quote): void {
    const error = invalid(got);
    this.give(error, 'failed', { cause: 'invalid', reason: error.message });
  }

  onResponseStart(_controller: unknown, status: number, headers: UpstreamReply['headers']): void {
    this.stage = 'answered';
    if (status < 200) return;
    this.status = status;
    this.#headers = headers;
    this.heard = true;
    this.context.stats.upstreamStatus = status;
    const length = headers['content-length'];
    const isAnnounced = typeof length === 'string' && this.#request.method !== 'HEAD';
    this.endsByClose = length === undefined && headers['transfer-encoding'] === undefined;
    const announced = isAnnounced ? announcedBytes(length) || 0 : 0;
    const problem = headProblem(status, headers, this.#request);
    if (problem !== undefined) this.giveInvalid(problem);
    else if (announced > this.#maxBytes) this.giveInvalid(this.#tooLong);
    else {
      this.#collector.announced = announced;
      if (announced > smallBytes) this.#hold(announced, announced);
    }
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (this.isOver) return;
    this.heard = true;
    const size = this.#collector.size + chunk.length;
    if (size > this.#maxBytes) this.giveInvalid(this.#tooLong);
    else {
      this.#collector.addRead(chunk);
      if (size > this.#held) this.#hold(size - this.#held, 0);
      this.#iterationBytes += chunk.length;
      if (this.#iterationBytes >= maxIterationBytes) this.#continueLater();
    }
  }

  #continueLater(): void {
    this.#iterationBytes = 0;
    const controller = this.controller;
    controller?.pause();
    readOnLater(() => {
      if (!this.isPaused && !this.isOver) controller?.resume();
    });
  }

  /**
   * Reserves memory for the response. Without free memory, a read is rejected. A write was already done, so a retry
   * would repeat it: its response is read once memory is free.
   *
   * @param coming number of the bytes that have not arrived yet
   */
  #hold(bytes: number, coming: number): void {
    const { admission } = this.#line;
    const { permit } = this.context;
    const { operation } = this.#request;
    this.#held += bytes;
    if (!operation.readOnly && this.#held > smallBytes) admission.largeReplies.note(operation);
    if (permit.hold(bytes) || this.#held <= smallBytes || this.isOver) return;
    if (operation.readOnly) {
      this.give(admission.shed(), undefined);
      return;
    }
    permit.shrink(permit.heldBytes - coming);
    this.isPaused = true;
    this.controller?.pause();
    permit.whenFree(coming, () => {
      this.isPaused = false;
      this.heard = true;
      this.controller?.resume();
    });
  }

  onResponseEnd(): void {
    const broken = this.endError;
    if (broken !== undefined) {
      this.onResponseError(undefined, broken);
      return;
    }
    const collector = this.#collector;
    if (collector.isWhole) this.#end(collector.take());
    else
      collector.takeInSteps().then(
        (collected) => this.#end(collected),
        (error) => this.onResponseError(undefined, error), // memory allocation failed
      );
  }

  #end({ body, runs }: Collected): void {
    if (this.isOver) {
      this.service.connections.release(this, false);
      return;
    }
    const status = this.status;
    const headers = this.#headers;
    if (status >= 500 || (status >= 300 && status < 400))
      noteFailure(this.context.stats, { cause: 'status', status });
    const retryAfter = retryAfterOf(headers);
    const { limits } = this.#line;
    const pauseMs = status === 503 ? pauseBeforeRetry(retryAfter, limits, this.context.deadline) : undefined;
    if (pauseMs !== undefined && this.#maySendAgain()) {
      this.#changeAddress('failed');
      this.#sendAgain(pauseMs);
      return;
    }
    this.context.isWritten = this.connection?.isWritten ?? false;
    this.settle(status < 500 ? 'answered' : 'failed');
    this.#resolve({ status, headers, body, runs, retryAfter });
    this.service.connections.release(this, status < 500);
  }

  onResponseError(_controller: unknown, cause: Error): void {
    if (this.isOver) {
      this.service.connections.release(this, false);
      return;
    }
    noteFailure(this.context.stats, causeOf(cause));
    const stage = isGarbage(cause) ? 'answered' : this.stage;
    const evidence = isOurs(cause) ? undefined : stage === 'connecting' ? 'unreached' : 'failed';
    if (evidence === 'unreached' && this.#mayMove() && this.#changeAddress(evidence)) {
      this.restart(0);
      return;
    }
    if (stage !== 'answered' && !isExhausted(cause) && this.#maySendAgain()) {
      this.#changeAddress(evidence);
      this.#sendAgain(0);
      return;
    }
    this.settle(evidence);
    this.fail(exchangeError(cause, stage));
    this.service.connections.release(this, false);
  }

  #maySendAgain(): boolean {
    const { operation, body } = this.#request;
    if (body instanceof StreamedFile) return false; // its body can only be read once
    if (this.context.isSentOnce === true) return false;
    return operation.readOnly && !this.#isAgain && this.service.retries.spend();
  }

  /** Returns true if a call that was not sent may be sent to another address. That includes writes. */
  #mayMove(): boolean {
    return !(this.isLeft || this.#request.body instanceof StreamedFile);
  }

  /**
   * Replaces the address that failed by another one. Returns false and changes nothing if there is none.
   *
   * @param evidence undefined if the gateway itself failed, which says nothing about the address
   */
  #changeAddress(evidence: Evidence | undefined): boolean {
    const { balancer, breaker } = this.#line;
    if (balancer === undefined || evidence === undefined) return false;
    const now = performance.now();
    const tried = [...(this.#tried ?? noLines), this.#line];
    const next = balancer.choose(this, tried, now);
    if (next === undefined || typeof next === 'number') return false;
    breaker.settle(this, evidence, this.dispatchedAt, now);
    this.#tried = tried;
    this.#line = next;
    this.context.stats.upstream = next.address;
    return true;
  }

  /** Sends a read again. */
  #sendAgain(pauseMs: number): void {
    this.#isAgain = true;
    this.restart(pauseMs);
  }

  protected override restart(pauseMs: number): void {
    this.status = 0;
    this.#headers = {};
    this.#dropAnswer();
    this.#held = 0;
    super.restart(pauseMs);
  }

  /** Describes a reply of more bytes than its limit. */
  get #tooLong(): Quote {
    const { binaryOutput } = this.#request.operation;
    return overLimit(
      `more than ${this.#maxBytes} bytes`,
      binaryOutput ? 'replyBytesWithBinary' : 'replyBytes',
    );
  }

  get #maxBytes(): number {
    const { limits } = this.#line;
    return this.#request.operation.binaryOutput ? limits.replyBytesWithBinary : limits.replyBytes;
  }

  protected fail(error: CallError): void {
    this.#dropAnswer();
    this.#reject(error);
  }

  /**
   * Releases the received bytes of a discarded response in the next event-loop iteration, because undici may still read
   * the last piece.
   */
  #dropAnswer(): void {
    const collector = this.#collector;
    if (collector.size === 0) return;
    this.#collector = new Collector(true);
    setImmediate(() => collector.drop());
  }
}

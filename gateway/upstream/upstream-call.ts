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
import { noteFailure, noteWait } from '../telemetry/request-stats.ts';
import type { Evidence, Subject } from './breaker.ts';
import { type Cause, causeOf } from './cause.ts';
import { type Collected, Collector, maxIterationBytes, readOnLater } from './collector.ts';
import type { Connection } from './connector.ts';
import { announcedBytes } from './content-length.ts';
import type { Watched } from './deadlines.ts';
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
import type { Outgoing } from './upstream-connections.ts';
import type { Line, Stage } from './upstream-state.ts';

/** Makes a call as described at `Upstream`. */
export function callUpstream(line: Line, request: UpstreamRequest, waiting: Waiting): Promise<UpstreamReply> {
  return new Promise((resolve, reject) => {
    new UpstreamCall(line, request, waiting, resolve, reject).start();
  });
}

const noLines: readonly Line[] = [];

/** Marks an exchange that was sent after the last check. Its start is set at the next check. */
const notYetKnown = -1;

/** Maximum time that a call waits for a connection to the upstream before it is rejected with 503, in ms. */
export const maxQueueMs = 20_000;

/**
 * Minimum share of an operation's timeout that the upstream must have had before it counts as its failure. The timeout
 * starts before the call waits for a connection.
 */
const leastShareOfTimeout = 0.9;

/** Maximum number of bytes outside the body of an upstream's response, in addition to the size of the body. */
export const maxOverheadBytes = 1024 * 1024;

/**
 * One upstream call. It is sent once, or twice if it only reads, nothing arrived except a request to retry soon, and
 * the retry budget allows it (W35). If no connection can be opened, any call tries the other addresses of its upstream.
 * A single object is used as undici handler and watched object.
 */
class UpstreamCall implements Dispatcher.DispatchHandler, Watched, Outgoing, Subject {
  #line: Line;
  readonly #request: UpstreamRequest;
  readonly #waiting: Waiting;
  readonly #resolve: (reply: UpstreamReply) => void;
  readonly #reject: (error: Error) => void;
  index = -1;
  isParked = false;
  /** Time of its creation, in ms like all times. */
  readonly #createdAt = performance.now();
  /** Time when it was passed to a connection. */
  #dispatchedAt = this.#createdAt;
  /** Start of its present stage, as known at the last check. */
  #since = this.#createdAt;
  /** True if data arrived since the last check. */
  #heard = false;
  #stage: Stage = 'waiting';
  /** True for a response that ends with its connection: it has neither a length nor chunks. */
  #endsByClose = false;
  #status = 0;
  #headers: UpstreamReply['headers'] = {};
  #collector = new Collector(true);
  /** Bytes of the response counted as memory: all announced bytes of a large response, otherwise the received bytes. */
  #held = 0;
  /** Bytes of the response read since it last paused for an event-loop iteration. */
  #iterationBytes = 0;
  /** True while it waits for memory for its response. */
  #isPaused = false;
  /** False while it waits for the caller to send more of a file. */
  #isFed = true;
  #controller: Dispatcher.DispatchController | undefined;
  /** True for a retry. */
  #isAgain = false;
  /** Addresses that failed for this call; undefined if there are none. */
  #tried: Line[] | undefined;
  #nextTry: NodeJS.Timeout | undefined;
  #keys: CallKeys | undefined;
  #connection: Connection | undefined;
  /** Received bytes of the connection minus the body, at the first check. */
  #readBefore: number | undefined;
  /** Error that ended the call before its response ended. */
  #given: CallError | undefined;

  constructor(
    line: Line,
    request: UpstreamRequest,
    waiting: Waiting,
    resolve: (reply: UpstreamReply) => void,
    reject: (error: Error) => void,
  ) {
    this.#line = line;
    this.#request = request;
    this.#waiting = waiting;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get operation(): string {
    return this.#request.operation.name;
  }

  get keys(): CallKeys {
    if (this.#keys !== undefined) return this.#keys;
    const { request, stats } = this.#waiting;
    const network = this.#line.networkOf(request);
    this.#keys = { caller: `${network} ${stats.caller ?? ''}`, network, operation: this.operation };
    return this.#keys;
  }

  get target(): Line {
    return this.#line;
  }

  get sentAt(): number {
    return this.#dispatchedAt;
  }

  get latest(): number {
    return Math.min(this.#since + (this.#line.limits.upstreamQueueMs ?? maxQueueMs), this.#waiting.deadline);
  }

  start(): void {
    const { retries, watch } = this.#line;
    const retryAfter = this.#refusal(this.#createdAt);
    if (retryAfter !== undefined) {
      noteFailure(this.#waiting.stats, { cause: 'breaker' }, 0);
      this.#reject(unavailable(retryAfter));
      return;
    }
    retries.earn();
    watch.add(this);
    this.#takeConnection();
  }

  /**
   * Chooses the address, if the upstream has several. Returns undefined if the call may be sent, else the whole seconds
   * until the next attempt.
   */
  #refusal(now: number): number | undefined {
    const { balancer, breaker, address } = this.#line;
    if (balancer === undefined) {
      this.#waiting.stats.upstream = address;
      return breaker.refusal(this, now);
    }
    const chosen = balancer.choose(this, this.#tried ?? noLines, now);
    if (typeof chosen === 'number') return chosen;
    if (chosen !== undefined) this.#line = chosen;
    this.#waiting.stats.upstream = this.#line.address;
    return undefined;
  }

  /** Sends the call as soon as a connection is free. */
  #takeConnection(): void {
    const found = this.#line.connections.enter(this);
    if (found === 'go') this.#send();
    else if (found === 'late') this.#shed();
  }

  /** Sends a call that waited for a connection. */
  go(): void {
    const { balancer, breaker } = this.#line;
    const now = performance.now();
    noteWait(this.#waiting.stats, this.#since, now);
    this.#dispatchedAt = now;
    this.#since = now;
    const isAddressLost =
      breaker.hasOpenedSince(this.operation, this.#createdAt) ||
      balancer?.isUsable(this.#line, now) === false;
    const refused = isAddressLost ? this.#refusal(now) : undefined;
    if (refused === undefined) this.#send();
    else this.#give(unavailable(refused), undefined, { cause: 'breaker' });
  }

  #send(): void {
    const { pool, prefix, headers: line } = this.#line;
    const { method, path, headers, body } = this.#request;
    this.#stage = 'connecting';
    if (this.#waiting.stats.sent === 0) this.#waiting.stats.sentAt = this.#dispatchedAt;
    this.#waiting.stats.sent++;
    if (this.#isAgain) this.#waiting.stats.retries++;
    this.#waiting.stats.upstreamStatus = 0;
    pool.dispatch(
      {
        method: method as 'POST',
        path: prefix + path,
        headers: headersOf(headers, body, this.#waiting, line),
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
        this.#isFed = false;
        const { done, value } = await pieces.next();
        this.#isFed = true;
        this.#heard = true;
        if (done === true) return;
        yield value;
      }
    } catch (error) {
      if (error instanceof CallError) this.#give(error, undefined);
      throw error;
    }
  }

  /** True if the caller has disconnected. A write that was sent is completed anyway. */
  get #isLeft(): boolean {
    const { readOnly } = this.#request.operation;
    return this.#waiting.response.destroyed && (readOnly || !this.#waiting.reached);
  }

  onConnection(connection: Connection): void {
    this.#connection = connection;
  }

  due(now: number): number {
    if (this.#isFlooded()) return 0;
    if (this.#heard || this.#since === notYetKnown) this.#since = now;
    this.#heard = false;
    if (this.#stage === 'waiting' && this.#nextTry === undefined) this.#line.connections.park(this, now);
    return this.#isLeft ? 0 : Math.min(this.#since + this.#longest, this.#waiting.deadline);
  }

  /** Returns true if the upstream sent too many bytes outside the body. */
  #isFlooded(): boolean {
    if (this.#stage !== 'sent' && this.#stage !== 'answered') return false;
    const overheadBytes = (this.#connection?.bytesRead ?? 0) - this.#collector.size;
    if (this.#readBefore === undefined) this.#readBefore = overheadBytes;
    return (
      overheadBytes - this.#readBefore >
      (this.#line.limits.upstreamOverheadBytes ?? maxOverheadBytes) + this.#collector.size
    );
  }

  /** Maximum duration of the present stage, in ms. */
  get #longest(): number {
    const { limits } = this.#line;
    // Other limits apply to a caller's upload, to a pause before a retry and to connecting. Nothing is read while
    // memory is short.
    if (this.#nextTry !== undefined || this.#stage === 'connecting' || this.#isPaused || !this.#isFed)
      return Number.POSITIVE_INFINITY;
    if (this.#stage === 'waiting') return limits.upstreamQueueMs ?? maxQueueMs;
    return this.#status === 0 ? this.#firstByteMs : limits.upstreamIdleMs;
  }

  get #firstByteMs(): number {
    const { upstreamFirstByteMs } = this.#line.limits;
    const { timeoutMs, binaryOutput } = this.#request.operation;
    return timeoutMs ?? (binaryOutput ? upstreamFirstByteMs * 1.5 : upstreamFirstByteMs);
  }

  onDue(): void {
    if (this.#isLeft) this.#give(new CallError('CallerGone'), undefined);
    else if (this.#stage === 'waiting') {
      if (this.#nextTry === undefined) noteWait(this.#waiting.stats, this.#since, performance.now());
      this.#shed();
    } else if (this.#isFlooded()) this.#giveInvalid('too many bytes outside the body');
    else {
      // A deadline that was near from the start, for example after a slow request, is no failure of the upstream.
      const now = performance.now();
      const wasOutFor = this.#stage === 'connecting' ? 0 : now - this.#dispatchedAt;
      const { timeoutMs } = this.#request.operation;
      const enough = timeoutMs === undefined ? this.#firstByteMs : timeoutMs * leastShareOfTimeout;
      const hadItsTime = now - this.#since >= this.#longest || wasOutFor >= enough;
      const code = this.#stage === 'connecting' ? 'UpstreamUnavailable' : 'UpstreamTimeout';
      this.#give(new CallError(code), hadItsTime ? 'failed' : undefined, this.#timeout());
    }
  }

  /** Rejects a call that got no connection. */
  #shed(): void {
    this.#line.shed++;
    this.#give(overloaded(), undefined, { cause: 'queue' });
  }

  /** Ends the call with an invalid response. */
  #giveInvalid(got: Got | Quote): void {
    const error = invalid(got);
    this.#give(error, 'failed', { cause: 'invalid', reason: error.message });
  }

  /** Returns the wait that took too long. */
  #timeout(): Cause {
    if (performance.now() >= this.#waiting.deadline)
      return { cause: 'timeout', reason: 'the total time of the request expired' };
    if (this.#stage === 'connecting')
      return { cause: 'timeout', reason: 'it did not accept the connection in time' };
    const what = this.#status === 0 ? 'no response' : 'no further part of the response';
    return { cause: 'timeout', reason: `${what} arrived within ${this.#longest} ms` };
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It was cancelled while connecting and must not be sent.
    if (this.#given !== undefined) controller.abort(this.#given);
    else if (this.#isLeft) this.#give(new CallError('CallerGone'), undefined);
    else {
      this.#stage = 'sent';
      this.#since = notYetKnown;
      this.#waiting.reached = true;
    }
  }

  onResponseStart(_controller: unknown, status: number, headers: UpstreamReply['headers']): void {
    this.#stage = 'answered';
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    this.#heard = true;
    this.#waiting.stats.upstreamStatus = status;
    const length = headers['content-length'];
    const isAnnounced = typeof length === 'string' && this.#request.method !== 'HEAD';
    this.#endsByClose = length === undefined && headers['transfer-encoding'] === undefined;
    const announced = isAnnounced ? announcedBytes(length) || 0 : 0;
    const problem = headProblem(status, headers, this.#request);
    if (problem !== undefined) this.#giveInvalid(problem);
    else if (announced > this.#maxBytes) this.#giveInvalid(this.#tooLong);
    else {
      this.#collector.announced = announced;
      if (announced > smallBytes) this.#hold(announced, announced);
    }
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (this.#given !== undefined) return;
    this.#heard = true;
    const size = this.#collector.size + chunk.length;
    if (size > this.#maxBytes) this.#giveInvalid(this.#tooLong);
    else {
      this.#collector.addRead(chunk);
      if (size > this.#held) this.#hold(size - this.#held, 0);
      this.#iterationBytes += chunk.length;
      if (this.#iterationBytes >= maxIterationBytes) this.#continueLater();
    }
  }

  #continueLater(): void {
    this.#iterationBytes = 0;
    const controller = this.#controller;
    controller?.pause();
    readOnLater(() => {
      if (!this.#isPaused && this.#given === undefined) controller?.resume();
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
    const { permit } = this.#waiting;
    const { operation } = this.#request;
    this.#held += bytes;
    if (!operation.readOnly && this.#held > smallBytes) admission.largeReplies.note(operation);
    if (permit.hold(bytes) || this.#held <= smallBytes || this.#given !== undefined) return;
    if (operation.readOnly) {
      this.#give(admission.shed(), undefined);
      return;
    }
    permit.shrink(permit.heldBytes - coming);
    this.#isPaused = true;
    this.#controller?.pause();
    permit.whenFree(coming, () => {
      this.#isPaused = false;
      this.#heard = true;
      this.#controller?.resume();
    });
  }

  onResponseEnd(): void {
    // undici treats a reset as the end of a response that ends with its connection. The response is incomplete (RFC
    // 9112 §8).
    const broken = this.#endsByClose ? this.#connection?.error : undefined;
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
    if (this.#given !== undefined) {
      this.#line.connections.release(this, false);
      return;
    }
    const status = this.#status;
    const headers = this.#headers;
    if (status >= 500 || (status >= 300 && status < 400))
      noteFailure(this.#waiting.stats, { cause: 'status', status });
    const retryAfter = retryAfterOf(headers);
    const { limits } = this.#line;
    const pauseMs = status === 503 ? pauseBeforeRetry(retryAfter, limits, this.#waiting.deadline) : undefined;
    if (pauseMs !== undefined && this.#maySendAgain()) {
      this.#changeAddress('failed');
      this.#sendAgain(pauseMs);
      return;
    }
    this.#waiting.isWritten = this.#connection?.isWritten ?? false;
    this.#settle(status < 500 ? 'answered' : 'failed');
    this.#resolve({ status, headers, body, runs, retryAfter });
    this.#line.connections.release(this, status < 500);
  }

  onResponseError(_controller: unknown, cause: Error): void {
    if (this.#given !== undefined) {
      this.#line.connections.release(this, false);
      return;
    }
    noteFailure(this.#waiting.stats, causeOf(cause));
    const stage = isGarbage(cause) ? 'answered' : this.#stage;
    const evidence = isOurs(cause) ? undefined : stage === 'connecting' ? 'unreached' : 'failed';
    if (evidence === 'unreached' && this.#mayMove() && this.#changeAddress(evidence)) {
      this.#restart(0);
      return;
    }
    if (stage !== 'answered' && !isExhausted(cause) && this.#maySendAgain()) {
      this.#changeAddress(evidence);
      this.#sendAgain(0);
      return;
    }
    this.#settle(evidence);
    this.#dropAnswer();
    this.#reject(exchangeError(cause, stage));
    this.#line.connections.release(this, false);
  }

  #maySendAgain(): boolean {
    const { operation, body } = this.#request;
    if (body instanceof StreamedFile) return false; // its body can only be read once
    return operation.readOnly && !this.#isAgain && this.#line.retries.spend();
  }

  /** Returns true if a call that was not sent may be sent to another address. That includes writes. */
  #mayMove(): boolean {
    return !(this.#isLeft || this.#request.body instanceof StreamedFile);
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
    breaker.settle(this, evidence, this.#dispatchedAt, now);
    this.#tried = tried;
    this.#line = next;
    this.#waiting.stats.upstream = next.address;
    return true;
  }

  /** Sends a read again. */
  #sendAgain(pauseMs: number): void {
    this.#isAgain = true;
    this.#restart(pauseMs);
  }

  /** Starts the exchange again after a pause. Meanwhile another call can use its connection. */
  #restart(pauseMs: number): void {
    this.#waiting.stats.upstreamMs += performance.now() - this.#dispatchedAt;
    this.#stage = 'waiting';
    this.#status = 0;
    this.#headers = {};
    this.#dropAnswer();
    this.#held = 0;
    this.#controller = undefined;
    this.#readBefore = undefined;
    this.#nextTry = setTimeout(() => {
      this.#nextTry = undefined;
      this.#since = performance.now();
      this.#dispatchedAt = this.#since;
      this.#takeConnection();
    }, pauseMs);
    this.#line.connections.release(this, false);
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

  /** Ends the call before its response ended. It keeps its connection until undici has finished with it. */
  #give(error: CallError, evidence: Evidence | undefined, cause?: Cause): void {
    if (this.#given !== undefined) return;
    this.#given = error;
    if (cause !== undefined) noteFailure(this.#waiting.stats, cause);
    const isWaiting = this.#stage === 'waiting';
    this.#settle(evidence);
    this.#dropAnswer();
    this.#reject(error);
    if (isWaiting) this.#line.connections.drop(this);
    else this.#controller?.abort(error);
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

  /**
   * @param evidence undefined if the result says nothing about the upstream, for example if the caller disconnected or
   * memory is full
   */
  #settle(evidence: Evidence | undefined): void {
    const { watch, breaker } = this.#line;
    const now = performance.now();
    watch.delete(this);
    clearTimeout(this.#nextTry);
    if (this.#stage !== 'waiting') this.#waiting.stats.upstreamMs += now - this.#dispatchedAt;
    if (evidence !== undefined) breaker.settle(this, evidence, this.#dispatchedAt, now);
  }
}

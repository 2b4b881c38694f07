import { performance } from 'node:perf_hooks';
import type { Dispatcher } from 'undici';
import { CallError } from '../call/error.ts';
import { noteFailure, noteWait, type RequestStats } from '../telemetry/request-stats.ts';
import type { Evidence, Subject } from './breaker.ts';
import type { Cause } from './cause.ts';
import type { Connection } from './connector.ts';
import type { Watched } from './deadlines.ts';
import type { CallKeys } from './shares.ts';
import type { Outgoing } from './upstream-connections.ts';
import type { Line, Stage } from './upstream-state.ts';

/** Maximum time that a call waits for a connection to the upstream before it is rejected with 503, in ms. */
export const maxQueueMs = 20_000;

/** Maximum number of bytes outside the body of an upstream's response, in addition to the size of the body. */
export const maxOverheadBytes = 1024 * 1024;

/**
 * One request to a service and its response. It waits for a connection, is sent, and may be sent again. This class
 * queues the request and ends it after its deadlines. Its subclasses send the request and receive the response. A single
 * object is used as undici handler and watched object. All times are in ms of `performance.now()`.
 */
export abstract class Exchange implements Watched, Outgoing, Subject {
  index = -1;
  isParked = false;
  protected readonly createdAt: number = performance.now();
  /** Time when it was passed to a connection. */
  protected dispatchedAt: number = this.createdAt;
  /** Start of its present stage, as known at the last check. */
  protected since: number = this.createdAt;
  /** True if data arrived since the last check, or if a stage began. */
  protected heard = false;
  protected stage: Stage = 'waiting';
  /** True while it reads no more of the response. */
  protected isPaused = false;
  /** True for an exchange that was completed, failed or cancelled. */
  protected isOver = false;
  /** True for a response that ends with its connection: it has neither a length nor chunks. */
  protected endsByClose = false;
  protected controller: Dispatcher.DispatchController | undefined;
  protected connection: Connection | undefined;
  /** Received bytes of the connection minus the body, at the first check of an attempt. */
  #readBefore: number | undefined;
  #nextTry: NodeJS.Timeout | undefined;

  abstract readonly operation: string;
  abstract readonly keys: CallKeys;
  protected abstract readonly service: Pick<Line, 'limits' | 'connections' | 'retries' | 'watch' | 'breaker'>;
  protected abstract readonly context: {
    readonly stats: Pick<RequestStats, 'queueMs' | 'waits' | 'failures' | 'sent'>;
    readonly deadline: number;
  };
  /** Number of the present attempt in the log. */
  protected abstract readonly attempt: number;
  /** True if the caller has disconnected and the request need not be completed. */
  protected abstract readonly isLeft: boolean;
  /** False while it waits for the caller to send more of the request. */
  protected abstract readonly isFed: boolean;
  /** Status of the response; 0 before its head arrived. */
  protected abstract readonly status: number;
  /** Received bytes of the body. */
  protected abstract readonly size: number;
  /** Maximum time until the head of the response arrives, in ms. */
  protected abstract readonly firstByteMs: number;

  protected abstract send(): void;
  /** Returns the whole seconds until the next attempt if the request may not be sent now. */
  protected abstract refusal(now: number): number | undefined;
  /** Returns the error of a request that may be sent after a number of seconds. */
  protected abstract unavailable(retryAfter: number): CallError;
  /** Returns the error of a request that got no connection. */
  protected abstract rejection(): CallError;
  /** Notes that at least a part of the request may have been sent. */
  protected abstract noteReached(): void;
  /** Adds the time of an attempt, in ms. */
  protected abstract noteTime(ms: number): void;
  /** Passes the error to the caller. */
  protected abstract fail(error: CallError): void;
  /** Ends the exchange with an invalid response. */
  protected abstract giveInvalid(got: 'too many bytes outside the body'): void;
  protected abstract onTimeout(now: number): void;

  get sentAt(): number {
    return this.dispatchedAt;
  }

  get latest(): number {
    return Math.min(this.since + this.#queueMs, this.context.deadline);
  }

  get #queueMs(): number {
    return this.service.limits.upstreamQueueMs ?? maxQueueMs;
  }

  start(): void {
    const retryAfter = this.refusal(this.createdAt);
    if (retryAfter !== undefined) {
      this.isOver = true;
      noteFailure(this.context.stats, { cause: 'breaker' }, 0);
      this.fail(this.unavailable(retryAfter));
      return;
    }
    this.service.retries.earn();
    this.service.watch.add(this);
    this.#takeConnection();
  }

  /** Sends the request as soon as a connection is free. */
  #takeConnection(): void {
    const found = this.service.connections.enter(this);
    if (found === 'go') this.send();
    else if (found === 'late') this.#reject();
  }

  #reject(): void {
    this.give(this.rejection(), undefined, { cause: 'queue' });
  }

  /** Sends a request that waited for a connection. */
  go(): void {
    const now = performance.now();
    noteWait(this.context.stats, this.since, now);
    this.dispatchedAt = now;
    this.since = now;
    const refused = this.isAddressLost(now) ? this.refusal(now) : undefined;
    if (refused === undefined) this.send();
    else this.give(this.unavailable(refused), undefined, { cause: 'breaker' });
  }

  /** Returns true if the address became unusable while the request waited. */
  protected isAddressLost(_now: number): boolean {
    return this.service.breaker.hasOpenedSince(this.operation, this.createdAt);
  }

  onConnection(connection: Connection): void {
    this.connection = connection;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    // It was cancelled while connecting and must not be sent.
    if (this.isOver) controller.abort(new Error('cancelled'));
    else if (this.isLeft) this.give(new CallError('CallerGone'), undefined);
    else {
      this.stage = 'sent';
      this.heard = true;
      this.noteReached();
    }
  }

  due(now: number): number {
    if (this.#isFlooded()) return 0;
    const isWaiting = this.stage === 'waiting';
    if (this.heard || !(isWaiting || this.isFed)) this.since = now;
    this.heard = false;
    if (isWaiting && this.#nextTry === undefined) this.service.connections.park(this, now);
    return this.isLeft ? 0 : Math.min(this.since + this.longest, this.context.deadline);
  }

  /** Returns true if the service sent too many bytes outside the body, for example responses with 1xx. */
  #isFlooded(): boolean {
    if (this.stage !== 'sent' && this.stage !== 'answered') return false;
    const overheadBytes = (this.connection?.bytesRead ?? 0) - this.size;
    this.#readBefore ??= overheadBytes;
    const most = this.service.limits.upstreamOverheadBytes ?? maxOverheadBytes;
    return overheadBytes - this.#readBefore > most + this.size;
  }

  /**
   * Maximum duration of the present stage, in ms. Other limits apply to a caller's upload, to a pause before a retry and
   * to connecting.
   */
  protected get longest(): number {
    if (this.stage === 'waiting')
      return this.#nextTry === undefined ? this.#queueMs : Number.POSITIVE_INFINITY;
    if (this.stage === 'connecting' || this.isPaused || !this.isFed) return Number.POSITIVE_INFINITY;
    return this.status === 0 ? this.firstByteMs : this.service.limits.upstreamIdleMs;
  }

  onDue(): void {
    const now = performance.now();
    if (this.isLeft) this.give(new CallError('CallerGone'), undefined);
    else if (this.stage === 'waiting') {
      if (this.#nextTry === undefined) noteWait(this.context.stats, this.since, now);
      this.#reject();
    } else if (this.#isFlooded()) this.giveInvalid('too many bytes outside the body');
    else this.onTimeout(now);
  }

  /** Returns the wait that took too long. */
  protected timeoutCause(now: number): Cause {
    if (now >= this.context.deadline)
      return { cause: 'timeout', reason: 'the total time of the request expired' };
    if (this.stage === 'connecting')
      return { cause: 'timeout', reason: 'it did not accept the connection in time' };
    const what = this.status === 0 ? 'no response' : 'no further part of the response';
    return { cause: 'timeout', reason: `${what} arrived within ${this.longest} ms` };
  }

  /**
   * The error of a connection that ended a response. undici treats a reset as the end of a response that ends with its
   * connection, but the response is incomplete (RFC 9112 §8).
   */
  protected get endError(): Error | undefined {
    return this.endsByClose ? this.connection?.error : undefined;
  }

  /** Starts the exchange again after a pause. Meanwhile another call can use its connection. */
  protected restart(pauseMs: number): void {
    this.noteTime(performance.now() - this.dispatchedAt);
    this.stage = 'waiting';
    this.controller = undefined;
    this.#readBefore = undefined;
    this.#nextTry = setTimeout(() => {
      this.#nextTry = undefined;
      this.since = performance.now();
      this.dispatchedAt = this.since;
      this.#takeConnection();
    }, pauseMs);
    this.service.connections.release(this, false);
  }

  /** Ends the exchange before its response ended. It keeps its connection until undici has finished with it. */
  protected give(error: CallError, evidence: Evidence | undefined, cause?: Cause): void {
    if (this.isOver) return;
    if (cause !== undefined) noteFailure(this.context.stats, cause, this.attempt);
    const isWaiting = this.stage === 'waiting';
    this.settle(evidence);
    this.fail(error);
    if (isWaiting) this.service.connections.drop(this);
    else this.controller?.abort(error);
  }

  /**
   * @param evidence undefined if the result says nothing about the service, for example if the caller disconnected or
   * memory is full
   */
  protected settle(evidence: Evidence | undefined): void {
    const { watch, breaker } = this.service;
    const now = performance.now();
    this.isOver = true;
    watch.delete(this);
    clearTimeout(this.#nextTry);
    if (this.stage !== 'waiting') this.noteTime(now - this.dispatchedAt);
    if (evidence !== undefined) breaker.settle(this, evidence, this.dispatchedAt, now);
  }
}

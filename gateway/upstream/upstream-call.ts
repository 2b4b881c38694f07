import { performance } from 'node:perf_hooks';
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { FilledBody } from '../../mappings/codec/filled-body.ts';
import { StreamedFile } from '../../mappings/codec/streamed-file.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import type { UpstreamRequest } from '../../mappings/http-mapping/call.ts';
import { type Admission, overloaded, smallBytes } from '../admission/admission.ts';
import { CallError, overLimit } from '../call/error.ts';
import { noteFailure } from '../telemetry/request-stats.ts';
import type { Breaker, Evidence, Subject } from './breaker.ts';
import { type Cause, causeOf } from './cause.ts';
import { type Collected, Collector, readOnLater, turnBytes } from './collector.ts';
import type { Connection } from './connector.ts';
import { announcedBytes } from './content-length.ts';
import type { Watch, Watched } from './deadlines.ts';
import type { CallDispatcher } from './fetch-dispatcher.ts';
import { maxRetryAfterMs, type RetryBudget } from './retry-budget.ts';
import type { NetworkOf, UpstreamReply, Waiting } from './upstream.ts';
import type { Outgoing, Party, UpstreamConnections } from './upstream-connections.ts';

/** What all calls to one upstream have in common. */
export interface Line {
  readonly pool: CallDispatcher;
  /** Its scheme, host and port. */
  readonly address: string;
  /** The address's path, before every call's. */
  readonly prefix: string;
  /** What every call has besides, for a proxy on the way; undefined: nothing. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly limits: Limits;
  readonly admission: Admission;
  readonly networkOf: NetworkOf;
  readonly connections: UpstreamConnections;
  readonly breaker: Breaker;
  readonly retries: RetryBudget;
  readonly watch: Watch;
  /** Calls shed since the start. */
  shed: number;
}

/**
 * How far an exchange came: it waits for one of our connections, or until it may be sent again; it is given to a
 * connection, which may still have to be made; it went out; some of an answer came.
 */
type Stage = 'waiting' | 'connecting' | 'sent' | 'answered';

/** Makes a call; see `Upstream`. */
export function callUpstream(line: Line, request: UpstreamRequest, waiting: Waiting): Promise<UpstreamReply> {
  return new Promise((resolve, reject) => {
    new UpstreamCall(line, request, waiting, resolve, reject).start();
  });
}

/** When an exchange went out is found out when the clock looks next. */
const notYetKnown = -1;

/** Time that a call waits for a connection to the upstream before it is rejected with 503, in ms. */
export const maxQueueMs = 20_000;

/** Bytes of an upstream's response besides its body, in addition to as many as the body has. */
export const maxOverheadBytes = 1024 * 1024;

/**
 * One call on its way: sent once, or twice where it only reads, nothing came back but perhaps a request to try again
 * soon, and the budget has a retry left (W35). One object is all of it, from undici's handler to the clock.
 */
class UpstreamCall implements Dispatcher.DispatchHandler, Watched, Outgoing, Subject {
  readonly #line: Line;
  readonly #request: UpstreamRequest;
  readonly #waiting: Waiting;
  readonly #resolve: (reply: UpstreamReply) => void;
  readonly #reject: (error: Error) => void;
  index = -1;
  /** When it came here, in ms as all times. */
  readonly #cameIn = performance.now();
  /** When it was given to a connection. */
  #dispatchedAt = this.#cameIn;
  /** When its present stage began, as far as the clock has looked. */
  #since = this.#cameIn;
  /** Whether something came since the clock looked. */
  #heard = false;
  #stage: Stage = 'waiting';
  /** True for a response whose end is the end of its connection: it has neither a length nor chunks. */
  #endsByClose = false;
  #status = 0;
  #headers: UpstreamReply['headers'] = {};
  #collector = new Collector(true);
  /** Bytes of the answer that are held: all that were announced, where those are many, else those that came. */
  #held = 0;
  /** Bytes of it since it was last left for the next turn of the event loop. */
  #inTurn = 0;
  /** Whether it waits for room for its answer. */
  #isPaused = false;
  /** False while it waits for what its caller still sends of a file. */
  #isFed = true;
  #controller: Dispatcher.DispatchController | undefined;
  /** Whether it went out before. */
  #isAgain = false;
  #nextTry: NodeJS.Timeout | undefined;
  #party: Party | undefined;
  #connection: Connection | undefined;
  /** What had come over the connection, less what is the body's, when the clock looked first. */
  #readBefore: number | undefined;
  /** Why it ended before the answer did. */
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

  get party(): Party {
    this.#party ??= this.#findParty();
    return this.#party;
  }

  #findParty(): Party {
    const { request, stats } = this.#waiting;
    const network = this.#line.networkOf(request);
    return { caller: `${network} ${stats.caller ?? ''}`, network, operation: this.operation };
  }

  start(): void {
    const { address, breaker, retries, watch } = this.#line;
    this.#waiting.stats.upstream = address;
    const retryAfter = breaker.refusal(this, this.#cameIn);
    if (retryAfter !== undefined) {
      noteFailure(this.#waiting.stats, { cause: 'breaker' }, 0);
      this.#reject(unavailable(retryAfter));
      return;
    }
    retries.earn();
    watch.add(this);
    this.#takeConnection();
  }

  /** Goes out as soon as there is a connection for it. */
  #takeConnection(): void {
    const found = this.#line.connections.enter(this);
    if (found === 'go') this.#send();
    else if (found === 'full') this.#shed();
  }

  /** It waited, and has a connection now. */
  go(): void {
    const { breaker } = this.#line;
    const now = performance.now();
    this.#waiting.stats.queueMs += now - this.#since;
    this.#dispatchedAt = now;
    this.#since = now;
    const refused = breaker.hasOpenedSince(this.operation, this.#cameIn)
      ? breaker.refusal(this, now)
      : undefined;
    if (refused === undefined) this.#send();
    else this.#give(unavailable(refused), undefined, { cause: 'breaker' });
  }

  #send(): void {
    const { pool, prefix, headers: line } = this.#line;
    const { method, path, headers, body } = this.#request;
    this.#stage = 'connecting';
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

  /** A file as its caller sends it; one that breaks off ends the call, and leaves what was sent of it unfinished. */
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

  /** Whether nobody waits for it any more; a write that went out ends all the same. */
  get #isLeft(): boolean {
    const { readOnly } = this.#request.operation;
    return this.#waiting.response.destroyed && (readOnly || !this.#waiting.reached);
  }

  goesOver(connection: Connection): void {
    this.#connection = connection;
  }

  due(now: number): number {
    if (this.#isFlooded()) return 0;
    if (this.#heard || this.#since === notYetKnown) this.#since = now;
    this.#heard = false;
    return this.#isLeft ? 0 : Math.min(this.#since + this.#longest, this.#waiting.deadline);
  }

  /** Whether more came than a body and what belongs to one. */
  #isFlooded(): boolean {
    if (this.#stage !== 'sent' && this.#stage !== 'answered') return false;
    const besides = (this.#connection?.bytesRead ?? 0) - this.#collector.size;
    if (this.#readBefore === undefined) this.#readBefore = besides;
    return (
      besides - this.#readBefore >
      (this.#line.limits.upstreamOverheadBytes ?? maxOverheadBytes) + this.#collector.size
    );
  }

  /** How long the present stage may take, in ms. */
  get #longest(): number {
    const { limits } = this.#line;
    // what a caller still sends has bounds of its own, a pause is bounded when it is begun, and a connection by who makes it; while there is no room nothing is read
    if (this.#nextTry !== undefined || this.#stage === 'connecting' || this.#isPaused || !this.#isFed)
      return Number.POSITIVE_INFINITY;
    if (this.#stage === 'waiting') return limits.upstreamQueueMs ?? maxQueueMs;
    return this.#status === 0 ? this.#firstByteMs : limits.upstreamIdleMs;
  }

  get #firstByteMs(): number {
    const { upstreamFirstByteMs } = this.#line.limits;
    return this.#request.operation.binaryOutput ? upstreamFirstByteMs * 1.5 : upstreamFirstByteMs;
  }

  onDue(): void {
    if (this.#isLeft) this.#give(new CallError('CallerGone'), undefined);
    else if (this.#stage === 'waiting') this.#shed();
    else if (this.#isFlooded()) this.#giveInvalid('a flood of bytes beside a body');
    else {
      // a deadline that was near from the start, as a request came slowly, say, is no failure of the upstream's
      const now = performance.now();
      const wasOutFor = this.#stage === 'connecting' ? 0 : now - this.#dispatchedAt;
      const hadItsTime = now - this.#since >= this.#longest || wasOutFor >= this.#firstByteMs;
      const code = this.#stage === 'connecting' ? 'UpstreamUnavailable' : 'UpstreamTimeout';
      this.#give(new CallError(code), hadItsTime ? 'failed' : undefined, this.#timeout());
    }
  }

  /** There was no connection for it. */
  #shed(): void {
    this.#line.shed++;
    this.#give(overloaded(), undefined, { cause: 'queue' });
  }

  /** An answer that can't be one. */
  #giveInvalid(got: string): void {
    const error = invalid(got);
    this.#give(error, 'failed', { cause: 'invalid', reason: error.message });
  }

  /** Which wait took too long. */
  #timeout(): Cause {
    if (performance.now() >= this.#waiting.deadline)
      return { cause: 'timeout', reason: 'the time of the whole request was over' };
    if (this.#stage === 'connecting') return { cause: 'timeout', reason: 'it took no connection in time' };
    const what = this.#status === 0 ? 'no answer' : 'nothing more of its answer';
    return { cause: 'timeout', reason: `${what} came within ${this.#longest} ms` };
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // given up while a connection was made: it must not go out after all
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
    const coding = headers['content-encoding'];
    const transfer = headers['transfer-encoding'];
    const length = headers['content-length'];
    const isAnnounced = typeof length === 'string' && this.#request.method !== 'HEAD';
    this.#endsByClose = length === undefined && transfer === undefined;
    const announced = isAnnounced ? announcedBytes(length) || 0 : 0;
    if (coding !== undefined && coding !== 'identity')
      this.#giveInvalid('a content coding that was not asked for');
    else if (transfer !== undefined && !plainTransfer.test(String(transfer)))
      this.#giveInvalid('a transfer coding that was not asked for');
    else if (status === 206 && isPart(headers) && !asksForPart(this.#request.headers))
      this.#giveInvalid('a part of an answer that was not asked for');
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
      this.#inTurn += chunk.length;
      if (this.#inTurn >= turnBytes) this.#readOnInNextTurn();
    }
  }

  #readOnInNextTurn(): void {
    this.#inTurn = 0;
    const controller = this.#controller;
    controller?.pause();
    readOnLater(() => {
      if (!this.#isPaused && this.#given === undefined) controller?.resume();
    });
  }

  /**
   * Takes memory for the answer. Where there is none a read is refused; a write, which was done, is read on when there is
   * room again: to say "try again" would be to ask for it twice.
   *
   * @param coming how many of the bytes aren't here yet
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
    permit.whenRoom(coming, () => {
      this.#isPaused = false;
      this.#heard = true;
      this.#controller?.resume();
    });
  }

  onResponseEnd(): void {
    // undici takes a reset for the end of a response that ends with its connection; it is incomplete (RFC 9112 §8)
    const broken = this.#endsByClose ? this.#connection?.error : undefined;
    if (broken !== undefined) {
      this.onResponseError(undefined, broken);
      return;
    }
    const collector = this.#collector;
    if (collector.isWhole) this.#end(collector.take());
    else
      collector.takeInTurns().then(
        (collected) => this.#end(collected),
        (error) => this.onResponseError(undefined, error), // there is no memory for it
      );
  }

  #end({ body, runs }: Collected): void {
    if (this.#given !== undefined) {
      this.#line.connections.leave(this);
      return;
    }
    const status = this.#status;
    const headers = this.#headers;
    if (status >= 500 || (status >= 300 && status < 400))
      noteFailure(this.#waiting.stats, { cause: 'status', status });
    const wait = headers['retry-after'];
    const retryAfter = typeof wait === 'string' && retryAfterForm.test(wait) ? wait : undefined;
    const pauseMs = status === 503 ? this.#pauseAskedFor(retryAfter) : undefined;
    if (pauseMs !== undefined && this.#maySendAgain()) {
      this.#sendAgain(pauseMs);
      return;
    }
    this.#waiting.isWritten = this.#connection?.isWritten ?? false;
    this.#settle(status < 500 ? 'answered' : 'failed');
    this.#resolve({ status, headers, body, runs, retryAfter });
    this.#line.connections.leave(this);
  }

  onResponseError(_controller: unknown, cause: Error): void {
    if (this.#given !== undefined) {
      this.#line.connections.leave(this);
      return;
    }
    noteFailure(this.#waiting.stats, causeOf(cause));
    if (this.#stage !== 'answered' && !isGarbage(cause) && this.#maySendAgain()) {
      this.#sendAgain(0);
      return;
    }
    const stage = isGarbage(cause) ? 'answered' : this.#stage;
    const evidence = stage === 'connecting' ? 'unreached' : 'failed';
    this.#settle(isOurs(cause) ? undefined : evidence);
    this.#dropAnswer();
    this.#reject(told(cause, stage));
    this.#line.connections.leave(this);
  }

  #maySendAgain(): boolean {
    const { operation, body } = this.#request;
    if (body instanceof StreamedFile) return false; // it can be read once
    return operation.readOnly && !this.#isAgain && this.#line.retries.spend();
  }

  /** In ms; undefined where it isn't waited for: it is long, an HTTP date or beyond the deadline. */
  #pauseAskedFor(retryAfter: string | undefined): number | undefined {
    if (retryAfter === undefined || !/^\d+$/.test(retryAfter)) return undefined;
    const ms = Number(retryAfter) * 1000;
    const fits =
      ms <= (this.#line.limits.retryAfterMs ?? maxRetryAfterMs) &&
      performance.now() + ms < this.#waiting.deadline;
    return fits ? ms : undefined;
  }

  /** Goes out once more; meanwhile its connection is another's. */
  #sendAgain(pauseMs: number): void {
    this.#waiting.stats.upstreamMs += performance.now() - this.#dispatchedAt;
    this.#isAgain = true;
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
    this.#line.connections.leave(this);
  }

  /** Describes a reply of more bytes than its limit. */
  get #tooLong(): string {
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

  /** Ends it before its answer did; the connection stays its own until undici is done with it. */
  #give(error: CallError, evidence: Evidence | undefined, cause?: Cause): void {
    if (this.#given !== undefined) return;
    this.#given = error;
    if (cause !== undefined) noteFailure(this.#waiting.stats, cause);
    const isWaiting = this.#stage === 'waiting';
    this.#settle(evidence);
    this.#dropAnswer();
    this.#reject(error);
    if (!isWaiting) this.#controller?.abort(error);
    else {
      this.#line.connections.drop(this);
      this.#line.connections.leave(this); // where it was about to be sent
    }
  }

  /** Gives back what came of an answer that nobody gets, in the next turn: undici may still look at the last piece. */
  #dropAnswer(): void {
    const collector = this.#collector;
    if (collector.size === 0) return;
    this.#collector = new Collector(true);
    setImmediate(() => collector.drop());
  }

  /** @param evidence undefined for what shows nothing of the upstream: a caller that left, memory that is full */
  #settle(evidence: Evidence | undefined): void {
    const { watch, breaker } = this.#line;
    const now = performance.now();
    watch.delete(this);
    clearTimeout(this.#nextTry);
    if (this.#stage !== 'waiting') this.#waiting.stats.upstreamMs += now - this.#dispatchedAt;
    if (evidence !== undefined) breaker.settle(this, evidence, this.#dispatchedAt, now);
  }
}

function unavailable(retryAfter: number): CallError {
  return new CallError('UpstreamUnavailable', { retryAfter: String(retryAfter) });
}

/**
 * The headers of a call as it goes out, names and values in turn as undici takes them with the least work: with the request's
 * id and its place in a trace (W3C Trace Context), unless the contract sends headers of these names itself; a body that is
 * written piece by piece goes with its length, as others do.
 */
function headersOf(
  own: UpstreamRequest['headers'],
  body: UpstreamRequest['body'],
  { requestId, request }: Waiting,
  line: Line['headers'],
): string[] {
  const headers = [requestIdName, requestId];
  let hasTrace = false;
  for (const name in own) {
    if (line !== undefined && name in line) continue;
    const value = own[name] as string;
    if (name.length === requestIdName.length && name.toLowerCase() === requestIdName) headers[1] = value;
    else headers.push(name, value);
    if (name.length <= traceName.length) hasTrace ||= traceNames.has(name.toLowerCase());
  }
  if (line !== undefined) for (const name in line) headers.push(name, line[name] as string);
  const { traceparent, tracestate } = request.headers;
  if (!hasTrace && typeof traceparent === 'string' && traceparentForm.test(traceparent)) {
    headers.push(traceName, traceparent);
    if (typeof tracestate === 'string' && tracestateForm.test(tracestate))
      headers.push('tracestate', tracestate);
  }
  if (body instanceof FilledBody) headers.push('content-length', String(body.length));
  return headers;
}

const requestIdName = 'x-request-id';
const traceName = 'traceparent';
const traceNames: ReadonlySet<string> = new Set([traceName, 'tracestate']);
/** Version, trace, parent and flags. */
const traceparentForm = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
/** As long as the specification asks everybody to pass on. */
const tracestateForm = /^[\x20-\x7e]{1,512}$/;

/** A service that nothing could be sent to isn't available; of one that was reached, the answer is what's wrong. */
function told(cause: Error, stage: Stage): CallError {
  if (stage === 'connecting') return new CallError('UpstreamUnavailable', { cause });
  return new CallError('UpstreamInvalidResponse', {
    detail: 'the service behind broke the connection before its answer was whole',
    cause,
  });
}

/** Seconds or an HTTP date (RFC 9110, 10.2.3); the one header of an upstream that goes on. */
const retryAfterForm = /^(?:\d{1,9}|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT)$/;

const ourCodes: ReadonlySet<unknown> = new Set([
  'UND_ERR_INVALID_ARG',
  'UND_ERR_CLOSED',
  'UND_ERR_DESTROYED',
]);

/** undici's errors of a call that can't be made or comes too late. */
function isOurs(error: Error): boolean {
  return 'code' in error && ourCodes.has(error.code);
}

/** Whether some bytes of a whole are what an answer has (RFC 9110, 14.4); services call pages of a list parts too, by other headers. */
function isPart(headers: UpstreamReply['headers']): boolean {
  const range = headers['content-range'];
  const [, first, last, size] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/i.exec(String(range)) ?? [];
  return first !== undefined && !(first === '0' && Number(last) + 1 === Number(size));
}

/** Whether the contract has a caller ask for a part. */
function asksForPart(headers: UpstreamRequest['headers']): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'range');
}

/** Transfer codings that leave a body's bytes as they are: any other is in them still, as undici undoes chunks alone. */
const plainTransfer = /^(?:chunked|identity)$/i;

const garbageCodes: ReadonlySet<unknown> = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);

/** Bytes came, but no HTTP. */
function isGarbage(error: Error): boolean {
  return error.name === 'HTTPParserError' || ('code' in error && garbageCodes.has(error.code));
}

/** An answer that can't be one, with what was wrong about it. */
function invalid(got: string): CallError {
  return new CallError('UpstreamInvalidResponse', {
    expected: "an answer of the contract's types",
    got,
  });
}

import type { Dispatcher, Pool } from 'undici';
import type { UpstreamRequest } from '../mappings/codec/call.ts';
import type { Limits } from '../mappings/limits.ts';
import { type Admission, overloaded } from './admission.ts';
import type { Breaker } from './breaker.ts';
import { Collector } from './collector.ts';
import { CallError } from './error.ts';
import type { RetryBudget } from './retry-budget.ts';
import type { UpstreamReply, Waiting } from './upstream.ts';
import type { Watch, Watched } from './watch.ts';

/** What all calls to one upstream have in common. */
export interface Line {
  readonly pool: Pool;
  /** The address's path, before every call's. */
  readonly prefix: string;
  readonly limits: Limits;
  readonly admission: Admission;
  readonly breaker: Breaker;
  readonly retries: RetryBudget;
  readonly watch: Watch;
}

/** How far an exchange came. */
type Stage = 'connecting' | 'sent' | 'answered';

/** Makes a call; see `Upstream`. */
export function callUpstream(
  line: Line,
  request: UpstreamRequest,
  waiting: Waiting,
  now: number,
): Promise<UpstreamReply> {
  return new Promise((resolve, reject) => {
    new UpstreamCall(line, request, waiting, now, resolve, reject).start();
  });
}

/**
 * One call on its way: sent once, or twice where it only reads, nothing came back but perhaps a request to try again
 * soon, and the budget has a retry left (W35). One object is all of it, from undici's handler to the clock.
 */
class UpstreamCall implements Dispatcher.DispatchHandler, Watched {
  readonly #line: Line;
  readonly #request: UpstreamRequest;
  readonly #waiting: Waiting;
  readonly #resolve: (reply: UpstreamReply) => void;
  readonly #reject: (error: Error) => void;
  place = -1;
  readonly #started: number;
  #sentAt: number;
  /** When something came last, as far as the clock has looked; `#heard` is what came since. */
  #cameAt: number;
  #heard = false;
  #stage: Stage = 'connecting';
  #status = 0;
  #headers: UpstreamReply['headers'] = {};
  #collector = new Collector();
  #controller: Dispatcher.DispatchController | undefined;
  #nextTry: NodeJS.Timeout | undefined;
  /** Why it ended before the answer did. */
  #given: CallError | undefined;

  constructor(
    line: Line,
    request: UpstreamRequest,
    waiting: Waiting,
    now: number,
    resolve: (reply: UpstreamReply) => void,
    reject: (error: Error) => void,
  ) {
    this.#line = line;
    this.#request = request;
    this.#waiting = waiting;
    this.#started = now;
    this.#sentAt = now;
    this.#cameAt = now;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  start(): void {
    this.#line.watch.add(this);
    this.#send();
  }

  #send(): void {
    const { pool, prefix } = this.#line;
    const { method, path, headers, body } = this.#request;
    this.#waiting.sent++;
    this.#waiting.upstreamStatus = 0;
    pool.dispatch(
      {
        method: method as 'POST',
        path: prefix + path,
        headers: headers as Record<string, string>,
        body: body ?? null,
      },
      this,
    );
  }

  /** Whether nobody waits for it any more; a write ends all the same. */
  get #isLeft(): boolean {
    return this.#request.operation.readOnly && this.#waiting.response.destroyed;
  }

  due(now: number): number {
    if (this.#heard) this.#cameAt = now;
    this.#heard = false;
    if (this.#isLeft) return 0;
    const { limits } = this.#line;
    const { binaryOutput } = this.#request.operation;
    const firstByteMs = binaryOutput ? limits.upstreamFirstByteWithBinaryMs : limits.upstreamFirstByteMs;
    const next = this.#status === 0 ? this.#sentAt + firstByteMs : this.#cameAt + limits.upstreamIdleMs;
    return Math.min(next, this.#waiting.deadline);
  }

  onDue(): void {
    this.#give(new CallError(this.#isLeft ? 'CallerGone' : 'UpstreamTimeout'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#stage = 'sent';
    this.#controller = controller;
    // given up while it waited for a socket: it must not go out after all
    if (this.#given !== undefined) controller.abort(this.#given);
    else if (this.#isLeft) this.#give(new CallError('CallerGone'));
  }

  onResponseStart(_controller: unknown, status: number, headers: UpstreamReply['headers']): void {
    this.#stage = 'answered';
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    this.#heard = true;
    this.#waiting.upstreamStatus = status;
    const coding = headers['content-encoding'];
    const announced = this.#request.method === 'HEAD' ? 0 : Number(headers['content-length']) || 0;
    if (coding !== undefined && coding !== 'identity')
      this.#give(invalid('a content coding that was not asked for'));
    else if (announced > this.#maxBytes) this.#give(invalid(`more than ${this.#maxBytes} bytes`));
    else this.#collector.announced = announced;
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#heard = true;
    const room = this.#line.admission.hold(this.#waiting, chunk.length);
    if (this.#collector.size + chunk.length > this.#maxBytes)
      this.#give(invalid(`more than ${this.#maxBytes} bytes`));
    // to say "try again" of a write that was done would be to ask for it twice
    else if (!room && this.#request.operation.readOnly) this.#give(overloaded());
    else this.#collector.add(chunk);
  }

  onResponseEnd(): void {
    if (this.#given !== undefined) return;
    const { body, runs } = this.#collector.take();
    const status = this.#status;
    const headers = this.#headers;
    const wait = headers['retry-after'];
    const retryAfter = typeof wait === 'string' && retryAfterForm.test(wait) ? wait : undefined;
    const pauseMs = status === 503 ? this.#pauseAskedFor(retryAfter) : undefined;
    if (pauseMs !== undefined && this.#maySendAgain()) {
      this.#sendAgain(pauseMs);
      return;
    }
    this.#settle(status < 500);
    this.#resolve({ status, headers, body, runs, retryAfter });
  }

  onResponseError(_controller: unknown, cause: Error): void {
    if (this.#given !== undefined) return;
    if (this.#stage !== 'answered' && !isGarbage(cause) && this.#maySendAgain()) {
      this.#sendAgain(0);
      return;
    }
    this.#settle(false);
    this.#reject(told(cause, isGarbage(cause) ? 'answered' : this.#stage));
  }

  #maySendAgain(): boolean {
    return this.#request.operation.readOnly && this.#waiting.sent === 1 && this.#line.retries.spend();
  }

  /** In ms; undefined where it isn't waited for: it is long, an HTTP date or beyond the deadline. */
  #pauseAskedFor(retryAfter: string | undefined): number | undefined {
    if (retryAfter === undefined || !/^\d+$/.test(retryAfter)) return undefined;
    const ms = Number(retryAfter) * 1000;
    const fits = ms <= this.#line.limits.retryAfterMs && performance.now() + ms < this.#waiting.deadline;
    return fits ? ms : undefined;
  }

  #sendAgain(pauseMs: number): void {
    this.#stage = 'connecting';
    this.#status = 0;
    this.#headers = {};
    this.#collector = new Collector();
    this.#controller = undefined;
    this.#sentAt = performance.now() + pauseMs;
    this.#nextTry = setTimeout(() => this.#send(), pauseMs);
  }

  get #maxBytes(): number {
    const { limits } = this.#line;
    return this.#request.operation.binaryOutput ? limits.replyBytesWithBinary : limits.replyBytes;
  }

  #give(error: CallError): void {
    if (this.#given !== undefined) return;
    this.#given = error;
    // a caller that left and memory that is full say nothing of the upstream
    this.#settle(error.code === 'CallerGone' || error.code === 'Overloaded' ? undefined : false);
    this.#reject(error);
    this.#controller?.abort(error);
  }

  #settle(succeeded: boolean | undefined): void {
    const { watch, breaker } = this.#line;
    const now = performance.now();
    watch.delete(this);
    clearTimeout(this.#nextTry);
    this.#waiting.upstreamMs = now - this.#started;
    if (succeeded !== undefined) breaker.settle(succeeded, this.#started, now);
  }
}

/** A service that nothing could be sent to isn't available; of one that was reached, the answer is what's wrong. */
function told(cause: Error, stage: Stage): CallError {
  if (stage === 'connecting') return new CallError('UpstreamUnavailable', { cause });
  return new CallError('UpstreamInvalidResponse', {
    message: 'the service behind broke the connection before its answer was whole',
    cause,
  });
}

/** Seconds or an HTTP date (RFC 9110, 10.2.3); the one header of an upstream that goes on. */
const retryAfterForm = /^(?:\d{1,9}|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT)$/;

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
    message: `expected an answer of the contract's types, got ${got}`,
  });
}

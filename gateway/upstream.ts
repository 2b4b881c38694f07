import { Pool } from 'undici';
import type { Answer } from '../mappings/codec/answer.ts';
import type { UpstreamRequest } from '../mappings/codec/call.ts';
import type { Limits } from '../mappings/limits.ts';
import type { LetterRuns } from '../mappings/reply/letter-runs.ts';
import { type Admission, overloaded, type Place } from './admission.ts';
import { createBreaker } from './breaker.ts';
import { Collector } from './collector.ts';
import { CallError } from './error.ts';
import { createRetryBudget } from './retry-budget.ts';

/** What an upstream answered, whole. */
export interface UpstreamReply {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: Answer['headers'];
  readonly body: Buffer;
  /** Where a large body's base64 is, as far as it was looked for. */
  readonly runs?: LetterRuns | undefined;
  readonly retryAfter: string | undefined;
}

/** A call on its way upstream and back, for whoever waits for it. */
export interface Waiting extends Place {
  /** When the answer must be there, in ms of `performance.now()`. */
  readonly deadline: number;
  /** Gives up a read that nobody waits for any more; undefined where there is nothing to give up, as of a write. */
  giveUp: (() => void) | undefined;
  /** How often the call went out. */
  sent: number;
  /** The upstream's own status; 0 without an answer. */
  upstreamStatus: number;
  /** Until the answer was whole or was given up, in ms. */
  upstreamMs: number;
}

/**
 * Makes one call upstream and gives its whole answer. Throws CallError: UpstreamUnavailable, UpstreamTimeout,
 * UpstreamInvalidResponse, Overloaded, CallerGone.
 */
export interface Upstream {
  readonly call: (request: UpstreamRequest, waiting: Waiting) => Promise<UpstreamReply>;
  /** Whether calls are refused at once, because too many failed. */
  readonly isOpen: () => boolean;
  readonly close: () => Promise<void>;
}

/** How far an exchange came before it broke. */
type Stage = 'connecting' | 'sent' | 'answered';

/** Thrown inside the wait for an answer; never leaves this file. */
class Broken extends Error {
  readonly stage: Stage;
  constructor(cause: unknown, stage: Stage) {
    super('the exchange broke', { cause });
    this.stage = stage;
  }
}

/**
 * An upstream over HTTP: pooled, behind a breaker, each call sent once, or twice where it only reads, no byte came back
 * and the budget has a retry left (W35).
 */
export function createHttpUpstream(address: string, limits: Limits, admission: Admission): Upstream {
  const url = new URL(address);
  const prefix = url.pathname.replace(/\/+$/, '');
  const pool = new Pool(url.origin, {
    connections: limits.upstreamConnections,
    pipelining: 1,
    connect: { timeout: limits.upstreamConnectMs },
    keepAliveTimeout: 4_000,
    headersTimeout: 0,
    bodyTimeout: 0, // undici would set and clear a timer of its own for each call
  });
  const breaker = createBreaker(limits);
  const retries = createRetryBudget(limits);
  return {
    call: async (request, waiting) => {
      const started = performance.now();
      const retryAfter = breaker.refusal(started);
      if (retryAfter !== undefined) {
        throw new CallError('UpstreamUnavailable', { retryAfter: String(retryAfter) });
      }
      retries.earn();
      try {
        const reply = await send(request, waiting);
        settle(reply.status < 500, started, waiting);
        return reply;
      } catch (error) {
        settle(isOfOurs(error) ? undefined : false, started, waiting);
        throw error instanceof Broken ? told(error) : error;
      }
    },
    isOpen: breaker.isOpen,
    close: () => pool.close(),
  };

  function settle(succeeded: boolean | undefined, started: number, waiting: Waiting): void {
    const now = performance.now();
    waiting.upstreamMs = now - started;
    if (succeeded !== undefined) breaker.settle(succeeded, started, now);
  }

  async function send(request: UpstreamRequest, waiting: Waiting): Promise<UpstreamReply> {
    try {
      return await exchange(pool, prefix, request, waiting, limits, admission);
    } catch (error) {
      const again = error instanceof Broken && error.stage !== 'answered' && request.operation.readOnly;
      if (!again || !retries.spend()) throw error;
    }
    return exchange(pool, prefix, request, waiting, limits, admission);
  }
}

/** A caller that left and memory that is full say nothing of the upstream. */
function isOfOurs(error: unknown): boolean {
  return error instanceof CallError && (error.code === 'CallerGone' || error.code === 'Overloaded');
}

/** A service that nothing could be sent to isn't available; of one that was reached, the answer is what's wrong. */
function told({ stage, cause }: Broken): CallError {
  if (stage === 'connecting') return new CallError('UpstreamUnavailable', { cause });
  return new CallError('UpstreamInvalidResponse', {
    message: 'the service behind broke the connection before its answer was whole',
    cause,
  });
}

function exchange(
  pool: Pool,
  prefix: string,
  request: UpstreamRequest,
  waiting: Waiting,
  limits: Limits,
  admission: Admission,
): Promise<UpstreamReply> {
  const { deadline } = waiting;
  const { operation } = request;
  const maxBytes = operation.binaryOutput ? limits.replyBytesWithBinary : limits.replyBytes;
  const firstByte = operation.binaryOutput
    ? limits.upstreamFirstByteWithBinaryMs
    : limits.upstreamFirstByteMs;
  return new Promise((resolve, reject) => {
    let status = 0;
    let answerHeaders: UpstreamReply['headers'] = {};
    let retryAfter: string | undefined;
    const collector = new Collector();
    let stage: Stage = 'connecting';
    let given: Error | undefined;
    let abort: ((reason: Error) => void) | undefined;
    const now = performance.now();
    waiting.sent++;
    waiting.upstreamStatus = 0;
    if (operation.readOnly) waiting.giveUp = () => give(new CallError('CallerGone'));
    const give = (error: Error): void => {
      finish();
      given = error;
      reject(error);
      abort?.(error);
    };
    const finish = (): void => {
      clearTimeout(timer);
      waiting.giveUp = undefined;
    };
    // one timer for all waits, which looks at the clock anew before the shortest of them could be over
    let cameAt = now;
    const left = (at: number): number =>
      Math.min(status === 0 ? now + firstByte : cameAt + limits.upstreamIdleMs, deadline) - at;
    const onTimeout = (): void => {
      const wait = left(performance.now());
      if (wait > 0) timer = setTimeout(onTimeout, Math.min(wait, limits.upstreamIdleMs));
      else give(new CallError('UpstreamTimeout'));
    };
    let timer = setTimeout(onTimeout, Math.max(0, Math.min(left(now), limits.upstreamIdleMs)));
    pool.dispatch(
      {
        method: request.method as 'POST',
        path: prefix + request.path,
        headers: request.headers as Record<string, string>,
        body: request.body ?? null,
      },
      {
        onRequestStart: (controller) => {
          stage = 'sent';
          abort = (reason) => controller.abort(reason);
          // given up while it waited for a socket: it must not go out after all
          if (given !== undefined) abort(given);
        },
        onResponseStart: (_controller, statusCode, headers) => {
          stage = 'answered';
          if (statusCode < 200) return;
          status = statusCode;
          cameAt = performance.now();
          waiting.upstreamStatus = statusCode;
          answerHeaders = headers;
          const wait = headers['retry-after'];
          retryAfter = typeof wait === 'string' && retryAfterForm.test(wait) ? wait : undefined;
          const coding = headers['content-encoding'];
          const announced = request.method === 'HEAD' ? 0 : Number(headers['content-length']) || 0;
          if (coding !== undefined && coding !== 'identity')
            give(invalid('a content coding that was not asked for'));
          else if (announced > maxBytes) give(invalid(`more than ${maxBytes} bytes`));
          else collector.announced = announced;
        },
        onResponseData: (_controller, chunk) => {
          cameAt = performance.now();
          const room = admission.hold(waiting, chunk.length);
          if (collector.size + chunk.length > maxBytes) give(invalid(`more than ${maxBytes} bytes`));
          // to say "try again" of a write that was done would be to ask for it twice
          else if (!room && operation.readOnly) give(overloaded());
          else collector.add(chunk);
        },
        onResponseEnd: () => {
          finish();
          resolve({ status, headers: answerHeaders, retryAfter, ...collector.take() });
        },
        onResponseError: (_controller, error) => {
          finish();
          reject(new Broken(error, isGarbage(error) ? 'answered' : stage));
        },
      },
    );
  });
}

/** Seconds or an HTTP date (RFC 9110, 10.2.3); the one header of an upstream that goes on. */
const retryAfterForm = /^(?:\d{1,9}|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT)$/;

const garbageCodes: ReadonlySet<unknown> = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);

/** Bytes came, but no HTTP. */
function isGarbage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'HTTPParserError' || ('code' in error && garbageCodes.has(error.code));
}

/** An answer that can't be one, with what was wrong about it. */
function invalid(got: string): CallError {
  return new CallError('UpstreamInvalidResponse', {
    message: `expected an answer of the contract's types, got ${got}`,
  });
}

/** A JSON service in this process, spoken to over the same JSON wire. */
export interface LocalService {
  readonly handle: (request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  }) => Promise<{
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  }>;
  readonly close: () => void;
}

export function createLocalUpstream(service: LocalService): Upstream {
  return {
    call: async ({ method, path, headers, body }, waiting) => {
      const started = performance.now();
      waiting.sent++;
      const reply = await service.handle({ method, path, headers, body: body?.toString() ?? '' });
      waiting.upstreamStatus = reply.status;
      waiting.upstreamMs = performance.now() - started;
      return {
        status: reply.status,
        headers: reply.headers,
        body: Buffer.from(reply.body),
        retryAfter: reply.headers['retry-after'],
      };
    },
    isOpen: () => false,
    close: async () => service.close(),
  };
}

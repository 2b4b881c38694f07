import { Pool } from 'undici';
import type { UpstreamRequest } from '../mappings/codec/operation.ts';
import type { Limits } from '../mappings/limits.ts';
import { CallError } from './error.ts';

/** What an upstream answered, whole. */
export interface UpstreamReply {
  readonly status: number;
  readonly body: Buffer;
  readonly retryAfter: string | undefined;
}

/**
 * Makes one call upstream and gives its whole answer, by `deadline` (ms of `performance.now()`).
 * Throws CallError: UpstreamUnavailable, UpstreamTimeout, UpstreamInvalidResponse.
 */
export interface Upstream {
  readonly call: (request: UpstreamRequest, deadline: number) => Promise<UpstreamReply>;
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

/** An upstream over HTTP: pooled, each call sent once, or twice where it only reads and no byte came back (W35). */
export function createHttpUpstream(address: string, limits: Limits): Upstream {
  const url = new URL(address);
  const prefix = url.pathname.replace(/\/+$/, '');
  const pool = new Pool(url.origin, {
    connections: limits.upstreamConnections,
    pipelining: 1,
    connect: { timeout: limits.upstreamConnectMs },
    keepAliveTimeout: 4_000,
    headersTimeout: 0,
    bodyTimeout: limits.upstreamIdleMs,
  });
  return {
    call: async (request, deadline) => {
      try {
        return await exchange(pool, prefix, request, deadline, limits);
      } catch (error) {
        if (!(error instanceof Broken)) throw error;
        if (!request.operation.readOnly || error.stage === 'answered') throw told(error);
      }
      try {
        return await exchange(pool, prefix, request, deadline, limits);
      } catch (error) {
        throw error instanceof Broken ? told(error) : error;
      }
    },
    close: () => pool.close(),
  };
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
  deadline: number,
  limits: Limits,
): Promise<UpstreamReply> {
  const { operation } = request;
  const maxBytes = operation.binaryOutput ? limits.replyBytesWithBinary : limits.replyBytes;
  const firstByte = operation.binaryOutput
    ? limits.upstreamFirstByteWithBinaryMs
    : limits.upstreamFirstByteMs;
  return new Promise((resolve, reject) => {
    let status = 0;
    let retryAfter: string | undefined;
    let size = 0;
    let chunks: Buffer[] = [];
    let stage: Stage = 'connecting';
    let given: Error | undefined;
    let abort: ((reason: Error) => void) | undefined;
    const now = performance.now();
    const give = (error: Error): void => {
      clearTimeout(timer);
      given = error;
      reject(error);
      abort?.(error);
    };
    // one timer for both waits: once the answer has begun, what is left is the deadline's
    const onTimeout = (): void => {
      const left = status === 0 ? 0 : deadline - performance.now();
      if (left > 0) timer = setTimeout(onTimeout, left);
      else give(new CallError('UpstreamTimeout'));
    };
    let timer = setTimeout(onTimeout, Math.max(0, Math.min(firstByte, deadline - now)));
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
          const wait = headers['retry-after'];
          retryAfter = typeof wait === 'string' && retryAfterForm.test(wait) ? wait : undefined;
          const coding = headers['content-encoding'];
          if (coding !== undefined && coding !== 'identity')
            give(invalid('a content coding that was not asked for'));
          else if (Number(headers['content-length'] ?? 0) > maxBytes)
            give(invalid(`more than ${maxBytes} bytes`));
        },
        onResponseData: (_controller, chunk) => {
          size += chunk.length;
          if (size > maxBytes) give(invalid(`more than ${maxBytes} bytes`));
          else chunks.push(chunk);
        },
        onResponseEnd: () => {
          clearTimeout(timer);
          const [only] = chunks;
          resolve({
            status,
            retryAfter,
            body: only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks, size),
          });
          chunks = [];
        },
        onResponseError: (_controller, error) => {
          clearTimeout(timer);
          reject(
            isIdle(error)
              ? new CallError('UpstreamTimeout', { cause: error })
              : new Broken(error, isGarbage(error) ? 'answered' : stage),
          );
        },
      },
    );
  });
}

/** Seconds or an HTTP date (RFC 9110, 10.2.3); the one header of an upstream that goes on. */
const retryAfterForm = /^(?:\d{1,9}|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT)$/;

function isIdle(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'UND_ERR_BODY_TIMEOUT';
}

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
    call: async ({ method, path, headers, body }) => {
      const reply = await service.handle({ method, path, headers, body: body ?? '' });
      return {
        status: reply.status,
        body: Buffer.from(reply.body),
        retryAfter: reply.headers['retry-after'],
      };
    },
    close: async () => service.close(),
  };
}

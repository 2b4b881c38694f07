import { closeSync, openSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { Got } from '../../mappings/contract/got.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import type { Quote } from '../../mappings/contract/reason.ts';
import type { UpstreamRequest } from '../../mappings/http-mapping/call.ts';
import { CallError } from '../call/error.ts';
import { causeOf } from './cause.ts';
import { maxRetryAfterMs } from './retry-budget.ts';
import type { UpstreamReply } from './upstream.ts';
import type { Stage } from './upstream-state.ts';

/** Checks of an upstream's response head, and the errors of exchanges that failed. */

/** Returns the error of a call while the circuit breaker is open. `retryAfter` is in seconds. */
export function unavailable(retryAfter: number): CallError {
  return new CallError('UpstreamUnavailable', { retryAfter: String(retryAfter) });
}

/**
 * Returns the error for a broken exchange. A lack of own resources is no failure of the upstream. If nothing was sent, the upstream is unavailable. Otherwise its response is
 * invalid.
 */
export function exchangeError(cause: Error, stage: Stage): CallError {
  if (isExhausted(cause)) return new CallError('GatewayExhausted', { retryAfter: '1', cause });
  if (stage === 'connecting') return new CallError('UpstreamUnavailable', { cause });
  return new CallError('UpstreamInvalidResponse', {
    detail: 'the upstream closed the connection before the end of its response',
    cause,
  });
}

/** Returns the Retry-After of a response; undefined if it is missing or malformed. */
export function retryAfterOf({ 'retry-after': wait }: UpstreamReply['headers']): string | undefined {
  return typeof wait === 'string' && retryAfterForm.test(wait) ? wait : undefined;
}

/**
 * Returns the pause before a retry in ms. Returns undefined if it is too long, exceeds the deadline or is an HTTP
 * date.
 */
export function pauseBeforeRetry(
  retryAfter: string | undefined,
  { retryAfterMs = maxRetryAfterMs }: Limits,
  deadline: number,
): number | undefined {
  if (retryAfter === undefined || !/^\d+$/.test(retryAfter)) return undefined;
  const ms = Number(retryAfter) * 1000;
  return ms <= retryAfterMs && performance.now() + ms < deadline ? ms : undefined;
}

/** Seconds or an HTTP date (RFC 9110, 10.2.3). This header is always passed on to the caller. */
const retryAfterForm = /^(?:\d{1,9}|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT)$/;

const ourCodes: ReadonlySet<unknown> = new Set([
  'UND_ERR_INVALID_ARG',
  'UND_ERR_CLOSED',
  'UND_ERR_DESTROYED',
]);

/** Returns true for undici's errors about calls that are invalid or too late, and for a lack of own resources. */
export function isOurs(error: Error): boolean {
  return ('code' in error && ourCodes.has(error.code)) || isExhausted(error);
}

/**
 * Returns true if this process had no file descriptor or no memory for a connection. A host name is then not found
 * either, so after that error a file is opened as a test.
 */
export function isExhausted(error: Error): boolean {
  const { cause } = causeOf(error);
  return cause === 'exhausted' || (cause === 'dns' && hasNoDescriptor());
}

function hasNoDescriptor(): boolean {
  try {
    closeSync(openSync('/dev/null', 'r'));
    return false;
  } catch (error) {
    return error instanceof Error && causeOf(error).cause === 'exhausted';
  }
}

/**
 * Returns the reason to reject a response by its head: a coding or a partial byte range that the request did not ask for.
 * Undefined if it is accepted.
 */
export function headProblem(
  status: number,
  headers: UpstreamReply['headers'],
  request: UpstreamRequest,
): Got | undefined {
  const coding = headers['content-encoding'];
  const transfer = headers['transfer-encoding'];
  if (coding !== undefined && coding !== 'identity') return 'a content coding that was not requested';
  if (transfer !== undefined && !plainTransfer.test(String(transfer)))
    return 'a transfer coding that was not requested';
  if (status === 206 && isPart(headers) && !isRangeRequest(request.headers))
    return 'a partial response that was not requested';
  return undefined;
}

/**
 * Returns true if the response is a partial byte range (RFC 9110, 14.4). Ranges in other units are used for pages of a
 * list and are allowed.
 */
function isPart(headers: UpstreamReply['headers']): boolean {
  const range = headers['content-range'];
  const [, first, last, size] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/i.exec(String(range)) ?? [];
  return first !== undefined && !(first === '0' && Number(last) + 1 === Number(size));
}

/** Returns true if the request asks for a range. */
function isRangeRequest(headers: UpstreamRequest['headers']): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'range');
}

/** Transfer codings that undici decodes. A body with any other coding would still be encoded. */
const plainTransfer = /^(?:chunked|identity)$/i;

const garbageCodes: ReadonlySet<unknown> = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);

/** Returns true if bytes arrived that are not HTTP. */
export function isGarbage(error: Error): boolean {
  return error.name === 'HTTPParserError' || ('code' in error && garbageCodes.has(error.code));
}

/** Returns the error for an invalid response. */
export function invalid(got: Got | Quote): CallError {
  return new CallError('UpstreamInvalidResponse', {
    expected: 'a response that matches the types of the contract',
    got,
  });
}

import type { CompiledContract, CompiledOperation } from '../../mappings/compile.ts';
import { CallError, type ErrorCode, errorCodes, failureOf } from '../call/error.ts';
import type { Format } from '../http/negotiate.ts';
import { plainReply } from './reply.ts';

/** An error as its caller gets it. */
export interface ErrorSample {
  readonly status: number;
  /** The status meant, where the HTTP status can't be it (W26). */
  readonly meant: number | undefined;
  readonly contentType: string;
  readonly body: string;
}

/** One error of the gateway's own: its code, its status and its usual sentence (W29). */
export interface KnownError {
  readonly code: ErrorCode;
  readonly status: number;
  readonly message: string;
}

/** The errors that a call of any operation may end with, in the order of their statuses. */
export const callErrors: readonly KnownError[] = (
  [
    'ValidationError',
    'MalformedRequest',
    'Unauthorized',
    'ConflictingCredentials',
    'RequestTimeout',
    'RequestTooLarge',
    'UnsupportedMediaType',
    'InternalError',
    'UpstreamInvalidResponse',
    'Overloaded',
    'UpstreamUnavailable',
    'UpstreamTimeout',
  ] as const
).map((code) => ({ code, ...errorCodes[code] }));

/** How an operation of a contract tells an error in a format: the very reply, but for its request id. */
export function errorSample(
  compiled: CompiledContract,
  operation: CompiledOperation,
  format: Format,
  code: ErrorCode,
): ErrorSample {
  const requestId = 'request-id';
  const failure = failureOf(new CallError(code), requestId, (text) => text);
  const context = { compiled, operation, requestId, header: undefined, upstreamStatus: 0, asXml: false };
  const reply = plainReply(format, undefined, { kind: 'failure', failure }, context);
  return {
    status: reply.status,
    meant: reply.xStatus,
    contentType: reply.contentType,
    body: typeof reply.body === 'string' ? reply.body : '',
  };
}

import type { CompiledContract, CompiledOperation } from '../../mappings/compile.ts';
import { CallError, type ErrorCode, errorCodes, failureOf } from '../call/error.ts';
import type { Format } from '../http/negotiate.ts';
import { plainReply } from './reply.ts';

/** An example of an error reply. */
export interface ErrorSample {
  readonly status: number;
  /** The intended status, if the HTTP status cannot carry it (W26). */
  readonly meant: number | undefined;
  readonly contentType: string;
  readonly body: string;
}

/** An error of the gateway: its code, status and default message (W29). */
export interface KnownError {
  readonly code: ErrorCode;
  readonly status: number;
  readonly message: string;
}

/** The errors that a call of any operation may return, ordered by status. */
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

/** Returns the reply of an operation to an error in a format, exactly as sent except for the request id. */
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

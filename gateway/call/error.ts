import type { Problem } from '../../mappings/codec/problem.ts';
import type { Hide } from '../../mappings/codec/scalars/text.ts';
import type { WrittenFault } from '../../mappings/compile.ts';

/**
 * Every errorCode of our own with its HTTP status (W29) and the sentence said when there is nothing better. CallerGone
 * is for the log alone: nobody is there to be told.
 */
export const errorCodes = {
  Unauthorized: { status: 401, message: 'credentials are missing or malformed' },
  FailedAuthentication: { status: 401, message: 'the UsernameToken was not accepted' },
  ConflictingCredentials: { status: 400, message: 'credentials were given twice' },
  ValidationError: { status: 400, message: 'the request is not of the contract’s types' },
  MalformedRequest: { status: 400, message: 'the request can’t be read' },
  OperationNotFound: { status: 404, message: 'no such operation' },
  NotFound: { status: 404, message: 'nothing is served at this path' },
  MethodNotAllowed: { status: 405, message: 'this path takes other methods' },
  RequestTimeout: { status: 408, message: 'the request took too long to arrive' },
  CallerGone: { status: 499, message: 'the caller went away' },
  RequestTooLarge: { status: 413, message: 'the request body is too large' },
  UnsupportedMediaType: {
    status: 415,
    message: 'the request’s media type, coding or charset is not read here',
  },
  UnsupportedFormat: { status: 400, message: 'expected format to be one of json, xml, soap11, soap12, once' },
  InvalidCallback: {
    status: 400,
    message: 'expected callback to be a JavaScript name of at most 64 characters',
  },
  TooManyRequests: { status: 429, message: 'too many calls' },
  Overloaded: { status: 503, message: 'too many requests are waiting' },
  UpstreamUnavailable: { status: 503, message: 'the service behind is not available' },
  UpstreamTimeout: { status: 504, message: 'the service behind did not answer in time' },
  UpstreamInvalidResponse: {
    status: 502,
    message: 'the service behind gave an answer that is not of the contract’s types',
  },
  InternalError: { status: 500, message: 'internal error' },
} as const satisfies Record<string, { readonly status: number; readonly message: string }>;

/** What a status means where the upstream gives no code (W30). */
export const codesOfStatus: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  422: 'UnprocessableEntity',
  429: 'TooManyRequests',
  503: 'UpstreamUnavailable',
  504: 'UpstreamTimeout',
};

/** An errorCode of our own. */
export type ErrorCode = keyof typeof errorCodes;

/** What is said of a refusal; by default what `errorCodes` has for it. */
export interface CallErrorDetails {
  readonly message?: string;
  readonly problems?: readonly Problem[];
  readonly cause?: unknown;
  /** What the log says of it: no value, no name that is not the contract's. */
  readonly detail?: string | undefined;
  /** For 405: the verbs that the path takes. */
  readonly allow?: string;
  /** For 429 and 503: when to try again, in seconds. */
  readonly retryAfter?: string;
}

/** A call refused or failed by the gateway; what is said in it may reach the caller. */
export class CallError extends Error {
  readonly code: ErrorCode;
  readonly problems: readonly Problem[];
  readonly allow: string | undefined;
  readonly retryAfter: string | undefined;
  readonly detail: string | undefined;

  constructor(
    code: ErrorCode,
    { message, problems = [], cause, allow, retryAfter, detail }: CallErrorDetails = {},
  ) {
    super(message ?? problems[0]?.message ?? errorCodes[code].message, cause === undefined ? {} : { cause });
    this.name = 'CallError';
    this.code = code;
    this.problems = problems;
    this.allow = allow;
    this.retryAfter = retryAfter;
    this.detail = detail;
  }

  get status(): number {
    return errorCodes[this.code].status;
  }
}

/** The refusal of a verb that its address does not take. */
export function wrongVerb(allow: string): CallError {
  return new CallError('MethodNotAllowed', { message: `expected one of ${allow}`, allow });
}

/** Where in a responseStatus's `meta` the upstream's whole error stands. */
export const upstreamMember = 'Upstream';

/** How a failed call is told: a status and the JSON of a responseStatus (W26). */
export interface Failure {
  readonly status: number;
  readonly errorCode: string;
  /** `{"errorCode":…}`, of the contract's ResponseStatus. */
  readonly statusJson: string;
  readonly retryAfter: string | undefined;
  /** The declared fault that the upstream answered with (A29); undefined for any other failure. */
  readonly fault?: WrittenFault | undefined;
  /** The upstream's own JSON, for callers of JSON, where it is a declared fault. */
  readonly json?: string | undefined;
}

/** An error of ours as a failure; `hide` takes secrets out of what it says (W25). */
export function failureOf(error: CallError, requestId: string, hide: Hide): Failure {
  const errors = error.problems.map(({ code, field, message }) => ({
    errorCode: code,
    fieldName: field,
    message: hide(message),
  }));
  return {
    status: error.status,
    errorCode: error.code,
    statusJson: JSON.stringify({
      errorCode: error.code,
      message: hide(error.message),
      ...(errors.length === 0 ? {} : { errors }),
      meta: { requestId },
    }),
    retryAfter: error.retryAfter,
  };
}

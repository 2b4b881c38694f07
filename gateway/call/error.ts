import { type Problem, problemText } from '../../mappings/codec/problem.ts';
import type { Hide } from '../../mappings/codec/scalars/text.ts';
import type { StatusMembers, StatusValue } from '../../mappings/codec/types/response-status.ts';
import type { WrittenFault } from '../../mappings/compile.ts';
import type { Got } from '../../mappings/contract/got.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import { type Quote, quoteValue, type Reason, sentence, textOf } from '../../mappings/contract/reason.ts';
import type { JsonError } from '../../mappings/json/grammar.ts';

/**
 * The gateway's own error codes with their HTTP status (W29) and default message. CallerGone is only logged, because
 * its client has disconnected.
 */
export const errorCodes = {
  Unauthorized: { status: 401, message: 'credentials are missing or malformed' },
  FailedAuthentication: { status: 401, message: 'the UsernameToken was rejected' },
  ReplayedMessage: { status: 401, message: 'this message was received before' },
  ConflictingCredentials: { status: 400, message: 'credentials were given twice' },
  ValidationError: { status: 400, message: 'the request does not match the types of the contract' },
  MalformedRequest: { status: 400, message: 'the request is malformed' },
  OperationNotFound: { status: 404, message: 'no such operation' },
  NotFound: { status: 404, message: 'unknown path' },
  MethodNotAllowed: { status: 405, message: 'the path does not support this method' },
  RequestTimeout: { status: 408, message: 'the request took too long to arrive' },
  CallerGone: { status: 499, message: 'the caller disconnected' },
  RequestTooLarge: { status: 413, message: 'the request body is too large' },
  UnsupportedMediaType: {
    status: 415,
    message: 'unsupported media type, content coding or charset',
  },
  UnsupportedFormat: { status: 400, message: 'expected format to be one of json, xml, soap11, soap12, once' },
  InvalidCallback: {
    status: 400,
    message: 'expected callback to be a JavaScript name of at most 64 characters',
  },
  TooManyRequests: { status: 429, message: 'too many calls' },
  Overloaded: { status: 503, message: 'too many requests are waiting' },
  GatewayExhausted: { status: 503, message: 'the gateway has no free file descriptor or memory' },
  UpstreamUnavailable: { status: 503, message: 'the upstream is unavailable' },
  UpstreamTokenUnavailable: { status: 503, message: 'no access token for the upstream' },
  UpstreamTimeout: { status: 504, message: 'the upstream did not respond in time' },
  UpstreamInvalidResponse: {
    status: 502,
    message: 'the response of the upstream does not match the types of the contract',
  },
  NotMigrated: {
    status: 501,
    message: 'the legacy service answers this operation, and it answers only SOAP callers',
  },
  Gone: { status: 410, message: 'the operation is no longer served' },
  Brownout: { status: 503, message: 'the operation is not served at this time' },
  InternalError: { status: 500, message: 'internal error' },
} as const satisfies Record<string, { readonly status: number; readonly message: string }>;

/** Error code of a status if the upstream gives no code (W30). */
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

/** An error code of the gateway. */
export type ErrorCode = keyof typeof errorCodes;

/** Data of an error. The default message is that of `errorCodes`. */
export interface CallErrorDetails
  extends Reason,
    Partial<Pick<CallError, 'problems' | 'logged' | 'allow' | 'retryAfter' | 'path' | 'lacksCredentials'>> {
  readonly cause?: unknown;
}

/** A call that the gateway rejected or that failed. Its data may reach the caller. */
export class CallError extends Error {
  readonly code: ErrorCode;
  /** Undefined if `problems` hold the data or the default message applies. */
  readonly reason: Reason | undefined;
  readonly problems: readonly Problem[];
  /** For 405: the verbs that the path accepts. */
  readonly allow: string | undefined;
  /** For 429 and 503: the time until the next attempt, in seconds. */
  readonly retryAfter: string | undefined;
  /** Text for the log. It contains no values, and only names from the contract. */
  readonly logged: string | undefined;
  /** JSON path in the upstream's reply. */
  readonly path: string | undefined;
  /** For 401: true if the caller gave no credentials and may be waiting for a challenge. */
  readonly lacksCredentials: boolean;

  constructor(code: ErrorCode, details: CallErrorDetails = {}) {
    const {
      problems = [],
      cause,
      allow,
      retryAfter,
      logged,
      path,
      lacksCredentials = false,
      ...rest
    } = details;
    const reason = rest.expected === undefined && rest.detail === undefined ? undefined : rest;
    const [problem] = problems;
    const usual = problem === undefined ? errorCodes[code].message : problemText(problem);
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0; // stack traces are slow and not needed for a rejected call
    super(reason === undefined ? usual : sentence(reason), cause === undefined ? {} : { cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'CallError';
    this.code = code;
    this.reason = reason;
    this.problems = problems;
    this.allow = allow;
    this.retryAfter = retryAfter;
    this.logged = logged;
    this.path = path;
    this.lacksCredentials = lacksCredentials;
  }

  get status(): number {
    return errorCodes[this.code].status;
  }

  /** Data of the message. */
  get messageData(): Reason {
    return this.reason ?? { detail: this.message };
  }
}

/** Returns the start of a sentence about a reply: `the reply's data.id`. An empty path means the whole reply. */
export function placeInReply(path: string): string {
  return path === '' ? 'the reply' : `the reply's ${path}`;
}

/**
 * Returns the actual value for an error that expected JSON.
 *
 * @param otherwise used unless the reply exceeds a limit; then the limit is named
 */
export function jsonFault({ reason, limit }: JsonError, otherwise: Got): Got | Quote {
  return limit === undefined ? otherwise : overLimit(sentence({ ...reason, where: undefined }), limit);
}

/** A quantity over a limit: `more than 5 members and items (limit jsonMembers)`. */
export function overLimit(quantity: string, limit: keyof Limits): Quote {
  return quoteValue(`${quantity} (limit ${limit})`);
}

/** Returns the error for a verb that the path does not accept. */
export function wrongVerb(allow: string): CallError {
  return new CallError('MethodNotAllowed', { expected: `one of ${allow}`, allow });
}

/** Member of a responseStatus's `meta` that holds the upstream's whole error. */
export const upstreamMember = 'Upstream';

/** One problem in a fault's detail. Unknown facts are undefined. */
export interface ReportedProblem {
  /**
   * Path of the problem, for example `Request.Permissions[1]` in the caller's notation. For a wrong reply of the
   * upstream it is a JSON path.
   */
  readonly path: string | undefined;
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly expected: string | undefined;
  readonly got: string | undefined;
}

/** Returns the facts of a reason for a fault's detail. They are either both defined or both undefined. */
export function expectedAndGot(
  { expected, got }: Reason,
  hide: Hide = (text) => text,
): Pick<ReportedProblem, 'expected' | 'got'> {
  if (expected === undefined || got === undefined) return { expected: undefined, got: undefined };
  return { expected: hide(textOf(expected)), got: hide(textOf(got)) };
}

/** A failed call, with its status and responseStatus (W26). */
export interface Failure {
  readonly status: number;
  readonly errorCode: string;
  /** Members of the contract's ResponseStatus: `errorCode`, `message`, `errors`, `meta`. */
  readonly responseStatus: StatusMembers;
  readonly retryAfter: string | undefined;
  /** Each problem; undefined if `responseStatus` is complete without them. */
  readonly problems?: readonly ReportedProblem[] | undefined;
  /** True if the caller gave no credentials and may be waiting for a challenge. */
  readonly lacksCredentials?: boolean;
  /** Declared fault with the upstream's own members (A29); undefined for any other failure. */
  readonly fault?: WrittenFault | undefined;
  /** The upstream's own JSON of a declared fault, for callers of JSON. */
  readonly json?: string | undefined;
  /** True if `responseStatus` is the upstream's own error. A fault's text repeats only its beginning. */
  readonly isOfUpstream?: boolean;
}

/** Converts a CallError to a failure. `hideIn` removes secrets from its texts (W25). */
export function failureOf(error: CallError, requestId: string, hideIn: Hide): Failure {
  // The default message contains no secret.
  const isUsual = error.problems.length === 0 && error.reason === undefined;
  const hide: Hide = isUsual ? (text) => text : hideIn;
  const responseStatus = new Map<string, StatusValue>([
    ['errorCode', error.code],
    ['message', hide(error.message)],
  ]);
  if (error.problems.length > 0) {
    const errors = error.problems.map((problem) => {
      const { code, path } = problem;
      const message = hide(problemText(problem));
      return new Map(Object.entries({ errorCode: code, fieldName: path, message }));
    });
    responseStatus.set('errors', errors);
  }
  responseStatus.set('meta', new Map([['requestId', requestId]]));
  return {
    status: error.status,
    errorCode: error.code,
    responseStatus,
    retryAfter: error.retryAfter,
    problems: reportedProblems(error, hide),
    lacksCredentials: error.lacksCredentials,
  };
}

/** Returns an error's problems, or one problem made of its own sentence. */
function reportedProblems(
  { code, message, problems, path, reason = {} }: CallError,
  hide: Hide,
): ReportedProblem[] {
  if (problems.length > 0) return problems.map((problem) => reportedProblem(problem, hide));
  const facts = expectedAndGot(reason, hide);
  return facts.expected === undefined ? [] : [{ path, code, message: hide(message), ...facts }];
}

function reportedProblem(problem: Problem, hide: Hide): ReportedProblem {
  const { code, path } = problem;
  const message = hide(problemText(problem));
  return { path: path === '' ? undefined : hide(path), code, message, ...expectedAndGot(problem, hide) };
}

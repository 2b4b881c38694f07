import { isAbsent, type Problem } from '../../mappings/codec/problem.ts';
import type { Hide } from '../../mappings/codec/scalars/text.ts';
import type { StatusMembers, StatusValue } from '../../mappings/codec/types/response-status.ts';
import type { WrittenFault } from '../../mappings/compile.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import type { JsonError } from '../../mappings/json/grammar.ts';

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
  UpstreamTokenUnavailable: { status: 503, message: 'no token for the service behind could be had' },
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
export interface CallErrorDetails
  extends Partial<Pick<CallError, 'problems' | 'detail' | 'allow' | 'retryAfter' | 'path' | 'isUnasked'>> {
  readonly message?: string | undefined;
  readonly cause?: unknown;
}

/** A call refused or failed by the gateway; what is said in it may reach the caller. */
export class CallError extends Error {
  readonly code: ErrorCode;
  readonly problems: readonly Problem[];
  /** For 405: the verbs that the path takes. */
  readonly allow: string | undefined;
  /** For 429 and 503: when to try again, in seconds. */
  readonly retryAfter: string | undefined;
  /** What the log says of it: no value, no name that is not the contract's. */
  readonly detail: string | undefined;
  /** Where in the reply of the service behind it is, in JSON. */
  readonly path: string | undefined;
  /** For 401: whether the caller gave no credential at all, and may be waiting to be asked for one. */
  readonly isUnasked: boolean;

  constructor(
    code: ErrorCode,
    {
      message,
      problems = [],
      cause,
      allow,
      retryAfter,
      detail,
      path,
      isUnasked = false,
    }: CallErrorDetails = {},
  ) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0; // a refusal is no defect: where it was made would cost more than to make it
    super(message ?? problems[0]?.message ?? errorCodes[code].message, cause === undefined ? {} : { cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'CallError';
    this.code = code;
    this.problems = problems;
    this.allow = allow;
    this.retryAfter = retryAfter;
    this.detail = detail;
    this.path = path;
    this.isUnasked = isUnasked;
  }

  get status(): number {
    return errorCodes[this.code].status;
  }
}

/** The sentence about a wrong place of a reply: `the reply's data.id: expected …`; an empty path is the whole reply. */
export function replySentence(path: string, reason: string): string {
  return path === '' ? `the reply: ${reason}` : `the reply's ${path}: ${reason}`;
}

/**
 * The second half of `expected a JSON reply, got …`.
 *
 * @param otherwise used unless the reply is over a limit, which is then named
 */
export function jsonFault({ reason, limit }: JsonError, otherwise: string): string {
  return limit === undefined ? otherwise : overLimit(reason, limit);
}

/** A quantity over a limit: `more than 5 members and items (limit jsonMembers)`. */
export function overLimit(quantity: string, limit: keyof Limits): string {
  return `${quantity} (limit ${limit})`;
}

/** The refusal of a verb that its address does not take. */
export function wrongVerb(allow: string): CallError {
  return new CallError('MethodNotAllowed', { message: `expected one of ${allow}`, allow });
}

/** Where in a responseStatus's `meta` the upstream's whole error stands. */
export const upstreamMember = 'Upstream';

/** One thing that is wrong, as a fault's detail lists it; undefined what isn't known of it. */
export interface ToldProblem {
  /** Where: `Request.Permissions[1]` in the caller's own spelling, or in JSON where the reply of the service is wrong. */
  readonly path: string | undefined;
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly expected: string | undefined;
  readonly got: string | undefined;
}

/**
 * What a sentence of the form `expected …, got …; what to do` says was expected, and what came: a value in the quotes of
 * JSON, or words such as `none`.
 */
export function expectedAndGot(text: string): Pick<ToldProblem, 'expected' | 'got'> {
  const start = text.indexOf('expected ');
  const end = text.indexOf(', got ', start);
  if (start === -1 || end === -1) return { expected: undefined, got: undefined };
  const rest = text.slice(end + ', got '.length);
  const [value] = /^"(?:[^"\\]|\\.)*"/.exec(rest) ?? rest.split(/;|, did you mean /, 1);
  return { expected: text.slice(start + 'expected '.length, end), got: value };
}

/** A failed call: a status and a responseStatus (W26). */
export interface Failure {
  readonly status: number;
  readonly errorCode: string;
  /** Of the contract's ResponseStatus: `errorCode`, `message`, `errors`, `meta`. */
  readonly responseStatus: StatusMembers;
  readonly retryAfter: string | undefined;
  /** Each thing that is wrong; undefined where `responseStatus` says all. */
  readonly problems?: readonly ToldProblem[] | undefined;
  /** Whether the caller gave no credential, and may be waiting to be asked for one. */
  readonly isUnasked?: boolean;
  /** The fault that the upstream answered with in its own words (A29); undefined for any other failure. */
  readonly fault?: WrittenFault | undefined;
  /** The upstream's own JSON, for callers of JSON, where it is a fault in the upstream's own words. */
  readonly json?: string | undefined;
  /** Whether `responseStatus` is the upstream's own error, of which a fault's text repeats only the beginning. */
  readonly isOfUpstream?: boolean;
}

/** An error of ours as a failure; `hideIn` takes secrets out of what it says (W25). */
export function failureOf(error: CallError, requestId: string, hideIn: Hide): Failure {
  // what is said of every such refusal holds no secret
  const isUsual = error.problems.length === 0 && error.message === errorCodes[error.code].message;
  const hide: Hide = isUsual ? (text) => text : hideIn;
  const responseStatus = new Map<string, StatusValue>([
    ['errorCode', error.code],
    ['message', hide(error.message)],
  ]);
  if (error.problems.length > 0)
    responseStatus.set(
      'errors',
      error.problems.map(
        ({ code, field, message }) =>
          new Map([
            ['errorCode', code],
            ['fieldName', field],
            ['message', hide(message)],
          ]),
      ),
    );
  responseStatus.set('meta', new Map([['requestId', requestId]]));
  return {
    status: error.status,
    errorCode: error.code,
    responseStatus,
    retryAfter: error.retryAfter,
    problems: toldProblems(error, hide),
    isUnasked: error.isUnasked,
  };
}

/** The problems of an error, or the one that its own sentence is about. */
function toldProblems({ code, message, problems, path }: CallError, hide: Hide): readonly ToldProblem[] {
  if (problems.length > 0) return problems.map((problem) => toldProblem(problem, hide));
  const told = hide(message);
  const facts = expectedAndGot(told);
  return facts.expected === undefined ? [] : [{ path, code, message: told, ...facts }];
}

function toldProblem({ code, field, message }: Problem, hide: Hide): ToldProblem {
  const told = { path: field === '' ? undefined : hide(field), code, message: hide(message) };
  const facts = expectedAndGot(hide(message.slice(field.length)));
  if (facts.expected !== undefined || code !== 'NotEmpty') return { ...told, ...facts };
  return { ...told, expected: 'a value', got: isAbsent(message) ? 'none' : 'an empty one' };
}

import { type Problem, problemText } from '../../mappings/codec/problem.ts';
import type { Hide } from '../../mappings/codec/scalars/text.ts';
import type { StatusMembers, StatusValue } from '../../mappings/codec/types/response-status.ts';
import type { WrittenFault } from '../../mappings/compile.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import { type Reason, sentence } from '../../mappings/contract/reason.ts';
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

/** The data of a refusal; by default its message is that of `errorCodes`. */
export interface CallErrorDetails
  extends Reason,
    Partial<Pick<CallError, 'problems' | 'logged' | 'allow' | 'retryAfter' | 'path' | 'isUnasked'>> {
  readonly cause?: unknown;
}

/** A call refused or failed by the gateway; its data may reach the caller. */
export class CallError extends Error {
  readonly code: ErrorCode;
  /** Undefined if the problems have the data, and for the usual message of the code. */
  readonly reason: Reason | undefined;
  readonly problems: readonly Problem[];
  /** For 405: the verbs that the path takes. */
  readonly allow: string | undefined;
  /** For 429 and 503: when to try again, in seconds. */
  readonly retryAfter: string | undefined;
  /** The text for the log: no value, no name that is not the contract's. */
  readonly logged: string | undefined;
  /** Where in the reply of the service behind it is, in JSON. */
  readonly path: string | undefined;
  /** For 401: whether the caller gave no credential at all, and may be waiting to be asked for one. */
  readonly isUnasked: boolean;

  constructor(code: ErrorCode, details: CallErrorDetails = {}) {
    const { problems = [], cause, allow, retryAfter, logged, path, isUnasked = false, ...rest } = details;
    const reason = rest.expected === undefined && rest.detail === undefined ? undefined : rest;
    const [problem] = problems;
    const usual = problem === undefined ? errorCodes[code].message : problemText(problem);
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0; // a refusal is no defect: where it was made would cost more than to make it
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
    this.isUnasked = isUnasked;
  }

  get status(): number {
    return errorCodes[this.code].status;
  }

  /** The data of the message, wherever that comes from. */
  get said(): Reason {
    return this.reason ?? { detail: this.message };
  }
}

/** The start of a sentence about a reply: `the reply's data.id`; an empty path is the whole reply. */
export function placeInReply(path: string): string {
  return path === '' ? 'the reply' : `the reply's ${path}`;
}

/**
 * The actual value if JSON was expected.
 *
 * @param otherwise used unless the reply is over a limit, which is then named
 */
export function jsonFault({ reason, limit }: JsonError, otherwise: string): string {
  return limit === undefined ? otherwise : overLimit(sentence({ ...reason, where: undefined }), limit);
}

/** A quantity over a limit: `more than 5 members and items (limit jsonMembers)`. */
export function overLimit(quantity: string, limit: keyof Limits): string {
  return `${quantity} (limit ${limit})`;
}

/** The refusal of a verb that its address does not take. */
export function wrongVerb(allow: string): CallError {
  return new CallError('MethodNotAllowed', { expected: `one of ${allow}`, allow });
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

/** The facts of a reason for a fault's detail, which has both or none. */
export function expectedAndGot(
  { expected, got }: Reason,
  hide: Hide = (text) => text,
): Pick<ToldProblem, 'expected' | 'got'> {
  if (expected === undefined || got === undefined) return { expected: undefined, got: undefined };
  return { expected: hide(expected), got: hide(got) };
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
    problems: toldProblems(error, hide),
    isUnasked: error.isUnasked,
  };
}

/** The problems of an error, or the one that its own sentence is about. */
function toldProblems({ code, message, problems, path, reason = {} }: CallError, hide: Hide): ToldProblem[] {
  if (problems.length > 0) return problems.map((problem) => toldProblem(problem, hide));
  const facts = expectedAndGot(reason, hide);
  return facts.expected === undefined ? [] : [{ path, code, message: hide(message), ...facts }];
}

function toldProblem(problem: Problem, hide: Hide): ToldProblem {
  const { code, path } = problem;
  const message = hide(problemText(problem));
  return { path: path === '' ? undefined : hide(path), code, message, ...expectedAndGot(problem, hide) };
}

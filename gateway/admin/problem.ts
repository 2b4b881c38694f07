import type { ContractProblem } from '../../mappings/loader/document/error.ts';
import { http } from '../node-http.ts';
import { StoreError } from '../store/store.ts';

/** Titles of problems that clients distinguish; the phrase of the status by default. */
export type ProblemTitle = 'StaleVersion' | 'NotReady' | 'NoStore';

/** A response that is a problem document (RFC 9457). */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly problems: readonly Pick<ContractProblem, 'pointer' | 'message'>[];
  readonly title: string | undefined;

  /** @param problems wrong parts of the request, by JSON pointer */
  constructor(
    status: number,
    detail: string,
    headers: Problem['headers'] = {},
    problems: Problem['problems'] = [],
    title?: ProblemTitle,
  ) {
    super(detail);
    this.status = status;
    this.headers = headers;
    this.problems = problems;
    this.title = title ?? http.STATUS_CODES[status];
  }

  /** The problem document. */
  get text(): string {
    const { status, message: detail, problems, title } = this;
    return `${JSON.stringify({ type: 'about:blank', title, status, detail, problems })}\n`;
  }
}

/** Creates the Problem of a change that the present state does not permit. */
export function conflict(title: ProblemTitle, detail: string): Problem {
  return new Problem(409, detail, {}, [], title);
}

/** Creates the Problem about wrong members of a body. */
export function invalid(status: 400 | 422, problems: Problem['problems']): Problem {
  const [first] = problems;
  return new Problem(status, `${first?.pointer || 'body'}: ${first?.message}`, {}, problems);
}

export const problemType = 'application/problem+json';

/** Returns the problem of an error. An error of the store is 503, any other error 500. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (!(error instanceof StoreError)) return new Problem(500, 'internal error');
  const detail = 'expected a working store, got one that fails. The log has the reason';
  return new Problem(503, detail, { 'Retry-After': '60' });
}

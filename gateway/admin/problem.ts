import type { ContractProblem } from '../../mappings/loader/document/error.ts';
import { http } from '../node-http.ts';

/** A response that is a problem document (RFC 9457). */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly problems: readonly Pick<ContractProblem, 'pointer' | 'message'>[];

  /** @param problems wrong parts of the request, by JSON pointer */
  constructor(
    status: number,
    detail: string,
    headers: Problem['headers'] = {},
    problems: Problem['problems'] = [],
  ) {
    super(detail);
    this.status = status;
    this.headers = headers;
    this.problems = problems;
  }

  /** The problem document. */
  get text(): string {
    const { status, message: detail, problems } = this;
    return `${JSON.stringify({ type: 'about:blank', title: http.STATUS_CODES[status], status, detail, problems })}\n`;
  }
}

export const problemType = 'application/problem+json';

import { remedyFor } from '../../remedy.ts';

/** Result of a call of the admin API. */
export type Result =
  | { readonly ok: true; readonly json: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly status: number; readonly problem: ProblemDocument };

/** A problem document (RFC 9457). */
export interface ProblemDocument {
  readonly title?: string;
  readonly detail?: string;
  readonly problems?: readonly { readonly pointer: string; readonly message: string }[];
}

const sessionPath = '/api/v1/session';

/** Sends a call with the session's CSRF token. `status` is 0 if no response arrived. */
export async function call(method: string, path: string, body: unknown): Promise<Result> {
  try {
    const headers: Record<string, string> = { 'Content-Type': 'application/json' };
    if (path !== sessionPath || method !== 'POST') {
      const session = await fetch(sessionPath);
      if (!session.ok) return await failureOf(session);
      headers['X-CSRF-Token'] = String((await session.json()).csrf);
    }
    const response = await fetch(path, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
    if (!response.ok) return await failureOf(response);
    const text = await response.text();
    return { ok: true, json: text === '' ? {} : JSON.parse(text) };
  } catch (error) {
    return { ok: false, status: 0, problem: { detail: String(error) } };
  }
}

async function failureOf(response: Response): Promise<Result> {
  const text = await response.text();
  const isProblem = response.headers.get('Content-Type')?.startsWith('application/problem+json') === true;
  return { ok: false, status: response.status, problem: isProblem ? JSON.parse(text) : { detail: text } };
}

/** Returns the text for a call that failed, with its remedy. */
export function failureText({ status, problem }: Exclude<Result, { ok: true }>): string {
  const { title = '', detail = '', problems = [] } = problem;
  const parts = problems.map(({ pointer, message }) => `${pointer.slice(1)}: ${message}`);
  const what = parts.length > 0 ? parts.join('. ') : detail;
  return `${status === 0 ? '' : `${status} ${title}: `}${what}. ${remedyFor({ title, status })}`;
}

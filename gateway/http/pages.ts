import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CompiledContract } from '../../mappings/compile.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import { maxCredentialCharacters } from '../call/credentials.ts';
import { maxRetryAfterMs } from '../upstream/retry-budget.ts';

// What the gateway knows of pages for people: that there may be some, and which requests are theirs. What they show and
// how is of console/, which the command line hands in; nothing here imports it.

/** The request headers that decide between a WSDL or schema and the page about it, for `Vary` (RFC 9110 §12.5.5). */
export const navigationHeaders = 'Sec-Fetch-Dest, Sec-Fetch-Mode';

/** The constant limits that the overview of a contract shows. */
export function shownConstants({
  credential = maxCredentialCharacters,
  retryAfterMs = maxRetryAfterMs,
}: Limits): Required<Pick<Limits, 'credential' | 'retryAfterMs'>> {
  return { credential, retryAfterMs };
}

/** Whether the pages may send calls, and whether they show what a call becomes upstream. */
export type TryIt = 'on' | 'off' | 'show-upstream';

/** The pages of one contract. */
export interface Pages {
  /** Whether they answer a request that is under the contract's base path; a POST to an operation never gets here. */
  readonly takes: (request: IncomingMessage, path: string, query: string) => boolean;
  /** Answers such a request; the bytes of the reply's body, which several replies may share, or how many. Never fails. */
  readonly handle: (
    request: IncomingMessage,
    response: ServerResponse,
    readBody: ReadBody,
  ) => Promise<number | Buffer>;
}

/** Reads the body of a request, of at most so many bytes. Throws an error with a status, for the visitor. */
export type ReadBody = (most: number) => Promise<Buffer>;

/** What pages are made of. */
export interface PagesOptions {
  readonly compiled: CompiledContract;
  /** The contract's public address as a request may say it: with the base path, without a slash at the end. */
  readonly addressOf: (request: IncomingMessage) => string;
  /** The request headers that the address follows, for caches; undefined for none. */
  readonly vary: string | undefined;
  readonly tryIt: TryIt;
  /** Told of what went wrong in the pages themselves. */
  readonly onError: (error: unknown) => void;
}

/** Makes the pages of a contract; called once for each contract that is loaded. */
export type PagesMaker = (options: PagesOptions) => Pages;

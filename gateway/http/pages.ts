import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CompiledContract } from '../../mappings/compile.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import { maxCredentialCharacters } from '../call/credentials.ts';
import { maxRetryAfterMs } from '../upstream/retry-budget.ts';

// Interface between the gateway and the console pages: which requests they take, and how they answer. console/
// implements it, and the command line passes the implementation in. Nothing here imports console/.

/** The request headers that decide between a WSDL or schema and the page about it, for `Vary` (RFC 9110 §12.5.5). */
export const navigationHeaders = 'Sec-Fetch-Dest, Sec-Fetch-Mode';

/** Returns the limits that the overview of a contract shows, with their defaults. */
export function shownConstants({
  credential = maxCredentialCharacters,
  retryAfterMs = maxRetryAfterMs,
}: Limits): Required<Pick<Limits, 'credential' | 'retryAfterMs'>> {
  return { credential, retryAfterMs };
}

/** Permission of the pages to send calls, and to show the upstream request of a call. */
export type TryIt = 'on' | 'off' | 'show-upstream';

/** The console pages of one contract. */
export interface Pages {
  /**
   * Returns true if the pages answer this request below the contract's base path. Not called for a POST to an
   * operation.
   */
  readonly takes: (request: IncomingMessage, path: string, query: string) => boolean;
  /**
   * Answers a request. Resolves to the body of the reply, which several replies may share, or to its length in bytes.
   * Never rejects.
   */
  readonly handle: (
    request: IncomingMessage,
    response: ServerResponse,
    readBody: ReadBody,
  ) => Promise<number | Buffer>;
}

/** Reads the body of a request, of at most `most` bytes. Throws an error with a status and a message for the client. */
export type ReadBody = (most: number) => Promise<Buffer>;

/** Settings of the console pages. */
export interface PagesOptions {
  readonly compiled: CompiledContract;
  /** Returns the contract's public URL for a request: with the base path, without a slash at the end. */
  readonly addressOf: (request: IncomingMessage) => string;
  /** The request headers that the address depends on, for Vary; undefined for none. */
  readonly vary: string | undefined;
  readonly tryIt: TryIt;
  /** Called for internal errors of the pages. */
  readonly onError: (error: unknown) => void;
}

/** Creates the pages of a contract. Called once for each loaded contract. */
export type PagesMaker = (options: PagesOptions) => Pages;

import type { Reading } from './problem.ts';

/** The inputs of one call, from any format of the request. */
export interface Input {
  /**
   * The body object's JSON without the slotted inputs, or the caller's text of a JSON request. A Buffer in UTF-8 if the
   * request-shape cache made it from bytes. Empty after a large request was sent to the upstream.
   */
  text: string | Buffer;
  /** The same JSON with the credentials of the request as its last member; undefined if it is made only on demand. */
  readonly withCredentials?: Buffer | undefined;
  readonly reading: Reading;
  /**
   * Position of the closing brace of the body object in a JSON request's text; undefined if the gateway made the text.
   */
  readonly closes: number | undefined;
}

/** Formats the member for the upstream's credentials, `"name":{…}`, from their tokens in the order of the reading. */
export type WriteCredentialsMember = (tokens: readonly (string | undefined)[]) => string;

/** Credentials for the upstream: all of them, and the names of those that are not in the body (W24, W25). */
export interface CredentialValues {
  readonly all: ReadonlyMap<string, string>;
  readonly fromHeaders: ReadonlySet<string>;
}

import type { Reading } from './problem.ts';

/** The inputs of one call, read from whatever form the caller used. */
export interface Input {
  /**
   * The body object's JSON without the slotted inputs; of a JSON request the caller's own text. In UTF-8 where it was made
   * from bytes by the request-shape cache. Empty once a large request is on its way.
   */
  text: string | Buffer;
  /**
   * The same with the credentials that came in the request's member for them, as its last member; undefined where it isn't
   * made before it is asked for.
   */
  readonly withCredentials?: Buffer | undefined;
  readonly reading: Reading;
  /** Where the body object closes in a JSON request's text; undefined for a text made here. */
  readonly closes: number | undefined;
}

/** The member that credentials go upstream in, `"name":{…}`, of their tokens, in the order that a reading has them in. */
export type WriteCredentialsMember = (tokens: readonly (string | undefined)[]) => string;

/** Credentials to send upstream: all of them, and those that the body doesn't hold (W24, W25). */
export interface CredentialValues {
  readonly all: ReadonlyMap<string, string>;
  readonly fromHeaders: ReadonlySet<string>;
}

import type { Reading } from './problem.ts';

/** The inputs of one call, read from whatever form the caller used. */
export interface Input {
  /**
   * The body object's JSON without the slotted inputs; of a JSON request the caller's own text. In UTF-8 where it was made
   * from bytes by the request-shape cache. Empty once a large request is on its way.
   */
  text: string | Buffer;
  readonly reading: Reading;
  /** Where the body object closes in a JSON request's text; undefined for a text made here. */
  readonly closes: number | undefined;
}

/** Credentials to send upstream: all of them, and those that the body doesn't hold (W24, W25). */
export interface CredentialValues {
  readonly all: ReadonlyMap<string, string>;
  readonly fromHeaders: ReadonlySet<string>;
}

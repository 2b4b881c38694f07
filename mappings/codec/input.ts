import type { Reading } from './problem.ts';

/** The inputs of one call, from any format of the request. */
export interface Input {
  /**
   * The body object's JSON without the slotted inputs; of a JSON request the caller's own text. In UTF-8 where the byte
   * reader made it. Empty once a large request is on its way.
   */
  text: string | Buffer;
  readonly reading: Reading;
  /**
   * Position of the closing brace of the body object in a JSON request's text; undefined if the gateway made the text.
   */
  readonly closes: number | undefined;
}

/** Credentials to send upstream: all of them, and those that the body doesn't hold (W24, W25). */
export interface CredentialValues {
  readonly all: ReadonlyMap<string, string>;
  readonly fromHeaders: ReadonlySet<string>;
}

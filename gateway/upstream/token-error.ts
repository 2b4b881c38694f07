import { CallError } from '../call/error.ts';

/** No token could be had; the message is for the log and says neither a secret nor a token. */
export class TokenError extends Error {
  override readonly name = 'TokenError';
  /** Whether it is the caller's own token that was refused. */
  readonly isCallers: boolean;

  constructor(message: string, isCallers: boolean, cause: unknown) {
    super(message, { cause });
    this.isCallers = isCallers;
  }
}

/** How a call without a token is refused: it was not sent. */
export function refusalOf(error: TokenError): CallError {
  if (error.isCallers)
    return new CallError('FailedAuthentication', { detail: 'the token was not accepted', cause: error });
  return new CallError('UpstreamTokenUnavailable', { cause: error });
}

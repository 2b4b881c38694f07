import { CallError } from '../call/error.ts';

/** No token could be obtained. The message is for the log and contains neither secrets nor tokens. */
export class TokenError extends Error {
  override readonly name = 'TokenError';
  /** True if the caller's own token was rejected. */
  readonly isCallers: boolean;

  constructor(message: string, isCallers: boolean, cause: unknown) {
    super(message, { cause });
    this.isCallers = isCallers;
  }
}

/** Returns the error for a call that was not sent because it has no token. */
export function refusalOf(error: TokenError): CallError {
  if (error.isCallers)
    return new CallError('FailedAuthentication', { detail: 'the token was rejected', cause: error });
  return new CallError('UpstreamTokenUnavailable', { cause: error });
}

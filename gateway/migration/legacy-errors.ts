import { CallError } from '../call/error.ts';

// Errors that name the legacy service (G19).

/** Seconds until the next attempt, for a caller whose request was not sent (G20). */
export const retryAfterSeconds = '1';

/** Returns the error of a request that was not sent. `retryAfter` is in seconds. */
export function unavailable(retryAfter: string): CallError {
  return new CallError('UpstreamUnavailable', { detail: 'the legacy service is unavailable', retryAfter });
}

/** Returns the error of a request without a reply in time. */
export function timeout(): CallError {
  return new CallError('UpstreamTimeout', { detail: 'the legacy service did not respond in time' });
}

/** Returns the error of an incomplete reply. */
export function invalid(why: string): CallError {
  return new CallError('UpstreamInvalidResponse', {
    detail: `the legacy service did not send a complete response: ${why}`,
  });
}

/**
 * Returns the error of a complete reply that does not match the contract (G31).
 *
 * @param path place in the reply; `''` for the whole reply
 */
export function invalidReply(path: string, expected: string): CallError {
  const place = path === '' ? '' : `${path}: `;
  return new CallError('UpstreamInvalidResponse', {
    detail: `the response of the legacy service does not match the types of the contract: ${place}expected ${expected}`,
    logged: `${place}expected ${expected}`,
  });
}

import type { Limits } from '../../mappings/contract/limits.ts';

/** How many calls may be sent once more: a share of all calls, so that a failing upstream isn't sent the double. */
export interface RetryBudget {
  /** Counts a call. */
  readonly earn: () => void;
  /** Takes a retry out of the budget; false when there is none left. */
  readonly spend: () => boolean;
}

/** Time, in ms, that a 503 of the upstream may ask to wait until a read is sent again (`Retry-After`). */
export const maxRetryAfterMs = 2_000;

/** Maximum number of retries that accumulate while no call fails. */
export const maxSavedRetries = 10;

/** A budget of `retryPercent` retries per hundred calls, and `maxSavedRetries` at the start and at most. */
export function createRetryBudget({ retryPercent, retrySavings = maxSavedRetries }: Limits): RetryBudget {
  // in hundredths of a retry: whole numbers
  const most = retrySavings * 100;
  let saved = most;
  return {
    earn: () => {
      saved = Math.min(most, saved + retryPercent);
    },
    spend: () => {
      if (saved < 100) return false;
      saved -= 100;
      return true;
    },
  };
}

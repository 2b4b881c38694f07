import type { Limits } from '../../mappings/contract/limits.ts';

/** Limits retries to a share of all calls, so that a failing upstream does not receive twice as many. */
export interface RetryBudget {
  readonly earn: () => void;
  /** Takes one retry from the budget. Returns false if none is left. */
  readonly spend: () => boolean;
}

/** Maximum `Retry-After` of a 503 of the upstream, in ms, after which a read is sent again. */
export const maxRetryAfterMs = 2_000;

/** Maximum number of retries that accumulate while no call fails. */
export const maxSavedRetries = 10;

/** Creates a budget of `retryPercent` retries per hundred calls. It starts full, with `retrySavings` retries. */
export function createRetryBudget({ retryPercent, retrySavings = maxSavedRetries }: Limits): RetryBudget {
  // integers: hundredths of a retry
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

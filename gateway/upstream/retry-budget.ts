import type { Limits } from '../../mappings/contract/limits.ts';

/** How many calls may be sent once more: a share of all calls, so that a failing upstream isn't sent the double. */
export interface RetryBudget {
  /** Counts a call. */
  readonly earn: () => void;
  /** Takes a retry out of the budget; false when there is none left. */
  readonly spend: () => boolean;
}

/** A budget of `retryPercent` retries per hundred calls, saved up to `retrySavings`, which is also what it starts with. */
export function createRetryBudget({ retryPercent, retrySavings }: Limits): RetryBudget {
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

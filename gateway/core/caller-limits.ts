import {
  type CallCounts,
  type CallerLimits,
  ContractCallerLimits,
  type ContractRules,
} from '../admission/caller-limits.ts';
import type { CallerWindows } from '../admission/caller-windows.ts';
import type { LimitStore } from '../admission/limit-store.ts';
import { counter, one, type Snapshot } from '../telemetry/metrics.ts';

/** Caller limits of all contracts. */
export interface CallerLimitsOf {
  /** Returns the rules of the contract at a path; undefined if it has none. */
  readonly rulesOf: (path: string) => ContractRules | undefined;
  /** Counters of calls. */
  readonly counts: CallCounts;
  /** The store that replicas share; undefined if there is none. */
  readonly store: Pick<LimitStore, 'isAway' | 'missed'> | undefined;
  /** Windows that are counted in this process. */
  readonly local: CallerWindows;
}

/** Caller limits of a gateway. */
export interface CoreCallerLimits {
  /** Returns the limits of the contract at a path, with the current rules. */
  readonly of: (path: string) => CallerLimits | undefined;
  readonly read: () => Snapshot;
  /** Removes windows that have ended. Call this every second. */
  readonly sweep: () => void;
}

/** Combines rules and counters. Counts are kept when rules change. */
export function createCoreCallerLimits(options: () => CallerLimitsOf): CoreCallerLimits {
  const limited = new Map<string, number>();
  return {
    of: (path) => {
      const { rulesOf, counts } = options();
      const rules = rulesOf(path);
      if (rules === undefined) return undefined;
      return new ContractCallerLimits(rules, path, counts, (limit) => {
        const labels = `contract="${path}",limit="${limit}"`;
        limited.set(labels, (limited.get(labels) ?? 0) + 1);
      });
    },
    read: () => {
      const { store, local } = options();
      const help = 'Calls rejected by a caller limit, by limit.';
      const refused = counter('limited_total', help, limited);
      const windows = one('limit_windows', 'gauge', 'Caller counters in this process.', local.size);
      if (store === undefined) return [refused, windows];
      return [
        refused,
        windows,
        one('limit_store_away', 'gauge', '1 while the limit store is unavailable.', Number(store.isAway)),
        one(
          'limit_store_missed_total',
          'counter',
          'Calls counted in this process because the limit store was unavailable.',
          store.missed,
        ),
      ];
    },
    sweep: () => options().local.sweep(Date.now()),
  };
}

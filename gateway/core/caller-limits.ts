import {
  type CallCounts,
  type CallerLimits,
  ContractCallerLimits,
  type ContractRules,
} from '../admission/caller-limits.ts';
import type { CallerWindows } from '../admission/caller-windows.ts';
import type { LimitStore } from '../admission/limit-store.ts';
import { counter, one, type Snapshot } from '../telemetry/metrics.ts';

/** What callers of each contract may do. */
export interface CallerLimitsOf {
  /** The rules of the contract under a path; undefined: it has none. */
  readonly rulesOf: (path: string) => ContractRules | undefined;
  /** Where calls are counted. */
  readonly counts: CallCounts;
  /** The store that replicas share; undefined: there is none. */
  readonly store: Pick<LimitStore, 'isAway' | 'missed'> | undefined;
  /** Where they are counted in this process. */
  readonly local: CallerWindows;
}

/** The limits of callers of a gateway. */
export interface CoreCallerLimits {
  /** Those of the contract under a path, by the rules as they are now. */
  readonly of: (path: string) => CallerLimits | undefined;
  readonly read: () => Snapshot;
  /** Forgets counts that are over: to be called each second. */
  readonly sweep: () => void;
}

/** Puts rules and counters together; what was counted stays when rules change. */
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
      const help = 'Calls that a limit of their caller refused, by limit.';
      const refused = counter('limited_total', help, limited);
      const windows = one('limit_windows', 'gauge', 'Counts of callers in this process.', local.size);
      if (store === undefined) return [refused, windows];
      return [
        refused,
        windows,
        one('limit_store_away', 'gauge', '1 while calls are counted in each process.', Number(store.isAway)),
        one('limit_store_missed_total', 'counter', 'Calls counted here as the store was away.', store.missed),
      ];
    },
    sweep: () => options().local.sweep(Date.now()),
  };
}

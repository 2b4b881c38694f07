import type { Store } from '../store/store.ts';
import { type CallerRow, callerRowsOf, lastCallsOf, type Usage, usageOf } from '../store/tables/usage.ts';

/** The calls of a contract since a time (G63). Times are ms since 1970. */
export interface UsageReport {
  readonly contract: string;
  readonly since: number;
  /** Operations and callers, those with most calls first. */
  readonly usage: readonly Usage[];
  /** The callers in `usage`. */
  readonly callers: readonly CallerRow[];
}

/** Reads the calls of a contract since a time from the store. */
export async function readUsage(store: Store, contract: string, since: number): Promise<UsageReport> {
  const usage = await usageOf(store, contract, since);
  const rows = await callerRowsOf(store, contract);
  const names = new Set(usage.map(({ caller }) => caller));
  return { contract, since, usage, callers: [...names].flatMap((name) => rows.get(name) ?? []) };
}

/** An operation without calls in a period. */
export interface SilentOperation {
  readonly operation: string;
  /** Time of its last call, in ms since 1970; undefined if the store has none. */
  readonly lastAt: number | undefined;
}

/** Returns the operations of a contract without a call since a time, in the order of the contract (G63). */
export async function silentOperations(
  store: Store,
  contract: string,
  operations: readonly string[],
  since: number,
): Promise<readonly SilentOperation[]> {
  const last = await lastCallsOf(store, contract);
  return operations
    .map((operation) => ({ operation, lastAt: last.get(operation) }))
    .filter(({ lastAt }) => lastAt === undefined || lastAt < since);
}

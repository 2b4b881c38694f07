import type { Callers } from './callers.ts';

/** Requests of one caller, or of all other callers. */
interface Row {
  total: number;
  readonly statuses: Map<number, number>;
}

/** Label for callers without a row. */
export const others = 'other';

/** Number of watched callers without a row, per row. Watching them finds busy callers that should get a row. */
const watchedPerRow = 10;

/**
 * Counts requests by caller, with a limited number of rows. Callers with a name always get a row, and the busiest
 * callers without a name get the others. A busier caller replaces the least busy one, and that one's counts are added
 * to `other`.
 */
export class CallerCounts {
  readonly #rows = new Map<string, Row>();
  readonly #others: Row = { total: 0, statuses: new Map() };
  readonly #watched = new Map<string, number>();
  readonly #most: number;
  readonly #callers: () => Callers;
  /** Number of rows of callers without a name. */
  #unnamed = 0;

  constructor(most: number, callers: () => Callers) {
    this.#most = most;
    this.#callers = callers;
  }

  count(caller: string, status: number): void {
    const row = this.#rows.get(caller) ?? this.#newRow(caller) ?? this.#others;
    row.total++;
    row.statuses.set(status, (row.statuses.get(status) ?? 0) + 1);
  }

  /** Returns true if the caller has a row of its own. */
  has(caller: string): boolean {
    return this.#rows.has(caller);
  }

  /** Yields each caller's requests by status. The row `other` is last. */
  *entries(): Iterable<readonly [caller: string, statuses: ReadonlyMap<number, number>]> {
    for (const [caller, { statuses }] of this.#rows) yield [caller, statuses];
    if (this.#others.total > 0) yield [others, this.#others.statuses];
  }

  #newRow(caller: string): Row | undefined {
    const { names, isStable } = this.#callers();
    if (names.has(caller)) return this.#open(caller);
    if (!isStable || this.#most === 0) return undefined; // its pseudonym changes with each start
    if (this.#unnamed < this.#most) {
      this.#unnamed++;
      return this.#open(caller);
    }
    const count = (this.#watched.get(caller) ?? 0) + 1;
    if (!this.#watched.has(caller) && this.#watched.size >= this.#most * watchedPerRow) this.#watched.clear();
    this.#watched.set(caller, count);
    const [least, row] = this.#leastBusy();
    if (row === undefined || least === undefined || count <= row.total) return undefined;
    this.#watched.delete(caller);
    this.#rows.delete(least);
    this.#others.total += row.total;
    for (const [status, value] of row.statuses)
      this.#others.statuses.set(status, (this.#others.statuses.get(status) ?? 0) + value);
    const opened = this.#open(caller);
    opened.total = count - 1;
    return opened;
  }

  #open(caller: string): Row {
    const row: Row = { total: 0, statuses: new Map() };
    this.#rows.set(caller, row);
    return row;
  }

  #leastBusy(): readonly [string?, Row?] {
    const { names } = this.#callers();
    let least: readonly [string?, Row?] = [];
    for (const [caller, row] of this.#rows)
      if (!names.has(caller) && row.total < (least[1]?.total ?? Number.POSITIVE_INFINITY))
        least = [caller, row];
    return least;
  }
}

/** Maximum number of combinations of code, operation and caller with a count of their own. */
export const maxFaultCounts = 1_000;

/**
 * Counts failures by code, operation and caller. Beyond the maximum, a new combination is counted by its code, with
 * `other` as operation and caller. The number of codes is limited.
 */
export class FaultCounts {
  readonly #counts = new Map<string, number>();

  count(code: string, operation: string, caller: string): void {
    const own = labelsOf(code, operation, caller);
    const isKnown = this.#counts.has(own) || this.#counts.size < maxFaultCounts;
    const labels = isKnown ? own : labelsOf(code, others, others);
    this.#counts.set(labels, (this.#counts.get(labels) ?? 0) + 1);
  }

  /** Yields labels, for example `code="NotFound",operation="",caller=""`, and their counts. */
  entries(): Iterable<readonly [labels: string, count: number]> {
    return this.#counts.entries();
  }
}

function labelsOf(code: string, operation: string, caller: string): string {
  return `code="${code}",operation="${operation}",caller="${caller}"`;
}

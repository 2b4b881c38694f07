import type { Comparison } from '../../mappings/compare/comparison.ts';
import {
  counter,
  createHistogram,
  type Family,
  type Histogram,
  histogram,
  observe,
  perWorkerGauge,
  type Snapshot,
} from '../telemetry/metrics.ts';
import type { RouteRecord } from '../telemetry/request-stats.ts';
import type { SkipReason } from './skipped.ts';

/** Counts of the routing of one contract (G51). They continue over a reload. */
export class RoutingCounts {
  readonly #labels: string;
  readonly #calls = new Map<string, number>();
  readonly #seconds = new Map<string, Histogram>();
  readonly #statuses = new Map<number, number>();
  readonly #fallbacks = new Map<string, number>();
  readonly #partials = new Map<string, number>();
  readonly #duplicates = new Map<string, number>();
  readonly #compared = new Map<string, number>();
  readonly #differences = new Map<string, number>();
  readonly #skipped = new Map<string, number>();
  refusedOverrides = 0;
  /** Returns true while the circuit breaker of the legacy service is open. */
  isBreakerOpen = (): boolean => false;

  /** @param path path of the contract as in the log */
  constructor(path: string) {
    this.#labels = `contract="${path}"`;
  }

  /**
   * Counts a call.
   *
   * @param operation name in the contract; undefined if it is unknown
   * @param newMs duration of the call to the upstream, in ms
   */
  count(
    operation: string | undefined,
    { mode, side, legacyMs, legacyStatus, fallback, partial }: RouteRecord,
    newMs: number,
  ): void {
    const name = operation ?? '?';
    add(this.#calls, `operation="${name}",mode="${mode}",side="${side ?? ''}"`);
    if (legacyMs !== undefined) this.#observe('legacy', legacyMs);
    if (newMs > 0) this.#observe('new', newMs);
    if (legacyStatus !== undefined)
      this.#statuses.set(legacyStatus, (this.#statuses.get(legacyStatus) ?? 0) + 1);
    if (fallback === true) add(this.#fallbacks, `operation="${name}"`);
    if (partial !== undefined) add(this.#partials, `operation="${name}",side="${partial}"`);
  }

  /** Counts keys that are in both lists of a blended reply (G30). */
  countDuplicates(operation: string, keys: number): void {
    if (keys > 0) add(this.#duplicates, `operation="${operation}"`, keys);
  }

  /** Counts the comparison of a call. */
  countCompared(operation: string, { result, differences }: Comparison): void {
    add(this.#compared, `operation="${operation}",result="${result}"`);
    this.countDifferences(operation, differences);
  }

  /** Counts differences that no rule explains. */
  countDifferences(operation: string, differences: Comparison['differences']): void {
    for (const { kind } of differences) add(this.#differences, `operation="${operation}",kind="${kind}"`);
  }

  /** Counts a comparison that was not made. */
  countSkipped(reason: SkipReason): void {
    add(this.#skipped, `reason="${reason}"`);
  }

  #observe(side: string, ms: number): void {
    const seconds = this.#seconds.get(side) ?? createHistogram();
    this.#seconds.set(side, seconds);
    observe(seconds, ms / 1_000);
  }

  read(): Snapshot {
    const labels = this.#labels;
    const statuses = [...this.#statuses].map(([status, value]) => [`status="${status}"`, value] as const);
    return [
      this.#counter('migration_calls_total', 'Calls by operation, mode and answering side.', this.#calls),
      histogram(
        'migration_seconds',
        'Duration of calls to the legacy service and to the upstream, in seconds.',
        [...this.#seconds].map(([side, seconds]) => [`${labels},side="${side}"`, seconds] as const),
      ),
      this.#counter(
        'migration_fallback_total',
        'Calls that the legacy service answered because the upstream found nothing, by operation.',
        this.#fallbacks,
      ),
      this.#counter(
        'migration_partial_total',
        'Replies of one service alone, because the other one failed, by operation and answering side.',
        this.#partials,
      ),
      this.#counter(
        'migration_duplicates_total',
        'Keys of items in the lists of both services, by operation.',
        this.#duplicates,
      ),
      counter('migration_overrides_refused_total', 'Override headers that were ignored.', [
        [labels, this.refusedOverrides],
      ]),
      this.#counter('migration_compared_total', 'Compared calls by operation and result.', this.#compared),
      this.#counter(
        'migration_differences_total',
        'Differences that no rule explains, by operation and kind.',
        this.#differences,
      ),
      this.#counter('migration_skipped_total', 'Comparisons that were not made, by reason.', this.#skipped),
      this.#counter('legacy_replies_total', 'Replies of the legacy service by status.', statuses),
      perWorkerGauge('legacy_breaker_open', '1 while no connection to the legacy service can be made.', [
        [labels, Number(this.isBreakerOpen())],
      ]),
    ];
  }

  #counter(name: string, help: string, counts: Iterable<readonly [string, number]>): Family {
    return counter(
      name,
      help,
      [...counts].map(([own, value]) => [`${this.#labels},${own}`, value] as const),
    );
  }
}

function add(counts: Map<string, number>, key: string, by = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

/** Joins the metrics of several contracts: one family per name. */
export function joinSnapshots(snapshots: readonly Snapshot[]): Snapshot {
  const [first = [], ...others] = snapshots;
  return first.map((one, index) => ({
    ...one,
    samples: [...one.samples, ...others.flatMap((other) => other[index]?.samples ?? [])],
  }));
}

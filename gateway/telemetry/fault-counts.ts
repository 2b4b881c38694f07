import { others } from './caller-counts.ts';

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

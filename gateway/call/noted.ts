import type { Noted } from '../telemetry/request-stats.ts';
import type { Prepared } from './call-service.ts';
import type { Outcome } from './outcome.ts';

const nothingNoted = { dropped: 0, replaced: 0, passed: 0, mismatches: undefined } as const;

/** Returns the counts of tolerated deviations in a reply or a declared fault. */
function countsOf(
  outcome: Outcome,
): Pick<Extract<Outcome, { kind: 'reply' }>, 'dropped' | 'replaced' | 'passed' | 'inexact' | 'mismatches'> {
  if (outcome.kind === 'reply') return outcome;
  const { fault } = outcome.failure;
  if (fault === undefined) return nothingNoted;
  return { ...fault, mismatches: { missing: fault.missing, described: [] } };
}

/** Returns the deviations of a request and its reply for the log; undefined if there are none. */
export function noted(
  { ignored, illegalReferences, deviations }: Prepared['reading'],
  outcome: Outcome,
): Noted | undefined {
  const { dropped, replaced, passed, inexact = 0, mismatches } = countsOf(outcome);
  const missing = mismatches?.missing ?? 0;
  if (
    ignored.length === 0 &&
    deviations === undefined &&
    illegalReferences + dropped + replaced + passed + inexact + missing === 0
  )
    return undefined;
  const names = ignored.slice(0, 20).map((name) => name.slice(0, 64));
  const members =
    mismatches === undefined || mismatches.described.length === 0 ? {} : { members: mismatches.described };
  const numbers = inexact === 0 ? {} : { inexact };
  const deviating = deviations === undefined ? {} : { deviations: [...deviations] };
  return {
    ignored: names,
    quirks: illegalReferences, // the name of a documented log field (docs/operations.md)
    dropped,
    missing,
    replaced,
    passed,
    ...numbers,
    ...deviating,
    ...members,
  };
}

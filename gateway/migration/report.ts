import { findingName, isNote } from '../../mappings/compare/findings.ts';
import {
  type Judgement,
  judge,
  type Ready,
  type Verdict,
  verdicts,
  type Weight,
  weigh,
} from '../../mappings/compare/verdict.ts';
import { dayMs } from '../../mappings/contract/times.ts';
import { gauge, type Labelled, type Snapshot } from '../telemetry/metrics.ts';
import {
  type Counts,
  type EvidenceData,
  type Example,
  type Finding,
  isUnexplained,
  quantileOf,
} from './evidence.ts';
import { readState, type State } from './state-file.ts';

/** State of a finding in a report. `closed`: it was not found for `ready.days`, or since it was fixed. */
export type FindingState = Exclude<Weight, 'none'> | 'explained' | 'note' | 'closed';

/** A finding in a report. */
export interface ReportedFinding {
  /** For example `GetOrderResult.Line[].Price value`. */
  readonly name: string;
  readonly state: FindingState;
  /** Identifier in the store. */
  readonly id?: string;
  /** Reason of the rule or of the operator. */
  readonly reason?: string;
  readonly count: number;
  readonly calls: number;
  /** Comparisons of two legacy replies that contain the finding (G46). */
  readonly noise: number;
  /** Number of callers, at most 32. */
  readonly callers: number;
  /** Times in ms since 1970. */
  readonly first: number;
  readonly last: number;
  readonly examples: readonly Example[];
}

/** Quantiles of durations, in ms. */
export interface Latency {
  readonly p50: number;
  readonly p99: number;
}

/** An operation in a report (G50). */
export interface ReportedOperation extends Judgement {
  readonly operation: string;
  /** Compared calls, and their results. */
  readonly calls: number;
  readonly equal: number;
  readonly explained: number;
  readonly different: number;
  readonly callers: number;
  /** Days without an unexplained difference. */
  readonly days: number;
  readonly unanswered: number;
  readonly noisePairs: number;
  /** Differences that were not stored, because their call had too many. */
  readonly more: number;
  /** Findings that were replaced by others. */
  readonly replaced: number;
  readonly legacy?: Latency;
  readonly new?: Latency;
  readonly findings: readonly ReportedFinding[];
}

/** The report on a state file (G50). */
export interface Report extends Pick<State, 'contract' | 'saved' | 'ready'> {
  /** Reasons of rules that have no effect any more (G44). */
  readonly expired: readonly string[];
  readonly operations: readonly ReportedOperation[];
}

/**
 * Reads a state file and returns its report. Throws RangeError.
 *
 * @param now in ms since 1970
 */
export function readReport(file: string, now: number): Report {
  return reportOn(readExisting(file), now);
}

/** Returns the report on evidence. */
export function reportOn(
  { contract, saved, ready, dated, reads, ...data }: Omit<State, 'format' | 'version'>,
  now: number,
): Report {
  const expired = dated.filter(({ until }) => until < now).map(({ reason }) => reason);
  return { contract, saved, ready, expired, operations: reportOperations(data, reads, ready, now) };
}

function readExisting(file: string): State {
  let state: State | undefined;
  try {
    state = readState(file);
  } catch (error) {
    throw error instanceof RangeError ? new RangeError(`${file}: ${error.message}`) : error;
  }
  if (state !== undefined) return state;
  throw new RangeError(`${file}: expected a migration state, got no file or an empty one`);
}

/**
 * Returns the verdicts and findings of all reads, and of other operations with evidence.
 *
 * @param now in ms since 1970
 */
export function reportOperations(
  { operations, findings }: EvidenceData,
  reads: readonly string[],
  ready: Ready,
  now: number,
): readonly ReportedOperation[] {
  const counts = new Map(operations.map((one) => [one.operation, one]));
  const found = Map.groupBy(findings, ({ operation }) => operation);
  return [...new Set([...reads, ...counts.keys()])].map((operation) =>
    reportOperation(operation, counts.get(operation), found.get(operation) ?? [], ready, now),
  );
}

function reportOperation(
  operation: string,
  counts: Counts | undefined,
  findings: readonly Finding[],
  ready: Ready,
  now: number,
): ReportedOperation {
  const { equal = 0, explained = 0, different = 0, callers = [], unanswered = 0 } = counts ?? {};
  const { more = 0, noisePairs = 0, replaced = 0, replacedLast = 0, first = 0 } = counts ?? {};
  const calls = equal + explained + different;
  const isOpen = (last: number): boolean => now - last <= ready.days * dayMs;
  let unexplained = replacedLast > 0 && isOpen(replacedLast) ? 1 : 0;
  let quietSince = Math.max(first, replacedLast);
  const reported = findings.flatMap((finding): readonly ReportedFinding[] => {
    const weight = weigh({
      different: finding.calls,
      compared: calls,
      noiseDifferent: finding.noise,
      noisePairs,
    });
    if (weight === 'none') return [];
    if (!isUnexplained(finding)) return [reportFinding(finding, isNote(finding.kind) ? 'note' : 'explained')];
    const { decision } = finding;
    if (decision?.state === 'accepted') return [reportFinding(finding, 'explained')];
    if (weight === 'noise') return [reportFinding(finding, weight)];
    quietSince = Math.max(quietSince, finding.last);
    const isFixed = decision !== undefined && finding.last <= decision.at;
    if (isFixed || !isOpen(finding.last)) return [reportFinding(finding, 'closed')];
    unexplained++;
    return [reportFinding(finding, weight)];
  });
  const days = calls === 0 ? 0 : Math.max(0, now - quietSince) / dayMs;
  const judged = judge({ calls, callers: callers.length, days, unexplained, unanswered }, ready);
  return {
    operation,
    ...judged,
    ...{ calls, equal, explained, different, callers: callers.length, days: Math.floor(days * 10) / 10 },
    ...{ unanswered, noisePairs, more, replaced },
    ...latencyOf('legacy', counts?.legacyMs),
    ...latencyOf('new', counts?.newMs),
    findings: reported.toSorted(
      (a, b) => ranks.indexOf(a.state) - ranks.indexOf(b.state) || b.calls - a.calls,
    ),
  };
}

/** States in the order of a report. */
const ranks: readonly FindingState[] = ['different', 'undecided', 'closed', 'noise', 'explained', 'note'];

function reportFinding(finding: Finding, state: FindingState): ReportedFinding {
  const { id, path, kind, decision, count, calls, noise, callers, first, last, examples } = finding;
  const name = findingName(path, kind);
  const reason = finding.reason ?? (state === 'explained' ? decision?.reason : undefined);
  const ofStore = id === undefined ? {} : { id };
  return {
    name,
    state,
    ...ofStore,
    ...(reason === undefined ? {} : { reason }),
    count,
    calls,
    noise,
    callers: callers.length,
    first,
    last,
    examples,
  };
}

function latencyOf<Side extends 'legacy' | 'new'>(
  side: Side,
  durations: Counts['legacyMs'] = {},
): { readonly [name in Side]?: Latency } {
  const [p50, p99] = [quantileOf(durations, 0.5), quantileOf(durations, 0.99)];
  if (p50 === undefined || p99 === undefined) return {};
  return { [side]: { p50: rounded(p50), p99: rounded(p99) } } as { [name in Side]: Latency };
}

/** Rounds a duration to two digits, which is its precision. */
function rounded(ms: number): number {
  return Number(ms.toPrecision(2));
}

/** Returns the labels of `migration_verdict` with their values (G51). */
export function verdictSamples(
  contract: string,
  operations: readonly ReportedOperation[],
): readonly Labelled[] {
  return operations.flatMap(({ operation, verdict }) =>
    verdicts.map(
      (name: Verdict): Labelled => [
        `contract="${contract}",operation="${operation}",verdict="${name}"`,
        Number(name === verdict),
      ],
    ),
  );
}

/** Returns the metric of verdicts. Only one process of a gateway has it. */
export function verdictMetric(samples: readonly Labelled[]): Snapshot {
  const help = 'Verdict on an operation: 1 for the current verdict, 0 for the others.';
  return [gauge('migration_verdict', help, samples)];
}

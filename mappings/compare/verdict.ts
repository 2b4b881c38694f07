// Statistics of findings and operations (G46, G47).

/** Standard score of a confidence of 95 %. */
const z = 1.96;

/** Minimum number of noise comparisons that can show noise (G46). */
const leastNoisePairs = 30;

/** Counts of a finding, and of the comparisons of its operation. */
export interface NoiseCounts {
  /** Comparisons of both services that contain the finding. */
  readonly different: number;
  /** Comparisons of both services. */
  readonly compared: number;
  /** Comparisons of two legacy replies that contain the finding. */
  readonly noiseDifferent: number;
  /** Comparisons of two legacy replies. */
  readonly noisePairs: number;
}

/** Weight of a finding: `noise` counts as explained, `undecided` does not. */
export type Weight = 'none' | 'different' | 'undecided' | 'noise';

/** Compares how often a finding occurs between the services and within the legacy service (G46). */
export function weigh({ different, compared, noiseDifferent, noisePairs }: NoiseCounts): Weight {
  if (different === 0) return 'none';
  if (noiseDifferent === 0) return 'different';
  if (noisePairs < leastNoisePairs) return 'undecided';
  const isNoise = wilsonBounds(different, compared).lower <= wilsonBounds(noiseDifferent, noisePairs).upper;
  return isNoise ? 'noise' : 'different';
}

/** Returns the Wilson score interval of a share `count / all`, with 95 % confidence. */
export function wilsonBounds(count: number, all: number): { readonly lower: number; readonly upper: number } {
  const share = count / all;
  const scale = 1 + z ** 2 / all;
  const middle = (share + z ** 2 / (2 * all)) / scale;
  const half = (z / scale) * Math.sqrt((share * (1 - share)) / all + z ** 2 / (4 * all ** 2));
  return { lower: Math.max(0, middle - half), upper: Math.min(1, middle + half) };
}

/** Conditions for the verdict `ready` (G3, G47). */
export interface Ready {
  readonly calls: number;
  readonly callers: number;
  readonly days: number;
  /** Maximum number of shadow requests without a reply, as a share of the compared calls, from 0 to 1. */
  readonly unanswered: number;
}

export const verdicts = ['none', 'different', 'collecting', 'ready'] as const;

export type Verdict = (typeof verdicts)[number];

/** Counts of an operation. */
export interface OperationCounts {
  /** Compared calls. */
  readonly calls: number;
  readonly callers: number;
  /** Days since the first comparison or the last unexplained difference, whichever is later. */
  readonly days: number;
  /** Open findings without an explanation. */
  readonly unexplained: number;
  /** Shadow requests without a reply. */
  readonly unanswered: number;
}

/** The verdict of an operation, and the conditions of `ready` that it does not meet. */
export interface Judgement {
  readonly verdict: Verdict;
  /** Not empty only for `collecting`. */
  readonly missing: readonly (keyof Ready)[];
}

/** Returns the verdict of an operation. The first condition that holds decides (G47). */
export function judge(counts: OperationCounts, ready: Ready): Judgement {
  if (counts.calls === 0) return { verdict: 'none', missing: [] };
  if (counts.unexplained > 0) return { verdict: 'different', missing: [] };
  const missing = [
    counts.calls < ready.calls ? (['calls'] as const) : [],
    counts.callers < ready.callers ? (['callers'] as const) : [],
    counts.days < ready.days ? (['days'] as const) : [],
    counts.unanswered / counts.calls > ready.unanswered ? (['unanswered'] as const) : [],
  ].flat();
  return { verdict: missing.length === 0 ? 'ready' : 'collecting', missing };
}

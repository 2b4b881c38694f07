import type { Comparison } from '../../mappings/compare/comparison.ts';

/** A compared call. */
export interface ComparedCall {
  /** Name of the operation. */
  readonly operation: string;
  /** `id ID`, `secret SECRET` or `net NETWORK` (G9). */
  readonly callerKey: string;
  /** Name or pseudonym; undefined without identification. */
  readonly callerName: string | undefined;
  readonly requestId: string;
  readonly comparison: Comparison;
  /** Duration of the call to the legacy service, in ms. */
  readonly legacyMs?: number;
  /** Duration of the call to the upstream, in ms. */
  readonly newMs?: number;
  /** Time of the comparison, in ms since 1970. */
  readonly at: number;
}

/** Receives the results of the comparisons of one contract. Its methods neither fail nor wait. */
export interface ComparisonSink {
  /** Adds the comparison of a call. */
  readonly add: (call: ComparedCall) => void;
  /** Adds only the findings of a comparison of items, which is no comparison of two replies (G30). */
  readonly addFindings: (call: ComparedCall) => void;
  /** Adds the comparison of two replies of the legacy service to one request (G46). */
  readonly addNoise: (operation: string, comparison: Comparison, at: number) => void;
  /** Adds a shadow request without a reply. */
  readonly unanswered: (operation: string, at: number) => void;
}

// The result of comparing two replies to one request (G33 to G44).

/** Kind of a difference (G40). */
export type DifferenceKind =
  | 'missing'
  | 'extra'
  | 'value'
  | 'absence'
  | 'order'
  | 'type'
  | 'fault'
  | 'status'
  | 'frame'
  | 'unreadable';

/** A difference between the two replies (G40). */
export interface Difference {
  /** Path of the value, e.g. `GetOrderResult.Line[0].Price`, `@fault.code` or `@headers.QuotaHeader.callsLeft`. */
  readonly path: string;
  readonly kind: DifferenceKind;
  /** Class of a `value` or an `absence`, e.g. `case` or `nil present`. */
  readonly class?: string;
  /** Value in the legacy reply, as text of at most 256 characters. */
  readonly legacy?: string;
  /** Value in the new reply, as text of at most 256 characters. */
  readonly new?: string;
  /** Sensitivity of the value: `credential` values are never stored; `personal` values only as pseudonyms. */
  readonly sensitivity?: 'credential' | 'personal';
}

/** A difference that a rule explains (G44). */
export interface Explained extends Difference {
  /** Index of the rule in `migration.compare.rules`. */
  readonly rule: number;
}

/** Equal values with another spelling, or a violation of the contract (G34, G36). */
export interface Note {
  readonly path: string;
  readonly note: 'offset' | 'scale' | 'default' | 'offContract';
  /** Reason of `offContract`. */
  readonly code?: string;
}

/** Result of a call (G44). */
export type ComparisonResult = 'equal' | 'explained' | 'different';

/** The comparison of two replies. */
export interface Comparison {
  readonly result: ComparisonResult;
  /** At most 200 differences without an explanation, in the order of the legacy reply. */
  readonly differences: readonly Difference[];
  /** At most 200 explained differences. */
  readonly explained: readonly Explained[];
  readonly notes: readonly Note[];
  /** Number of differences, explained ones included, above these maximums. */
  readonly more: number;
}

/** A reply as the HTTP client received it, after decompression. */
export interface ReplyBytes {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: Uint8Array;
  /** Digests of the parts whose content is not in `body`, by their position after the envelope (G27). */
  readonly digests?: ReadonlyMap<number, string> | undefined;
}

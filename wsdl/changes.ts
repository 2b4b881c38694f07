/**
 * What a change means to a client that was built from the old contract: `breaking`: calls fail or values are lost;
 * `strict`: clients that read closed types fail, others don't; `compatible`: none notices.
 */
export type Grade = 'breaking' | 'strict' | 'compatible';

/** One difference between two contracts that callers may meet. */
export interface Change {
  readonly grade: Grade;
  /** Such as `TrackParcel`, `Parcel in replies, grams`. */
  readonly where: string;
  /** What is different. */
  readonly what: string;
  /** What that does to a client that is already built. */
  readonly why: string;
}

/** What a message is, as clients see it. */
export type Direction = 'requests' | 'replies';

/** Takes one change. */
export type ReportChange = (grade: Grade, where: string, what: string, why: string) => void;

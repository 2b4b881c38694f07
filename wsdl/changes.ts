/**
 * Effect of a change on a client built from the old contract. `breaking`: calls fail or values are lost; `strict`: only
 * clients that read closed types fail; `compatible`: no client notices.
 */
export type Grade = 'breaking' | 'strict' | 'compatible';

/** One difference between two contracts that can affect callers. */
export interface Change {
  readonly grade: Grade;
  /** Location of the change, for example `TrackParcel` or `Parcel in replies, grams`. */
  readonly where: string;
  /** Description of the difference. */
  readonly what: string;
  /** Effect on a client that is already built. */
  readonly why: string;
}

/** Direction of a message, from the client's point of view. */
export type Direction = 'requests' | 'replies';

/** Records one change. */
export type ReportChange = (grade: Grade, where: string, what: string, why: string) => void;

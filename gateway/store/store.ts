/** A value of a column. Times are ms since 1970. JSON is text. */
export type StoreValue = string | number | Uint8Array | null;

/** A row by column. Integers are numbers. */
export type StoreRow = Readonly<Record<string, StoreValue>>;

/**
 * A statement of SQL that SQLite and PostgreSQL understand. Parameters are `$1`, `$2` and so on, each named once, in
 * this order.
 */
export interface Statement {
  readonly sql: string;
  readonly values?: readonly StoreValue[];
}

/**
 * Reason of a failed call, for log and metrics (G54). `paused`: the store failed less than a minute ago. `constraint`: the
 * statement contradicts a row, or has a wrong value, and the store works. `conflict`: the transaction was undone, because
 * it waited for another one that waited for it.
 */
export type StoreReason =
  | 'busy'
  | 'closed'
  | 'conflict'
  | 'constraint'
  | 'corrupt'
  | 'full'
  | 'missing'
  | 'older'
  | 'paused'
  | 'queue'
  | 'readonly'
  | 'refused'
  | 'schema'
  | 'statement'
  | 'timeout'
  | 'unreachable';

/** The call to the store failed or took too long, or the store is known to fail (G54). */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly reason: StoreReason;
  /** Code of SQLite, PostgreSQL or the operating system; `''` for none. */
  readonly code: string;

  constructor(message: string, reason: StoreReason = 'statement', code = '') {
    super(message);
    this.reason = reason;
    this.code = code;
  }
}

/** The store of a process (G53). Calls run one after another, on a thread or on a server. */
export interface Store {
  /** Returns the rows of a query. Rejects with StoreError. */
  readonly all: (statement: Statement) => Promise<readonly StoreRow[]>;
  /** Runs statements in one transaction. Returns the number of rows that each has changed. Rejects with StoreError. */
  readonly write: (statements: readonly Statement[]) => Promise<readonly number[]>;
  /** True while the store works. A call may fail nevertheless, because another one holds a lock for too long. */
  readonly isUp: boolean;
  /** Ends after the calls that were made. */
  readonly close: () => Promise<void>;
}

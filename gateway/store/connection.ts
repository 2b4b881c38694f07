import type { Statement, StoreRow } from './store.ts';

/**
 * A connection to a database. It is opened, and the schema migrated, by the first call and by the first call after
 * `reset`. All functions reject with StoreError.
 */
export interface Connection {
  readonly all: (statement: Statement) => Promise<readonly StoreRow[]>;
  readonly write: (statements: readonly Statement[]) => Promise<readonly number[]>;
  /** Closes the connection after a failure. */
  readonly reset: () => void;
  /** Closes the connection. */
  readonly close: () => Promise<void>;
}

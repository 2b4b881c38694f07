import { Repeated } from '../store/repeated.ts';
import { type Statement, type Store, StoreError, type StoreRow } from '../store/store.ts';
import { newestRouteVersions } from '../store/tables/routes.ts';
import { allExemptions } from '../store/tables/usage.ts';

// The rows of the store that decide about calls. A worker that starts while the store fails gets them from the primary
// process (G54).

const queries: readonly Statement[] = [newestRouteVersions, allExemptions];

/** Time between two readings of the primary process, in ms. */
const pauseMs = 1_000;

/** Returns the rows of a query that the primary process has read last; undefined if the store has not answered it. */
export type AskFirstRows = (sql: string) => Promise<readonly StoreRow[] | undefined>;

/** Primary process: reads the rows every second, and keeps the last ones while the store fails. */
export class FirstRows {
  readonly #rows = new Map<string, readonly StoreRow[]>();
  readonly #reading: Repeated;

  constructor(store: Store, onError: (error: unknown) => void) {
    const read = async (): Promise<void> => {
      for (const query of queries) this.#rows.set(query.sql, await store.all(query));
    };
    this.#reading = new Repeated(read, pauseMs, onError);
    void this.#reading.now();
  }

  readonly of = (sql: string): readonly StoreRow[] | undefined => this.#rows.get(sql);

  close(): Promise<void> {
    return this.#reading.close();
  }
}

/** Worker process: returns the store. The primary process answers the queries that the store has not answered yet. */
export function withFirstRows(store: Store, ask: AskFirstRows): Store {
  const unanswered = new Set(queries.map(({ sql }) => sql));
  return {
    get isUp() {
      return store.isUp;
    },
    write: store.write,
    close: store.close,
    all: async (statement) => {
      const { sql } = statement;
      if (!unanswered.has(sql)) return store.all(statement);
      try {
        const rows = await store.all(statement);
        unanswered.delete(sql);
        return rows;
      } catch (error) {
        const rows = error instanceof StoreError ? await ask(sql) : undefined;
        if (rows === undefined) throw error;
        return rows;
      }
    },
  };
}

/** Worker process: returns true if the store has answered the primary process. */
export async function isKnownToPrimary(ask: AskFirstRows): Promise<boolean> {
  const answers = await Promise.all(queries.map(({ sql }) => ask(sql)));
  return answers.every((rows) => rows !== undefined);
}

import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';

/**
 * All tables. Dates are milliseconds since 1970, amounts are whole pence, booleans are 0 and 1. `owner` is the user
 * name of a record's owner.
 */
const schema = `
  CREATE TABLE account (
    id INTEGER PRIMARY KEY,
    api_user_id TEXT NOT NULL UNIQUE,
    key_salt BLOB NOT NULL,
    key_hash BLOB NOT NULL,
    balance_pence INTEGER NOT NULL CHECK (balance_pence >= 0)
  ) STRICT;

  CREATE TABLE user (
    account INTEGER NOT NULL REFERENCES account (id),
    user_name TEXT NOT NULL,
    user_id TEXT NOT NULL CHECK (length(user_id) = 32),
    name TEXT NOT NULL,
    email TEXT,
    is_main_user INTEGER NOT NULL,
    is_admin INTEGER NOT NULL,
    can_resolve_searches INTEGER NOT NULL,
    can_delete_searches INTEGER NOT NULL,
    agree_to_contact_date INTEGER,
    agree_to_terms_date INTEGER,
    agree_to_data_protection_date INTEGER,
    PRIMARY KEY (account, user_name),
    UNIQUE (account, user_id)
  ) STRICT;
  CREATE UNIQUE INDEX one_main_user ON user (account) WHERE is_main_user = 1;

  CREATE TABLE permission (
    account INTEGER NOT NULL,
    user_name TEXT NOT NULL,
    position INTEGER NOT NULL,
    visible TEXT NOT NULL,
    PRIMARY KEY (account, user_name, visible),
    FOREIGN KEY (account, user_name) REFERENCES user (account, user_name),
    FOREIGN KEY (account, visible) REFERENCES user (account, user_name)
  ) STRICT;

  CREATE TABLE sanctions_search (
    id INTEGER PRIMARY KEY,
    account INTEGER NOT NULL,
    owner TEXT NOT NULL,
    search_type TEXT NOT NULL,
    date_searched INTEGER NOT NULL,
    date_updated INTEGER,
    date_archived INTEGER,
    client_in_results INTEGER NOT NULL,
    client_not_in_results INTEGER NOT NULL,
    affected_by_update INTEGER NOT NULL,
    criteria TEXT NOT NULL, -- JSON: SearchCriteria
    sources TEXT NOT NULL, -- JSON: an array of SearchSource
    FOREIGN KEY (account, owner) REFERENCES user (account, user_name)
  ) STRICT;

  CREATE TABLE sanctions_result (
    search INTEGER NOT NULL REFERENCES sanctions_search (id),
    list TEXT NOT NULL, -- the member it is listed under: euResults, …, listSearchResults
    position INTEGER NOT NULL,
    strength INTEGER,
    similarity REAL,
    resolved INTEGER NOT NULL,
    type TEXT,
    date_updated INTEGER,
    details TEXT NOT NULL, -- JSON: the members that the list's own type adds
    PRIMARY KEY (search, list, position)
  ) STRICT;

  CREATE TABLE dbs_search (
    id INTEGER PRIMARY KEY,
    account INTEGER NOT NULL,
    owner TEXT NOT NULL,
    date_searched INTEGER NOT NULL,
    date_updated INTEGER,
    status TEXT NOT NULL,
    disclosure_status TEXT,
    is_applicant_info_completed INTEGER NOT NULL,
    is_id_check_completed INTEGER NOT NULL,
    is_application_completed INTEGER NOT NULL,
    is_application_submitted INTEGER NOT NULL,
    is_application_disclosed INTEGER NOT NULL,
    disclosure_level TEXT NOT NULL,
    applicant TEXT NOT NULL, -- JSON: ApplicantInformation
    FOREIGN KEY (account, owner) REFERENCES user (account, user_name)
  ) STRICT;

  CREATE TABLE linked_to (
    sanctions_search INTEGER REFERENCES sanctions_search (id),
    dbs_search INTEGER REFERENCES dbs_search (id),
    position INTEGER NOT NULL,
    client_id INTEGER,
    id INTEGER NOT NULL,
    type TEXT NOT NULL,
    subtype TEXT,
    status TEXT,
    description TEXT,
    is_archived INTEGER NOT NULL,
    name TEXT,
    date INTEGER,
    CHECK ((sanctions_search IS NULL) <> (dbs_search IS NULL))
  ) STRICT;

  CREATE TABLE pep_search (
    id INTEGER PRIMARY KEY,
    account INTEGER NOT NULL,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    date_due INTEGER NOT NULL,
    FOREIGN KEY (account, owner) REFERENCES user (account, user_name)
  ) STRICT;

  CREATE TABLE valid_id_search (
    id INTEGER PRIMARY KEY,
    account INTEGER NOT NULL,
    owner TEXT NOT NULL,
    type INTEGER NOT NULL,
    score INTEGER,
    status TEXT NOT NULL,
    date_searched INTEGER NOT NULL,
    reference TEXT,
    pep_error INTEGER NOT NULL,
    replacement_search_id INTEGER,
    has_completed_request INTEGER NOT NULL,
    has_completed_search INTEGER NOT NULL,
    full_name TEXT NOT NULL,
    folded_name TEXT NOT NULL, -- full_name without case and diacritics
    date_of_birth INTEGER,
    gender TEXT,
    address TEXT,
    client_in_results INTEGER NOT NULL DEFAULT 0,
    client_not_in_results INTEGER NOT NULL DEFAULT 0,
    CHECK (client_in_results + client_not_in_results < 2),
    FOREIGN KEY (account, owner) REFERENCES user (account, user_name)
  ) STRICT;
  CREATE INDEX valid_id_search_by_date ON valid_id_search (account, date_searched);

  CREATE TABLE client (
    id INTEGER PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES account (id),
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    preset TEXT NOT NULL,
    date_created INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE document (
    id INTEGER PRIMARY KEY,
    account INTEGER NOT NULL,
    owner TEXT NOT NULL,
    is_ready INTEGER NOT NULL,
    name TEXT NOT NULL,
    searched_name TEXT NOT NULL,
    file_name TEXT NOT NULL,
    type TEXT NOT NULL,
    sanctions_search_id INTEGER,
    pep_search_id INTEGER,
    valid_id_search_id INTEGER,
    company_lookup_search_id INTEGER,
    date_created INTEGER NOT NULL,
    date_expires INTEGER NOT NULL,
    FOREIGN KEY (account, owner) REFERENCES user (account, user_name)
  ) STRICT;
`;

// Stored in the file's header. Increase it with every change of the schema above.
const schemaVersion = 1;

type Parameters = Readonly<Record<string, SQLInputValue>>;

/** Database interface of the operations: SQL from the source code, with values bound by name. */
export interface Store {
  /** Returns the first row, or undefined. */
  get<Row>(sql: string, parameters?: Parameters): Row | undefined;
  all<Row>(sql: string, parameters?: Parameters): readonly Row[];
  /** Returns the number of changed rows. */
  run(sql: string, parameters?: Parameters): number;
  /** Runs `work` as one transaction. If it throws or the process dies, nothing is changed (R1). */
  transaction<T>(work: () => T): T;
  close(): void;
}

/**
 * Opens the database at `location` (a file's path or `:memory:`). A database without tables gets the schema and `seed`
 * in one transaction. Throws if the file contains anything else.
 */
export function openStore(location: string, seed: (store: Store) => void): Store {
  // Several processes may share a file, so each waits for the write lock.
  const database = new DatabaseSync(location, { timeout: 5_000 });
  try {
    // Committed data survive a crash and a power failure. Readers do not wait for the writer.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    const store = createStore(database);
    store.transaction(() => {
      const tables = store.get<{ count: number }>('SELECT count(*) AS count FROM sqlite_schema')?.count;
      if (tables === 0) {
        database.exec(`${schema} PRAGMA user_version = ${schemaVersion}`);
        seed(store);
      }
      const version = store.get<{ user_version: number }>('PRAGMA user_version')?.user_version;
      if (version !== schemaVersion) {
        throw new Error(`${location}: expected a database of schema ${schemaVersion}, got ${version}`);
      }
    });
    return store;
  } catch (error) {
    database.close();
    throw error;
  }
}

function createStore(database: DatabaseSync): Store {
  const statements = new Map<string, StatementSync>();
  const prepare = (sql: string): StatementSync => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const statement = database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  return {
    get: <Row>(sql: string, parameters: Parameters = {}) => prepare(sql).get(parameters) as Row | undefined,
    all: <Row>(sql: string, parameters: Parameters = {}) =>
      prepare(sql).all(parameters) as unknown as readonly Row[],
    run(sql, parameters = {}) {
      const statement = prepare(sql);
      // `run` also returns the last row's id, and throws if a 64-bit id does not fit a number, so bigints are enabled.
      statement.setReadBigInts(true);
      return Number(statement.run(parameters).changes);
    },
    transaction(work) {
      database.exec('BEGIN IMMEDIATE');
      try {
        const result = work();
        database.exec('COMMIT');
        return result;
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    },
    close() {
      if (database.isOpen) database.close();
    },
  };
}

import { StoreError, type StoreValue } from './store.ts';
import type { TableData } from './table-data.ts';
import { auditTables } from './tables/audit.ts';
import { evidenceData, evidenceTables } from './tables/evidence.ts';
import { recordData, recordTables } from './tables/record.ts';
import { routeData, routeTables } from './tables/routes.ts';
import { usageData, usageTables } from './tables/usage.ts';

/**
 * The statements of one migration. Each runs on SQLite and on PostgreSQL. Use the types BIGINT, DOUBLE PRECISION, TEXT,
 * BYTEA, and `BIGSERIAL PRIMARY KEY` for an ascending number.
 */
export interface SchemaChange {
  /** Changes with the same major number only add tables, columns and indexes. */
  readonly major: number;
  readonly minor: number;
  readonly statements: readonly string[];
}

/** All migrations in their order (G53). A released one never changes. */
export const schemaChanges: readonly SchemaChange[] = [
  {
    major: 1,
    minor: 0,
    statements: [...evidenceTables, ...recordTables, ...usageTables, ...routeTables, ...auditTables],
  },
];

/** All tables whose rows expire or belong to callers (G55). */
export const tableData: readonly TableData[] = [...evidenceData, recordData, ...usageData, ...routeData];

/** Creates the table of the version. Runs before each migration. */
export const metaTable = 'CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)';

/** Selects the version as the text `MAJOR.MINOR`. */
export const selectVersion = "SELECT value FROM meta WHERE name = 'schema'";

/**
 * Returns the statements that migrate a schema to this version of the product. A newer minor version stays as it is.
 * Throws StoreError for a newer major version (G53).
 *
 * @param version text of `selectVersion`; undefined for an empty database
 * @param isExisting true if an older schema is an error
 */
export function migrationOf(
  version: StoreValue | undefined,
  isExisting: boolean,
  changes = schemaChanges,
): readonly string[] {
  const [major = 0, minor = 0] = String(version ?? '0.0')
    .split('.')
    .map(Number);
  const own = changes.at(-1) ?? { major: 0, minor: 0 };
  if (major > own.major)
    throw new StoreError(
      `expected a store with a schema of major version ${own.major}, got ${major}. Start the version of soapbridge that has written it`,
      'schema',
    );
  const due = changes.filter((one) => one.major > major || (one.major === major && one.minor > minor));
  if (due.length === 0) return [];
  if (isExisting)
    throw new StoreError(
      `expected a store with a schema of version ${own.major}.${own.minor}, got ${version ?? 'none'}. Start the gateway of this version first`,
      'older',
    );
  const set = `INSERT INTO meta (name, value) VALUES ('schema', '${own.major}.${own.minor}')`;
  return [
    ...due.flatMap(({ statements }) => statements),
    `${set} ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  ];
}

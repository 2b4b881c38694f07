import { auditTables } from './tables/audit.ts';
import { evidenceTables } from './tables/evidence.ts';
import { recordTables } from './tables/record.ts';
import { routeTables } from './tables/routes.ts';
import { usageTables } from './tables/usage.ts';

/** The statements of one migration. Each runs on SQLite and on PostgreSQL. */
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

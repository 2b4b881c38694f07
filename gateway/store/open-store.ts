import type { Log } from '../core/core-options.ts';
import type { Connection } from './connection.ts';
import { GuardedStore, usualRetryMs } from './guarded-store.ts';
import { StoreError } from './store.ts';

/** Options of a store. */
export interface StoreOptions {
  /** `sqlite:PATH`, or `postgres://…` with the password. It is never logged. */
  readonly url: string;
  /** Maximum time of one call, in ms. */
  readonly storeMs: number;
  readonly log: Log;
  /** True if a missing file and an older schema are errors. Otherwise they are created and migrated. */
  readonly isExisting?: boolean;
  /** Time without calls after a failure, in ms; one minute by default. */
  readonly retryMs?: number | undefined;
}

const sqliteScheme = 'sqlite:';

/** Returns true for the URL of a SQLite file. */
export function isSqlite(url: string): boolean {
  return url.startsWith(sqliteScheme);
}

/**
 * Opens a store and migrates its schema (G53). A store that is unreachable is returned, too, and tried again every
 * minute (G54). Rejects with StoreError for a schema of a newer major version, and with MissingPackageError.
 */
export async function openStore({
  url,
  storeMs,
  log,
  retryMs = usualRetryMs,
  isExisting = false,
}: StoreOptions): Promise<GuardedStore> {
  const store = new GuardedStore(await connectionOf(url, storeMs, isExisting), {
    retryMs,
    onUp: () => log.info({}, 'store available'),
    onBusy: ({ reason, code }) => log.warn({ reason, code }, 'store busy: a call failed'),
    onDown: ({ reason, code }) =>
      log.error({ reason, ...(code === '' ? {} : { code }), retryMs }, 'store failed: retrying later'),
  });
  try {
    await store.probe();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.reason !== 'schema') return store;
    await store.close();
    throw error;
  }
  return store;
}

/** Loads only the module that the URL needs. */
async function connectionOf(url: string, storeMs: number, isExisting: boolean): Promise<Connection> {
  if (isSqlite(url)) {
    const { SqliteConnection } = await import('./sqlite.ts');
    return new SqliteConnection(url.slice(sqliteScheme.length), storeMs, isExisting);
  }
  const [{ PostgresConnection }, { requirePackages }] = await Promise.all([
    import('./postgres.ts'),
    import('../../mappings/optional-packages.ts'),
  ]);
  requirePackages('store');
  return new PostgresConnection(url, storeMs, isExisting);
}

/**
 * Tries to open a store without changing it. Returns the second part of a sentence about it. Rejects with StoreError for
 * a schema of a newer major version.
 */
export async function describeStore(url: string, storeMs: number): Promise<string> {
  const connection = await connectionOf(url, storeMs, true);
  const ignore = (): void => {}; // this function returns or throws the failure
  const store = new GuardedStore(connection, {
    ...{ retryMs: usualRetryMs, onUp: ignore, onBusy: ignore, onDown: ignore },
  });
  try {
    await store.probe();
    return 'can be opened';
  } catch (error) {
    if (!(error instanceof StoreError) || error.reason === 'schema') throw error;
    if (error.reason === 'older') return 'can be opened. The gateway migrates its schema';
    if (error.reason === 'missing') return 'does not exist yet. The gateway creates it';
    return `cannot be opened now: ${error.message}`;
  } finally {
    await store.close();
  }
}

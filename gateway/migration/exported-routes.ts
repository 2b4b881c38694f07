import type { StoreRow } from '../store/store.ts';
import type { CheckedMigration } from './migrations.ts';
import type { RouteChange } from './route-changes.ts';
import { parseChanges } from './route-sync.ts';

/**
 * Returns the routes of contracts as YAML: the changes of the store, then the rules of the file (G66). A comment tells the
 * time at which a change ends, because rules of the file have no end.
 *
 * @param rows the newest version of each contract
 * @param now in ms since 1970
 */
export async function exportedRoutes(
  migrations: readonly CheckedMigration[],
  rows: readonly StoreRow[],
  now: number,
): Promise<string> {
  const { Document } = await import('yaml');
  const changesOf = (path: string): readonly RouteChange[] => {
    const row = rows.find(({ contract }) => contract === path);
    const changes = row === undefined ? [] : parseChanges(String(row.changes));
    return changes.filter(({ until = Number.POSITIVE_INFINITY }) => until > now);
  };
  const contracts = migrations.map(({ contract, plan }) => {
    const path = contract.basePath || '/';
    const changed = changesOf(path).map(ruleOf);
    return [path, { migration: { routes: [...changed, ...(plan.stated.routes ?? []).map(plain)] } }];
  });
  const document = new Document({ contracts: Object.fromEntries(contracts) });
  const ends = migrations.flatMap(({ contract }) =>
    changesOf(contract.basePath || '/').flatMap(({ operation, until }) =>
      until === undefined ? [] : [` change ${operation} ends at ${new Date(until).toISOString()}`],
    ),
  );
  if (ends.length > 0) document.commentBefore = ends.join('\n');
  return document.toString();
}

/** Returns the rule of a change. Its name selects the same callers as the change. */
function ruleOf({ operation, mode, percent, answer }: RouteChange): object {
  return {
    name: `change ${operation}`,
    operations: [operation],
    ...(percent === 100 ? {} : { when: { percent } }),
    mode,
    ...(answer === undefined ? {} : { answer }),
  };
}

/** Returns a value of a settings file with objects in place of maps. */
function plain(value: unknown): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, one]) => [key, plain(one)]));
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]));
}

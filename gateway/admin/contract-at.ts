import type { CheckedMigration } from '../migration/migrations.ts';
import type { RouteSync } from '../migration/route-sync.ts';
import type { AdminState } from '../process/admin.ts';
import type { Store } from '../store/store.ts';
import { conflict, Problem } from './problem.ts';

/** Returns the contract at a path with its legacy service. Throws Problem 404. */
export function migrationAt({ contracts, migrations }: AdminState, path: string): CheckedMigration {
  const found = migrations?.().find(({ contract }) => (contract.basePath || '/') === path);
  if (found !== undefined) return found;
  checkContract({ contracts }, path);
  throw new Problem(404, 'expected a contract with a legacy service, got one without');
}

/** Throws Problem 404 unless a contract is served at a path. */
export function checkContract({ contracts }: Pick<AdminState, 'contracts'>, path: string): void {
  if (!contracts().some((served) => served.path === path))
    throw new Problem(404, 'expected the path of a contract, got another path');
}

/** Returns the store. Throws Problem 409 NoStore without one. */
export function storeOf({ store }: AdminState): Store {
  if (store !== undefined) return store;
  throw conflict('NoStore', 'expected the setting store in soapbridge.yaml, got none');
}

/** Returns the store and the route changes. Throws Problem 409 NoStore without a store. */
export function changeableRoutes(state: AdminState): { readonly store: Store; readonly sync: RouteSync } {
  const store = storeOf(state);
  const sync = state.routeSync?.();
  if (sync === undefined) throw new TypeError('routes: expected route changes with a store, got none');
  return { store, sync };
}

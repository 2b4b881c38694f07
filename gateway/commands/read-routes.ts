import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';
import type { CheckedMigration } from '../migration/migrations.ts';
import { readCallers } from '../process/callers-file.ts';
import { readConfig } from '../process/config.ts';
import { loadContract } from '../process/load-place.ts';
import { migratedOf } from '../process/process-migrations.ts';
import type { Callers } from '../telemetry/callers.ts';

/** Flags that name the files of routes. */
export interface RouteFlags {
  readonly config?: string;
  readonly callers?: string;
  readonly callerKey?: string;
  readonly limits?: Limits;
}

/** The checked routes of a configuration file, and its callers. */
export interface ReadRoutes {
  readonly migrations: readonly CheckedMigration[];
  readonly callers: Callers;
}

/** Reads the contracts with a legacy service, and checks their routes. Throws ContractError. */
export async function readRoutes({ config, callers, callerKey, limits }: RouteFlags): Promise<ReadRoutes> {
  const { checkMigrations } = await import('../migration/migrations.ts');
  const names = readCallers({ callers, callerKey });
  const plans = config === undefined ? [] : readConfig(config).filter(({ legacy }) => legacy !== undefined);
  const planned = plans.map((plan) => ({
    plan,
    loaded: loadContract(plan.contract, limits ?? defaultLimits, true),
  }));
  const migrated = migratedOf(planned).filter((one) => one !== undefined);
  return { migrations: checkMigrations(migrated, names, []), callers: names };
}

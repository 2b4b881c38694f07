import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';
import { shownPath } from '../../mappings/http-mapping/paths.ts';
import type { ContractProblem } from '../../mappings/loader/document/error.ts';
import type { CheckedMigration } from '../migration/migrations.ts';
import { readCallers } from '../process/callers-file.ts';
import { readConfig } from '../process/config.ts';
import { loadContract } from '../process/load-place.ts';
import { type CheckedDeprecations, checkDeprecations } from '../process/process-deprecations.ts';
import { migratedOf } from '../process/process-migrations.ts';
import type { PlannedContract } from '../process/sites.ts';
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
  /** The contracts with a legacy service, as they were loaded. */
  readonly planned: readonly PlannedContract[];
  readonly migrations: readonly CheckedMigration[];
  /** Contracts with deprecated operations. */
  readonly deprecations: readonly CheckedDeprecations[];
  readonly callers: Callers;
}

/**
 * Returns the only contract with a legacy service, or the one at a path. Throws RangeError.
 *
 * @param flag option that names the path
 */
export function onlyMigration(
  migrations: readonly CheckedMigration[],
  path: string | undefined,
  flag: string,
): CheckedMigration {
  const pathOf = ({ contract }: CheckedMigration): string => shownPath(contract.basePath);
  const [only, ...others] = migrations.filter((one) => path === undefined || pathOf(one) === path);
  if (only !== undefined && others.length === 0) return only;
  const paths = migrations.map(pathOf).join(', ');
  throw new RangeError(`${flag}: expected one contract with a legacy service of ${paths || 'none'}`);
}

/** Reads the contracts with a legacy service or deprecated operations, and checks them. Throws ContractError. */
export async function readRoutes({ config, callers, callerKey, limits }: RouteFlags): Promise<ReadRoutes> {
  const { checkMigrations } = await import('../migration/migrations.ts');
  const names = readCallers({ callers, callerKey });
  const plans = (config === undefined ? [] : readConfig(config)).filter(
    ({ legacy, deprecate }) => legacy !== undefined || deprecate !== undefined,
  );
  const planned = plans.map((plan) => ({
    plan,
    loaded: loadContract(plan.contract, limits ?? defaultLimits, plan.legacy !== undefined, plan.wsse),
  }));
  const migrated = migratedOf(planned).filter((one) => one !== undefined);
  const problems: ContractProblem[] = [];
  const deprecations = await checkDeprecations(planned, names, problems);
  const migrations = checkMigrations(migrated, names, [], new Map(), problems);
  return {
    planned,
    migrations,
    deprecations: deprecations.filter((one) => one !== undefined),
    callers: names,
  };
}

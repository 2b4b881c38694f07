import { Option } from 'commander';
import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';
import { shownPath } from '../../mappings/http-mapping/paths.ts';
import type { LoadedMapping } from '../../mappings/mapping/load.ts';
import type { CheckedMigration } from '../migration/migrations.ts';
import { readPeriod } from '../migration/units.ts';
import type { SitePlan } from '../process/sites.ts';
import type { Callers } from '../telemetry/callers.ts';
import { callerOptions } from './file-options.ts';
import { configOption, limitsOption } from './options.ts';
import { onlyMigration, readRoutes } from './read-routes.ts';
import { storeOption } from './store-option.ts';

/** Flags of commands about the recordings of one contract. */
export interface RecordingFlags {
  readonly config: string;
  readonly store?: string;
  readonly contract?: string;
  readonly callers?: string;
  readonly callerKey?: string;
  readonly limits?: Limits;
  readonly operation?: string;
  readonly caller?: string;
  readonly since?: number;
  readonly until?: number;
  readonly limit?: number;
}

/** Creates the options of `RecordingFlags`. */
export function recordingOptions(): readonly Option[] {
  return [
    configOption().makeOptionMandatory(),
    storeOption(),
    new Option('--contract <path>', 'path of the contract, if several have a legacy service'),
    ...callerOptions(),
    new Option('--operation <name>', 'only this operation'),
    new Option('--caller <name>', 'only this caller: its name or pseudonym'),
    new Option(
      '--since <time>',
      'only exchanges from this time: RFC 3339, or a duration such as 7d',
    ).argParser((text) => toTime('--since', text)),
    new Option('--until <time>', 'only exchanges before this time').argParser((text) =>
      toTime('--until', text),
    ),
    new Option('--limit <number>', 'maximum number of exchanges').argParser((text) =>
      toCount('--limit', text),
    ),
    limitsOption(),
  ];
}

/** Reads a time in RFC 3339 or a duration before now. Throws RangeError. */
function toTime(flag: string, text: string): number {
  const duration = readPeriod(text);
  if (duration !== undefined) return Date.now() - duration;
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[-+]\d\d:\d\d)$/.test(text);
  const at = Date.parse(text);
  if (isTime && !Number.isNaN(at)) return at;
  throw new RangeError(
    `${flag}: expected a time such as 2026-11-27T10:00:00Z or a duration such as 7d, got ${text}`,
  );
}

/** Reads a positive number. Throws RangeError. */
export function toCount(flag: string, text: string): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (count > 0) return count;
  throw new RangeError(`${flag}: expected a number from 1 on, got ${text}`);
}

/** The contract of a command about recordings. */
export interface RecordedContract {
  readonly checked: CheckedMigration;
  readonly plan: SitePlan;
  readonly mapping: LoadedMapping | undefined;
  readonly callers: Callers;
  readonly limits: Limits;
  /** Path of the contract as in the log. */
  readonly path: string;
}

/**
 * Reads the contract that the flags name.
 *
 * @param known path of the contract, if the flags name none
 */
export async function readRecordedContract(flags: RecordingFlags, known?: string): Promise<RecordedContract> {
  const { planned, migrations, callers } = await readRoutes(flags);
  const { contract = known, operation } = flags;
  const checked = onlyMigration(migrations, contract, '--contract');
  const own = planned.find(({ plan }) => plan.legacy === checked.plan);
  if (own === undefined) throw new Error('a checked contract has no plan');
  if (operation !== undefined && !checked.contract.operations.some(({ name }) => name === operation))
    throw new RangeError(`--operation: expected an operation of the contract, got ${operation}`);
  return {
    checked,
    plan: own.plan,
    mapping: own.loaded.mapping,
    callers,
    limits: { ...(flags.limits ?? defaultLimits), ...own.plan.limits },
    path: shownPath(checked.contract.basePath),
  };
}

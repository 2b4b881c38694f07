import { didYouMean } from '../../../mappings/contract/nearest.ts';
import type { Report } from '../../../mappings/loader/document/error.ts';
import type { RedactionMode } from '../../../mappings/redact/message.ts';
import type { LegacyPlan } from '../../process/legacy-plan.ts';
import { readPeriod, readShare, readSize } from '../units.ts';

/** `migration.record` of a contract (G56). */
export interface RecordPlan {
  /** Share of the recorded calls, from 0 to 1. */
  readonly sample: number;
  /** Names of the recorded operations; undefined for all. */
  readonly operations: ReadonlySet<string> | undefined;
  readonly redact: RedactionMode;
  /** Time after which recordings are deleted, in ms. */
  readonly keepMs: number;
  /** Maximum size of all recordings in bytes. */
  readonly bytes: number;
}

const [leastKeepMs, leastBytes] = [3_600_000, 16 * 2 ** 20];

/** Reads `migration.record`, and reports problems (G3). Returns undefined for `off`. */
export function readRecordPlan(
  { stated, at, hasStore }: Pick<LegacyPlan, 'stated' | 'at' | 'hasStore'>,
  names: readonly string[],
  report: Report,
): RecordPlan | undefined {
  const { record } = stated;
  if (record === undefined || record === 'off') return undefined;
  const pointer = `${at}/migration/record`;
  if (!hasStore) report(pointer, 'expected the setting store with record, got none');
  const { sample = '10%', operations, redact = 'pseudonyms', keep = '30d', bytes = '5 GiB' } = record;
  const share = readShare(sample);
  const isShare = share !== undefined && share > 0 && share <= 1;
  if (!isShare)
    report(
      `${pointer}/sample`,
      `expected a share such as 10% or 1 in 20, above 0% and up to 100%, got ${sample}`,
    );
  const keepMs = readPeriod(keep) ?? 0;
  if (keepMs < leastKeepMs)
    report(`${pointer}/keep`, `expected a duration of at least 1h such as 30d, got ${keep}`);
  const size = readSize(bytes) ?? 0;
  if (size < leastBytes)
    report(`${pointer}/bytes`, `expected a size of at least 16 MiB such as 5 GiB, got ${bytes}`);
  for (const [index, name] of (operations ?? []).entries())
    if (!names.includes(name))
      report(
        `${pointer}/operations/${index}`,
        `expected an operation of the contract, got ${name}${didYouMean(name, names)}`,
      );
  return {
    sample: isShare ? share : 0,
    operations: operations === undefined ? undefined : new Set(operations),
    redact,
    keepMs,
    bytes: size,
  };
}

import type { Log } from '../core/core-options.ts';
import { others } from '../telemetry/caller-counts.ts';
import { ofProcess, perWorkerGauge, type Snapshot } from '../telemetry/metrics.ts';
import type { ServedContract } from './sites.ts';
import { readVersion } from './version.ts';

/** Result of the last reload, and the time of the last successful load in ms since 1970. */
export interface LastReload {
  isSuccessful: boolean;
  loadedAt: number;
}

const version = readVersion();

/** Returns the metrics of the version, the contracts and the last reload. */
export function stateMetrics(contracts: readonly ServedContract[], last: LastReload): Snapshot {
  return [
    ofProcess('build_info', 'Version of the gateway; the value is 1.', 1, label('version', version)),
    perWorkerGauge(
      'contract_info',
      'Hash and version of the files of a contract; the value is 1.',
      contracts.map(({ path, hash, version: of }) => [
        `${label('contract', path)},${label('hash', hash)},${label('version', of)}`,
        1,
      ]),
    ),
    ofProcess('config_last_reload_successful', '0 if the last reload failed.', Number(last.isSuccessful)),
    ofProcess(
      'config_last_reload_timestamp',
      'Time of the last successful load of the files, in seconds since 1970.',
      last.loadedAt / 1_000,
    ),
  ];
}

/** Maximum number of characters in a label. */
const longestLabel = 100;

/** Formats a label. The version of a document may have any character. */
function label(name: string, value: string): string {
  const escaped = value.slice(0, longestLabel).replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n');
  return `${name}="${escaped}"`;
}

/**
 * Logs the operations that a reload removed, if they were called since the start.
 *
 * @param calledOf returns the called operations of the contract at a path; `other` means operations not counted
 */
export function warnOfRemoved(
  before: readonly ServedContract[],
  now: readonly ServedContract[],
  calledOf: (path: string) => readonly string[],
  log: Log,
): void {
  for (const { path, operations } of before) {
    const kept = new Set(now.find((contract) => contract.path === path)?.operations);
    const called = new Set(calledOf(path));
    const removed = operations.filter((name) => !kept.has(name) && (called.has(name) || called.has(others)));
    if (removed.length > 0)
      log.warn({ contract: path, operations: removed }, 'reload removed operations that callers use');
  }
}

import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Ready } from '../../mappings/compare/verdict.ts';
import type { Report } from '../../mappings/loader/document/error.ts';
import { shown } from '../../mappings/loader/document/node.ts';
import type { LegacyPlan } from '../process/legacy-plan.ts';
import { readState } from './state-file.ts';
import { readShare } from './units.ts';

/** `migration.ready` and `migration.state` of a contract. */
export interface EvidencePlan {
  readonly ready: Ready;
  /** Absolute path; undefined to keep the evidence in memory only. */
  readonly state: string | undefined;
}

/** Default conditions for the verdict `ready` (G3). */
export const defaultReady: Ready = { calls: 1_000, callers: 3, days: 7, unanswered: 0.01 };

/**
 * Reads `migration.ready` and `migration.state`, and reports problems (G3).
 *
 * @param readStates contracts by the path of their state file, for files that need not be read again
 */
export function readEvidencePlan(
  { stated, file, at }: LegacyPlan,
  contract: string,
  report: Report,
  readStates: ReadonlyMap<string, string> = new Map(),
): EvidencePlan {
  const { ready: given = {}, state } = stated;
  const pointer = `${at}/migration`;
  const { calls = defaultReady.calls, callers = defaultReady.callers, days = defaultReady.days } = given;
  const { unanswered = defaultReady.unanswered } = given;
  const share = typeof unanswered === 'string' ? readShare(unanswered) : unanswered;
  const isShare = share !== undefined && share > 0 && share <= 1;
  if (!isShare)
    report(
      `${pointer}/ready/unanswered`,
      `expected a share such as 1% or 1 in 20, above 0% and up to 100%, got ${unanswered}`,
    );
  const ready = { calls, callers, days, unanswered: isShare ? share : defaultReady.unanswered };
  const path = state === undefined ? undefined : resolve(dirname(file), state);
  if (path !== undefined) {
    const isRead = readStates.get(path) === contract;
    checkState(path, isRead ? undefined : contract, (message) => report(`${pointer}/state`, message));
  }
  return { ready, state: path };
}

/**
 * Reports a state file that cannot be read or written.
 *
 * @param contract the contract of the file; undefined to check only its folder
 */
function checkState(path: string, contract: string | undefined, report: (message: string) => void): void {
  const folder = dirname(path);
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    if (!statSync(folder).isDirectory()) throw new RangeError('expected a folder');
  } catch {
    report(`expected a file in a folder that exists and is writable, got ${path}`);
    return;
  }
  if (contract === undefined) return;
  try {
    const read = readState(path);
    if (read === undefined || read.contract === contract) return;
    report(`${path}: expected the migration state of ${contract}, got that of ${shown(read.contract)}`);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    if (!(error instanceof RangeError) && code === undefined) throw error;
    const why = error instanceof RangeError ? error.message : `expected a readable file, got ${code}`;
    report(`${path}: ${why}`);
  }
}

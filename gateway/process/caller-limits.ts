import type { Logger } from 'pino';
import type { Limits } from '../../mappings/contract/limits.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import { CallerWindows } from '../admission/caller-windows.ts';
import type { SharedWindows } from '../admission/shared-windows.ts';
import type { CallerLimitsOf } from '../core/caller-limits.ts';
import type { Callers } from '../telemetry/callers.ts';
import { type CallerLimitsFile, readCallerLimits } from './caller-limits-file.ts';
import type { ServeOptions } from './serve-options.ts';

/** The limits of callers that a process serves by. */
export interface ProcessCallerLimits {
  /** As they are now. */
  readonly now: () => CallerLimitsOf;
  /** Reads the file again; what is returned goes back to what was before. Throws ContractError. */
  readonly reload: () => () => void;
  /** Looks whether what the file names is served. Throws ContractError. */
  readonly check: (contracts: readonly Contract[]) => void;
  readonly close: () => void;
}

/** Reads the file, and connects to the store where there is one. Throws ContractError, RangeError. */
export async function openCallerLimits(
  { callerLimits: path, limitStore, metricsOfAll }: ServeOptions,
  limits: Limits,
  callers: Callers,
  log: Logger,
): Promise<ProcessCallerLimits | undefined> {
  if (path === undefined) {
    if (limitStore !== undefined)
      throw new RangeError('LIMIT_STORE: expected CALLER_LIMITS beside it, got none');
    return undefined;
  }
  let file: CallerLimitsFile = readCallerLimits(path);
  if (limitStore === undefined && metricsOfAll !== undefined)
    throw new RangeError(
      'CALLER_LIMITS: expected LIMIT_STORE for several workers, got none: each would count alone',
    );
  if (limitStore !== undefined && !callers.isStable)
    throw new RangeError(
      'LIMIT_STORE: expected CALLER_KEY beside it, with which replicas count a caller under one pseudonym, got none',
    );
  const local = new CallerWindows(limits.limitWindows);
  const shared = limitStore === undefined ? undefined : await openStore(limitStore, local, limits, log);
  return {
    now: () => ({ rulesOf: file.rulesOf, shared, local }),
    reload: () => {
      const before = file;
      file = readCallerLimits(path);
      return () => {
        file = before;
      };
    },
    check: (contracts) => file.check(contracts),
    close: () => shared?.close(),
  };
}

async function openStore(
  url: string,
  local: CallerWindows,
  { limitStoreMs }: Limits,
  log: Logger,
): Promise<SharedWindows> {
  // nothing of it is loaded without a store
  const { SharedWindows } = await import('../admission/shared-windows.ts');
  return SharedWindows.open({
    url,
    timeoutMs: limitStoreMs,
    local,
    onChange: (isAway, code) => {
      if (isAway)
        log.warn(
          { limitStore: 'away', code },
          'the store of limits is away: calls are counted in this process',
        );
      else
        log.info({ limitStore: 'back' }, 'the store of limits is back: calls are counted for all replicas');
    },
  });
}

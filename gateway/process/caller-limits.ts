import { remembersMessages } from '../../mappings/contract/credentials.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import { requirePackages } from '../../mappings/optional-packages.ts';
import type { CallCounts } from '../admission/caller-limits.ts';
import { CallerPlaces } from '../admission/caller-places.ts';
import { CallerWindows } from '../admission/caller-windows.ts';
import type { BurntKeys } from '../call/burnt-keys.ts';
import type { NonceStore } from '../call/nonces.ts';
import type { CallerLimitsOf } from '../core/caller-limits.ts';
import type { Callers } from '../telemetry/callers.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type CallerLimitsFile, readCallerLimits } from './caller-limits-file.ts';
import type { ServeOptions } from './serve-options.ts';

/** Caller limits of a process, and the store that it shares with replicas. */
export interface ProcessCallerLimits {
  /** Returns the current limits; undefined if there is no file of limits. */
  readonly now: (() => CallerLimitsOf) | undefined;
  /** Remembers messages for all replicas (X17); undefined without a store. */
  readonly nonces: NonceStore | undefined;
  /** Remembers burnt keys for all replicas (X24); undefined without a store. */
  readonly burntKeys: BurntKeys | undefined;
  /** Reads the file again. Returns a function that restores the previous limits. Throws ContractError. */
  readonly reload: () => () => void;
  /** Checks that the contracts and operations named in the file are served, and that the store is used. Throws ContractError, RangeError. */
  readonly check: (contracts: readonly Contract[]) => void;
  readonly close: () => void;
}

/**
 * Reads the file of caller limits, and checks the options that belong to it. Returns undefined without the option.
 * Throws ContractError, RangeError.
 */
export function readCallerLimitFiles(
  {
    callerLimits: path,
    limitStore,
    metricsOfAll,
  }: Pick<ServeOptions, 'callerLimits' | 'limitStore' | 'metricsOfAll'>,
  callers: Callers,
): CallerLimitsFile | undefined {
  if (path === undefined) return undefined;
  const file = readCallerLimits(path);
  if (limitStore === undefined && metricsOfAll !== undefined)
    throw new RangeError(
      'SOAPBRIDGE_CALLER_LIMITS: expected SOAPBRIDGE_LIMIT_STORE for several workers, got none. Without it each worker counts separately',
    );
  if (limitStore !== undefined && !callers.isStable)
    throw new RangeError(
      'SOAPBRIDGE_LIMIT_STORE: expected SOAPBRIDGE_CALLER_KEY, got none. Replicas need the same key to share the counts of a caller',
    );
  return file;
}

/** Reads the file and, if one is configured, connects to the store. Throws ContractError, RangeError. */
export async function openCallerLimits(
  options: ServeOptions,
  limits: Limits,
  callers: Callers,
  log: Logger,
): Promise<ProcessCallerLimits | undefined> {
  const { callerLimits: path, limitStore } = options;
  const read = readCallerLimitFiles(options, callers);
  if (path === undefined || read === undefined)
    return limitStore === undefined ? undefined : openOnlyStore(limitStore, limits, log);
  let file: CallerLimitsFile = read;
  const local = new CallerWindows(limits.limitWindows ?? maxWindows);
  const here: CallCounts = { windows: local, places: new CallerPlaces() };
  const shared = limitStore === undefined ? undefined : await openStore(limitStore, here, limits, log);
  const { counts, store } = shared ?? { counts: here, store: undefined };
  return {
    now: () => ({ rulesOf: file.rulesOf, counts, store, local }),
    nonces: shared?.nonces,
    burntKeys: shared?.burntKeys,
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

/** Opens a store that only remembers messages, because there is no file of caller limits. */
async function openOnlyStore(url: string, limits: Limits, log: Logger): Promise<ProcessCallerLimits> {
  const here: CallCounts = { windows: new CallerWindows(0), places: new CallerPlaces() };
  const { nonces, burntKeys, close } = await openStore(url, here, limits, log);
  return { now: undefined, nonces, burntKeys, reload: () => () => {}, check: checkStoreUse, close };
}

/** Throws RangeError if no contract uses a store without caller limits. */
export function checkStoreUse(contracts: readonly Contract[]): void {
  if (!contracts.some(({ wsse }) => remembersMessages(wsse)))
    throw new RangeError(
      'SOAPBRIDGE_LIMIT_STORE: expected SOAPBRIDGE_CALLER_LIMITS, or a contract that accepts messages once (wsse), got neither',
    );
}

/** Maximum number of counts of callers in a process. One more replaces the oldest. */
export const maxWindows = 100_000;

/** Maximum time for the store to count a call, in ms. After it, this process counts. */
export const maxStoreMs = 200;

/** Time in ms until the store frees the slots (`concurrent`) of a process that ended. */
export const maxPlaceMs = 30_000;

/** Opens the store. While it is unavailable, this process counts on its own. */
async function openStore(url: string, here: CallCounts, limits: Limits, log: Logger) {
  requirePackages('limitStore');
  // The store's modules are loaded only if a store is configured.
  const [{ LimitStore }, { SharedEntries }, { SharedWindows }, { SharedPlaces }, { SharedBurntKeys }] =
    await Promise.all([
      import('../admission/limit-store.ts'),
      import('../admission/shared-entries.ts'),
      import('../admission/shared-windows.ts'),
      import('../admission/shared-places.ts'),
      import('../call/shared-burnt-keys.ts'),
    ]);
  const store = await LimitStore.open({
    url,
    timeoutMs: limits.limitStoreMs ?? maxStoreMs,
    onChange: (isAway, code) => {
      if (isAway)
        log.warn({ limitStore: 'away', code }, 'limit store unavailable: counting calls in this process');
      else log.info({ limitStore: 'back' }, 'limit store available: counting calls across replicas');
    },
  });
  const unsigned = Math.floor(limits.wsseBurntKeys / 2);
  const places = new SharedPlaces(store, here.places, limits.limitPlaceMs ?? maxPlaceMs);
  return {
    counts: { windows: new SharedWindows(store, here.windows), places },
    nonces: new SharedEntries(store, 'messages', limits.wsseNonces),
    burntKeys: new SharedBurntKeys({
      signed: new SharedEntries(store, 'keys', limits.wsseBurntKeys - unsigned),
      unsigned: new SharedEntries(store, 'unsigned-keys', unsigned),
    }),
    store,
    close: () => {
      places.close();
      store.close();
    },
  };
}

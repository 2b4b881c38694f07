import type { Limits } from '../../mappings/contract/limits.ts';
import { ContractError } from '../../mappings/loader/document/error.ts';
import { withLines } from '../../mappings/loader/document/yaml.ts';
import type { Log } from '../core/core-options.ts';
import type { GuardedStore } from '../store/guarded-store.ts';
import { type Store, StoreError } from '../store/store.ts';
import { describeError } from '../telemetry/log.ts';
import { ofProcess, type Snapshot } from '../telemetry/metrics.ts';
import { readStore } from './config.ts';
import type { ServeOptions } from './serve-options.ts';
import type { StorePlan } from './store-plan.ts';

/** Time between two searches for expired rows, in ms. */
const expiryMs = 600_000;

/** Options of the store of a process. */
interface ProcessStoreOptions {
  readonly plan: StorePlan;
  readonly guarded: GuardedStore;
  readonly log: Log;
}

/** The store of a process: of the only one, of the primary, or of a worker (G53). */
export class ProcessStore {
  readonly store: Store;
  readonly #guarded: GuardedStore;
  readonly plan: StorePlan;
  readonly #expiry: NodeJS.Timeout;
  #wasUp: boolean;

  constructor({ plan, guarded, log }: ProcessStoreOptions) {
    this.store = guarded;
    this.plan = plan;
    this.#expiry = setInterval(() => this.#expire(log), expiryMs).unref();
    this.#guarded = guarded;
    this.#wasUp = guarded.isUp;
  }

  /** Returns the reason why the process is not ready: the store was not reachable since the start (G54). */
  readonly unreadyReason = (): string | undefined => {
    this.#wasUp ||= this.store.isUp;
    return this.#wasUp ? undefined : `store: ${this.#guarded.failure?.reason ?? 'not reached yet'}`;
  };

  read(): Snapshot {
    const help = 'The store answered the last call: 1, or 0 if it failed.';
    return [ofProcess('store_up', help, Number(this.store.isUp)), ...this.readFailures()];
  }

  readFailures(): Snapshot {
    return this.#guarded.read();
  }

  async #expire(log: Log): Promise<void> {
    try {
      const { deleteExpired } = await import('../store/deletion.ts');
      await deleteExpired(this.store, Date.now(), expiryMs);
    } catch (error) {
      // the store logs its failures
      if (!(error instanceof StoreError)) log.error(describeError(error), 'expired rows not deleted');
    }
  }

  /** Deletes the data of a caller (G55). The caller has written the audit. Rejects with StoreError. */
  readonly forget = async (names: readonly string[]): Promise<ReadonlyMap<string, number>> => {
    const { deleteCaller, vacuum } = await import('../store/forget.ts');
    const rows = await deleteCaller(this.store, names);
    await vacuum(this.plan.url);
    return rows;
  };

  readonly close = (): Promise<void> => {
    clearInterval(this.#expiry);
    return this.store.close();
  };
}

/**
 * Opens the store of a process, and migrates its schema; undefined without the setting `store`. An unreachable store is
 * tried again every minute. Throws ContractError for a wrong setting, and for a schema of a newer major version.
 */
export async function openProcessStore(
  config: string,
  { callerFiles }: Pick<ServeOptions, 'callerFiles'>,
  { storeMs, storeRetryMs }: Limits,
  log: Log,
): Promise<ProcessStore | undefined> {
  const plan = readStore(config, callerFiles?.callerKey !== undefined);
  if (plan === undefined) return undefined;
  const { openStore } = await import('../store/open-store.ts'); // no other configuration needs it
  try {
    const guarded = await openStore({ url: plan.url, storeMs, log, retryMs: storeRetryMs });
    return new ProcessStore({ plan, guarded, log });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new ContractError(withLines([{ file: config, pointer: '/store', message: error.message }]));
  }
}

/** Checks at a reload that the setting `store` is as at the start. Throws ContractError. */
export function checkSameStore(
  config: string,
  { callerFiles }: Pick<ServeOptions, 'callerFiles'>,
  store: ProcessStore | undefined,
): void {
  const plan = readStore(config, callerFiles?.callerKey !== undefined);
  if (plan?.shown === store?.plan.shown) return;
  const message =
    'expected the store as at the start, got another one. Restart the gateway to change the store';
  throw new ContractError(withLines([{ file: config, pointer: '/store', message }]));
}

import type { Limits } from '../../mappings/contract/limits.ts';
import { ContractError } from '../../mappings/loader/document/error.ts';
import { withLines } from '../../mappings/loader/document/yaml.ts';
import type { Log } from '../core/core-options.ts';
import type { KeptRecordings } from '../store/deletion.ts';
import type { GuardedStore } from '../store/guarded-store.ts';
import { Repeated } from '../store/repeated.ts';
import { type Store, StoreError } from '../store/store.ts';
import type { Callers } from '../telemetry/callers.ts';
import { describeError } from '../telemetry/log.ts';
import { ofProcess, type Snapshot } from '../telemetry/metrics.ts';
import { readStore } from './config.ts';
import { type AskFirstRows, isKnownToPrimary, withFirstRows } from './first-rows.ts';
import type { ServeOptions } from './serve-options.ts';
import type { StorePlan } from './store-plan.ts';

/** Time between two deletions of expired rows, and between two deletions of recordings, in ms. */
const [expiryMs, recordingsMs] = [600_000, 60_000];

/** The store of a process: of the only one, of the primary, or of a worker (G53). */
export class ProcessStore {
  readonly store: Store;
  readonly plan: StorePlan;
  readonly #guarded: GuardedStore;
  readonly #log: Log;
  #wasUp: boolean;
  #deletions: readonly Repeated[] = [];
  /** Limits of recordings by the path of their contract. */
  #recordings: ReadonlyMap<string, KeptRecordings> = new Map();

  /** @param wasUp true if the store has answered this process or its primary */
  constructor(plan: StorePlan, guarded: GuardedStore, store: Store, log: Log, wasUp: boolean) {
    this.plan = plan;
    this.store = store;
    this.#guarded = guarded;
    this.#log = log;
    this.#wasUp = wasUp;
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

  /**
   * Deletes expired rows from now on, and recordings within their limits (G55). A later call replaces the limits.
   *
   * @param recordings limits of recordings by the path of their contract
   */
  keepRows(recordings: ReadonlyMap<string, KeptRecordings>, callers: () => Callers): void {
    this.#recordings = recordings;
    if (this.#deletions.length > 0) return;
    const onError = (error: unknown): void => this.#log.error(describeError(error), 'old rows not deleted');
    this.#deletions = [
      new Repeated(() => this.#deleteRecordings(), recordingsMs, onError),
      new Repeated(() => this.#expire(callers()), expiryMs, onError),
    ];
    for (const deletion of this.#deletions) void deletion.now();
  }

  async #deleteRecordings(): Promise<void> {
    if (!this.store.isUp) return;
    const { deleteRecordings } = await import('../store/deletion.ts');
    await deleteRecordings(this.store, this.#recordings, Date.now());
  }

  async #expire(callers: Callers): Promise<void> {
    const { deleteExpired, takePeriod } = await import('../store/deletion.ts');
    const now = Date.now();
    if (!(await takePeriod(this.store, now, expiryMs))) return;
    await deleteExpired(this.store, now);
    const { deleteLateRows } = await import('../store/forget.ts');
    await deleteLateRows(this.store, callers, now);
  }

  /** Deletes the data of a caller (G55). The caller has written the audit. Rejects with StoreError. */
  readonly forget = async (names: readonly string[]): Promise<ReadonlyMap<string, number>> => {
    const { forgetCaller } = await import('../store/forget.ts');
    return forgetCaller(this.store, this.plan.url, names);
  };

  readonly close = async (): Promise<void> => {
    await Promise.all(this.#deletions.map((deletion) => deletion.close()));
    await this.store.close();
  };
}

/** Options of the store of a process. */
export interface ProcessStoreOptions extends Pick<ServeOptions, 'callerFiles'> {
  /** Configuration file. */
  readonly config: string;
  readonly limits: Limits;
  readonly log: Log;
  /** Worker process: asks the primary process, which has opened the store before. Undefined in any other process. */
  readonly askFirstRows?: AskFirstRows | undefined;
}

/**
 * Opens the store of a process; undefined without the setting `store`. Migrates the schema, except in a worker. An
 * unreachable store is tried again every minute. Throws ContractError for a wrong setting, and for a schema of a newer
 * major version.
 */
export async function openProcessStore({
  config,
  callerFiles,
  limits: { storeMs, storeRetryMs: retryMs },
  log,
  askFirstRows: ask,
}: ProcessStoreOptions): Promise<ProcessStore | undefined> {
  const plan = readStore(config, callerFiles?.callerKey !== undefined);
  if (plan === undefined) return undefined;
  const { openStore } = await import('../store/open-store.ts'); // no other configuration needs it
  try {
    const isExisting = ask !== undefined;
    const guarded = await openStore({ url: plan.url, storeMs, log, retryMs, isExisting });
    if (ask === undefined) return new ProcessStore(plan, guarded, guarded, log, guarded.isUp);
    const wasUp = guarded.isUp || (await isKnownToPrimary(ask));
    return new ProcessStore(plan, guarded, withFirstRows(guarded, ask), log, wasUp);
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

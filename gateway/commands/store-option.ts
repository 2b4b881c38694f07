import { resolve } from 'node:path';
import { Option } from 'commander';
import { defaultLimits } from '../../mappings/contract/limits.ts';
import type { GuardedStore } from '../store/guarded-store.ts';
import type { Store } from '../store/store.ts';
import { toFile } from './options.ts';

/** Flags that name a store. */
export interface StoreFlags {
  readonly store?: string;
  readonly config?: string;
}

/** Creates the option `--store`. */
export function storeOption(): Option {
  return new Option(
    '--store <url>',
    'sqlite:PATH or postgres://USER@HOST/DATABASE with PGPASSWORD (default: store of soapbridge.yaml)',
  );
}

/** Creates the option `--config` of a command that reads only the store. */
export function storeConfigOption(): Option {
  return new Option('--config <file>', 'soapbridge.yaml with the store')
    .env('SOAPBRIDGE_CONFIG')
    .argParser(toFile);
}

/**
 * Calls a function with the store that the flags name, and closes it. Throws ContractError or RangeError if there is no
 * such store or if it does not work.
 *
 * @param storeMs maximum time of one operation
 */
export async function withStore<Result>(
  flags: StoreFlags,
  use: (store: Store, url: string) => Promise<Result>,
  storeMs: number = defaultLimits.storeMs,
): Promise<Result> {
  const { openStore } = await import('../store/open-store.ts');
  const url = await urlOf(flags);
  const silent = { info: () => {}, warn: () => {}, error: () => {} }; // the command prints the error
  let store: GuardedStore | undefined;
  try {
    store = await openStore({ url, storeMs, isExisting: true, log: silent });
    if (store.failure !== undefined) throw store.failure;
    return await use(store, url);
  } catch (error) {
    const { StoreError } = await import('../store/store.ts');
    if (!(error instanceof StoreError)) throw error;
    throw new RangeError(`store: ${error.message} (${error.reason})`);
  } finally {
    await store?.close();
  }
}

async function urlOf({ store, config }: StoreFlags): Promise<string> {
  if (store !== undefined) {
    const { readStorePlan } = await import('../process/store-plan.ts');
    const messages: string[] = [];
    const report = (_at: string, message: string) => messages.push(message);
    const plan = readStorePlan(store, '', true, (path) => resolve(path), report);
    if (plan === undefined || messages.length > 0) throw new RangeError(`--store: ${messages.join('; ')}`);
    return plan.url;
  }
  if (config === undefined)
    throw new RangeError('--store: expected --store, or --config with a store, got neither option');
  const { readStore } = await import('../process/config.ts');
  const plan = readStore(config, true);
  if (plan === undefined) throw new RangeError(`${config}: expected store, the URL of a database, got none`);
  return plan.url;
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import type { GuardedStore } from '../../../gateway/store/guarded-store.ts';
import { openStore } from '../../../gateway/store/open-store.ts';

/** Creates a folder that is removed after the test. */
export function folderOf(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-store-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A store with the lines of its log. */
export interface Opened {
  readonly store: GuardedStore;
  readonly lines: readonly string[];
}

/** Opens a store. It is closed after the test. */
export async function opened(
  t: ExecutionContext,
  url: string,
  { storeMs = 5_000, retryMs = 20 }: { readonly storeMs?: number; readonly retryMs?: number } = {},
): Promise<Opened> {
  const lines: string[] = [];
  const log = (fields: object, message: string): void => {
    lines.push(`${message} ${JSON.stringify(fields)}`);
  };
  const store = await openStore({ url, storeMs, retryMs, log: { info: log, warn: log, error: log } });
  t.teardown(() => store.close());
  return { store, lines };
}

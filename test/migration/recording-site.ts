import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ExecutionContext } from 'ava';
import { exchangeOf, type StoredExchange } from '../../gateway/store/tables/record.ts';
import { contractFolder, type Site, type SiteOptions, startSite } from './scenario.ts';

/** A gateway that records all exchanges in an SQLite file. */
export interface RecordingSite extends Site {
  /** Folder with the store `store.db` and the key of pseudonyms `key`. */
  readonly folder: string;
  /** Returns the recorded exchanges so far. */
  readonly recorded: () => readonly StoredExchange[];
}

/** Options of `startRecording`: those of a site, and keys of `migration`. */
export type RecordingOptions = Partial<SiteOptions> & {
  readonly migration?: object;
  readonly record?: object;
};

export async function startRecording(
  t: ExecutionContext,
  { migration = {}, record = {}, ...options }: RecordingOptions,
): Promise<RecordingSite> {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-recording-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const key = join(folder, 'key');
  writeFileSync(key, '0123456789abcdef');
  const callers = join(folder, 'callers.yaml');
  writeFileSync(
    callers,
    JSON.stringify(Object.fromEntries((options.callers ?? []).map((name) => [name, [name]]))),
  );
  const store = join(folder, 'store.db');
  const site = await startSite(t, {
    contract: contractFolder('contracts/types'),
    config: {
      legacy: '{legacy}',
      migration: { record: { sample: '100%', ...record }, ...migration },
    },
    root: { store: `sqlite:${store}` },
    ...options,
    // the machine of a test may be slow
    limits: { loopDelayMs: 60_000, storeMs: 60_000, ...options.limits },
    serve: { callerFiles: { callers, callerKey: key }, ...options.serve },
  });
  const recorded = (): readonly StoredExchange[] => exchangesIn(store);
  return { ...site, folder, recorded };
}

/** Returns the exchanges in an SQLite file. */
export function exchangesIn(file: string): readonly StoredExchange[] {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  const rows = database.prepare('SELECT * FROM exchanges ORDER BY at, id').all();
  database.close();
  return rows.map((row) => exchangeOf(row as Parameters<typeof exchangeOf>[0]));
}

export const getMessage =
  '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><Get xmlns="urn:types.example"/></soap:Body></soap:Envelope>';

/** Returns a reply of `Get` with this content. */
export function getReply(content: string): string {
  return `<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><GetResponse xmlns="urn:types.example">${content}</GetResponse></soap:Body></soap:Envelope>`;
}

/** A call of `Get`. */
export const getCall = { path: '/types', headers: { 'Content-Type': 'text/xml' }, body: getMessage } as const;

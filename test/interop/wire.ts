import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { screeningContract } from '../../mappings/loader/load.ts';
import { sendRaw } from '../captures/exchange.ts';
import { type Check, nameOf } from './checks.ts';
import { serveContract } from './gateway.ts';
import type { StackRun } from './interop.ts';
import { startUpstream } from './upstream.ts';

/** Folder of recorded requests of real clients: `{stack}/{check}-{version}.http`, head and body as sent. */
export const wireFolder = join(import.meta.dirname, '../wire');

/** Situations that change a request's form. The others are the same calls with other values. */
const recorded = [
  'call',
  'emoji',
  'null-empty',
  'null-sent',
  'absent-sent',
  'empty-array',
  'date-no-zone',
  'date-zone',
];

/** Replaces the recorded requests of a stack by the calls of a run, one per check and version. */
export async function writeRequests({ stack, requests }: StackRun): Promise<void> {
  const folder = join(wireFolder, stack.name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const upstream = await startUpstream();
  const gateway = await serveContract(screeningContract, upstream.url);
  for (const [version, sent] of requests) {
    for (const request of sent.filter((bytes) => bytes.toString('latin1', 0, 5) === 'POST ')) {
      const before = upstream.calls.length;
      await sendRaw(gateway.url, request);
      const check: Check | undefined = upstream.calls[before];
      if (check === undefined || !recorded.includes(check.situation)) continue;
      writeFileSync(join(folder, `${nameOf(check)}-${version}.http`), request);
    }
  }
  await gateway.stop();
  upstream.close();
}

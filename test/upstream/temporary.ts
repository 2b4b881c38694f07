import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';

/** Returns the path of a new database in a directory that is deleted after the test. */
export function temporaryFile(t: ExecutionContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'reference-upstream-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, 'screening.db');
}

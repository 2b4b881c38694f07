import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';

/** The path of a database that isn't there yet, in a directory of its own that goes with the test. */
export function temporaryFile(t: ExecutionContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'reference-upstream-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, 'screening.db');
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';

/** Writes a text to a file in a temporary folder and returns its path. The folder is removed after the test. */
export function file(t: ExecutionContext, text: string, name = 'api.yaml'): string {
  const directory = mkdtempSync(join(tmpdir(), 'soapbridge-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

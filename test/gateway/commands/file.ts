import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';

/** The path of a file with this text, in a folder of its own that ends with the test. */
export function file(t: ExecutionContext, text: string, name = 'api.yaml'): string {
  const directory = mkdtempSync(join(tmpdir(), 'soapbridge-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

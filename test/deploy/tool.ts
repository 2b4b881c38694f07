import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import test, { type ExecutionContext } from 'ava';

const path = [process.env.PATH, '/usr/sbin', join(homedir(), 'go/bin'), process.env.GOBIN]
  .filter((part) => part !== undefined)
  .join(delimiter);
/** Environment in which the tools are found. */
export const env = { ...process.env, PATH: path };

/** Declares a test that needs tools. It is skipped, with the reason in its title, if a tool is not installed. */
export function needs(
  tools: string | readonly string[],
  title: string,
  run: (t: ExecutionContext) => void | Promise<void>,
): void {
  const missing = [tools].flat().find((tool) => spawnSync('which', [tool], { env }).status !== 0);
  if (missing === undefined) test(title, run);
  else test.skip(`${title} (not looked at: ${missing} is not installed)`, run);
}

/** Creates a folder that is deleted after the test. */
export function scratch(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-deploy-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Version } from './checks.ts';
import { run } from './run-command.ts';
import type { Loss } from './tree.ts';
import type { VariantName } from './variants.ts';

/** A client stack as described by its `stack.json`, and its folder. */
export interface Stack {
  /** Name of the folder. */
  readonly name: string;
  readonly folder: string;
  /** Display name. */
  readonly title: string;
  /** Supported SOAP versions. */
  readonly versions: readonly Version[];
  /** Debian packages to install. */
  readonly apt?: readonly string[];
  /** Shell command that installs the parts that Debian does not have; run in the folder. */
  readonly setup?: string;
  /** Shell command that prints the stack's version, and fails if it is not installed; run in the folder. */
  readonly probe: string;
  /** Differences that its API does not expose, which exchanges of documents take into account. */
  readonly losses?: readonly Loss[];
  /** Variants of the calls that it also makes. */
  readonly variants?: readonly VariantName[];
  /** Services that its `service.sh` calls; all by default. */
  readonly services?: readonly string[];
  /** True if its own tool first generates code from the WSDL, with a `build.sh`. */
  readonly builds: boolean;
}

/** Loads all stacks of this folder by name. A folder without `stack.json` holds shared files. */
export function loadStacks(): readonly Stack[] {
  return readdirSync(import.meta.dirname)
    .map((name) => ({ name, folder: join(import.meta.dirname, name) }))
    .filter(({ folder }) => existsSync(join(folder, 'stack.json')))
    .map(({ name, folder }) => {
      const described = JSON.parse(readFileSync(join(folder, 'stack.json'), 'utf8'));
      return { ...described, name, folder, builds: existsSync(join(folder, 'build.sh')) };
    });
}

/** Returns the installed version, or undefined. */
export async function installedVersion(stack: Stack): Promise<string | undefined> {
  const { ok, output } = await run('/bin/sh', ['-c', stack.probe], { folder: stack.folder, limitMs: 60_000 });
  return ok ? output.trim().split('\n').at(-1) : undefined;
}

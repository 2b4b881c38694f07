import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Version } from './checks.ts';
import { run } from './run-command.ts';
import type { Loss } from './tree.ts';
import type { VariantName } from './variants.ts';

/** A client stack as its `stack.json` describes it, and the folder it's in. */
export interface Stack {
  /** The folder's name. */
  readonly name: string;
  readonly folder: string;
  /** What readers know it as. */
  readonly title: string;
  /** The SOAP versions that it speaks. */
  readonly versions: readonly Version[];
  /** Debian packages that bring it. */
  readonly apt?: readonly string[];
  /** A shell command, run in the folder, that brings what Debian doesn't have. */
  readonly setup?: string;
  /** A shell command, run in the folder, that prints the stack's version and fails where it isn't installed. */
  readonly probe: string;
  /** What its API doesn't tell apart, which the exchanges of documents take into account. */
  readonly losses?: readonly Loss[];
  /** The other ways in which it makes the calls too. */
  readonly variants?: readonly VariantName[];
  /** The services that its `service.sh` calls; all unless given. */
  readonly services?: readonly string[];
  /** Whether its own tool makes code of the WSDL first: there is a `build.sh`. */
  readonly builds: boolean;
}

/** All stacks beside this file, by name; a folder without `stack.json` holds what several share. */
export function loadStacks(): readonly Stack[] {
  return readdirSync(import.meta.dirname)
    .map((name) => ({ name, folder: join(import.meta.dirname, name) }))
    .filter(({ folder }) => existsSync(join(folder, 'stack.json')))
    .map(({ name, folder }) => {
      const described = JSON.parse(readFileSync(join(folder, 'stack.json'), 'utf8'));
      return { ...described, name, folder, builds: existsSync(join(folder, 'build.sh')) };
    });
}

/** The version that is installed, or undefined. */
export async function installedVersion(stack: Stack): Promise<string | undefined> {
  const { ok, output } = await run('/bin/sh', ['-c', stack.probe], { folder: stack.folder, limitMs: 60_000 });
  return ok ? output.trim().split('\n').at(-1) : undefined;
}

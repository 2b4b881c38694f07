import { readFileSync } from 'node:fs';
import { statedElsewhere } from './licences.ts';

/** One package of the lockfile. */
export interface Locked {
  readonly name: string;
  readonly version: string;
  readonly integrity: string | undefined;
  /** Where it was taken from, where the lockfile says so. */
  readonly resolved: string | undefined;
  readonly licence: string | undefined;
  /** True for what only tests and tools use. */
  readonly isDevelopment: boolean;
}

interface LockEntry {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly license?: string;
  readonly dev?: boolean;
}

/** What the lockfile holds, the package itself aside. */
export function readLockfile(): readonly Locked[] {
  const file = new URL('../../package-lock.json', import.meta.url);
  const { packages }: { packages: Record<string, LockEntry> } = JSON.parse(readFileSync(file, 'utf8'));
  return Object.entries(packages)
    .filter(([path]) => path !== '')
    .map(([path, { version = '', integrity, resolved, license, dev = false }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      return {
        name,
        version,
        integrity,
        resolved,
        licence: license ?? statedElsewhere[name],
        isDevelopment: dev,
      };
    });
}

/** Negative for an older version, positive for a newer one; a preview is older than its release. */
export function compareVersions(one: string, other: string): number {
  const numbersOf = (version: string): number[] =>
    version
      .replace(/[-+].*$/, '')
      .split('.')
      .map(Number);
  const [mine, its] = [numbersOf(one), numbersOf(other)];
  for (let part = 0; part < 3; part++) {
    const difference = (mine[part] ?? 0) - (its[part] ?? 0);
    if (difference !== 0) return difference;
  }
  return Number(other.includes('-')) - Number(one.includes('-'));
}

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
  /** Whether `npm install` of soapbridge brings it, or one of the optional features does, or only tests and tools use it. */
  readonly use: 'default' | 'optional' | 'development';
}

interface LockEntry {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

type Entries = Readonly<Record<string, LockEntry>>;

/** The paths of packages and of all that they depend on. */
function reachable(entries: Entries, names: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (from: string, name: string): void => {
    const path = resolve(entries, from, name);
    if (path === undefined || found.has(path)) return;
    found.add(path);
    const { dependencies, optionalDependencies, peerDependencies } = entries[path] ?? {};
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
      visit(path, next);
  };
  for (const name of names) visit('', name);
  return found;
}

/** The path of the package that `name` means in the package at `from`: in its own folder, else in a folder around it. */
function resolve(entries: Entries, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (entries[path] !== undefined) return path;
    if (folder === '') return undefined;
  }
}

/** What the lockfile holds, the package itself aside. */
export function readLockfile(): readonly Locked[] {
  const file = new URL('../../package-lock.json', import.meta.url);
  const { packages }: { packages: Record<string, LockEntry> } = JSON.parse(readFileSync(file, 'utf8'));
  const { dependencies = {}, peerDependencies = {} } = packages[''] ?? {};
  const ordinary = reachable(packages, Object.keys(dependencies));
  const optional = reachable(packages, Object.keys(peerDependencies));
  return Object.entries(packages)
    .filter(([path]) => path !== '')
    .map(([path, { version = '', integrity, resolved, license }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      return {
        name,
        version,
        integrity,
        resolved,
        licence: license ?? statedElsewhere[name],
        use: ordinary.has(path) ? 'default' : optional.has(path) ? 'optional' : 'development',
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

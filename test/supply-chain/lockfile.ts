import { readFileSync } from 'node:fs';
import { statedElsewhere } from './licences.ts';

/** One package of the lockfile. */
export interface Locked {
  readonly name: string;
  readonly version: string;
  readonly integrity: string | undefined;
  /** Source of the package, if the lockfile has it. */
  readonly resolved: string | undefined;
  readonly licence: string | undefined;
  /**
   * Use of the package: `npm install` of soapbridge installs it, an optional feature needs it, or only development.
   */
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

/** Returns the paths of packages and all their dependencies. */
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

/**
 * Returns the path of the package that `name` resolves to in the package at `from`: in its own folder, otherwise in a
 * parent folder.
 */
function resolve(entries: Entries, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (entries[path] !== undefined) return path;
    if (folder === '') return undefined;
  }
}

/** Reads the packages of the lockfile without the project itself. */
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

/** Compares versions: negative if `one` is older, positive if it is newer. A pre-release is older than its release. */
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

import type { SampleFormat } from '../samples/samples.ts';

/**
 * Device names that Windows reserves in every folder, with and without an extension ("Naming Files, Paths, and
 * Namespaces" of Microsoft Learn).
 */
const reserved = /^(?:con|prn|aux|nul|com[\d\u00b9\u00b2\u00b3]|lpt[\d\u00b9\u00b2\u00b3])$/i;

/**
 * Returns a name that is valid on every file system. A reserved device name and a name with a dot at its end get an
 * underscore.
 */
export function fileNameOf(name: string): string {
  const [stem = '', ...rest] = name.split('.');
  const safe = reserved.test(stem.trim()) ? [`${stem}_`, ...rest].join('.') : name;
  return /[. ]$/.test(safe) ? `${safe}_` : safe;
}

/** Assigns a distinct folder to each name, also on a file system that ignores case. */
export function foldersOf(names: Iterable<string>): ReadonlyMap<string, string> {
  const all = [...names];
  const folders = new Map<string, string>();
  const taken = new Set<string>();
  // valid names come first and stay unchanged, so that a suffix cannot take the folder of another operation
  const isPlain = (name: string): boolean => fileNameOf(name) === name;
  for (const name of all.toSorted((a, b) => Number(isPlain(b)) - Number(isPlain(a)))) {
    let folder = fileNameOf(name);
    while (taken.has(folder.toLowerCase())) folder += '_';
    taken.add(folder.toLowerCase());
    folders.set(name, folder);
  }
  return folders;
}

/** Returns the end of a sample's file name: `.soap11.xml`, `.xml` or `.json`. */
export function sampleSuffix(format: SampleFormat): string {
  const form = format.startsWith('soap') ? `.${format}` : '';
  return `${form}.${format === 'json' ? 'json' : 'xml'}`;
}

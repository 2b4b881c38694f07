import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { derivedFile } from '../../contract/adopted.ts';
import { defaultLimits } from '../../contract/limits.ts';
import { UnsupportedCharset, XmlError } from '../../xml/error.ts';
import { XmlReader } from '../../xml/reader.ts';
import { type Allowance, OverLimit } from '../document/allowance.ts';
import { shown, someOf } from '../document/node.ts';
import { createOtherFiles, decoded, isUrl, type NotOpened } from '../document/other-files.ts';
import { readWhole } from '../document/yaml.ts';
import type { Findings } from './findings.ts';
import { blanked, oldSchemas, readSource, readTree, type XmlElement } from './xml-tree.ts';

/** Where the documents of an adopted service lie. */
export interface WsdlPlace {
  readonly folder: string;
  /** The path of the first WSDL in the folder. */
  readonly wsdl: string;
  /** Beginnings of URLs, or of paths that lead out of the folder, each with the folder that holds their files (A2). */
  readonly refs: ReadonlyMap<string, string>;
  /** The path of a folder that the search by namespace skips. */
  readonly skipped?: string | undefined;
}

/** A file that was read: its path in the folder, or its address below one of `refs`, and its root. */
export interface XmlFile {
  readonly file: string;
  readonly root: XmlElement;
}

/** The files of a folder, each read once. */
export interface XmlFiles {
  readonly first: () => XmlFile | undefined;
  /** The file that a location names as seen from another one, by A2. */
  readonly open: (location: string, from: string, expected: ExpectedRoot) => XmlFile | NotOpened;
}

/** Characters that a file's name may not have on Windows, or in a ZIP archive made for it. */
const unportable = /[<>:"|?*\\]|\p{Cc}/gu;

/** The name under which a file can be saved on every system: `Service.svc?xsd=xsd0` is `Service.svc_xsd=xsd0`. */
export function portableName(path: string): string {
  return path.replace(unportable, '_');
}

/** What a file that is looked for holds: the local names of roots that it may have, the best first, and their target namespace. */
export interface ExpectedRoot {
  readonly kinds: readonly ('definitions' | 'schema')[];
  readonly namespace: string;
  /** The element with the location, for warnings. */
  readonly at: XmlElement;
}

/** So much of a file is read to see which namespace it holds. */
const headBytes = 64 * 1024;

/** The files below a folder. No URL is fetched, and nothing that lies outside is read, whatever links lead there (A2). One closure over what was read, the functions within are short. */
export function xmlFilesOf(
  { folder, wsdl, refs, skipped }: WsdlPlace,
  allowance: Allowance,
  findings: Findings,
): XmlFiles {
  const root = realpathSync(folder);
  /** What relative locations in a file of `refs` go on from. */
  const addresses = new Map<string, string>();
  const known = new Map<string, XmlFile | { why: string }>();

  /** Reads a file by its path in a folder, which is called so or by a ref; the same file by two paths is one. */
  function read(below: string, path: string, ref?: string): XmlFile | { why: string } {
    const real = inside(below, path);
    if (typeof real === 'object') return real;
    const before = known.get(real);
    if (before !== undefined) return before;
    const { contractFiles } = allowance.limits;
    // the first one is not counted
    if (known.size > contractFiles)
      throw new OverLimit(`${path} would be one more than ${contractFiles} files`);
    // a path that leads out of the folder and in again, by an escaped slash, is none to write to
    const own = path.split('/').includes('..') ? relative(below, real) : path;
    const made = parse(real, ref === undefined ? own : `${ref}/${own}`);
    known.set(real, made);
    return made;
  }

  function parse(real: string, file: string): XmlFile | { why: string } {
    try {
      if (!statSync(real).isFile()) return { why: 'got what is no file' };
      const { source, early } = readSource(file, readWhole(real, allowance));
      const element = readTree(source, allowance);
      if (early) findings.warn(element, 'text before the XML declaration is skipped');
      if (oldSchemas.some((namespace) => source.text.includes(`"${namespace}"`)))
        findings.warn(element, 'XML Schema of before 2001 is read as that of 2001');
      return { file, root: element };
    } catch (error) {
      if (error instanceof OverLimit) throw new OverLimit(error.message, file, error.line);
      if (error instanceof XmlError || error instanceof UnsupportedCharset) {
        findings.fileFlaw(file, error instanceof XmlError ? error.line : undefined, error.message);
        return { why: `got one that isn't read (${error.message})` };
      }
      if (error instanceof Error && 'code' in error) return { why: `got none (${error.code})` };
      throw error;
    }
  }

  const others = createOtherFiles({
    document: '',
    folders: refs,
    read: (ref, path) => {
      const below = ref === undefined ? root : existing(resolve(folder, ref));
      if (below === undefined) return { why: `got no folder ${shown(ref)}` };
      const found = read(below, path, ref);
      if (!('why' in found)) return { root: found };
      const saved = portableName(path) === path ? found : read(below, portableName(path), ref);
      return 'why' in saved ? found : { root: saved };
    },
    // `read` counts them
    most: Number.POSITIVE_INFINITY,
    foldersAre: "as --refs of adopt, or among the overlay's refs",
    hasQueries: true,
  });

  let byNamespace: ReadonlyMap<string, readonly string[]> | undefined;

  /** The file of the folder that holds a namespace: the one that is called as the location ends, else the first. */
  function ofNamespace(
    { kinds, namespace, at }: ExpectedRoot,
    location: string,
    from: string,
  ): XmlFile | undefined {
    byNamespace ??= namespacesBelow(root, skipped, allowance);
    const held = byNamespace;
    const all = kinds
      .flatMap((kind) => held.get(`${kind} ${namespace}`) ?? [])
      .filter((path) => path !== from);
    const named = all.filter((path) => isCalled(path, location));
    const candidates = named.length > 0 ? named : all;
    const [path] = candidates;
    if (path === undefined) return undefined;
    if (candidates.length > 1)
      findings.warn(
        at,
        `several files have the target namespace ${shown(namespace)}: ${someOf(candidates)}; ${path} is taken`,
      );
    const found = read(root, path);
    return 'why' in found ? undefined : found;
  }

  /** The file of a location: by its path, or by its namespace. */
  function openLocation(location: string, from: string, expected: ExpectedRoot): XmlFile | NotOpened {
    const byName = isUrl(location) ? ofNamespace(expected, location, from) : undefined;
    if (byName !== undefined) return byName;
    const base = addresses.get(from) ?? from;
    const opened = others.open(location, base);
    if (!('why' in opened)) {
      const found = opened.root as XmlFile;
      addresses.set(found.file, opened.file);
      return found;
    }
    if (isUrl(location)) return opened;
    return (location.includes('?') ? ofNamespace(expected, location, from) : undefined) ?? opened;
  }

  return {
    first: () => {
      const found = read(root, wsdl);
      if (!('why' in found)) return found;
      if (findings.flaws.length === 0)
        findings.fileProblem(wsdl, undefined, `expected a WSDL in the folder, ${found.why}`);
      return undefined;
    },
    open: (location, from, expected) => openLocation(location.trim(), from, expected),
  };
}

/** Returns true for a path that ends as a location does, with or without its query, or that is named as its query's value. */
function isCalled(path: string, location: string): boolean {
  const [before = '', query] = location.split('?', 2);
  const last = decoded(before.split('/').at(-1) ?? '');
  const whole = query === undefined ? last : `${last}?${decoded(query)}`;
  const name = path.split('/').at(-1) ?? '';
  const value = query === undefined ? '' : query.slice(query.indexOf('=') + 1);
  const isOfValue = value !== '' && (name === value || name.replace(/\.[^.]*$/, '') === value);
  return name === whole || name === portableName(whole) || name === last || isOfValue;
}

function existing(folder: string): string | undefined {
  try {
    return realpathSync(folder);
  } catch {
    return undefined;
  }
}

/** A file's path without links; else why it can't be read. */
function inside(root: string, path: string): string | { why: string } {
  try {
    const real = realpathSync(join(root, path));
    return real.startsWith(root + sep) ? real : { why: 'got one that lies elsewhere' };
  } catch (error) {
    if (error instanceof Error && 'code' in error) return { why: `got none (${error.code})` };
    throw error;
  }
}

/** The WSDLs and schemas below a folder, without its adopted contracts, by root and target namespace, in the order of their paths. */
function namespacesBelow(
  root: string,
  skipped: string | undefined,
  { limits }: Allowance,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const other = skipped === undefined ? undefined : existing(skipped);
  let files = 0;
  const visit = (folder: string, depth: number): void => {
    // a folder that adopt wrote has copies
    if (folder !== '' && (join(root, folder) === other || existsSync(join(root, folder, derivedFile))))
      return;
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true }).toSorted(byName)) {
      if (entry.name.startsWith('.') || depth > limits.contractDepth) continue;
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) visit(path, depth + 1);
      else {
        if (++files > limits.contractFiles)
          throw new OverLimit(`expected at most ${limits.contractFiles} files in the folder, got more`);
        const held = rootHeld(root, path);
        if (held !== undefined) found.set(held, [...(found.get(held) ?? []), path]);
      }
    }
  };
  visit('', 0);
  return found;
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}

/** The root and the target namespace of a WSDL or schema by its first tag; undefined for any other file. */
function rootHeld(root: string, path: string): string | undefined {
  const real = inside(root, path);
  if (typeof real === 'object') return undefined;
  const file = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) return undefined;
    const head = Buffer.alloc(headBytes);
    const length = readSync(file, head, 0, headBytes, 0);
    const text = head.toString('latin1', 0, length).replace(/^\u00ef\u00bb\u00bf/, '');
    const reader = new XmlReader(blanked(text), { ...defaultLimits, xmlAttributes: 1_000 });
    reader.readRoot();
    if (reader.local !== 'schema' && reader.local !== 'definitions') return undefined;
    return `${reader.local} ${reader.attribute('', 'targetNamespace') ?? ''}`;
  } catch (error) {
    if (error instanceof XmlError) return undefined;
    throw error;
  } finally {
    closeSync(file);
  }
}

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
import { join, relative, resolve } from 'node:path';
import { derivedFile } from '../../contract/adopted.ts';
import { defaultLimits } from '../../contract/limits.ts';
import { UnsupportedCharset, XmlError } from '../../xml/error.ts';
import { XmlReader } from '../../xml/reader.ts';
import { type Allowance, OverLimit } from '../document/allowance.ts';
import { shown, someOf } from '../document/node.ts';
import { decoded, isUrl, type NotOpened, OtherFiles } from '../document/other-files.ts';
import { pathInside, readWhole } from '../document/yaml.ts';
import type { Findings } from './findings.ts';
import { blanked, oldSchemas, readSource, readTree, type XmlElement } from './xml-tree.ts';

/** Location of the documents of an adopted service. */
export interface WsdlPlace {
  readonly folder: string;
  /** The path of the first WSDL in the folder. */
  readonly wsdl: string;
  /** Folders by the prefix of a URL, or of a path that leaves the folder (A2). */
  readonly refs: ReadonlyMap<string, string>;
  /** The path of a folder that the search by namespace skips. */
  readonly skipped?: string | undefined;
}

/** A parsed file: its root and its path in the folder, or its address if it is in a folder of `refs`. */
export interface XmlFile {
  readonly file: string;
  readonly root: XmlElement;
}

/** Characters that a file's name may not have on Windows, or in a ZIP archive made for it. */
const unportable = /[<>:"|?*\\]|\p{Cc}/gu;

/** Returns a name that is valid on all systems: `Service.svc?xsd=xsd0` becomes `Service.svc_xsd=xsd0`. */
export function portableName(path: string): string {
  return path.replace(unportable, '_');
}

/** Expected content of a file: the local names allowed for its root, the preferred first, and the target namespace. */
export interface ExpectedRoot {
  readonly kinds: readonly ('definitions' | 'schema')[];
  readonly namespace: string;
  /** The element with the location, for warnings. */
  readonly at: XmlElement;
}

/** Number of bytes read from a file to find its root and target namespace. */
const headBytes = 64 * 1024;

/** A file, or the reason why it cannot be read. */
type Reading = XmlFile | { readonly why: string };

/**
 * The files in a folder, each read once. URLs are never fetched, and files outside the folders are not read, even
 * through links (A2).
 */
export class XmlFiles {
  readonly #place: WsdlPlace;
  readonly #root: string;
  readonly #allowance: Allowance;
  readonly #findings: Findings;
  readonly #others: OtherFiles;
  /** Base of relative locations by file: the address of a file in a folder of `refs`. */
  readonly #addresses = new Map<string, string>();
  readonly #known = new Map<string, Reading>();
  #byNamespace: ReadonlyMap<string, readonly string[]> | undefined;

  constructor(place: WsdlPlace, allowance: Allowance, findings: Findings) {
    this.#place = place;
    this.#root = realpathSync(place.folder);
    this.#allowance = allowance;
    this.#findings = findings;
    this.#others = new OtherFiles({
      document: '',
      folders: place.refs,
      read: (ref, path) => this.#readBelow(ref, path),
      // `#read` counts the files
      most: Number.POSITIVE_INFINITY,
      foldersAre: 'as --refs of adopt, or in refs of the overlay',
      hasQueries: true,
    });
  }

  first(): XmlFile | undefined {
    const { wsdl } = this.#place;
    const found = this.#read(this.#root, wsdl);
    if (!('why' in found)) return found;
    const message = `expected a WSDL in the folder, ${found.why}`;
    if (this.#findings.flaws.length === 0) this.#findings.problems.push({ file: wsdl, pointer: '', message });
    return undefined;
  }

  /** Returns the file that a location in the file `from` names (A2): by its path, or by its namespace. */
  open(untrimmed: string, from: string, expected: ExpectedRoot): XmlFile | NotOpened {
    const location = untrimmed.trim();
    const byName = isUrl(location) ? this.#ofNamespace(expected, location, from) : undefined;
    if (byName !== undefined) return byName;
    const opened = this.#others.open(location, this.#addresses.get(from) ?? from);
    if (!('why' in opened)) {
      const found = opened.root as XmlFile;
      this.#addresses.set(found.file, opened.file);
      return found;
    }
    if (isUrl(location)) return opened;
    return (location.includes('?') ? this.#ofNamespace(expected, location, from) : undefined) ?? opened;
  }

  #readBelow(ref: string | undefined, path: string): { readonly root: XmlFile } | { readonly why: string } {
    const below = ref === undefined ? this.#root : existing(resolve(this.#place.folder, ref));
    if (below === undefined) return { why: `got no folder ${shown(ref)}` };
    const found = this.#read(below, path, ref);
    if (!('why' in found)) return { root: found };
    const saved = portableName(path) === path ? found : this.#read(below, portableName(path), ref);
    return 'why' in saved ? found : { root: saved };
  }

  /** Reads a file by its path in a folder, and once if two paths lead to it. `ref` replaces the folder in its name. */
  #read(below: string, path: string, ref?: string): Reading {
    const real = pathInside(below, path);
    if (typeof real === 'object') return real;
    const before = this.#known.get(real);
    if (before !== undefined) return before;
    const { contractFiles } = this.#allowance.limits;
    // the first file does not count
    if (this.#known.size > contractFiles)
      throw new OverLimit(`${path} exceeds the maximum of ${contractFiles} files`);
    // A path with an escaped slash may leave the folder and return to it. Output files cannot have this path.
    const own = path.split('/').includes('..') ? relative(below, real) : path;
    const made = this.#parse(real, ref === undefined ? own : `${ref}/${own}`);
    this.#known.set(real, made);
    return made;
  }

  #parse(real: string, file: string): Reading {
    const findings = this.#findings;
    try {
      if (!statSync(real).isFile()) return { why: 'got something that is not a file' };
      const { source, early } = readSource(file, readWhole(real, this.#allowance));
      const element = readTree(source, this.#allowance);
      if (early) findings.warn(element, 'text before the XML declaration is skipped');
      if (oldSchemas.some((namespace) => source.text.includes(`"${namespace}"`)))
        findings.warn(element, 'an XML Schema from before 2001 is read as a schema of 2001');
      return { file, root: element };
    } catch (error) {
      if (error instanceof OverLimit) throw new OverLimit(error.message, file, error.line);
      if (error instanceof XmlError || error instanceof UnsupportedCharset) {
        findings.fileFlaw(file, error instanceof XmlError ? error.line : undefined, error.message);
        return { why: `got an unreadable file (${error.message})` };
      }
      if (error instanceof Error && 'code' in error) return { why: `got none (${error.code})` };
      throw error;
    }
  }

  /**
   * Returns the file with the namespace: if possible, the file with the name at the end of the location, or else the
   * first of the preferred kind. The WSDL files and the schemas of one service often have the same namespace.
   */
  #ofNamespace(expected: ExpectedRoot, location: string, from: string): XmlFile | undefined {
    const { kinds, namespace, at } = expected;
    this.#byNamespace ??= namespacesBelow(this.#root, this.#place.skipped, this.#allowance);
    const held = this.#byNamespace;
    const ofKinds = kinds.map((kind) =>
      (held.get(`${kind} ${namespace}`) ?? []).filter((path) => path !== from),
    );
    const named = ofKinds.flat().filter((path) => isCalled(path, location));
    const candidates = named.length > 0 ? named : (ofKinds.find((paths) => paths.length > 0) ?? []);
    const [path] = candidates;
    if (path === undefined) return undefined;
    if (candidates.length > 1)
      this.#findings.warn(
        at,
        `several files have the target namespace ${shown(namespace)}: ${someOf(candidates)}; ${path} is used`,
      );
    const found = this.#read(this.#root, path);
    return 'why' in found ? undefined : found;
  }
}

/**
 * Returns true if a path ends like the location, with or without its query, or is named like the value of the query.
 */
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

/**
 * Returns the WSDLs and schemas in a folder by root and target namespace, in path order. Folders that `adopt` wrote are
 * skipped.
 */
function namespacesBelow(
  root: string,
  skipped: string | undefined,
  { limits }: Allowance,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const other = skipped === undefined ? undefined : existing(skipped);
  let files = 0;
  const visit = (folder: string, depth: number): void => {
    // A folder that `adopt` wrote contains copies.
    if (folder !== '' && (join(root, folder) === other || existsSync(join(root, folder, derivedFile))))
      return;
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true }).toSorted(byName)) {
      if (entry.name.startsWith('.') || depth > limits.contractDepth) continue;
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) visit(path, depth + 1);
      else {
        if (++files > limits.contractFiles)
          throw new OverLimit(`expected at most ${limits.contractFiles} files in the folder, got more files`);
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

/** Returns the root name and target namespace of a WSDL or schema from its first tag; undefined for any other file. */
function rootHeld(root: string, path: string): string | undefined {
  const real = pathInside(root, path);
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

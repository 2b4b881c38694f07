import { shown } from './node.ts';

/** The reason why a file was not opened. */
export interface NotOpened {
  readonly why: string;
  /** The start of a path (`../`, possibly repeated) that leaves the document's folder and has no configured folder. */
  readonly beginning?: string;
}

/** Folders of other files and the function that reads them. */
export interface OtherFilesSource {
  /** The file name of the document, in the folder that contains the other files. */
  readonly document: string;
  /** Folders by the prefix of a URL, or of a path that leaves the document's folder (`../`). */
  readonly folders: ReadonlyMap<string, string>;
  /**
   * Returns the root of a file in a folder (undefined for the document's folder), or the reason why it is not
   * available.
   */
  readonly read: (
    folder: string | undefined,
    path: string,
  ) => { readonly root: unknown } | { readonly why: string };
  /** Maximum number of files. */
  readonly most: number;
  /** Name of `folders` in messages. */
  readonly foldersAre?: string;
  /** True if a relative address can have a query, which is then the end of the file name. */
  readonly hasQueries?: boolean;
}

/** Returns the file of a pointer: `''` for the document itself. */
export function fileOf(pointer: string): string {
  return pointer === '' || pointer.startsWith('/') ? '' : pointer.slice(0, pointer.indexOf('#'));
}

/** Returns a pointer with its file, as in `Located`. File `''` is the document itself. */
export function joinFile(file: string, pointer: string): string {
  return file === '' ? pointer : `${file}#${pointer}`;
}

/** A file that was opened, or the reason why not. File `''` is the document itself, without its root. */
type Opened = { readonly file: string; readonly root: unknown } | NotOpened;

/** The other files of a document, which its references name. Each is read once. URLs are never fetched. */
export class OtherFiles {
  readonly #source: OtherFilesSource;
  readonly #opened = new Map<string, Opened>();

  constructor(source: OtherFilesSource) {
    this.#source = source;
  }

  /** Returns the address relative to file `to` of a file named relative to file `from`. */
  addressFrom(to: string, address: string, from: string): string {
    const { document } = this.#source;
    const resolved = this.#resolved(address, from);
    if (resolved === undefined) return address; // reported when it is opened
    const file = resolved === '' ? document : resolved;
    if (file === to || (file === document && to === '')) return '';
    if (isUrl(file) || isUrl(to)) return file;
    const up = '../'.repeat(to.split('/').length - 1);
    return up + file.split('/').map(encodeURIComponent).join('/');
  }

  /** Opens the file that an address names relative to another file. */
  open(address: string, from: string): Opened {
    const { document, most } = this.#source;
    const file = this.#resolved(address, from);
    if (file === undefined) return { why: 'is no relative path' };
    if (file === document) return { file: '', root: undefined };
    const known = this.#opened.get(file);
    if (known !== undefined) return known;
    const isFull = this.#opened.size >= most;
    const made = isFull ? { why: `exceeds the maximum of ${most} files` } : openFile(file, this.#source);
    this.#opened.set(file, made);
    return made;
  }

  #resolved(address: string, from: string): string | undefined {
    return address === '' ? from : resolveFile(address, from, this.#source.hasQueries === true);
  }
}

function openFile(
  file: string,
  { folders, read, foldersAre = "among the overlay's refs" }: OtherFilesSource,
): Opened {
  // A path that starts with `../` leaves the document's folder.
  if (!isUrl(file) && !file.startsWith('../'))
    return found(file, read(undefined, file), 'below the folder of the document');
  const [stated] = [...folders]
    // A folder does not cover its parent.
    .filter(([beginning]) => file.startsWith(beginning) && !file.startsWith('../', beginning.length))
    .toSorted(([a], [b]) => b.length - a.length);
  if (stated === undefined && isUrl(file))
    return { why: `is a URL, which is not downloaded. Add its beginning and a folder ${foldersAre}` };
  if (stated === undefined) {
    const [beginning = '../'] = /^(?:\.\.\/)+/.exec(file) ?? [];
    const such = `Add its beginning, such as "${beginning}", and a folder ${foldersAre}`;
    return { why: `is outside the folder of the document. ${such}`, beginning };
  }
  const [beginning, folder] = stated;
  const path = file.slice(beginning.length);
  return found(file, read(folder, isUrl(file) ? decoded(path) : path), `in ${shown(folder)}`);
}

function found(file: string, content: ReturnType<OtherFilesSource['read']>, where: string): Opened {
  return 'why' in content
    ? { why: `cannot be resolved: expected a file ${where}, ${content.why}` }
    : { file, ...content };
}

/** Returns true for a URL instead of a path. */
export function isUrl(file: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(file);
}

/** Returns a file as a path relative to the document's folder or as a URL; undefined for any other address. */
function resolveFile(address: string, from: string, hasQueries: boolean): string | undefined {
  if (isUrl(address)) return URL.parse(address)?.href;
  if (isUrl(from)) return URL.parse(address, from)?.href;
  const [, before = address, query = ''] = (hasQueries && /^([^?]*)(\?.*)$/s.exec(address)) || [];
  // A query is the end of the file name. Without a path, it follows the name of the current file (RFC 3986, 5.2.2).
  const name = from.slice(from.lastIndexOf('/') + 1);
  const stated = decoded(before === '' && query !== '' ? name : before);
  if (stated.startsWith('/') || (hasQueries ? /[\\#]/ : /[\\?#]/).test(stated)) return undefined;
  if (query !== '') return joinPath(`${stated}${decoded(query).replaceAll('/', '_')}`, from);
  return joinPath(stated, from);
}

/** Returns a relative path relative to the document's folder; undefined if it is empty. */
function joinPath(stated: string, from: string): string | undefined {
  const path = from.split('/').slice(0, -1);
  for (const segment of stated.split('/')) {
    if (segment === '..' && path.length > 0 && path.at(-1) !== '..') path.pop();
    else if (segment !== '.' && segment !== '') path.push(segment);
  }
  return path.length === 0 ? undefined : path.join('/');
}

/** Decodes percent escapes. Returns the path unchanged if they are invalid. */
export function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

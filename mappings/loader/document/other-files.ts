import { shown } from './node.ts';

/** A document's other files, which its references lead to. */
export interface OtherFiles {
  /** The file that an address names as seen from another one; of file `''`, the document itself, without its root. */
  readonly open: (
    address: string,
    from: string,
  ) => { readonly file: string; readonly root: unknown } | NotOpened;
  /** The address, as seen from file `to`, of what an address names as seen from file `from`. */
  readonly addressFrom: (to: string, address: string, from: string) => string;
}

/** The reason why a file was not opened. */
export interface NotOpened {
  readonly why: string;
  /** `../` or several of them: the beginning of a path that leads out of the document's folder, and that no folder covers. */
  readonly beginning?: string;
}

/** Where other files may lie, and how one is read. */
export interface OtherFilesSource {
  /** The name of the document's own file, in the folder that holds all the others. */
  readonly document: string;
  /** Beginnings of URLs, or of paths that lead out of the document's folder (`../`), each with the folder that holds their files. */
  readonly folders: ReadonlyMap<string, string>;
  /** A file's root by its folder (undefined for the document's own) and its path in it; else why it can't be had. */
  readonly read: (
    folder: string | undefined,
    path: string,
  ) => { readonly root: unknown } | { readonly why: string };
  /** How many there may be. */
  readonly most: number;
  /** What messages call `folders`. */
  readonly foldersAre?: string;
  /** True if a relative address may have a query, which is then the end of a file's name. */
  readonly hasQueries?: boolean;
}

/** The file that a pointer leads into: `''` for the document itself. */
export function fileOf(pointer: string): string {
  return pointer === '' || pointer.startsWith('/') ? '' : pointer.slice(0, pointer.indexOf('#'));
}

/** A pointer into a file, as `Located` has it; `''` is the document itself. */
export function joinFile(file: string, pointer: string): string {
  return file === '' ? pointer : `${file}#${pointer}`;
}

/** Reads each file once, when the first reference leads to it. Never fetches a URL. */
export function createOtherFiles(source: OtherFilesSource): OtherFiles {
  const { document, most, hasQueries = false } = source;
  const opened = new Map<string, ReturnType<OtherFiles['open']>>();
  return {
    addressFrom: (to, address, from) => {
      const resolved = address === '' ? from : resolveFile(address, from, hasQueries);
      if (resolved === undefined) return address; // reported when it is opened
      const file = resolved === '' ? document : resolved;
      if (file === to || (file === document && to === '')) return '';
      if (isUrl(file) || isUrl(to)) return file;
      const up = '../'.repeat(to.split('/').length - 1);
      return up + file.split('/').map(encodeURIComponent).join('/');
    },
    open: (address, from) => {
      const file = address === '' ? from : resolveFile(address, from, hasQueries);
      if (file === undefined) return { why: 'is no relative path' };
      if (file === document) return { file: '', root: undefined };
      const known = opened.get(file);
      if (known !== undefined) return known;
      const made =
        opened.size >= most ? { why: `would be one more than ${most} files` } : openFile(file, source);
      opened.set(file, made);
      return made;
    },
  };
}

function openFile(
  file: string,
  { folders, read, foldersAre = "among the overlay's refs" }: OtherFilesSource,
): ReturnType<OtherFiles['open']> {
  // a path with `../` at its beginning leads out of the document's folder
  if (!isUrl(file) && !file.startsWith('../'))
    return found(file, read(undefined, file), 'below the folder of the document');
  const [stated] = [...folders]
    // a folder does not cover its parent
    .filter(([beginning]) => file.startsWith(beginning) && !file.startsWith('../', beginning.length))
    .toSorted(([a], [b]) => b.length - a.length);
  if (stated === undefined && isUrl(file))
    return { why: `is a URL, and none is fetched; expected its beginning and a folder ${foldersAre}` };
  if (stated === undefined) {
    const [beginning = '../'] = /^(?:\.\.\/)+/.exec(file) ?? [];
    const such = `expected its beginning, such as "${beginning}", and a folder ${foldersAre}`;
    return { why: `leads out of the folder of the document; ${such}`, beginning };
  }
  const [beginning, folder] = stated;
  const path = file.slice(beginning.length);
  return found(file, read(folder, isUrl(file) ? decoded(path) : path), `in ${shown(folder)}`);
}

function found(
  file: string,
  content: ReturnType<OtherFilesSource['read']>,
  where: string,
): ReturnType<OtherFiles['open']> {
  return 'why' in content
    ? { why: `can't be followed: expected a file ${where}, ${content.why}` }
    : { file, ...content };
}

/** True for a URL, in the place of a path. */
export function isUrl(file: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(file);
}

/** A file as its path as seen from the document's folder, or as a URL; undefined where it is neither. */
function resolveFile(address: string, from: string, hasQueries: boolean): string | undefined {
  if (isUrl(address)) return URL.parse(address)?.href;
  if (isUrl(from)) return URL.parse(address, from)?.href;
  const [, before = address, query = ''] = (hasQueries && /^([^?]*)(\?.*)$/s.exec(address)) || [];
  // a query is the end of a file's name; without a path, of the name of the file that it is in (RFC 3986, 5.2.2)
  const name = from.slice(from.lastIndexOf('/') + 1);
  const stated = decoded(before === '' && query !== '' ? name : before);
  if (stated.startsWith('/') || (hasQueries ? /[\\#]/ : /[\\?#]/).test(stated)) return undefined;
  if (query !== '') return joinPath(`${stated}${decoded(query).replaceAll('/', '_')}`, from);
  return joinPath(stated, from);
}

/** A relative path as seen from the document's folder; undefined for none. */
function joinPath(stated: string, from: string): string | undefined {
  const path = from.split('/').slice(0, -1);
  for (const segment of stated.split('/')) {
    if (segment === '..' && path.length > 0 && path.at(-1) !== '..') path.pop();
    else if (segment !== '.' && segment !== '') path.push(segment);
  }
  return path.length === 0 ? undefined : path.join('/');
}

/** Percent escapes undone; as it stands where they are none. */
export function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

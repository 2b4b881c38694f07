import type { AdoptedDocument } from '../mappings/contract/adopted.ts';
import type { Contract, Port } from '../mappings/contract/model.ts';
import { documentName } from './adopted.ts';

/** Query parameters that request a document, in lower case (W2). */
const documentWords: ReadonlySet<string> = new Set(['wsdl', 'xsd', 'singlewsdl']);

/**
 * Former locations of documents, which clients with a stored WSDL may still request: as the legacy service and the
 * author's files name them.
 */
export interface OldLocations {
  /**
   * Names of documents, for example `xsd=0`, by the query of the legacy service in lower case, like `xsd=xsd0` or
   * `schema=types`.
   */
  readonly byQuery: ReadonlyMap<string, string>;
  /** Names of documents by the path below the base path in lower case, for example `/schemas/orders.xsd`. */
  readonly byPath: ReadonlyMap<string, string>;
}

/**
 * Returns the former locations of a contract's documents (A2): the locations of imports, relative to the endpoints, and
 * the names of the files. If two documents share a location, the first document gets it.
 */
export function oldLocations({ documents, ports, basePath }: Contract): OldLocations {
  const byQuery = new Map<string, string>();
  const byPath = new Map<string, string>();
  const addQuery = (document: AdoptedDocument, value: string): void => {
    if (value !== '') addOnce(byQuery, `${document.kind}=${value}`, documentName(document));
  };
  // imports before file names, since a file may have been renamed
  for (const { path } of firstOfFolders(ports))
    for (const [document, url, location] of locationsFrom(documents, `${basePath}${path}`)) {
      const words = [...url.searchParams];
      const named = words.filter(([word]) => documentWords.has(word.toLowerCase()));
      for (const [word, value] of named) if (word.toLowerCase() === document.kind) addQuery(document, value);
      // an extra parameter of an `xsd` query, for example a session id, names no document
      if (named.length === 0)
        for (const [word, value] of words) addOnce(byQuery, `${word}=${value}`, documentName(document));
      if (url.search === '') addQuery(document, location);
      if (url.pathname.startsWith(`${basePath}/`))
        addOnce(byPath, url.pathname.slice(basePath.length), documentName(document));
    }
  for (const document of documents.slice(1)) {
    const base = document.file.slice(document.file.lastIndexOf('/') + 1);
    for (const name of [document.file, base, base.replace(/\.[^.]*$/, '')])
      if (!document.isBuiltIn) addQuery(document, name);
  }
  return { byQuery, byPath };
}

/**
 * Returns every import with its document, its location, and the resolved URL if the first document is served at `path`.
 */
function locationsFrom(
  documents: readonly AdoptedDocument[],
  path: string,
): readonly (readonly [AdoptedDocument, URL, string])[] {
  const [main] = documents;
  const found: (readonly [AdoptedDocument, URL, string])[] = [];
  const urls = new Map<AdoptedDocument, URL>();
  if (main !== undefined) urls.set(main, new URL(`http://service.invalid${path}`));
  // the loop body adds entries to the map
  for (const [from, base] of urls)
    for (const place of from.places) {
      const url = place.kind === 'location' ? URL.parse(place.location, base) : null;
      if (place.kind !== 'location' || url === null) continue;
      found.push([place.document, url, place.location]);
      if (!urls.has(place.document)) urls.set(place.document, url);
    }
  return found;
}

/** Keeps one port per folder, since relative locations resolve to the same paths from all endpoints of a folder. */
function firstOfFolders(ports: readonly Port[]): readonly Port[] {
  const folders = new Set<string>();
  return ports.filter(({ path }) => {
    const folder = path.slice(0, path.lastIndexOf('/'));
    return !folders.has(folder) && folders.add(folder);
  });
}

function addOnce(map: Map<string, string>, key: string, name: string): void {
  const lower = key.toLowerCase();
  if (!map.has(lower)) map.set(lower, name);
}

import type { Adopted, AdoptedDocument } from '../mappings/contract/adopted.ts';
import { documentName } from './adopted.ts';

/** Words of a query that ask for a document, in lower case (W2). */
const documentWords: ReadonlySet<string> = new Set(['wsdl', 'xsd', 'singlewsdl']);

/** Where clients with a stored WSDL look for its parts: the names that the old service and the author's files give them. */
export interface OldLocations {
  /** The names of documents, such as `xsd=0`, by queries of the old service in lower case, such as `xsd=xsd0` or `schema=types`. */
  readonly byQuery: ReadonlyMap<string, string>;
  /** The same by paths below the base path in lower case, such as `/schemas/orders.xsd`. */
  readonly byPath: ReadonlyMap<string, string>;
}

/**
 * The old locations of a service's documents (A2): as imports name them, relative to the endpoints, and by the names of the
 * files. A location that two documents have is that of the first one.
 */
export function oldLocations(
  { service, endpoints }: Pick<Adopted, 'service' | 'endpoints'>,
  basePath: string,
): OldLocations {
  const byQuery = new Map<string, string>();
  const byPath = new Map<string, string>();
  const addQuery = (document: AdoptedDocument, value: string): void => {
    if (value !== '') addOnce(byQuery, `${document.kind}=${value}`, documentName(document));
  };
  // imports first, since files may have other names
  for (const { path } of firstOfFolders(endpoints))
    for (const [document, url, location] of locationsFrom(service.documents, `${basePath}${path}`)) {
      const words = [...url.searchParams];
      const named = words.filter(([word]) => documentWords.has(word.toLowerCase()));
      for (const [word, value] of named) if (word.toLowerCase() === document.kind) addQuery(document, value);
      // a word beside `xsd`, such as that of a session, names no document
      if (named.length === 0)
        for (const [word, value] of words) addOnce(byQuery, `${word}=${value}`, documentName(document));
      if (url.search === '') addQuery(document, location);
      if (url.pathname.startsWith(`${basePath}/`))
        addOnce(byPath, url.pathname.slice(basePath.length), documentName(document));
    }
  for (const document of service.documents.slice(1)) {
    const base = document.file.slice(document.file.lastIndexOf('/') + 1);
    for (const name of [document.file, base, base.replace(/\.[^.]*$/, '')])
      if (!document.isBuiltIn) addQuery(document, name);
  }
  return { byQuery, byPath };
}

/** Every location of a document, and the URL that it leads to if the first document is at a path. */
function locationsFrom(
  documents: readonly AdoptedDocument[],
  path: string,
): readonly (readonly [AdoptedDocument, URL, string])[] {
  const [main] = documents;
  const found: (readonly [AdoptedDocument, URL, string])[] = [];
  const urls = new Map<AdoptedDocument, URL>();
  if (main !== undefined) urls.set(main, new URL(`http://service.invalid${path}`));
  // grows meanwhile
  for (const [from, base] of urls)
    for (const place of from.places) {
      const url = place.kind === 'location' ? URL.parse(place.location, base) : null;
      if (place.kind !== 'location' || url === null) continue;
      found.push([place.document, url, place.location]);
      if (!urls.has(place.document)) urls.set(place.document, url);
    }
  return found;
}

/** An endpoint of each folder, since relative locations lead from all of them to the same paths. */
function firstOfFolders(endpoints: Adopted['endpoints']): Adopted['endpoints'] {
  const folders = new Set<string>();
  return endpoints.filter(({ path }) => {
    const folder = path.slice(0, path.lastIndexOf('/'));
    return !folders.has(folder) && folders.add(folder);
  });
}

function addOnce(map: Map<string, string>, key: string, name: string): void {
  const lower = key.toLowerCase();
  if (!map.has(lower)) map.set(lower, name);
}

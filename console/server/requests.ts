import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { PreviewedRequest } from '../../gateway/protocols/preview.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import { documentNames, soapPathsOf } from '../../wsdl/binding.ts';

/** The page that a request asks for. */
export type PageRequest =
  | { readonly kind: 'overview' }
  /**
   * A page about a WSDL or schema. `path` is the location of the document below the base path, for example `/soap11`.
   */
  | { readonly kind: 'document'; readonly name: string; readonly path: string }
  /** `?op=GetSearch`, as in .asmx. */
  | { readonly kind: 'op'; readonly name: string }
  | { readonly kind: 'contract' }
  /** A path below the pages' folder, for example `/GetSearch`. */
  | { readonly kind: 'folder'; readonly path: string };

/** Returns the folder of the pages. If a route of the contract may be below `docs`, the folder is `_docs`. */
export function folderOf({ routes }: Contract): string {
  const isTaken = routes.some(({ segments: [first] }) =>
    first?.kind === 'literal' ? /^docs(?:\.json)?$/i.test(first.text) : first?.kind === 'parameter',
  );
  return isTaken ? '_docs' : 'docs';
}

/** Returns the page that a request asks for, or undefined if the gateway handles the request itself. */
export type ReadPageRequest = (
  request: Pick<IncomingMessage, 'method' | 'headers'>,
  path: string,
  query: string,
) => PageRequest | undefined;

/** Path of the pages about documents, below the pages' folder. The query names the document. */
export const documentPagePath = '/-/document';

/** Creates the function that recognizes requests for a contract's pages. A POST outside the pages' folder is a call. */
export function compilePageRequests(contract: Contract): ReadPageRequest {
  const base = contract.basePath.toLowerCase();
  const folder = `/${folderOf(contract)}`;
  const endpoints = soapPathsOf(contract);
  const soapPaths = new Set(endpoints.map(({ path }) => path.toLowerCase()));
  const documents = new Set([singleName, ...documentNames(contract)]);
  return ({ method, headers }, path, query) => {
    const lower = path.toLowerCase();
    if (!(lower === base || lower.startsWith(`${base}/`))) return undefined;
    const rest = lower.slice(base.length);
    const words = new Map(
      [...new URLSearchParams(query)].map(([name, value]) => [name.toLowerCase(), value]),
    );
    if (rest === `${folder}${documentPagePath}`) {
      const name = nameOfDocument(words) ?? '';
      const [first] = endpoints;
      if (documents.has(name)) return { kind: 'document', name, path: first?.path ?? '' };
    }
    if (rest === folder || rest.startsWith(`${folder}/`))
      return { kind: 'folder', path: path.slice(base.length + folder.length) };
    if (rest === `${folder}.json`) return { kind: 'contract' };
    if (method !== 'GET' && method !== 'HEAD') return undefined;
    const isBase = rest === '' || rest === '/';
    if (!isBase && !soapPaths.has(rest.endsWith('/') ? rest.slice(0, -1) : rest)) return undefined;
    const name = nameOfDocument(words) ?? (isBase ? undefined : 'wsdl');
    const op = words.get('op');
    if (!isBase && op !== undefined && nameOfDocument(words) === undefined) return { kind: 'op', name: op };
    if (name === undefined) return { kind: 'overview' };
    const isRaw = words.has('raw') || words.has('policy');
    if (isRaw || !documents.has(name) || !isNavigation(headers)) return undefined;
    return { kind: 'document', name, path: path.slice(base.length) };
  };
}

/**
 * Returns true if a browser loads the address into a window (Fetch Metadata §2.1, §2.2). `Accept` cannot show this:
 * some SOAP clients, for example node-soap, send the value of a browser when they load a WSDL.
 */
function isNavigation(headers: IncomingHttpHeaders): boolean {
  return headers['sec-fetch-dest'] === 'document' || headers['sec-fetch-mode'] === 'navigate';
}

const singleName = 'singleWsdl';

function nameOfDocument(words: ReadonlyMap<string, string>): string | undefined {
  if (words.has('singlewsdl')) return singleName;
  const wsdl = words.get('wsdl');
  if (wsdl !== undefined) return wsdl === '' || wsdl === '0' ? 'wsdl' : `wsdl=${wsdl}`;
  const xsd = words.get('xsd');
  return xsd === undefined ? undefined : `xsd=${xsd}`;
}

/** Parses a request from the form. Throws 400 for any other body. */
export function previewedRequest(body: Buffer): PreviewedRequest {
  const parsedBody = parsed(body);
  if (
    typeof parsedBody === 'object' &&
    parsedBody !== null &&
    'operation' in parsedBody &&
    'format' in parsedBody
  ) {
    const {
      operation,
      format,
      body: text,
      headers,
    } = parsedBody as Partial<Record<keyof PreviewedRequest, unknown>>;
    const known = (['soap11', 'soap12', 'xml', 'json'] as const).find((each) => each === format);
    const isText = typeof operation === 'string' && typeof text === 'string';
    if (isText && known !== undefined && typeof headers === 'object' && headers !== null) {
      const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]);
      return { operation, body: text, format: known, headers: Object.fromEntries(lower) };
    }
  }
  throw Object.assign(new Error('expected {"operation":"…","format":"soap11","headers":{},"body":"…"}'), {
    status: 400,
    expose: true,
  });
}

/** Parses JSON. Returns undefined for other texts, so that no error or log quotes them. */
function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

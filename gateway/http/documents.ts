import type { IncomingMessage } from 'node:http';
import type { BlockList } from 'node:net';
import { bufferOf } from '../../mappings/bytes.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import { type Contract, partsOf } from '../../mappings/contract/model.ts';
import { withoutEndSlashes } from '../../mappings/http-mapping/paths.ts';
import { createRecent, type Recent } from '../../mappings/recent.ts';
import { lackingForSigned, type PolicyName, policyNames } from '../../wsdl/policy.ts';
import { hasSchemaNumber, schemaList } from '../../wsdl/schema.ts';
import { createSliceFinder, type SliceNames, UnknownName } from '../../wsdl/slice.ts';
import { overloaded } from '../admission/admission.ts';
import { NoAnswer } from '../workers/worker-thread.ts';
import { forwardedUrl } from './forwarded.ts';
import { contentTypes } from './reply.ts';
import { createWorkerWriter, type Order, type Written, writeDocument } from './write-in-worker.ts';

/** A document of a contract, or the reason why it does not exist. */
export type Document =
  | {
      readonly kind: 'wsdl' | 'xsd' | 'page';
      readonly contentType: string;
      readonly bytes: Buffer;
      readonly etag: string;
    }
  | Missing;

interface Missing {
  readonly kind: 'missing';
  readonly text: string;
}

/** A document that has not been generated yet. */
export interface Unwritten {
  readonly kind: 'unwritten';
  /**
   * True for documents of some operations only, since their number is unlimited. The client then needs a permit, like a
   * call.
   */
  readonly needsPermit: boolean;
  /** Generates the document, once for all clients that wait for it. Throws CallError Overloaded. */
  readonly write: () => Document | Promise<Document>;
}

/** The documents of a contract, each generated at its first request (W2, W34). */
export interface Documents {
  /**
   * Returns the document that the query parameters of a GET name, ignoring case.
   *
   * @param unnamed the document if the query names none: `page`, `wsdl`, or another document of an adopted service
   */
  readonly find: (words: URLSearchParams, unnamed: string, request: IncomingMessage) => Document | Unwritten;
  /** Value for the Vary header: the request headers that the addresses in documents depend on; undefined for none. */
  readonly vary: string | undefined;
}

/** Settings of the documents of a contract. */
export interface DocumentOptions {
  /** Returns the public URL without the base path. Not called before the process listens. */
  readonly publicUrl: () => string;
  /** False if the public URL is only the listening address. A trusted proxy may then send a better one. */
  readonly configured: boolean;
  /** Proxies with trusted forwarding headers; undefined for none. */
  readonly trustedProxies: BlockList | undefined;
  readonly limits: Limits;
  /** Changes a WSDL of an adopted service before it is served; undefined for no change. */
  readonly change?: ((bytes: Uint8Array) => Uint8Array) | undefined;
}

/** The document that a query asks for. */
interface DocumentQuery extends SliceNames {
  readonly kind: 'wsdl' | 'xsd' | 'page';
  /** The value of `xsd`. */
  readonly schema: string;
  /** The values of `policy`, separated at commas. */
  readonly policies: readonly string[];
  /** The value of `soap`; undefined if missing. */
  readonly soap: string | undefined;
}

const noSuchDocument: Missing = {
  kind: 'missing',
  text: 'no such document. Use ?wsdl (with &tag=…, &operation=… or &soap=1.1) or a URL in the WSDL, such as ?xsd=0',
};

/** Maximum number of tags and operations in the address of a WSDL. */
export const maxSliceNames = 100;

/** Maximum number of callers that wait for a document from a worker thread. */
export const maxWaitingForDocuments = 32;

/** Memory for generated WSDLs, schemas and pages, in bytes. Half is reserved for WSDLs of some operations. */
export const maxDocumentCacheBytes = 32 * 1024 * 1024;

/**
 * Maximum number of elements in a WSDL that is generated on the main thread, in about 20 ms. Larger ones use a worker
 * thread.
 */
const mostAtOnce = 1_000;

/** The documents of a contract. Each is written when it is first requested. */
export class ContractDocuments implements Documents {
  readonly vary: string | undefined;
  readonly #contract: Contract;
  readonly #options: DocumentOptions;
  readonly #addressOf: (request: IncomingMessage) => string;
  readonly #wholes: ReturnType<typeof createCache>;
  /** Slices have a cache of their own: their number is unlimited, and they must not evict the whole documents. */
  readonly #slices: ReturnType<typeof createCache>;
  readonly #making = new Map<string, Promise<Document>>();
  readonly #writer: ReturnType<typeof createWorkerWriter>;
  readonly #finder: () => ReturnType<typeof createSliceFinder>;
  readonly #schemas: () => typeof schemaList;
  readonly #isSmall: () => boolean;
  #waiting = 0;

  constructor(contract: Contract, options: DocumentOptions) {
    const { documentCacheBytes = maxDocumentCacheBytes, totalMs } = options.limits;
    const { addressOf, vary } = publicUrlOf(options);
    this.vary = vary;
    this.#contract = contract;
    this.#options = options;
    this.#addressOf = addressOf;
    this.#wholes = createCache(documentCacheBytes / 2);
    this.#slices = createCache(documentCacheBytes / 2);
    this.#writer = createWorkerWriter(contract, totalMs);
    this.#finder = once(() => createSliceFinder(contract));
    this.#schemas = once(() => schemaList.filter((number) => hasSchemaNumber(contract, number)));
    this.#isSmall = once(() => sizeOf(contract) <= mostAtOnce);
  }

  find(words: URLSearchParams, unnamed: string, request: IncomingMessage): Document | Unwritten {
    const address = withoutEndSlashes(this.#addressOf(request)) + this.#contract.basePath;
    try {
      const order = this.#orderOf(readQuery(words, unnamed), address);
      return 'text' in order ? order : this.#documentOf(order);
    } catch (error) {
      if (error instanceof UnknownName) return missing(error.message);
      throw error;
    }
  }

  /** Returns the order of a document, or a reply that explains why the document does not exist. Throws UnknownName. */
  #orderOf(query: DocumentQuery, address: string): Order | Missing {
    const { kind, policies } = query;
    const contract = this.#contract;
    const { sliceNames = maxSliceNames } = this.#options.limits;
    const names = query.operations.length + query.tags.length;
    if (names > sliceNames)
      return missing(`expected at most ${sliceNames} tags and operations, got more names`);
    const schema = kind === 'xsd' ? this.#schemas().find((known) => String(known) === query.schema) : 0;
    if (schema === undefined) return noSuchDocument;
    const isSlice = kind !== 'page' && names > 0;
    const found = isSlice ? this.#finder().find(query) : undefined;
    const operations = found?.map(({ name }) => name);
    const mtom = policies.includes('mtom');
    const [first, ...more] = policies.filter((name) => name !== 'mtom');
    const policy = policyNames.find((name) => kind === 'wsdl' && name === first);
    if (mtom && !givesMtom(contract, query)) return noSuchDocument;
    const unfit = kind === 'wsdl' ? unfitPolicy(contract, first, policy, address) : undefined;
    if (unfit !== undefined) return missing(unfit);
    if (more.length > 0) return missing('expected one policy in addition to mtom, got several policies');
    const soap = kind === 'wsdl' ? query.soap : undefined;
    if (soap !== undefined && !isSoapVersion(soap)) return unknownVersion;
    const common = { kind, schema, operations, policy, address };
    return { ...common, ...(mtom && { mtom }), ...(soap !== undefined && { soap }) };
  }

  #documentOf(order: Order): Document | Unwritten {
    const isSlice = order.operations !== undefined;
    const key = JSON.stringify(order);
    const cache = isSlice ? this.#slices : this.#wholes;
    const known = cache.get(key);
    if (known !== undefined) return known;
    const keep = (written: Written | undefined): Document => {
      const document = documentOf(order.kind, written);
      cache.put(key, document);
      return document;
    };
    const write =
      !isSlice && this.#isSmall()
        ? () => keep(writeDocument(this.#contract, order))
        : () => this.#writeInWorker(key, order, keep);
    return { kind: 'unwritten', needsPermit: isSlice, write };
  }

  /** Writes a document in a worker thread, once for all callers that wait for it. */
  async #writeInWorker(
    key: string,
    order: Order,
    keep: (written: Written | undefined) => Document,
  ): Promise<Document> {
    const { documentsWaiting = maxWaitingForDocuments } = this.#options.limits;
    if (this.#waiting >= documentsWaiting) throw overloaded();
    this.#waiting++;
    try {
      const known = this.#making.get(key);
      if (known !== undefined) return await known;
      const written = this.#writer
        .write(order)
        .then(keep)
        .finally(() => this.#making.delete(key));
      this.#making.set(key, written);
      return await written;
    } catch (error) {
      throw error instanceof NoAnswer ? overloaded() : error;
    } finally {
      this.#waiting--;
    }
  }
}

/** Returns the public URL for a request, and the request headers that it depends on. */
export function publicUrlOf({ configured, trustedProxies, publicUrl }: DocumentOptions): {
  readonly addressOf: (request: IncomingMessage) => string;
  readonly vary: string | undefined;
} {
  if (configured || trustedProxies === undefined) return { addressOf: publicUrl, vary: undefined };
  return {
    addressOf: (request) => forwardedUrl(request, trustedProxies) ?? publicUrl(),
    vary: 'Forwarded, X-Forwarded-Host, X-Forwarded-Proto, X-Forwarded-Prefix',
  };
}

/** The SOAP versions that a document may be limited to (W2). */
export function isSoapVersion(text: string): text is '1.1' | '1.2' {
  return text === '1.1' || text === '1.2';
}

/** The reply to a query with an unknown version in `soap`. */
export const unknownVersion: Missing = {
  kind: 'missing',
  text: 'soap: expected 1.1 or 1.2, got another version',
};

/** Returns true if the contract can answer with MTOM, so that its WSDL may declare it (W68). */
function givesMtom({ settings }: Contract, { kind }: DocumentQuery): boolean {
  return kind === 'wsdl' && settings.mtomReplies === 'requested';
}

function missing(text: string): Missing {
  return { kind: 'missing', text };
}

function documentOf(kind: 'wsdl' | 'xsd' | 'page', written: Written | undefined): Document {
  if (written === undefined) return noSuchDocument;
  const { bytes, etag } = written;
  const contentType = kind === 'page' ? contentTypes.html : contentTypes.wsdl;
  return { kind, contentType, bytes: bufferOf(bytes), etag };
}

/** Returns a function that computes a value at its first call and keeps it. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Returns the approximate number of elements in the WSDL of a contract. */
function sizeOf({ operations, types }: Contract): number {
  const wrappers = operations.flatMap(({ input, output }) => [input, output]);
  return [...types, ...wrappers].reduce((sum, type) => sum + 1 + partsOf(type).length, 0);
}

/** Returns why there is no WSDL with the requested policy (W55); undefined if there is one or none was requested. */
function unfitPolicy(
  { wsse }: Contract,
  requested: string | undefined,
  policy: PolicyName | undefined,
  address: string,
): string | undefined {
  if (requested === undefined) return undefined;
  if (policy === undefined)
    return `expected policy to be one of ${policyNames.join(', ')}, got another value`;
  if (wsse === undefined || (wsse.username === undefined && wsse.x509 === undefined))
    return 'this contract does not use WS-Security, so its WSDL has no such policy';
  const { username, x509 } = wsse;
  const isHttps = address.startsWith('https:');
  const expected = `policy=${policy}: expected`;
  switch (policy) {
    case 'message':
    case 'transport':
      if (username === undefined) return `${expected} the key wsse.username in the overlay, got none`;
      return policy === 'message' || isHttps
        ? undefined
        : `${expected} an https SOAPBRIDGE_PUBLIC_URL, got http. Use policy=message, or set an https URL`;
    case 'signed': {
      const lacking = lackingForSigned(wsse);
      return lacking && `${expected} ${lacking} in the overlay, got none`;
    }
    case 'endorsed':
      if (x509 === undefined) return `${expected} the key wsse.x509 in the overlay, got none`;
      return isHttps ? undefined : `${expected} an https SOAPBRIDGE_PUBLIC_URL, got http`;
  }
}

function readQuery(words: URLSearchParams, unnamed: string): DocumentQuery {
  const lower = [...words].map(([name, value]) => [name.toLowerCase(), value] as const);
  const valuesOf = (word: string): string[] =>
    [...new Set(lower.filter(([name]) => name === word).map(([, value]) => value))].toSorted();
  const [first, schema = ''] = lower.find(([name]) => ['wsdl', 'singlewsdl', 'xsd'].includes(name)) ?? [];
  const kind = first === 'xsd' ? 'xsd' : first !== undefined || unnamed !== 'page' ? 'wsdl' : 'page';
  return {
    kind,
    schema,
    operations: valuesOf('operation'),
    tags: valuesOf('tag'),
    policies: valuesOf('policy').flatMap((value) => value.split(',')),
    soap: valuesOf('soap')[0],
  };
}

/**
 * Creates a cache of the last requested documents, up to `limit` bytes in total. It always keeps the last one, whatever
 * its size.
 */
function createCache(limit: number): Recent<Document> {
  const sizeOf = (document: Document): number =>
    document.kind === 'missing' ? document.text.length : document.bytes.length;
  return createRecent(limit, sizeOf, 1);
}

import type { IncomingMessage } from 'node:http';
import type { BlockList } from 'node:net';
import { bufferOf } from '../../mappings/bytes.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import { type Contract, partsOf } from '../../mappings/contract/model.ts';
import { withoutEndSlashes } from '../../mappings/http-mapping/paths.ts';
import { createRecent, type Recent } from '../../mappings/recent.ts';
import { type PolicyName, policyNames } from '../../wsdl/policy.ts';
import { hasSchemaNumber, schemaList } from '../../wsdl/schema.ts';
import { createSliceFinder, type SliceNames, UnknownName } from '../../wsdl/slice.ts';
import { overloaded } from '../admission/admission.ts';
import { NoAnswer } from '../workers/lane.ts';
import { forwardedUrl } from './forwarded.ts';
import { contentTypes } from './reply.ts';
import { createWriterAside, type Order, type Written, writeDocument } from './write-aside.ts';

/** A document of a contract, or why there is none. */
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

/** A document that is still to be written. */
export interface Unwritten {
  readonly kind: 'unwritten';
  /** Whether its asker needs a permit, as a call does: for parts, of which there are any number. */
  readonly needsPermit: boolean;
  /** Several who ask for the same wait for one. Throws CallError Overloaded. */
  readonly write: () => Document | Promise<Document>;
}

/** The documents of a contract, each written when it is first asked for (W2, W34). */
export interface Documents {
  /**
   * The document that a GET asks for by its query words, in any case.
   *
   * @param unnamed the document if they name none: `page`, `wsdl`, or another one of an adopted service
   */
  readonly find: (words: URLSearchParams, unnamed: string, request: IncomingMessage) => Document | Unwritten;
  /** The headers of a request that a document's address may follow, for caches; undefined for none. */
  readonly vary: string | undefined;
}

/** What the documents of a contract depend on besides it. */
export interface DocumentOptions {
  /** Public URL without the base path; asked for once the process listens. */
  readonly publicUrl: () => string;
  /** False when the address is only the listening one, which a trusted proxy may better. */
  readonly configured: boolean;
  /** Those whose word on the address is taken; undefined for none. */
  readonly trustedProxies: BlockList | undefined;
  readonly limits: Limits;
}

/** What a query asks for. */
interface Asked extends SliceNames {
  readonly kind: 'wsdl' | 'xsd' | 'page';
  /** The value of `xsd`. */
  readonly schema: string;
  /** The values of `policy`, parted by commas. */
  readonly policies: readonly string[];
  /** The value of `soap`; undefined without. */
  readonly soap: string | undefined;
}

const noSuchDocument: Missing = {
  kind: 'missing',
  text: 'no such document; ?wsdl, ?wsdl&tag=…, ?wsdl&operation=…, ?wsdl&soap=1.1, and ?xsd=0 and others that the WSDL names are served here',
};

/** Tags and operations in the address of a WSDL. */
export const maxSliceNames = 100;

/** Callers that wait for a document which a worker thread writes. */
export const maxWaitingForDocuments = 32;

/** Memory for written WSDLs, schemas and pages, in bytes. Half of it is for WSDLs of some operations only. */
export const maxDocumentCacheBytes = 32 * 1024 * 1024;

/** So many elements of a contract's WSDL are written in some 20 ms: more are written in another thread. */
const mostAtOnce = 1_000;

/** The documents of a contract. Each is written when it is first requested. */
export class ContractDocuments implements Documents {
  readonly vary: string | undefined;
  readonly #contract: Contract;
  readonly #options: DocumentOptions;
  readonly #addressOf: (request: IncomingMessage) => string;
  readonly #wholes: ReturnType<typeof createCache>;
  /** Slices have a cache of their own: there are any number of them, and they must not evict the whole documents. */
  readonly #slices: ReturnType<typeof createCache>;
  readonly #making = new Map<string, Promise<Document>>();
  readonly #aside: ReturnType<typeof createWriterAside>;
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
    this.#aside = createWriterAside(contract, totalMs);
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

  /** Returns the order of a document, or the reply that explains why there is none. Throws UnknownName. */
  #orderOf(asked: Asked, address: string): Order | Missing {
    const { kind, policies } = asked;
    const contract = this.#contract;
    const { sliceNames = maxSliceNames } = this.#options.limits;
    const names = asked.operations.length + asked.tags.length;
    if (names > sliceNames) return missing(`expected at most ${sliceNames} tags and operations, got more`);
    const schema = kind === 'xsd' ? this.#schemas().find((known) => String(known) === asked.schema) : 0;
    if (schema === undefined) return noSuchDocument;
    const isSlice = kind !== 'page' && names > 0;
    const found = isSlice ? this.#finder().find(asked) : undefined;
    const operations = found?.map(({ name }) => name);
    const mtom = policies.includes('mtom');
    const [first, ...more] = policies.filter((name) => name !== 'mtom');
    const policy = policyNames.find((name) => kind === 'wsdl' && name === first);
    if (mtom && !givesMtom(contract, asked)) return noSuchDocument;
    const unfit = kind === 'wsdl' ? unfitPolicy(contract, first, policy, address) : undefined;
    if (unfit !== undefined) return missing(unfit);
    if (more.length > 0) return missing('expected one policy besides mtom, got several');
    const soap = kind === 'wsdl' ? asked.soap : undefined;
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
        : () => this.#writeAside(key, order, keep);
    return { kind: 'unwritten', needsPermit: isSlice, write };
  }

  /** Writes a document in a worker thread, once for all callers that wait for it. */
  async #writeAside(
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
      const written = this.#aside
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

/** The public address as a request may say it, and the headers that it follows. */
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

/** The answer to a query whose `soap` is another version. */
export const unknownVersion: Missing = { kind: 'missing', text: 'soap: expected 1.1 or 1.2, got another' };

/** Whether a contract answers in MTOM, so that its WSDL may ask for it (W68). */
function givesMtom({ settings }: Contract, { kind }: Asked): boolean {
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

/** A value that is made when it is first asked for. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** How many elements a contract's WSDL has, more or less. */
function sizeOf({ operations, types }: Contract): number {
  const wrappers = operations.flatMap(({ input, output }) => [input, output]);
  return [...types, ...wrappers].reduce((sum, type) => sum + 1 + partsOf(type).length, 0);
}

/** Why there is no WSDL with the policy that is asked for (W55); undefined where there is, or none is asked for. */
function unfitPolicy(
  { wsse }: Contract,
  asked: string | undefined,
  policy: PolicyName | undefined,
  address: string,
): string | undefined {
  if (asked === undefined) return undefined;
  if (policy === undefined) return `expected policy to be one of ${policyNames.join(', ')}, got another`;
  if (wsse === undefined) return 'this contract reads no WS-Security, so its WSDL has no such policy';
  if (policy === 'transport' && !address.startsWith('https:'))
    return 'policy=transport is for an https address, which callers obey; this contract is served at an http one (SOAPBRIDGE_PUBLIC_URL), for which there is policy=message';
  return undefined;
}

function readQuery(words: URLSearchParams, unnamed: string): Asked {
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

/** The documents last asked for, up to so many bytes in all, but the last one whatever its size. */
function createCache(limit: number): Recent<Document> {
  const sizeOf = (document: Document): number =>
    document.kind === 'missing' ? document.text.length : document.bytes.length;
  return createRecent(limit, sizeOf, 1);
}

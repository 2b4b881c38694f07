import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import type { Limits } from '../mappings/limits.ts';
import type { Contract } from '../mappings/model.ts';
import { writeMetadataPage } from '../wsdl/page.ts';
import { schemaList, writeSchema } from '../wsdl/schema.ts';
import { type SliceNames, sliceContract, UnknownName } from '../wsdl/slice.ts';
import { writeWsdl } from '../wsdl/wsdl.ts';

export interface Document {
  /** `missing`: there is no such document, and `text` says why. */
  readonly kind: 'wsdl' | 'xsd' | 'page' | 'missing';
  readonly text: string;
}

/** The documents of a contract, each written when it is first asked for (W2, W34). */
export interface Documents {
  /** What a GET asks for by its query words, in any case. */
  readonly find: (words: URLSearchParams, wsdlWithoutQuery: boolean, request: IncomingMessage) => Document;
}

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
}

const noSuchDocument: Document = {
  kind: 'missing',
  text: 'no such document; ?wsdl, ?wsdl&tag=…, ?wsdl&operation=…, and ?xsd=0 and others that the WSDL names are served here',
};

export function createDocuments(contract: Contract, options: DocumentOptions): Documents {
  const { trustedProxies, limits } = options;
  const written = createCache(limits.documentCacheBytes);
  const urlFor = (request: IncomingMessage): string => {
    if (options.configured || trustedProxies === undefined) return options.publicUrl();
    return forwardedUrl(request, trustedProxies) ?? options.publicUrl();
  };
  return {
    find: (words, wsdlWithoutQuery, request) => {
      const asked = readQuery(words, wsdlWithoutQuery);
      if (asked.operations.length + asked.tags.length > limits.sliceNames)
        return {
          kind: 'missing',
          text: `expected at most ${limits.sliceNames} tags and operations, got more`,
        };
      const address = urlFor(request).replace(/\/+$/, '') + contract.basePath;
      const key = JSON.stringify([address, asked]);
      const known = written.get(key);
      if (known !== undefined) return known;
      const document = writeDocument(contract, asked, address);
      written.put(key, document);
      return document;
    },
  };
}

function readQuery(words: URLSearchParams, wsdlWithoutQuery: boolean): Asked {
  const lower = [...words].map(([name, value]) => [name.toLowerCase(), value] as const);
  const valuesOf = (word: string): string[] =>
    [...new Set(lower.filter(([name]) => name === word).map(([, value]) => value))].toSorted();
  const [first, schema = ''] = lower.find(([name]) => ['wsdl', 'singlewsdl', 'xsd'].includes(name)) ?? [];
  const kind = first === 'xsd' ? 'xsd' : first !== undefined || wsdlWithoutQuery ? 'wsdl' : 'page';
  return { kind, schema, operations: valuesOf('operation'), tags: valuesOf('tag') };
}

function writeDocument(whole: Contract, asked: Asked, address: string): Document {
  const { kind } = asked;
  if (kind === 'page') return { kind, text: writeMetadataPage(whole, { address }) };
  try {
    const sliced = asked.operations.length + asked.tags.length > 0;
    const contract = sliced ? sliceContract(whole, asked) : whole;
    if (kind === 'wsdl') return { kind, text: writeWsdl(contract, { address }) };
    const number = schemaList.find((known) => String(known) === asked.schema);
    const text = number === undefined ? undefined : writeSchema(contract, number, { address });
    return text === undefined ? noSuchDocument : { kind, text };
  } catch (error) {
    if (error instanceof UnknownName) return { kind: 'missing', text: error.message };
    throw error;
  }
}

/** The documents last asked for, up to so many characters in all; a name that isn't there isn't kept. */
function createCache(limit: number): {
  readonly get: (key: string) => Document | undefined;
  readonly put: (key: string, document: Document) => void;
} {
  const documents = new Map<string, Document>();
  let size = 0;
  return {
    get: (key) => {
      const document = documents.get(key);
      if (document === undefined) return undefined;
      documents.delete(key); // the last of the map is the one last asked for
      documents.set(key, document);
      return document;
    },
    put: (key, document) => {
      if (document.kind === 'missing') return;
      documents.set(key, document);
      size += key.length + document.text.length;
      for (const [oldest, { text }] of documents) {
        if (size <= limit || documents.size === 1) return;
        documents.delete(oldest);
        size -= oldest.length + text.length;
      }
    },
  };
}

/** Addresses and ranges as a list to check against; undefined for none. Throws RangeError. */
export function proxyList(addresses: readonly string[]): BlockList | undefined {
  if (addresses.length === 0) return undefined;
  const list = new BlockList();
  for (const entry of addresses) {
    const [, address = '', bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(entry.trim()) ?? [];
    const version = isIP(address);
    if (version === 0 || Number(bits ?? 0) > (version === 6 ? 128 : 32)) {
      throw new RangeError(
        `trusted proxy: expected an IP address or a range such as 10.0.0.0/8, got ${JSON.stringify(entry)}`,
      );
    }
    const family = version === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/** Whether a peer's address is on a list, in whichever family it is written. */
export function isListed(address: string, list: BlockList): boolean {
  const plain = address.replace(/^::ffff:/, '');
  const version = isIP(plain);
  return version !== 0 && list.check(plain, version === 6 ? 'ipv6' : 'ipv4');
}

/** The address that a listed proxy says it was reached at; anyone else's word isn't taken (W34). */
function forwardedUrl(request: IncomingMessage, proxies: BlockList): string | undefined {
  if (!isListed(request.socket.remoteAddress ?? '', proxies)) return undefined;
  const standard = /(?:^|[;,\s])host="?([^";,\s]+)"?/i.exec(headerText(request, 'forwarded'))?.[1];
  const standardProto = /(?:^|[;,\s])proto="?([^";,\s]+)"?/i.exec(headerText(request, 'forwarded'))?.[1];
  const host = standard ?? firstOf(headerText(request, 'x-forwarded-host'));
  const proto = (standardProto ?? firstOf(headerText(request, 'x-forwarded-proto')) ?? 'http').toLowerCase();
  const prefix = firstOf(headerText(request, 'x-forwarded-prefix')) ?? '';
  if (host === undefined || !/^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/.test(host))
    return undefined;
  if (proto !== 'http' && proto !== 'https') return undefined;
  return `${proto}://${host}${/^(?:\/[\w.~-]+)*$/.test(prefix) ? prefix : ''}`;
}

function headerText(request: IncomingMessage, name: string): string {
  const value = request.headers[name];
  return typeof value === 'string' ? value : '';
}

function firstOf(list: string): string | undefined {
  const first = list.split(',', 1)[0]?.trim();
  return first === '' ? undefined : first;
}

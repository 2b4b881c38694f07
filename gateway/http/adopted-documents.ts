import type { IncomingMessage } from 'node:http';
import type { Contract } from '../../mappings/contract/model.ts';
import { withoutEndSlashes } from '../../mappings/http-mapping/paths.ts';
import { documentName, linksAt, writeDocument, writeSingle } from '../../wsdl/adopted.ts';
import { oldLocations } from '../../wsdl/adopted-locations.ts';
import { writeMetadataPage } from '../../wsdl/page.ts';
import {
  type Document,
  type DocumentOptions,
  type Documents,
  isSoapVersion,
  publicUrlOf,
  unknownVersion,
} from './documents.ts';
import { contentTypes } from './reply.ts';
import { etagOf } from './write-in-worker.ts';

const noSuchDocument: Document = {
  kind: 'missing',
  text: 'no such document. Use ?wsdl or a URL in the WSDL, such as ?xsd=1',
};

/**
 * Returns the documents of an adopted service, and a page. Only the addresses of ports and the locations of imports are
 * changed (A1, A2).
 */
export function createAdoptedDocuments(contract: Contract, options: DocumentOptions): Documents {
  const { addressOf, vary } = publicUrlOf(options);
  const byName = new Map(contract.documents.map((document) => [documentName(document), document]));
  const { byQuery } = oldLocations(contract);
  const versions = new Set(contract.ports.map(({ soap }) => soap));
  /** The documents generated for the address of the last request. */
  let written = new Map<string, Document>();
  let writtenFor: string | undefined;

  function write(name: string, soap: '1.1' | '1.2' | undefined, address: string): Document {
    if (name === 'page')
      return documentOf('page', contentTypes.html, Buffer.from(writeMetadataPage(contract, { address })));
    const links = linksAt(address, contract.ports, soap);
    if (name === singleName && contract.single !== undefined)
      return documentOf('wsdl', contentTypes.wsdl, changed(writeSingle(contract.single, links)));
    const document = byName.get(name === singleName ? 'wsdl' : name);
    if (document === undefined) return noSuchDocument;
    const { kind, charset } = document;
    const bytes = writeDocument(document, links);
    return documentOf(
      kind,
      `text/xml; charset=${charset}`,
      kind === 'wsdl' ? changed(bytes) : Buffer.from(bytes),
    );
  }

  function changed(bytes: Uint8Array): Buffer {
    return Buffer.from(options.change?.(bytes) ?? bytes);
  }

  function find(words: URLSearchParams, unnamed: string, request: IncomingMessage): Document {
    const requested = requestedName(words) ?? oldWordOf(words, byQuery) ?? unnamed;
    const name = byName.has(requested) ? requested : (byQuery.get(requested.toLowerCase()) ?? requested);
    const soap = name === 'page' ? undefined : versionOf(words);
    if (soap !== undefined && !isSoapVersion(soap)) return unknownVersion;
    if (soap !== undefined && !versions.has(soap)) return { kind: 'missing', text: noPort(soap) };
    const address = withoutEndSlashes(addressOf(request)) + contract.basePath;
    if (address !== writtenFor) {
      written = new Map();
      writtenFor = address;
    }
    const key = `${name} ${soap}`;
    const known = written.get(key);
    if (known !== undefined) return known;
    const document = write(name, soap, address);
    if (document.kind !== 'missing') written.set(key, document);
    return document;
  }

  return { vary, find };
}

const singleName = 'singleWsdl';

/** Returns the name of the document that a query asks for, ignoring the case of parameter names; undefined if none. */
function requestedName(words: URLSearchParams): string | undefined {
  for (const [word, value] of words) {
    const name = word.toLowerCase();
    if (name === 'singlewsdl') return singleName;
    if (name === 'wsdl') return value === '' || value === '0' ? 'wsdl' : `wsdl=${value}`;
    if (name === 'xsd') return `xsd=${value === '' ? '0' : value}`;
  }
  return undefined;
}

/**
 * Returns the first query parameter that named a document of the legacy service, for example `schema=Types` (A2);
 * undefined if none.
 */
function oldWordOf(words: URLSearchParams, byQuery: ReadonlyMap<string, string>): string | undefined {
  for (const [word, value] of words)
    if (byQuery.has(`${word}=${value}`.toLowerCase())) return `${word}=${value}`;
  return undefined;
}

/** Returns the SOAP version that a query asks for; undefined for both. */
function versionOf(words: URLSearchParams): string | undefined {
  for (const [word, value] of words) if (word.toLowerCase() === 'soap') return value;
  return undefined;
}

function noPort(soap: string): string {
  return `soap: expected the version of a port of the WSDL, got ${soap}`;
}

function documentOf(kind: 'wsdl' | 'xsd' | 'page', contentType: string, bytes: Buffer): Document {
  return { kind, contentType, bytes, etag: etagOf(bytes) };
}

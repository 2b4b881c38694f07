import type { IncomingMessage } from 'node:http';
import type { Adopted } from '../../mappings/contract/adopted.ts';
import type { Contract } from '../../mappings/contract/model.ts';
import { withoutEndSlashes } from '../../mappings/http-mapping/paths.ts';
import { documentName, linksAt, writeDocument } from '../../wsdl/adopted.ts';
import { writeMetadataPage } from '../../wsdl/page.ts';
import { type Document, type DocumentOptions, type Documents, publicUrlOf } from './documents.ts';
import { contentTypes } from './reply.ts';
import { etagOf } from './write-aside.ts';

const noSuchDocument: Document = {
  kind: 'missing',
  text: 'no such document; ?wsdl, and ?wsdl=1, ?xsd=1 and others that the WSDL names are served here',
};

/**
 * The documents of an adopted service: byte for byte, but for the addresses of ports and the locations of imports (A1, A2),
 * and a page.
 */
export function createAdoptedDocuments(
  contract: Contract,
  { service, endpoints }: Adopted,
  options: DocumentOptions,
): Documents {
  const { addressOf, vary } = publicUrlOf(options);
  const byName = new Map(service.documents.map((document) => [documentName(document), document]));
  /** Those of the address last asked for. */
  let written = new Map<string, Document>();
  let writtenFor: string | undefined;

  function write(name: string, address: string): Document {
    if (name === 'page')
      return documentOf('page', contentTypes.html, Buffer.from(writeMetadataPage(contract, { address })));
    const document = byName.get(name);
    if (document === undefined) return noSuchDocument;
    const { kind, charset } = document;
    const bytes = Buffer.from(writeDocument(document, linksAt(address, endpoints)));
    return documentOf(kind, `text/xml; charset=${charset}`, bytes);
  }

  return {
    vary,
    find: (words, wsdlWithoutQuery, request: IncomingMessage) => {
      const name = askedFor(words, wsdlWithoutQuery);
      const address = withoutEndSlashes(addressOf(request)) + contract.basePath;
      if (address !== writtenFor) {
        written = new Map();
        writtenFor = address;
      }
      const known = written.get(name);
      if (known !== undefined) return known;
      const document = write(name, address);
      if (document.kind !== 'missing') written.set(name, document);
      return document;
    },
  };
}

/** A query as the name of a document: its words in any case, `?singleWsdl` and `?wsdl=0` the first one. */
function askedFor(words: URLSearchParams, wsdlWithoutQuery: boolean): string {
  for (const [word, value] of words) {
    const name = word.toLowerCase();
    if (name === 'singlewsdl') return 'wsdl';
    if (name === 'wsdl') return value === '' || value === '0' ? 'wsdl' : `wsdl=${value}`;
    if (name === 'xsd') return `xsd=${value === '' ? '0' : value}`;
  }
  return wsdlWithoutQuery ? 'wsdl' : 'page';
}

function documentOf(kind: 'wsdl' | 'xsd' | 'page', contentType: string, bytes: Buffer): Document {
  return { kind, contentType, bytes, etag: etagOf(bytes) };
}

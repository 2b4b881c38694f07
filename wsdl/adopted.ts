import type { Adopted } from '../mappings/contract/adopted.ts';
import type { AdoptedDocument } from '../mappings/contract/schema-components.ts';
import { isWide } from '../mappings/xml/decode.ts';

/** What stands in a served document in place of what its author wrote. */
export interface DocumentLinks {
  /** The URL of a port, by its name. */
  readonly addressOf: (port: string) => string;
  /** The URL of another document of the service, such as `…?xsd=1`. */
  readonly locationOf: (document: AdoptedDocument) => string;
}

/** The links of documents that are served at an address: of ports by their endpoints, of documents at the first of these (A2, A5). */
export function linksAt(address: string, endpoints: Adopted['endpoints']): DocumentLinks {
  const paths = new Map(endpoints.flatMap(({ path, ports }) => ports.map(({ name }) => [name, path])));
  const [first] = endpoints;
  return {
    addressOf: (port) => address + (paths.get(port) ?? ''),
    locationOf: (document) => `${address}${first?.path ?? ''}?${documentName(document)}`,
  };
}

/** What a document is asked for by: `wsdl`, `wsdl=1`, `xsd=0` (A2). */
export function documentName({ kind, number }: AdoptedDocument): string {
  return kind === 'wsdl' && number === 0 ? kind : `${kind}=${number}`;
}

/** A document byte for byte, but for the addresses of ports and the locations of imports (A1, A2). */
export function writeDocument(document: AdoptedDocument, links: DocumentLinks): Uint8Array {
  const { bytes } = document;
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const place of document.places) {
    const url = place.kind === 'address' ? links.addressOf(place.port) : links.locationOf(place.document);
    pieces.push(bytes.subarray(from, place.from), inEncodingOf(bytes, attributeValue(url)));
    from = place.to;
  }
  return Buffer.concat([...pieces, bytes.subarray(from)]);
}

/** An attribute's value in ASCII, whichever quotes are around it. */
function attributeValue(text: string): string {
  return text.replace(/[^ !#-%(-;=?-~]/gu, (character) => `&#${character.codePointAt(0)};`);
}

/** ASCII is the same in all encodings that are read but UTF-16. */
function inEncodingOf(bytes: Uint8Array, ascii: string): Buffer {
  if (!isWide(bytes)) return Buffer.from(ascii, 'latin1');
  const text = Buffer.from(ascii, 'utf16le');
  return bytes[0] === 0xfe || bytes[0] === 0 ? text.swap16() : text;
}

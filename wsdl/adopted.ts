import type { Adopted, AdoptedDocument, AdoptedPlace, SinglePiece } from '../mappings/contract/adopted.ts';
import { isWide } from '../mappings/xml/decode.ts';

/** The addresses of a served document, and the part of it that is served. */
export interface DocumentLinks {
  /** The URL of a port, by its name. */
  readonly addressOf: (port: string) => string;
  /** The URL of another document of the service, such as `…?xsd=1`. */
  readonly locationOf: (document: AdoptedDocument) => string;
  /** The only SOAP version whose bindings and ports are written (W2); undefined: all bindings and ports. */
  readonly soap?: '1.1' | '1.2' | undefined;
}

/** The links of documents that are served at an address: of ports by their endpoints, of documents at the first of these (A2, A5). */
export function linksAt(
  address: string,
  endpoints: Adopted['endpoints'],
  soap?: '1.1' | '1.2',
): DocumentLinks {
  const paths = new Map(endpoints.flatMap(({ path, ports }) => ports.map(({ name }) => [name, path])));
  const [first] = endpoints;
  return {
    addressOf: (port) => address + (paths.get(port) ?? ''),
    locationOf: (document) => {
      const version = soap !== undefined && document.kind === 'wsdl' ? `&soap=${soap}` : '';
      return `${address}${first?.path ?? ''}?${documentName(document)}${version}`;
    },
    soap,
  };
}

/** What a document is asked for by: `wsdl`, `wsdl=1`, `xsd=0` (A2). */
export function documentName({ kind, number }: AdoptedDocument): string {
  return kind === 'wsdl' && number === 0 ? kind : `${kind}=${number}`;
}

/** A document byte for byte, but for the addresses of ports and the locations of imports (A1, A2). */
export function writeDocument(document: AdoptedDocument, links: DocumentLinks): Uint8Array {
  return writeSpan(document, links, 0, document.bytes.length);
}

/** All documents of a service as one WSDL, in UTF-8 (A2). */
export function writeSingle(pieces: readonly SinglePiece[], { addressOf, soap }: DocumentLinks): Uint8Array {
  const texts = pieces.map((piece) => {
    if (soap !== undefined && piece.soap !== undefined && piece.soap !== soap) return '';
    return 'text' in piece ? piece.text : attributeValue(addressOf(piece.port));
  });
  return Buffer.from(texts.join(''));
}

/** Some bytes of a document, with the addresses and locations that are served. */
function writeSpan(document: AdoptedDocument, links: DocumentLinks, start: number, end: number): Uint8Array {
  const { bytes, places } = document;
  const pieces: Uint8Array[] = [];
  let from = start;
  for (let index = firstFrom(places, start); index < places.length; index++) {
    const place = places[index];
    if (place === undefined || place.from >= end) break;
    const text = place.from < from ? undefined : textAt(place, links);
    if (text === undefined) continue;
    pieces.push(bytes.subarray(from, place.from), inEncodingOf(bytes, text));
    from = place.to;
  }
  return Buffer.concat([...pieces, bytes.subarray(from, end)]);
}

/** The index of the first place that begins at an offset or after it. */
function firstFrom(places: readonly AdoptedPlace[], offset: number): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((places[middle]?.from ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The text that is served at a place; undefined where the author's stays. */
function textAt(place: AdoptedPlace, links: DocumentLinks): string | undefined {
  switch (place.kind) {
    case 'address':
      return attributeValue(links.addressOf(place.port));
    case 'location':
      return attributeValue(links.locationOf(place.document));
    case 'version':
      return isOtherVersion(place, links) ? '' : undefined;
  }
}

/** Returns true for a binding or port that a WSDL of one SOAP version leaves out. */
function isOtherVersion(place: AdoptedPlace, { soap }: DocumentLinks): boolean {
  return soap !== undefined && place.kind === 'version' && place.soap !== soap;
}

function isBigEndian(bytes: Uint8Array): boolean {
  return bytes[0] === 0xfe || bytes[0] === 0;
}

/** An attribute's value in ASCII, whichever quotes are around it. */
function attributeValue(text: string): string {
  return text.replace(/[^ !#-%(-;=?-~]/gu, (character) => `&#${character.codePointAt(0)};`);
}

/** ASCII is the same in all encodings that are read but UTF-16. */
function inEncodingOf(bytes: Uint8Array, ascii: string): Buffer {
  if (!isWide(bytes)) return Buffer.from(ascii, 'latin1');
  const text = Buffer.from(ascii, 'utf16le');
  return isBigEndian(bytes) ? text.swap16() : text;
}

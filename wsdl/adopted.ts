import type { AdoptedDocument, AdoptedPlace, SinglePiece } from '../mappings/contract/adopted.ts';
import type { Port } from '../mappings/contract/model.ts';
import { isWide } from '../mappings/xml/decode.ts';

/** Addresses that are written into a served document, and the SOAP version that it is limited to. */
export interface DocumentLinks {
  /** Returns the URL of a port by the port's name. */
  readonly addressOf: (port: string) => string;
  /** Returns the URL of another document of the service, for example `…?xsd=1`. */
  readonly locationOf: (document: AdoptedDocument) => string;
  /** The only SOAP version whose bindings and ports are written (W2). Undefined: all bindings and ports. */
  readonly soap?: '1.1' | '1.2' | undefined;
}

/**
 * Returns the links of documents served at an address. A port is at its endpoint; documents are at the first endpoint
 * (A2, A5).
 */
export function linksAt(address: string, ports: readonly Port[], soap?: '1.1' | '1.2'): DocumentLinks {
  const paths = new Map(ports.map(({ name, path }) => [name, path]));
  const [first] = ports;
  return {
    addressOf: (port) => address + (paths.get(port) ?? ''),
    locationOf: (document) => {
      const version = soap !== undefined && document.kind === 'wsdl' ? `&soap=${soap}` : '';
      return `${address}${first?.path ?? ''}?${documentName(document)}${version}`;
    },
    soap,
  };
}

/** Returns the query that requests a document: `wsdl`, `wsdl=1`, `xsd=0` (A2). */
export function documentName({ kind, number }: AdoptedDocument): string {
  return kind === 'wsdl' && number === 0 ? kind : `${kind}=${number}`;
}

/** Writes a document byte for byte, except for the addresses of ports and the locations of imports (A1, A2). */
export function writeDocument(document: AdoptedDocument, links: DocumentLinks): Uint8Array {
  return writeSpan(document, links, 0, document.bytes.length);
}

/** Writes all documents of a service as one WSDL in UTF-8 (A2). */
export function writeSingle(pieces: readonly SinglePiece[], { addressOf, soap }: DocumentLinks): Uint8Array {
  const texts = pieces.map((piece) => {
    if (soap !== undefined && piece.soap !== undefined && piece.soap !== soap) return '';
    return 'text' in piece ? piece.text : asciiText(addressOf(piece.port));
  });
  return Buffer.from(texts.join(''));
}

/** Writes the bytes from `start` to `end` of a document, with the served addresses and locations. */
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

/** Returns the index of the first place that begins at `offset` or after it. */
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

/** Returns the replacement text for a place, or undefined to keep the author's text. */
function textAt(place: AdoptedPlace, links: DocumentLinks): string | undefined {
  switch (place.kind) {
    case 'address':
      return asciiText(links.addressOf(place.port));
    case 'location':
      return asciiText(links.locationOf(place.document));
    case 'version':
      return isOtherVersion(place, links) ? '' : undefined;
  }
}

/** Returns true for a binding or port that is omitted because it belongs to the other SOAP version. */
function isOtherVersion(place: AdoptedPlace, { soap }: DocumentLinks): boolean {
  return soap !== undefined && place.kind === 'version' && place.soap !== soap;
}

function isBigEndian(bytes: Uint8Array): boolean {
  return bytes[0] === 0xfe || bytes[0] === 0;
}

/** Escapes text to ASCII, safe as content and inside single and double quotes. */
export function asciiText(text: string): string {
  return text.replace(/[^ !#-%(-;=?-~]/gu, (character) => `&#${character.codePointAt(0)};`);
}

/** Encodes ASCII text in the document's encoding. All accepted encodings except UTF-16 contain ASCII unchanged. */
export function inEncodingOf(bytes: Uint8Array, ascii: string): Buffer {
  if (!isWide(bytes)) return Buffer.from(ascii, 'latin1');
  const text = Buffer.from(ascii, 'utf16le');
  return isBigEndian(bytes) ? text.swap16() : text;
}

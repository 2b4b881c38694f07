import type { Limits } from '../../contract/limits.ts';
import { XmlError } from '../../xml/error.ts';
import { XmlReader, type XmlTolerance } from '../../xml/reader.ts';
import type { Head } from './message.ts';

/** The beginnings of documents, which the usual XML reader reads. */

const body = Buffer.from('Body');
const tab = 0x9;
const lineFeed = 0xa;
const carriageReturn = 0xd;
const space = 0x20;
const exclamation = 0x21;
const lessThan = 0x3c;
const greaterThan = 0x3e;
const question = 0x3f;
const slash = 0x2f;

/**
 * Returns the end of the first start tag after an offset, white space and an XML declaration; -1 for anything else. A `>` in
 * an attribute ends the tag too early, which the XML reader notices.
 */
export function endOfStartTag(document: Buffer, from: number): number {
  let at = skipBlanks(document, from);
  if (document[at] === lessThan && document[at + 1] === question) {
    const end = document.indexOf('?>', at);
    if (end < 0) return -1;
    at = skipBlanks(document, end + 2);
  }
  if (document[at] !== lessThan || document[at + 1] === exclamation) return -1;
  return document.indexOf(greaterThan, at) + 1 || -1;
}

/** Returns the end of the start tag of the first element in an envelope's Body; -1 if it is not found. */
export function endOfPayloadTag(document: Buffer, from: number): number {
  for (let at = document.indexOf(body, from); at >= 0; at = document.indexOf(body, at + 1)) {
    let start = at - 1;
    while (start > 0 && isName(document[start] as number)) start--;
    if (document[start] !== lessThan) continue;
    const end = document.indexOf(greaterThan, at);
    return end < 0 ? -1 : endOfStartTag(document, end + 1);
  }
  return -1;
}

/** Returns true for a byte that does not end a name. */
function isName(byte: number): boolean {
  return byte > space && byte !== lessThan && byte !== greaterThan && byte !== slash;
}

function skipBlanks(document: Buffer, from: number): number {
  let at = from;
  for (;;) {
    const byte = document[at];
    if (byte !== space && byte !== lineFeed && byte !== carriageReturn && byte !== tab) return at;
    at++;
  }
}

/**
 * Reads the beginning of a document. Returns undefined if it is not well-formed up to there, or does not end with the start
 * tag of the payload.
 *
 * @param start offset after a byte order mark
 * @param end offset after the payload's start tag
 * @param open reads up to that start tag
 */
export function readHead(
  document: Buffer,
  start: number,
  end: number,
  limits: Limits,
  tolerance: XmlTolerance,
  open: (xml: XmlReader) => void,
): Head | undefined {
  if (end < 0) return undefined;
  const text = document.toString('utf8', start, end);
  const xml = new XmlReader(text, limits, tolerance);
  try {
    open(xml);
  } catch (error) {
    if (error instanceof XmlError) return undefined;
    throw error;
  }
  const scope = xml.position === text.length ? xml.scope() : undefined;
  if (scope === undefined) return undefined;
  const { names, ...rest } = scope;
  return { from: end, depth: names.length, names, ...rest, memo: { table: undefined, ends: undefined } };
}

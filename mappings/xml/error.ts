import type { Limits } from '../contract/limits.ts';
import { type Reason, sentence } from '../contract/reason.ts';

/** A place in a document: both from 1, columns in UTF-16 units. */
export interface Location {
  readonly line: number;
  readonly column: number;
}

/** The mistakes that the doctor corrects, or explains by their causes. */
export type XmlMistake =
  | 'reference'
  | 'doctype'
  | 'declaration'
  | 'endTag'
  | 'prefix'
  | 'quotes'
  | 'repeatedAttribute'
  | 'character'
  | 'lessThan'
  | 'cdataEnd'
  | 'trailing'
  | 'encoding';

/** The data of an XmlError. */
export interface XmlReason extends Reason {
  readonly mistake?: XmlMistake;
  /** The attribute, the prefix, the encoding, or the element whose end tag was expected. */
  readonly subject?: string;
  /** The element of another end tag, if one was found. */
  readonly other?: string;
}

/**
 * A document that can't be decoded, isn't well-formed, or is over a limit (W9, W10). The message names the
 * place, element names and single characters; character data and attribute values are never in it.
 */
export class XmlError extends Error {
  readonly line: number;
  readonly column: number;
  readonly reason: Reason;
  /** Undefined for a mistake that has no name here. */
  readonly mistake: XmlMistake | undefined;
  /** As `XmlReason` has them. */
  readonly subject: string | undefined;
  readonly other: string | undefined;
  /** The limit that the document is over; undefined for every other fault. */
  readonly limit: keyof Limits | undefined;

  constructor(location: Location, data: XmlReason, limit?: keyof Limits) {
    const { mistake, subject, other, ...reason } = data;
    const placed = { ...reason, where: `line ${location.line}, column ${location.column}` };
    super(sentence(placed));
    this.name = 'XmlError';
    this.reason = placed;
    this.mistake = mistake;
    this.subject = subject;
    this.other = other;
    this.line = location.line;
    this.column = location.column;
    this.limit = limit;
  }
}

/** An encoding that the gateway doesn't read (W9): 415, not a fault. */
export class UnsupportedCharset extends Error {
  readonly reason: Reason;

  constructor(charset: string) {
    const got = charset === '' ? 'an empty one' : /^[\w.:+'-]{1,40}$/.test(charset) ? charset : 'another';
    const expected = 'utf-8 or another name of the Encoding Standard';
    const reason = { where: 'charset', expected, got };
    super(sentence(reason));
    this.name = 'UnsupportedCharset';
    this.reason = reason;
  }
}

/** A reply that takes more in XML than there is memory for: it is good, and may be asked for again. */
export class NoRoom extends Error {
  constructor() {
    super('there is no memory for the reply in XML');
    this.name = 'NoRoom';
  }
}

const lineFeed = 0xa;
const carriageReturn = 0xd;

/** Where an offset is: a line ends with LF, CR or CRLF (XML 1.0, 2.11). */
export function locate(text: string, offset: number): Location {
  let line = 1;
  let lineStart = 0;
  for (let at = 0; at < offset; at++) {
    const code = text.charCodeAt(at);
    if (code !== lineFeed && code !== carriageReturn) continue;
    if (code === carriageReturn && text.charCodeAt(at + 1) === lineFeed) at++;
    if (at >= offset) break; // between the two
    line++;
    lineStart = at + 1;
  }
  return { line, column: offset - lineStart + 1 };
}

import type { Limits } from '../contract/limits.ts';
import { quoteValue, type Reason, sentence } from '../contract/reason.ts';

/** A position in a document. Both numbers count from 1, columns in UTF-16 units. */
export interface Location {
  readonly line: number;
  readonly column: number;
}

/** The kinds of mistakes that the doctor corrects or explains. */
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
  /** The attribute, the prefix, the encoding, or the element with the expected end tag. */
  readonly subject?: string;
  /** The name in the actual end tag, if there is one. */
  readonly other?: string;
}

/**
 * Thrown for a document that cannot be decoded, is not well-formed, or exceeds a limit (W9, W10). The message has the
 * position, element names and single characters, but no character data or attribute values.
 */
export class XmlError extends Error {
  readonly line: number;
  readonly column: number;
  readonly reason: Reason;
  /** Undefined for a mistake without a kind. */
  readonly mistake: XmlMistake | undefined;
  /** As in `XmlReason`. */
  readonly subject: string | undefined;
  readonly other: string | undefined;
  /** The limit that is exceeded; undefined for all other errors. */
  readonly limit: keyof Limits | undefined;

  constructor(location: Location, data: XmlReason, limit?: keyof Limits) {
    const { mistake, subject, other, ...reason } = data;
    const placed = { ...reason, where: `line ${location.line}, column ${location.column}` } as const;
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

/** Thrown for an unsupported encoding (W9): the reply is 415, not a fault. */
export class UnsupportedCharset extends Error {
  readonly reason: Reason;

  constructor(charset: string) {
    const named = /^[\w.:+'-]{1,40}$/.test(charset) ? quoteValue(charset) : 'another name';
    const got = charset === '' ? 'an empty name' : named;
    const expected = 'utf-8 or another name of the Encoding Standard';
    const reason = { where: 'charset', expected, got } as const;
    super(sentence(reason));
    this.name = 'UnsupportedCharset';
    this.reason = reason;
  }
}

/** Thrown if there is no memory for a reply in XML. The reply is valid, and the client may retry. */
export class NoReplyMemory extends Error {
  constructor() {
    super('there is no memory for the reply in XML');
    this.name = 'NoReplyMemory';
  }
}

const lineFeed = 0xa;
const carriageReturn = 0xd;

/** Returns the line and column of an offset. A line ends with LF, CR or CRLF (XML 1.0, 2.11). */
export function locate(text: string, offset: number): Location {
  let line = 1;
  let lineStart = 0;
  for (let at = 0; at < offset; at++) {
    const code = text.charCodeAt(at);
    if (code !== lineFeed && code !== carriageReturn) continue;
    if (code === carriageReturn && text.charCodeAt(at + 1) === lineFeed) at++;
    if (at >= offset) break; // between CR and LF
    line++;
    lineStart = at + 1;
  }
  return { line, column: offset - lineStart + 1 };
}

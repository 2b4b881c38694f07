import { isAscii, isUtf8 } from 'node:buffer';
import { bufferOf } from '../bytes.ts';
import { readDeclaration } from './declaration.ts';
import { type Location, locate, UnsupportedCharset, XmlError, type XmlReason } from './error.ts';

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'us-ascii' | 'windows-1252' | LegacyEncoding;
/** An encoding that is decoded by the platform's TextDecoder. */
interface LegacyEncoding {
  /** A name of the Encoding Standard, for example `windows-1250`. */
  readonly name: string;
}
/** The encoding of a byte order mark. */
type Mark = 'utf-8' | 'utf-16le' | 'utf-16be';
/** The encoding of a name; `utf-16` does not state the byte order. */
type Named = Encoding | 'utf-16';

/**
 * Encodings by name in lower case. Clients that send windows-1252 call it ISO-8859-1. `encodingKnown` adds names from
 * TextDecoder's fixed list, so the map is bounded.
 */
const encodings = new Map<string, Named>([
  ['utf-8', 'utf-8'],
  ['utf8', 'utf-8'],
  ['utf-16', 'utf-16'],
  ['utf-16le', 'utf-16le'],
  ['utf-16be', 'utf-16be'],
  ['us-ascii', 'us-ascii'],
  ['ascii', 'us-ascii'],
  ['iso-8859-1', 'windows-1252'],
  ['iso_8859-1', 'windows-1252'],
  ['latin1', 'windows-1252'],
  ['windows-1252', 'windows-1252'],
  ['cp1252', 'windows-1252'],
]);

/**
 * Decodes an XML document and removes its byte order mark (W9). The encoding is that of the mark, else the HTTP
 * charset, else the XML declaration, else UTF-8. `charset` is the unquoted parameter of the Content-Type. Throws
 * XmlError for invalid bytes and for a mark that contradicts the charset or declaration, UnsupportedCharset for
 * unsupported encodings.
 */
export function decodeXml(bytes: Uint8Array, charset: string | undefined): string {
  const buffer = bufferOf(bytes);
  const stated = charset === undefined ? undefined : encodingNamed(charset);
  refuseWideEncodings(buffer);
  const mark = markOf(buffer);
  if (mark !== undefined) return decodeMarked(buffer.subarray(mark === 'utf-8' ? 3 : 2), mark, stated);
  return decodeAs(unmarkedEncoding(buffer, stated), buffer);
}

/** IANA names for aliases of the encodings that are decoded as windows-1252. */
const ianaNames: ReadonlyMap<string, string> = new Map([
  ['iso_8859-1', 'iso-8859-1'],
  ['latin1', 'iso-8859-1'],
  ['cp1252', 'windows-1252'],
]);

/**
 * Returns the `charset` parameter, in lower case (RFC 7303 §3), for a document that `decodeXml` decodes without a
 * charset. UTF-16 with a byte order mark is `utf-16`.
 */
export function charsetOf(bytes: Uint8Array): string {
  const buffer = bufferOf(bytes);
  const mark = markOf(buffer);
  if (mark !== undefined) return mark === 'utf-8' ? mark : 'utf-16';
  const encoding = declaredEncoding(buffer);
  if (typeof encoding === 'string' && encoding !== 'windows-1252') return encoding;
  const declared = readDeclaration(buffer.toString('latin1', 0, buffer.indexOf(0x3e) + 1))?.encoding ?? '';
  const name = declared.toLowerCase();
  return ianaNames.get(name) ?? name;
}

function unmarkedEncoding(buffer: Buffer, stated: Named | undefined): Encoding {
  if (stated === 'utf-16') return byteOrder(buffer);
  return stated ?? declaredEncoding(buffer);
}

/** Returns true for UTF-16, which is detected by the first two bytes (XML 1.0, appendix F). */
export function isWide(bytes: Uint8Array): boolean {
  const [first, second] = bytes;
  return (
    (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff) || first === 0 || second === 0
  );
}

/** UTF-8 of U+FFFE and U+FFFF, which no document may hold. */
const nonCharacters = [Buffer.from('\ufffe'), Buffer.from('\uffff')];

/** Returns true for bytes that are UTF-8 without U+FFFE and U+FFFF. */
export function hasPlainCharacters(bytes: Buffer): boolean {
  if (isAscii(bytes)) return true;
  if (!isUtf8(bytes)) return false;
  return bytes.indexOf(0xef) === -1 || !nonCharacters.some((character) => bytes.includes(character));
}

/**
 * Returns the offset of the first character of a document after its byte order mark. Returns undefined for a document
 * that `decodeXml` does not read as UTF-8.
 *
 * @param bytes of which `hasPlainCharacters` is true
 */
export function utf8Start(bytes: Buffer, charset: string | undefined): 0 | 3 | undefined {
  try {
    const stated = charset === undefined ? undefined : encodingNamed(charset);
    const mark = markOf(bytes);
    if (mark === undefined) return unmarkedEncoding(bytes, stated) === 'utf-8' ? 0 : undefined;
    return mark === 'utf-8' && isMarked(mark, stated, bytes.toString('latin1', 3, bytes.indexOf(0x3e) + 1))
      ? 3
      : undefined;
  } catch (error) {
    if (error instanceof XmlError || error instanceof UnsupportedCharset) return undefined;
    throw error;
  }
}

/** Decodes UTF-8; undefined for invalid bytes. */
function decodeUtf8(bytes: Buffer): string | undefined {
  // decoding ASCII as Latin-1 is faster, and nearly all messages are ASCII
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString() : undefined;
}

function encodingNamed(name: string): Named {
  const encoding = encodingKnown(name);
  if (encoding === undefined) throw new UnsupportedCharset(name);
  return encoding;
}

/** Returns the encoding of a name; undefined for an unsupported name. */
function encodingKnown(name: string): Named | undefined {
  const key = name.toLowerCase().trim();
  const known = encodings.get(key);
  if (known !== undefined) return known;
  const canonical = platformName(key);
  if (canonical === undefined) return undefined;
  // an alias such as `ucs-2` does not state the byte order
  const encoding = canonical === 'utf-16le' ? 'utf-16' : (encodings.get(canonical) ?? { name: canonical });
  encodings.set(key, encoding);
  return encoding;
}

/** Returns TextDecoder's name of an encoding for a label (Encoding Standard, 4.2); undefined for an unknown label. */
function platformName(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function nameOf(encoding: Named): string {
  return typeof encoding === 'string' ? encoding : encoding.name;
}

/** Throws for UTF-32 and EBCDIC, which are detected by the first four bytes (XML 1.0, appendix F). */
function refuseWideEncodings(buffer: Buffer): void {
  switch (buffer.length < 4 ? 0 : buffer.readUInt32BE(0)) {
    case 0x0000feff:
    case 0xfffe0000:
    case 0x0000003c:
    case 0x3c000000:
      throw new UnsupportedCharset('utf-32');
    case 0x4c6fa794:
      throw new UnsupportedCharset('ebcdic');
  }
}

function markOf(buffer: Buffer): Mark | undefined {
  if (buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf) return 'utf-8';
  if (buffer[0] === 0xff && buffer[1] === 0xfe) return 'utf-16le';
  if (buffer[0] === 0xfe && buffer[1] === 0xff) return 'utf-16be';
  return undefined;
}

function decodeMarked(buffer: Buffer, mark: Mark, stated: Named | undefined): string {
  const text = stated === undefined || agree(mark, stated) ? decodeAs(mark, buffer) : '';
  if (isMarked(mark, stated, text)) return text;
  throw conflict(
    stated === undefined
      ? {
          expected: `an XML declaration that agrees with the mark of ${mark}`,
          got: 'another encoding',
        }
      : {
          subject: nameOf(stated),
          expected: `${nameOf(stated)} by the charset`,
          got: `the mark of ${mark}`,
        },
  );
}

/** Returns true if the charset, or the XML declaration that a text begins with, agrees with a byte order mark. */
function isMarked(mark: Mark, stated: Named | undefined, text: string): boolean {
  if (stated !== undefined) return agree(mark, stated);
  const declared = readDeclaration(text)?.encoding;
  if (declared === undefined) return true;
  const encoding = encodingKnown(declared);
  // A declared utf-16 over UTF-8 is .NET's StringWriter: the one slip that W9 forgives.
  return encoding !== undefined && (agree(mark, encoding) || encoding === 'utf-16');
}

function agree(mark: Encoding, stated: Named): boolean {
  return mark === stated || (stated === 'utf-16' && mark !== 'utf-8');
}

/** Returns the encoding in the declaration of a document without a mark and charset. */
function declaredEncoding(buffer: Buffer): Encoding {
  const wide = wideDeclaration(buffer);
  if (wide !== undefined) {
    const declared = readDeclaration(buffer.length % 2 === 0 ? decodeAs(wide, buffer) : '')?.encoding;
    const encoding = encodingKnown(declared ?? '');
    if (encoding === wide || encoding === 'utf-16') return wide;
    throw conflict({ expected: 'an XML declaration of utf-16', got: 'none' });
  }
  if (buffer[0] !== 0x3c || buffer[1] !== 0x3f) return 'utf-8';
  const declared = readDeclaration(buffer.toString('latin1', 0, buffer.indexOf(0x3e) + 1))?.encoding;
  if (declared === undefined) return 'utf-8';
  const encoding = encodingNamed(declared);
  if (encoding === 'utf-16le' || encoding === 'utf-16be') {
    throw conflict({ expected: `${encoding} by the XML declaration`, got: 'characters of one byte' });
  }
  return encoding === 'utf-16' ? 'utf-8' : encoding;
}

/** Returns the byte order of a document that starts with `<?` in UTF-16. */
function wideDeclaration(buffer: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  switch (buffer.length < 4 ? 0 : buffer.readUInt32BE(0)) {
    case 0x3c003f00:
      return 'utf-16le';
    case 0x003c003f:
      return 'utf-16be';
    default:
      return undefined;
  }
}

/** Returns the byte order of UTF-16 without a mark, by its first `<`. */
function byteOrder(buffer: Buffer): 'utf-16le' | 'utf-16be' {
  const at = buffer.indexOf(0x3c);
  if (at % 2 === 0 && buffer[at + 1] === 0) return 'utf-16le';
  if (at % 2 === 1 && buffer[at - 1] === 0) return 'utf-16be';
  throw conflict({ expected: 'utf-16 by the charset', got: 'bytes of another encoding' });
}

function decodeAs(encoding: Encoding, buffer: Buffer): string {
  if (typeof encoding !== 'string') return decodeLegacy(encoding, buffer);
  switch (encoding) {
    case 'utf-8': {
      const text = decodeUtf8(buffer);
      if (text === undefined) throw invalid('utf-8', invalidUtf8(buffer));
      return text;
    }
    case 'us-ascii': {
      const text = buffer.toString('latin1');
      if (!isAscii(buffer)) throw invalid('us-ascii', locate(text, text.search(/[^\0-\x7f]/)));
      return text;
    }
    case 'windows-1252':
      return decodeWindows1252(buffer);
    case 'utf-16le':
    case 'utf-16be': {
      const even = buffer.length % 2 === 0 ? buffer : buffer.subarray(0, -1);
      const ordered = encoding === 'utf-16le' ? even : Buffer.from(even).swap16();
      const text = ordered.toString('utf16le');
      const at = text.isWellFormed() ? text.length : text.search(/\p{Surrogate}/u);
      if (at < text.length || even.length < buffer.length) throw invalid('utf-16', locate(text, at));
      return text;
    }
  }
}

/** The five bytes that windows-1252 does not define are C1 controls, as in ISO-8859-1. */
const windows1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
/** The code unit of each byte. */
const unitsOfWindows1252 = Uint16Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x80 && byte <= 0x9f ? windows1252.charCodeAt(byte - 0x80) : byte,
);

function decodeWindows1252(buffer: Buffer): string {
  const text = buffer.toString('latin1');
  if (!/[\x80-\x9f]/.test(text)) return text;
  const wide = Buffer.allocUnsafe(buffer.length * 2);
  for (let at = 0; at < buffer.length; at++) {
    const unit = unitsOfWindows1252[buffer[at] as number] as number;
    wide[at * 2] = unit & 0xff;
    wide[at * 2 + 1] = unit >> 8;
  }
  return wide.toString('utf16le');
}

/** Throws XmlError at the first invalid bytes. */
function decodeLegacy({ name }: LegacyEncoding, buffer: Buffer): string {
  try {
    return new TextDecoder(name, { fatal: true }).decode(buffer);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const text = new TextDecoder(name).decode(buffer);
    throw invalid(name, locate(text, text.indexOf('\ufffd')));
  }
}

/** Returns the location of the first bytes that are not UTF-8. */
function invalidUtf8(buffer: Buffer): Location {
  const text = buffer.toString('utf8', 0, utf8Length(buffer));
  return locate(text, text.length);
}

/** Returns the number of leading bytes that are complete UTF-8 characters (Unicode, table 3-7). */
function utf8Length(bytes: Buffer): number {
  let at = 0;
  for (;;) {
    const lead = bytes[at] ?? 0xff;
    const size = lead < 0x80 ? 1 : lead < 0xc2 || lead > 0xf4 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (size === 0) return at;
    for (let index = 1; index < size; index++) {
      const byte = bytes[at + index] ?? 0;
      const least = index > 1 ? 0x80 : lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
      const most = index > 1 ? 0xbf : lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
      if (byte < least || byte > most) return at;
    }
    at += size;
  }
}

function invalid(encoding: string, location: Location): XmlError {
  return new XmlError(location, {
    mistake: 'encoding',
    subject: encoding,
    expected: encoding,
    got: 'invalid bytes',
  });
}

function conflict(reason: XmlReason): XmlError {
  return new XmlError({ line: 1, column: 1 }, reason);
}

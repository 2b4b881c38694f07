import { isCharacter } from '../../xml/characters.ts';
import { entities } from '../../xml/scanner.ts';

/** The text of an element as the content of a JSON string, from bytes to bytes. */

/** A range of bytes that is read, and one that is written. */
export interface Cursor {
  /** Offset in the source. */
  at: number;
  /** Offset in the target. */
  to: number;
}

/** 1 at a byte of text that JSON has as it is; a text ends at `<`, and `>` may end `]]>`. */
const copied = new Uint8Array(256).fill(1, 0x20);
for (const byte of Buffer.from('"\\&<>')) copied[byte] = 0;

const tab = 0x9;
const lineFeed = 0xa;
const carriageReturn = 0xd;
const doubleQuote = 0x22;
const ampersand = 0x26;
const lessThan = 0x3c;
const greaterThan = 0x3e;
const semicolon = 0x3b;
const bracket = 0x5d;
const backslash = 0x5c;
const hash = 0x23;
const letterX = 0x78;

/** The letter behind the backslash of a JSON escape, by character; 0 for none. */
const escapes = new Uint8Array(128);
escapes[tab] = 0x74;
escapes[lineFeed] = 0x6e;
escapes[carriageReturn] = 0x72;
escapes[doubleQuote] = doubleQuote;
escapes[backslash] = backslash;

const references = entities.map(({ reference, code }) => ({ bytes: Buffer.from(reference), code }));

/**
 * Copies the text at the cursor up to the next `<`. Returns false for a text that the usual reader must read: with an
 * illegal character, `]]>`, or a reference that not every XML reader accepts (W10).
 *
 * @param source UTF-8 without U+FFFE and U+FFFF. Its last byte is `>`
 * @param target receives the text. Bytes beyond its end are not written, but `to` counts them
 */
export function copyText(
  source: Buffer,
  sourceView: DataView,
  target: Buffer,
  targetView: DataView,
  cursor: Cursor,
): boolean {
  // beyond these, four bytes are not read or written at once
  const mostAt = source.length - 4;
  const mostTo = target.length - 4;
  let { at, to } = cursor;
  for (;;) {
    while (at <= mostAt && to <= mostTo) {
      const four = sourceView.getInt32(at, true);
      if (hasOther(four)) break;
      targetView.setInt32(to, four, true);
      at += 4;
      to += 4;
    }
    let byte = source[at] as number;
    while (copied[byte] === 1) {
      target[to++] = byte;
      byte = source[++at] as number;
    }
    if (byte === lessThan) break;
    if (byte === ampersand && isAmp(source, at)) {
      target[to++] = ampersand;
      at += 5;
      continue;
    }
    cursor.at = at;
    cursor.to = to;
    if (!copyOther(source, target, cursor, byte)) return false;
    at = cursor.at;
    to = cursor.to;
  }
  cursor.at = at;
  cursor.to = to;
  return true;
}

/** Returns true if the `&` at an offset begins `&amp;`, which is met most. */
function isAmp(source: Buffer, at: number): boolean {
  return (
    source[at + 1] === 0x61 &&
    source[at + 2] === 0x6d &&
    source[at + 3] === 0x70 &&
    source[at + 4] === semicolon
  );
}

const ones = 0x01010101;
const highs = 0x80808080 | 0;

/** Returns true if one of four bytes may not be copied as it is; it may be that all can. */
function hasOther(four: number): boolean {
  const quoteOrAmpersand = (four | 0x04040404) ^ 0x26262626;
  const angle = (four | 0x02020202) ^ 0x3e3e3e3e;
  const reverse = four ^ 0x5c5c5c5c;
  const found =
    ((four - 0x20202020) & ~four) |
    ((quoteOrAmpersand - ones) & ~quoteOrAmpersand) |
    ((angle - ones) & ~angle) |
    ((reverse - ones) & ~reverse);
  return (found & highs) !== 0;
}

/** Copies one character that is escaped in JSON or in XML, or takes a look at its neighbours. */
function copyOther(source: Buffer, target: Buffer, cursor: Cursor, byte: number): boolean {
  const { at } = cursor;
  if (at >= source.length) return false; // a start tag is the end of the message
  if (byte === ampersand) return copyReference(source, target, cursor);
  if (byte === greaterThan) {
    const endsSection = source[at - 1] === bracket && source[at - 2] === bracket;
    if (endsSection || at === source.length - 1) return false;
  } else if (byte === carriageReturn) {
    if (source[at + 1] === lineFeed) cursor.at++;
    put(target, cursor, lineFeed);
    cursor.at++;
    return true;
  } else if (byte < 0x20 && byte !== tab && byte !== lineFeed) return false;
  put(target, cursor, byte);
  cursor.at++;
  return true;
}

/** Writes an ASCII character, or a byte of another one. */
function put(target: Buffer, cursor: Cursor, byte: number): void {
  const letter = byte < 0x80 ? (escapes[byte] as number) : 0;
  if (letter === 0) target[cursor.to++] = byte;
  else {
    target[cursor.to++] = backslash;
    target[cursor.to++] = letter;
  }
}

function copyReference(source: Buffer, target: Buffer, cursor: Cursor): boolean {
  if (source[cursor.at + 1] === hash) return copyNumber(source, target, cursor);
  for (const { bytes, code } of references) {
    if (!startsWith(source, cursor.at, bytes)) continue;
    cursor.at += bytes.length;
    put(target, cursor, code);
    return true;
  }
  return false;
}

function startsWith(source: Buffer, at: number, bytes: Buffer): boolean {
  for (let index = 0; index < bytes.length; index++) if (source[at + index] !== bytes[index]) return false;
  return true;
}

/** Bytes of a character in UTF-8. */
const longestCharacter = 4;

/** Copies the character of a numeric reference: [66] CharRef. */
function copyNumber(source: Buffer, target: Buffer, cursor: Cursor): boolean {
  let at = cursor.at + 2;
  const base = source[at] === letterX ? 16 : 10;
  if (base === 16) at++;
  const first = at;
  let code = 0;
  for (let digit = digitOf(source[at] as number); digit < base; digit = digitOf(source[++at] as number)) {
    code = code * base + digit;
    if (code > 0x10ffff) return false;
  }
  if (at === first || source[at] !== semicolon || !isCharacter(code)) return false;
  cursor.at = at + 1;
  if (code < 0x80) put(target, cursor, code);
  else if (cursor.to + longestCharacter > target.length) cursor.to += longestCharacter;
  else cursor.to += target.write(String.fromCodePoint(code), cursor.to);
  return true;
}

/** The value of a hexadecimal digit; 16 for any other byte. */
function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : 16;
}

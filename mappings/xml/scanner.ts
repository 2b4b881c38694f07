import type { Limits } from '../contract/limits.ts';
import { findIllegal, isBlank, isCharacter, isNameCharacter, isNameStart } from './characters.ts';
import { locate, XmlError, type XmlReason } from './error.ts';
import { GatheredText } from './gathered-text.ts';

// code units; other modules have theirs: what one exports is no constant to the compiler, and these are compared with each character
const lessThan = 0x3c;
const greaterThan = 0x3e;
const doubleQuote = 0x22;
const singleQuote = 0x27;
const ampersand = 0x26;
const space = 0x20;
const lineFeed = 0xa;
const carriageReturn = 0xd;
const hash = 0x23;
const colonSign = 0x3a;
const semicolon = 0x3b;
const letterX = 0x78;

/** Code units of a text whose references and line ends may be very many. */
const longText = 1_024;

/** XML 1.0, 4.6: the entities that need no declaration, those that are met most first. */
export const entities: readonly {
  readonly reference: string;
  readonly initial: number;
  readonly code: number;
}[] = (
  [
    ['&amp;', ampersand],
    ['&lt;', lessThan],
    ['&gt;', greaterThan],
    ['&quot;', doubleQuote],
    ['&apos;', singleQuote],
  ] as const
).map(([reference, code]) => ({ reference, initial: reference.charCodeAt(1), code }));

/**
 * The lexical half of XmlReader: names, comments, references and line ends, by offset. A method that reads
 * something returns the offset after it. Knows nothing of elements; every method throws XmlError.
 */
export class Scanner {
  /** The document, after `limitToLegal` only up to its first illegal character. */
  text: string;
  /** Surrogate pairs that were written as two references and joined (W10). */
  joinedSurrogates = 0;
  /** References to characters that XML forbids and that were let through (W10). */
  illegalReferences = 0;
  /** Offset of the colon in the name that was read last; -1 when it has none. */
  colon = -1;
  /** Characters of the attribute value or CDATA section that was read last. */
  value = '';

  readonly #allowIllegalReferences: boolean;
  #end: number;
  /** The character that #end cuts the text at: an error only once a scan meets it. */
  #illegal: number | undefined = undefined;
  /** Character that the reference read last names. */
  #codePoint = 0;
  /** What texts of many pieces are put together in, one at a time. */
  #gathered: GatheredText | undefined;
  // Offsets of the next '&', '\r' and ']]>' that aren't behind; text without any is one slice.
  #nextReference = -1;
  #nextReturn = -1;
  #nextTerminator = -1;

  constructor(text: string, allowIllegalReferences: boolean) {
    this.text = text;
    this.#end = text.length;
    this.#allowIllegalReferences = allowIllegalReferences;
  }

  /**
   * Checks the raw characters of the whole document at once.
   *
   * @param from those before are known to be legal
   */
  limitToLegal(from: number): void {
    const illegal = findIllegal(this.text, from);
    if (illegal === -1) return;
    this.#illegal = this.text.charCodeAt(illegal);
    this.text = this.text.slice(0, illegal);
    this.#end = illegal;
  }

  /** Code unit at an offset; -1 past the end, because one read out of bounds makes every later read slow. */
  code(at: number): number {
    return at < this.#end ? this.text.charCodeAt(at) : -1;
  }

  /** True at the end of a document that holds nothing illegal. */
  isEnd(at: number): boolean {
    return at === this.#end && this.#illegal === undefined;
  }

  skipBlanks(from: number): number {
    let at = from;
    while (isBlank(this.code(at))) at++;
    return at;
  }

  /** [27] Misc: blanks and comments; processing instructions are refused. */
  skipMiscellany(from: number): number {
    let at = this.skipBlanks(from);
    while (this.text.startsWith('<!--', at)) at = this.skipBlanks(this.skipComment(at));
    if (this.text.startsWith('<?', at)) throw this.instructionError(at);
    return at;
  }

  /** [15] Comment. */
  skipComment(at: number): number {
    const end = this.text.indexOf('--', at + 4);
    if (end === -1) throw this.errorAtEnd({ expected: '-->', got: 'the end' });
    if (this.code(end + 2) !== greaterThan) throw this.error(end, { expected: 'no -- inside a comment' });
    return end + 3;
  }

  /** [18] CDSect: its characters are left in `value`. */
  readSection(at: number): number {
    if (!this.text.startsWith('<![CDATA[', at)) {
      if (this.text.startsWith('<!DOCTYPE', at))
        throw this.error(at, { mistake: 'doctype', expected: 'no DTD', got: '<!DOCTYPE' });
      throw this.error(at, {
        mistake: 'lessThan',
        expected: 'a comment, a CDATA section or a tag',
        got: '<!',
      });
    }
    const end = this.text.indexOf(']]>', at + 9);
    if (end === -1) throw this.errorAtEnd({ expected: ']]>', got: 'the end' });
    const section = this.text.slice(at + 9, end);
    this.value = section.includes('\r') ? withoutReturns(section) : section;
    return end + 3;
  }

  /** [7] QName: its colon is left in `colon`. */
  readName(start: number): number {
    const end = this.#readNamePart(start);
    this.colon = -1;
    if (this.code(end) !== colonSign) return end;
    this.colon = end;
    return this.#readNamePart(end + 1);
  }

  /** [4] NCName. */
  #readNamePart(start: number): number {
    let at = start;
    let code = this.#codePointAt(at);
    if (!isNameStart(code))
      throw this.error(at, { mistake: 'lessThan', expected: 'a name', got: this.got(at) });
    do {
      at += code > 0xffff ? 2 : 1;
      code = this.#codePointAt(at);
    } while (isNameCharacter(code));
    return at;
  }

  #codePointAt(at: number): number {
    const code = this.code(at);
    return code > 0x7f ? (this.text.codePointAt(at) as number) : code;
  }

  /** True when character data is what it seems: no reference, no line end to normalise. `]]>` is refused. */
  isPlain(start: number, end: number): boolean {
    if (this.#nextTerminator < start) this.#nextTerminator = this.#next(']]>', start);
    if (this.#nextTerminator < end)
      throw this.error(this.#nextTerminator, { mistake: 'cdataEnd', expected: 'no ]]> in text' });
    if (this.#nextReference < start) this.#nextReference = this.#next('&', start);
    if (this.#nextReturn < start) this.#nextReturn = this.#next('\r', start);
    return this.#nextReference >= end && this.#nextReturn >= end;
  }

  /**
   * Character data with references resolved and line ends as LF (XML 1.0, 2.11). What is longer than `maxLength`
   * is only read until that shows.
   */
  resolveText(start: number, end: number, maxLength: number, lenient: boolean): string {
    if (start === end) return '';
    if (end - start > longText) return this.#resolveLongText(start, end, maxLength, lenient);
    const text = this.text;
    let value = '';
    let at = start;
    while (!this.isPlain(at, end) && value.length <= maxLength) {
      if (this.#nextReturn < this.#nextReference) {
        value += `${text.slice(at, this.#nextReturn)}\n`;
        at = this.#nextReturn + 1;
        if (this.code(at) === lineFeed) at++;
      } else {
        value += text.slice(at, this.#nextReference);
        at = this.#readReference(this.#nextReference, lenient);
        value += String.fromCodePoint(this.#codePoint);
      }
    }
    return value + text.slice(at, end);
  }

  /** The same for a text that may be of very many pieces: looked at character by character, as they may be of one each. */
  #resolveLongText(start: number, end: number, maxLength: number, lenient: boolean): string {
    const text = this.text;
    if (this.isPlain(start, end)) return text.slice(start, end);
    // of two units at least one is left: what shows that it is too long is in twice as many
    if (this.#nextReference >= end)
      return withoutReturns(text.slice(start, Math.min(end, start + 2 * maxLength + 2)));
    this.#gathered ??= new GatheredText();
    const value = this.#gathered;
    let from = start;
    let at = start;
    while (at < end && value.length <= maxLength) {
      const code = text.charCodeAt(at);
      if (code === ampersand) {
        value.add(text, from, at);
        at = this.#readReference(at, lenient);
        value.addCharacter(this.#codePoint);
        from = at;
      } else if (code === carriageReturn) {
        value.add(text, from, at);
        value.addCharacter(lineFeed);
        at += text.charCodeAt(at + 1) === lineFeed ? 2 : 1;
        from = at;
      } else at++;
    }
    value.add(text, from, end);
    return value.take();
  }

  /** [10] AttValue: what it comes to is left in `value`. */
  readValue(start: number, maxLength: number): number {
    const quote = this.code(start);
    if (quote !== doubleQuote && quote !== singleQuote) {
      throw this.error(start, { mistake: 'quotes', expected: 'a quoted value', got: this.got(start) });
    }
    let end = start + 1;
    let plain = true;
    for (let code = this.code(end); code !== quote; code = this.code(++end)) {
      if (code === lessThan) throw this.error(end, { expected: 'no < in an attribute value' });
      if (code === -1) throw this.errorAtEnd({ expected: 'a closing quote', got: 'the end' });
      if (code < space || code === ampersand) plain = false;
    }
    this.value = plain ? this.text.slice(start + 1, end) : this.#resolveValue(start + 1, end, maxLength);
    if (this.value.length > maxLength) {
      throw this.error(
        start,
        { detail: `attribute value longer than ${maxLength} characters` },
        'xmlAttributeValue',
      );
    }
    return end + 1;
  }

  /** XML 1.0, 3.3.3: every blank is a space, but for those that references name. */
  #resolveValue(start: number, end: number, maxLength: number): string {
    const text = this.text;
    this.#gathered ??= new GatheredText();
    const value = this.#gathered;
    let from = start;
    let at = start;
    while (at < end && value.length <= maxLength) {
      const code = text.charCodeAt(at);
      if (code === ampersand) {
        value.add(text, from, at);
        at = this.#readReference(at, false);
        value.addCharacter(this.#codePoint);
        from = at;
      } else if (code < space) {
        value.add(text, from, at);
        from = at;
        if (code === carriageReturn) at += text.charCodeAt(at + 1) === lineFeed ? 2 : 1;
        else while (++at < end && text.charCodeAt(at) === code);
        value.addRun(space, code === carriageReturn ? 1 : at - from);
        from = at;
      } else at++;
    }
    value.add(text, from, end);
    return value.take();
  }

  /** [67] Reference: the character is left in #codePoint, and is one that XML or W10's exceptions allow. */
  #readReference(start: number, lenient: boolean): number {
    if (this.code(start + 1) !== hash) return this.#readEntity(start);
    const end = this.#readNumber(start);
    const code = this.#codePoint;
    if (isCharacter(code)) return end;
    if (lenient && code >= 0xd800 && code <= 0xdbff && this.text.startsWith('&#', end)) {
      const pairEnd = this.#readNumber(end);
      const low = this.#codePoint;
      if (low >= 0xdc00 && low <= 0xdfff) {
        this.#codePoint = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        this.joinedSurrogates++;
        return pairEnd;
      }
    }
    const nameable = code < 0x20 || code === 0xfffe || code === 0xffff;
    if (lenient && nameable && this.#allowIllegalReferences) {
      this.illegalReferences++;
      return end;
    }
    const got = code > 0x10ffff ? 'one beyond U+10FFFF' : unicode(code);
    throw this.error(start, { mistake: 'character', expected: 'a reference to a legal character', got });
  }

  /** [66] CharRef. */
  #readNumber(start: number): number {
    const hexadecimal = this.code(start + 2) === letterX;
    const digits = start + (hexadecimal ? 3 : 2);
    const base = hexadecimal ? 16 : 10;
    let at = digits;
    let value = 0;
    for (let digit = digitOf(this.code(at)); digit < base; digit = digitOf(this.code(++at))) {
      value = Math.min(value * base + digit, 0x110000);
    }
    if (at === digits) throw this.error(at, { expected: 'a digit', got: this.got(at) });
    if (this.code(at) !== semicolon)
      throw this.error(at, { mistake: 'reference', expected: ';', got: this.got(at) });
    this.#codePoint = value;
    return at + 1;
  }

  #readEntity(start: number): number {
    const letter = this.code(start + 1);
    for (const { reference, initial, code } of entities) {
      if (initial === letter && this.text.startsWith(reference, start)) {
        this.#codePoint = code;
        return start + reference.length;
      }
    }
    // What follows the ampersand may be part of a secret.
    const expected = '&amp; &lt; &gt; &apos; &quot; or a character reference';
    throw this.error(start, { mistake: 'reference', expected });
  }

  /** Offset of the next occurrence; the end when there is none. */
  #next(search: string, from: number): number {
    const at = this.text.indexOf(search, from);
    return at === -1 ? this.#end : at;
  }

  /** The error of what was found at an offset, or of the illegal character that cuts the text there. */
  error(at: number, reason: XmlReason, limit?: keyof Limits): XmlError {
    if (at >= this.#end && this.#illegal !== undefined) return this.errorAtEnd(reason);
    return new XmlError(locate(this.text, at), reason, limit);
  }

  errorAtEnd(reason: XmlReason): XmlError {
    const illegal = this.#illegal;
    return new XmlError(
      locate(this.text, this.#end),
      illegal === undefined
        ? reason
        : { mistake: 'character', expected: 'a legal character', got: unicode(illegal) },
    );
  }

  instructionError(at: number): XmlError {
    const declaration = this.text.startsWith('<?xml', at) && isBlank(this.code(at + 5));
    return this.error(
      at,
      declaration
        ? { expected: 'the XML declaration at the first character of the document' }
        : { expected: 'no processing instruction', got: '<?' },
    );
  }

  /** What is at an offset, as an error names it. */
  got(at: number): string {
    return at < this.#end ? unicode(this.text.codePointAt(at) as number) : 'the end';
  }
}

/** Value of a digit's code unit, 0 to 15; 16 for anything else. */
function digitOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : 16;
}

function unicode(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** A name as errors show it. */
export function cut(name: string): string {
  return name.length > 40 ? `${name.slice(0, 40)}…` : name;
}

/** In characters: a pattern takes 200 ns for the first return, however short its text is. */
const shortText = 16;

function withFewReturns(text: string): string {
  let folded = '';
  let from = 0;
  for (let at = text.indexOf('\r'); at !== -1; at = text.indexOf('\r', from)) {
    folded += `${text.slice(from, at)}\n`;
    from = text.charCodeAt(at + 1) === lineFeed ? at + 2 : at + 1;
  }
  return folded + text.slice(from);
}

/** A text with line ends as LF (XML 1.0, 2.11); of a long one unit by unit, as a pattern takes 50 ns for each. */
function withoutReturns(text: string): string {
  if (text.length <= shortText) return withFewReturns(text);
  if (text.length <= longText) return text.replace(/\r\n?/g, '\n');
  if (!/[^\0-\xff]/.test(text)) {
    const bytes = Buffer.from(text, 'latin1');
    return bytes.toString('latin1', 0, foldReturns(bytes));
  }
  const bytes = Buffer.from(text, 'utf16le');
  const units = new Uint16Array(bytes.buffer, bytes.byteOffset, text.length);
  return bytes.toString('utf16le', 0, foldReturns(units) * 2);
}

/** Makes each CR and CRLF a LF, in place; how many units are left. */
function foldReturns(units: Uint8Array | Uint16Array): number {
  let size = 0;
  for (let at = 0; at < units.length; at++) {
    let unit = units[at] as number;
    if (unit === carriageReturn) {
      if (units[at + 1] === lineFeed) at++;
      unit = lineFeed;
    }
    units[size++] = unit;
  }
  return size;
}

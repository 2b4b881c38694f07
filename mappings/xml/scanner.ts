import type { Got } from '../contract/got.ts';
import type { Limits } from '../contract/limits.ts';
import { type Quote, quoteValue } from '../contract/reason.ts';
import { findIllegal, isBlank, isCharacter, isNameCharacter, isNameStart } from './characters.ts';
import { readDeclaration } from './declaration.ts';
import { locate, XmlError, type XmlReason } from './error.ts';
import { GatheredText } from './gathered-text.ts';

// Code units. They are not imported, because the compiler does not treat exports of other modules as constants, and
// each character is compared with them.
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

/**
 * Minimum length in code units of a text that is processed unit by unit, because it may have many references and line
 * ends.
 */
const longText = 1_024;

/** The predefined entities (XML 1.0, 4.6), most frequent first. */
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
 * The lexical half of XmlReader: names, comments, references and line ends, by offset. A method that reads something
 * returns the offset after it. It does not know elements. All methods throw XmlError.
 */
export class Scanner {
  /** The document; after `limitToLegal` only up to its first illegal character. */
  text: string;
  /** Number of surrogate pairs that were written as two references and joined (W10). */
  joinedSurrogates = 0;
  /** Number of references to characters that XML forbids and that were accepted (W10). */
  illegalReferences = 0;
  /** Offset of the colon in the last name; -1 if it has none. */
  colon = -1;
  /** Characters of the last attribute value or CDATA section. */
  value = '';

  readonly #allowIllegalReferences: boolean;
  #end: number;
  /** The illegal character at #end. It is an error only when a scan reaches it. */
  #illegal: number | undefined = undefined;
  /** Code point of the last reference. */
  #codePoint = 0;
  /** Buffer for texts of many pieces, one at a time. */
  #gathered: GatheredText | undefined;
  // Offsets of the next '&', '\r' and ']]>' after the current position. A text without them is one slice.
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
   * @param from offset up to which the text is known to be legal
   */
  limitToLegal(from: number): void {
    const illegal = findIllegal(this.text, from);
    if (illegal === -1) return;
    this.#illegal = this.text.charCodeAt(illegal);
    this.text = this.text.slice(0, illegal);
    this.#end = illegal;
  }

  /**
   * Returns the code unit at an offset. It returns -1 past the end, because one out-of-bounds read slows down all later
   * reads.
   */
  code(at: number): number {
    return at < this.#end ? this.text.charCodeAt(at) : -1;
  }

  /** Returns true at the end of a document without illegal characters. */
  isEnd(at: number): boolean {
    return at === this.#end && this.#illegal === undefined;
  }

  skipBlanks(from: number): number {
    let at = from;
    while (isBlank(this.code(at))) at++;
    return at;
  }

  /** Skips [22] prolog up to the root's start tag. A DTD is refused at its first token, before it is read. */
  skipProlog(): number {
    const { text } = this;
    let at = 0;
    if (text.startsWith('<?xml') && isBlank(this.code(5))) {
      const declaration = readDeclaration(text);
      if (declaration === undefined)
        throw this.error(0, { mistake: 'declaration', expected: 'a well-formed XML declaration' });
      if (declaration.version !== '1.0')
        throw this.error(0, { mistake: 'declaration', expected: 'XML version 1.0', got: 'another version' });
      at = declaration.length;
    }
    at = this.skipMiscellany(at);
    if (text.startsWith('<!DOCTYPE', at)) throw this.#doctypeError(at);
    if (this.code(at) !== lessThan) throw this.error(at, { expected: 'the root element', got: this.got(at) });
    return at;
  }

  #doctypeError(at: number): XmlError {
    return this.error(at, { mistake: 'doctype', expected: 'no DTD', got: '<!DOCTYPE' });
  }

  /** Skips [27] Misc: blanks and comments. Processing instructions are refused. */
  skipMiscellany(from: number): number {
    let at = this.skipBlanks(from);
    while (this.text.startsWith('<!--', at)) at = this.skipBlanks(this.skipComment(at));
    if (this.text.startsWith('<?', at)) throw this.instructionError(at);
    return at;
  }

  /** Skips [15] Comment. */
  skipComment(at: number): number {
    const end = this.text.indexOf('--', at + 4);
    if (end === -1) throw this.errorAtEnd({ expected: '-->', got: 'the end' });
    if (this.code(end + 2) !== greaterThan) throw this.error(end, { expected: 'no -- inside a comment' });
    return end + 3;
  }

  /** Reads [18] CDSect and stores its characters in `value`. */
  readSection(at: number): number {
    if (!this.text.startsWith('<![CDATA[', at)) {
      if (this.text.startsWith('<!DOCTYPE', at)) throw this.#doctypeError(at);
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

  /** Reads [7] QName and stores the offset of its colon in `colon`. */
  readName(start: number): number {
    const end = this.#readNamePart(start);
    this.colon = -1;
    if (this.code(end) !== colonSign) return end;
    this.colon = end;
    return this.#readNamePart(end + 1);
  }

  /** Reads [4] NCName. */
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

  /** Returns true if character data has no references and no line ends to normalise. Refuses `]]>`. */
  isPlain(start: number, end: number): boolean {
    if (this.#nextTerminator < start) this.#nextTerminator = this.#next(']]>', start);
    if (this.#nextTerminator < end)
      throw this.error(this.#nextTerminator, { mistake: 'cdataEnd', expected: 'no ]]> in text' });
    if (this.#nextReference < start) this.#nextReference = this.#next('&', start);
    if (this.#nextReturn < start) this.#nextReturn = this.#next('\r', start);
    return this.#nextReference >= end && this.#nextReturn >= end;
  }

  /**
   * Returns character data with resolved references and line ends as LF (XML 1.0, 2.11). Stops soon after `maxLength`
   * is exceeded.
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

  /** Resolves a long text unit by unit, because each unit may be a piece of its own. */
  #resolveLongText(start: number, end: number, maxLength: number, lenient: boolean): string {
    const text = this.text;
    if (this.isPlain(start, end)) return text.slice(start, end);
    // two units become at least one, so twice the maximum is enough to show that the text is too long
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

  /** Reads [42] ETag of the element with a name at two offsets. */
  readEndTag(at: number, nameStart: number, nameEnd: number): number {
    let end = at + 2;
    for (let offset = nameStart; offset < nameEnd; offset++, end++) {
      if (this.text.charCodeAt(offset) !== this.code(end)) throw this.endTagError(at, nameStart, nameEnd);
    }
    if (this.code(end) !== greaterThan) {
      if (isNameCharacter(this.code(end))) throw this.endTagError(at, nameStart, nameEnd);
      end = this.skipBlanks(end);
      if (this.code(end) !== greaterThan) throw this.error(end, { expected: '>', got: this.got(end) });
    }
    return end + 1;
  }

  /** Reads [10] AttValue and stores its normalized value in `value`. */
  readValue(start: number, maxLength: number): number {
    const quote = this.code(start);
    if (quote !== doubleQuote && quote !== singleQuote) {
      throw this.error(start, { mistake: 'quotes', expected: 'a quoted value', got: this.got(start) });
    }
    plainValue.lastIndex = start + 1;
    plainValue.test(this.text);
    let end = plainValue.lastIndex;
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

  /** Normalizes an attribute value: each blank becomes a space, except those from references (XML 1.0, 3.3.3). */
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

  /** Reads [67] Reference and stores its character in #codePoint. XML or the exceptions of W10 must allow it. */
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
    const got = code > 0x10ffff ? 'a code point beyond U+10FFFF' : unicode(code);
    throw this.error(start, { mistake: 'character', expected: 'a reference to a legal character', got });
  }

  /** Reads [66] CharRef. */
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
    // The text after the ampersand may be part of a secret.
    const expected = '&amp; &lt; &gt; &apos; &quot; or a character reference';
    throw this.error(start, { mistake: 'reference', expected });
  }

  /** Returns the offset of the next occurrence; the end if there is none. */
  #next(search: string, from: number): number {
    const at = this.text.indexOf(search, from);
    return at === -1 ? this.#end : at;
  }

  /** Returns the error about an offset, or about the illegal character that ends the text there. */
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

  /** Returns the error about the tag at an offset, which is not the end tag of the element with a name at two offsets. */
  endTagError(at: number, nameStart: number, nameEnd: number): XmlError {
    const subject = cut(this.text.slice(nameStart, nameEnd));
    const expected = { mistake: 'endTag', subject, expected: endTag(subject) } as const;
    const name = /^[^\s<>&'"=/]*/.exec(this.text.slice(at + 2, at + 43))?.[0] ?? '';
    const end = at + 2 + name.length;
    if (this.code(end) === -1) return this.errorAtEnd({ ...expected, got: 'the end' });
    if (name === '') return this.error(end, { ...expected, got: this.got(end) });
    return this.error(at, { ...expected, other: cut(name), got: endTag(cut(name)) });
  }

  /** Names the character at an offset for an error. */
  got(at: number): Got | Quote {
    return at < this.#end ? unicode(this.text.codePointAt(at) as number) : 'the end';
  }
}

/** Returns the value of a digit, 0 to 15; 16 for any other code unit. */
function digitOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : 16;
}

function unicode(code: number): Quote {
  return quoteValue(`U+${code.toString(16).toUpperCase().padStart(4, '0')}`);
}

/** Quotes the end tag of an element. */
function endTag(name: string): Quote {
  return { text: `</${name}>`, kind: '</*>', name };
}

/** Shortens a name for an error. */
export function cut(name: string): string {
  return name.length > 40 ? `${name.slice(0, 40)}…` : name;
}

/** The characters up to the first one that may end an attribute value, or that its loop checks. It never fails. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: line ends and tabs become spaces in values.
const plainValue = /[^\0-\x1f"'&<]*/y;

/** Maximum length in characters for which a loop is faster than a regular expression. */
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

/**
 * Replaces CR and CRLF with LF (XML 1.0, 2.11). A long text is processed unit by unit, which is faster than a regular
 * expression.
 */
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

/** Replaces each CR and CRLF with LF in place. Returns the number of remaining units. */
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

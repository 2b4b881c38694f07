import type { Limits } from '../limits.ts';
import { findIllegal, isBlank, isCharacter, isNameCharacter, isNameStart } from './characters.ts';
import { readDeclaration } from './declaration.ts';
import { type Location, locate, XmlError } from './error.ts';
import { Namespaces, xmlNamespace, xmlnsNamespace } from './namespaces.ts';

const space = 0x20;
const lineFeed = 0xa;
const carriageReturn = 0xd;
const doubleQuote = 0x22;
const hash = 0x23;
const ampersand = 0x26;
const singleQuote = 0x27;
const slash = 0x2f;
const colonSign = 0x3a;
const semicolon = 0x3b;
const lessThan = 0x3c;
const equalsSign = 0x3d;
const greaterThan = 0x3e;
const question = 0x3f;
const exclamation = 0x21;
const letterX = 0x78;

/** XML 1.0, 4.6: the entities that need no declaration. */
const entities: readonly (readonly [reference: string, code: number])[] = [
  ['&amp;', 0x26],
  ['&lt;', 0x3c],
  ['&gt;', 0x3e],
  ['&apos;', 0x27],
  ['&quot;', 0x22],
];

/** One open element. Each depth has one, used again by every element there: nothing is allocated per element. */
class OpenElement {
  readonly outer: OpenElement | undefined;
  inner: OpenElement | undefined = undefined;
  /** Offsets of the name in the start tag, which the end tag is compared with. */
  nameStart = 0;
  nameEnd = 0;
  /** Namespace declarations in scope outside the element. */
  declarations = 0;
  children = 0;
  /** Characters of stray text so far. */
  characters = 0;
  stray = false;

  constructor(outer: OpenElement | undefined) {
    this.outer = outer;
  }
}

/** One attribute of the start tag that was read last; used again by the next tag. */
class Attribute {
  start = 0;
  prefix = '';
  local = '';
  namespace = '';
  value = '';
}

/**
 * A forward-only reader over a decoded document, made for codecs that know what comes next: `readRoot`, then per
 * element either `nextChild` until it is false, or `readText`, or `skip`; `finish` after the root. Strict XML 1.0
 * (fifth edition) and Namespaces in XML 1.0, without DTD and without processing instructions (W10). Every
 * character is checked before the codec is past it. Every method throws XmlError.
 */
export class XmlReader {
  /** Name of the element whose start tag was read last; `namespace` and `prefix` are '' for none. */
  local = '';
  namespace = '';
  prefix = '';
  /** True at a start tag that closes itself; any move on makes it false. */
  empty = false;
  /** Elements that are open, the one whose start tag was just read included. */
  depth = 0;
  /** Whether the element that `nextChild` or `skip` just closed held character data other than blanks. */
  stray = false;
  /** Offset of the next character that wasn't read. */
  position = 0;
  /** Attributes of the start tag that was read last, namespace declarations not counted; valid until the next move. */
  attributeCount = 0;
  /** Surrogate pairs that were written as two references and joined (W10). */
  joinedSurrogates = 0;
  /** References to characters that XML forbids and that were let through (W10). */
  illegalReferences = 0;

  readonly #limits: Limits;
  readonly #allowIllegalReferences: boolean;
  /** The document up to its first illegal character, which #illegal holds: an error only once it is met. */
  #text: string;
  #end: number;
  #illegal: number | undefined = undefined;
  #elements = 0;
  #open = new OpenElement(undefined);
  readonly #namespaces = new Namespaces();
  readonly #attributes: Attribute[] = [];
  // Second results of #readName, #readReference and #readSection.
  #colon = -1;
  #codePoint = 0;
  #sectionEnd = 0;
  // Offsets of the next '&', '\r' and ']]>' that aren't behind; text without any is one slice.
  #nextReference = -1;
  #nextReturn = -1;
  #nextTerminator = -1;

  /** `quirks.illegalReferences` lets references to C0 controls, U+FFFE and U+FFFF through in lenient text (W10). */
  constructor(text: string, limits: Limits, quirks?: { readonly illegalReferences: boolean }) {
    this.#text = text;
    this.#end = text.length;
    this.#limits = limits;
    this.#allowIllegalReferences = quirks?.illegalReferences ?? false;
  }

  /** Reads the prolog and the root's start tag. A DTD is refused at its first token, before any of it is read. */
  readRoot(): void {
    const text = this.#text;
    let at = 0;
    if (text.startsWith('<?xml') && isBlank(this.#code(5))) {
      const declaration = readDeclaration(text);
      if (declaration === undefined) throw this.#error(0, 'expected a well-formed XML declaration');
      if (declaration.version !== '1.0') throw this.#error(0, 'expected XML version 1.0, got another');
      at = declaration.length;
    }
    at = this.#skipMiscellany(at);
    if (text.startsWith('<!DOCTYPE', at)) throw this.#error(at, 'expected no DTD, got <!DOCTYPE');
    if (this.#code(at) !== lessThan) throw this.#error(at, `expected the root element, got ${this.#got(at)}`);
    this.#limitToLegal(at);
    this.#readStartTag(at);
  }

  /**
   * Moves to the start tag of the current element's next child: true. When there is none, past the current
   * element's end tag: false. Blanks and comments are passed over, other character data sets `stray`.
   */
  nextChild(): boolean {
    const element = this.#open;
    if (this.empty) {
      this.#close();
      this.stray = false;
      return false;
    }
    let at = this.position;
    for (;;) {
      at = this.#skipBlanks(at);
      if (this.#code(at) !== lessThan) at = this.#passText(at, element);
      const next = this.#code(at + 1);
      if (next === slash) {
        this.#readEndTag(at);
        this.stray = element.stray;
        return false;
      }
      if (next === question) throw this.#instructionError(at);
      if (next !== exclamation) break;
      at = this.#passMarkup(at, element);
    }
    if (++element.children > this.#limits.xmlChildren) {
      throw this.#limitError(at, 'xmlChildren', `more than ${this.#limits.xmlChildren} child elements`);
    }
    this.#readStartTag(at);
    return true;
  }

  /**
   * From a start tag past the end tag: the character data between, references resolved, line ends as LF. A child
   * element makes it undefined. `lenient` is for members that are strings: surrogate pairs written as two
   * references are joined, and illegal references are let through if the reader allows them (W10).
   */
  readText(maxLength: number, lenient: boolean): string | undefined {
    if (this.empty) {
      this.#close();
      return '';
    }
    const start = this.position;
    const end = this.#textEnd(start);
    if (this.#code(end + 1) === slash && this.#isPlain(start, end)) {
      if (end - start > maxLength) throw this.#textError(start, maxLength);
      const value = this.#text.slice(start, end);
      this.#readEndTag(end);
      return value;
    }
    return this.#readMixedText(maxLength, lenient);
  }

  /** From a start tag past its end tag, everything between checked. */
  skip(): void {
    this.#skipTo(this.depth - 1);
  }

  /** Reads what is left of the document, from anywhere, so that a fault in its form comes to light. */
  drain(): void {
    if (this.#elements === 0) this.readRoot();
    this.#skipTo(0);
    this.finish();
  }

  /** After the root's end tag: only comments and blanks up to the end. */
  finish(): void {
    const at = this.#skipMiscellany(this.position);
    if (at < this.#end || this.#illegal !== undefined) {
      throw this.#error(at, `expected the end of the document, got ${this.#got(at)}`);
    }
    this.position = at;
  }

  /** Value of an attribute by its expanded name, '' being no namespace; undefined when it isn't there. */
  attribute(namespace: string, local: string): string | undefined {
    for (let index = 0; index < this.attributeCount; index++) {
      const attribute = this.#attribute(index);
      if (attribute.local === local && attribute.namespace === namespace) return attribute.value;
    }
    return undefined;
  }

  attributeLocal(index: number): string {
    return this.#attribute(index).local;
  }

  attributeNamespace(index: number): string {
    return this.#attribute(index).namespace;
  }

  attributePrefix(index: number): string {
    return this.#attribute(index).prefix;
  }

  attributeValue(index: number): string {
    return this.#attribute(index).value;
  }

  /** Namespace of a prefix where the reader stands, '' being the default namespace; undefined for an unbound one. */
  resolve(prefix: string): string | undefined {
    return this.#namespaces.resolve(prefix);
  }

  /** Line and column of an offset; without one, of the position. */
  locate(offset = this.position): Location {
    return locate(this.#text, offset);
  }

  // Prolog and what may follow the root

  /** [27] Misc, without processing instructions: the offset of the first thing that is neither blank nor comment. */
  #skipMiscellany(from: number): number {
    let at = this.#skipBlanks(from);
    while (this.#text.startsWith('<!--', at)) at = this.#skipBlanks(this.#skipComment(at));
    if (this.#text.startsWith('<?', at)) throw this.#instructionError(at);
    return at;
  }

  /** Checks the raw characters of the whole document at once; `at` is how far it has been read. */
  #limitToLegal(at: number): void {
    const illegal = findIllegal(this.#text);
    if (illegal < 0) return;
    this.#illegal = this.#text.charCodeAt(illegal);
    this.#text = this.#text.slice(0, illegal);
    this.#end = illegal;
    if (illegal < at) throw this.#error(illegal, '');
  }

  // Tags

  #readStartTag(at: number): void {
    const limits = this.#limits;
    if (++this.#elements > limits.xmlElements) {
      throw this.#limitError(at, 'xmlElements', `more than ${limits.xmlElements} elements`);
    }
    if (this.depth >= limits.xmlDepth) {
      throw this.#limitError(at, 'xmlDepth', `nesting deeper than ${limits.xmlDepth}`);
    }
    const start = at + 1;
    const end = this.#readName(start);
    const colon = this.#colon;
    const outer = this.#open;
    outer.inner ??= new OpenElement(outer);
    const element = outer.inner;
    element.nameStart = start;
    element.nameEnd = end;
    element.declarations = this.#namespaces.count;
    element.children = 0;
    element.characters = 0;
    element.stray = false;
    this.#open = element;
    this.depth++;
    this.attributeCount = 0;
    if (this.#code(end) === greaterThan) this.position = end + 1;
    else this.#readAttributes(end, element);

    const text = this.#text;
    if (colon < 0) {
      this.prefix = '';
      this.local = text.slice(start, end);
      this.namespace = this.#namespaces.default;
    } else {
      this.prefix = text.slice(start, colon);
      this.local = text.slice(colon + 1, end);
      this.namespace = this.#bound(this.prefix, start);
    }
  }

  /** From the end of an element's name to the end of its start tag; declares, then binds (Namespaces 1.0, 5 and 6). */
  #readAttributes(from: number, element: OpenElement): void {
    let at = from;
    let total = 0;
    for (;;) {
      const next = this.#skipBlanks(at);
      const code = this.#code(next);
      if (code === greaterThan) {
        this.position = next + 1;
        break;
      }
      if (code === slash) {
        if (this.#code(next + 1) !== greaterThan) {
          throw this.#error(next + 1, `expected > after /, got ${this.#got(next + 1)}`);
        }
        this.position = next + 2;
        this.empty = true;
        break;
      }
      if (next === at) throw this.#error(at, `expected a blank, > or />, got ${this.#got(at)}`);
      if (++total > this.#limits.xmlAttributes) {
        throw this.#limitError(next, 'xmlAttributes', `more than ${this.#limits.xmlAttributes} attributes`);
      }
      at = this.#readAttribute(next, element);
    }
    for (let index = 0; index < this.attributeCount; index++) {
      const attribute = this.#attribute(index);
      attribute.namespace = attribute.prefix === '' ? '' : this.#bound(attribute.prefix, attribute.start);
      for (let other = 0; other < index; other++) {
        const { local, namespace } = this.#attribute(other);
        if (local === attribute.local && namespace === attribute.namespace) {
          throw this.#error(attribute.start, `expected each attribute once, got ${cut(local)} twice`);
        }
      }
    }
  }

  /** One attribute or namespace declaration; returns the offset after its value. */
  #readAttribute(start: number, element: OpenElement): number {
    const text = this.#text;
    const end = this.#readName(start);
    const colon = this.#colon;
    const equals = this.#skipBlanks(end);
    if (this.#code(equals) !== equalsSign) throw this.#error(equals, `expected =, got ${this.#got(equals)}`);
    const open = this.#skipBlanks(equals + 1);
    const quote = this.#code(open);
    if (quote !== doubleQuote && quote !== singleQuote) {
      throw this.#error(open, `expected a quoted value, got ${this.#got(open)}`);
    }
    let close = open + 1;
    let plain = true;
    for (;;) {
      const code = this.#code(close);
      if (code === quote) break;
      if (code <= ampersand) {
        if (code < 0) throw this.#error(close, 'expected a closing quote, got the end');
        if (code < space || code === ampersand) plain = false;
      } else if (code === lessThan) throw this.#error(close, 'expected no < in an attribute value');
      close++;
    }
    const value = plain ? text.slice(open + 1, close) : this.#resolveValue(open + 1, close);
    if (value.length > this.#limits.xmlAttributeValue) {
      throw this.#limitError(
        open + 1,
        'xmlAttributeValue',
        `attribute value longer than ${this.#limits.xmlAttributeValue} characters`,
      );
    }
    if (colon < 0 && end - start === 5 && text.startsWith('xmlns', start)) {
      this.#declare('', value, start, element);
    } else if (colon === start + 5 && text.startsWith('xmlns', start)) {
      this.#declare(text.slice(colon + 1, end), value, start, element);
    } else {
      if (this.attributeCount === this.#attributes.length) this.#attributes.push(new Attribute());
      const attribute = this.#attribute(this.attributeCount++);
      attribute.start = start;
      attribute.prefix = colon < 0 ? '' : text.slice(start, colon);
      attribute.local = colon < 0 ? text.slice(start, end) : text.slice(colon + 1, end);
      attribute.value = value;
    }
    return close + 1;
  }

  /** Namespaces 1.0, 3: what may be declared, and what only as it is anyway. */
  #declare(prefix: string, namespace: string, at: number, element: OpenElement): void {
    if (this.#namespaces.declaredSince(element.declarations, prefix)) {
      const name = prefix === '' ? 'xmlns' : `xmlns:${cut(prefix)}`;
      throw this.#error(at, `expected each attribute once, got ${name} twice`);
    }
    if (prefix === 'xmlns') throw this.#error(at, 'expected no declaration of the prefix xmlns');
    if ((prefix === 'xml') !== (namespace === xmlNamespace)) {
      throw this.#error(at, 'expected the prefix xml and its namespace bound to each other alone');
    }
    if (namespace === xmlnsNamespace) throw this.#error(at, 'expected no binding to the namespace of xmlns');
    if (namespace === '' && prefix !== '') {
      throw this.#error(at, `expected a namespace for the prefix ${cut(prefix)}, got none`);
    }
    this.#namespaces.declare(prefix, namespace);
  }

  #bound(prefix: string, at: number): string {
    const namespace = this.#namespaces.resolve(prefix);
    if (namespace === undefined) throw this.#error(at, `expected a bound prefix, got ${cut(prefix)}`);
    return namespace;
  }

  #readEndTag(at: number): void {
    const text = this.#text;
    const { nameStart, nameEnd } = this.#open;
    let end = at + 2;
    for (let offset = nameStart; offset < nameEnd; offset++, end++) {
      if (text.charCodeAt(offset) !== this.#code(end)) throw this.#endTagError(at);
    }
    if (this.#code(end) !== greaterThan) {
      if (!isBlank(this.#code(end))) throw this.#endTagError(at);
      end = this.#skipBlanks(end);
      if (this.#code(end) !== greaterThan) throw this.#error(end, `expected >, got ${this.#got(end)}`);
    }
    this.position = end + 1;
    this.#close();
  }

  #close(): void {
    const element = this.#open;
    if (this.#namespaces.count > element.declarations) this.#namespaces.release(element.declarations);
    this.#open = element.outer ?? element;
    this.depth--;
    this.empty = false;
  }

  /** [7] QName: returns its end, leaves the offset of its colon (or -1) in #colon. */
  #readName(start: number): number {
    let at = this.#readPart(start);
    this.#colon = -1;
    if (this.#code(at) === colonSign) {
      this.#colon = at;
      at = this.#readPart(at + 1);
    }
    if (at - start > this.#limits.xmlName) {
      throw this.#limitError(start, 'xmlName', `name longer than ${this.#limits.xmlName} characters`);
    }
    return at;
  }

  /** [4] NCName: returns its end. */
  #readPart(start: number): number {
    const text = this.#text;
    const end = this.#end;
    let at = start;
    let code = at < end ? text.charCodeAt(at) : -1;
    if (code > 0x7f) code = text.codePointAt(at) ?? -1;
    if (!isNameStart(code)) throw this.#error(at, `expected a name, got ${this.#got(at)}`);
    do {
      at += code > 0xffff ? 2 : 1;
      code = at < end ? text.charCodeAt(at) : -1;
      if (code > 0x7f) code = text.codePointAt(at) ?? -1;
    } while (isNameCharacter(code));
    return at;
  }

  // Character data

  /** Past character data between child elements; returns the offset of the markup after it. */
  #passText(start: number, element: OpenElement): number {
    const end = this.#textEnd(start);
    // The first character isn't blank, but it may be the reference to one.
    if (this.#isPlain(start, end)) this.#addStray(start, end - start, true, element);
    else {
      const value = this.#resolveText(start, end, false);
      this.#addStray(start, value.length, hasNonBlank(value), element);
    }
    return end;
  }

  /** Past a comment or CDATA section between child elements. */
  #passMarkup(at: number, element: OpenElement): number {
    if (this.#text.startsWith('<!--', at)) return this.#skipComment(at);
    const value = this.#readSection(at);
    this.#addStray(at, value.length, hasNonBlank(value), element);
    return this.#sectionEnd;
  }

  #addStray(at: number, length: number, nonBlank: boolean, element: OpenElement): void {
    if (nonBlank) element.stray = true;
    element.characters += length;
    if (element.characters > this.#limits.xmlText) throw this.#textError(at, this.#limits.xmlText);
  }

  /** The slow path of `readText`: references, line ends to normalise, comments, CDATA sections, child elements. */
  #readMixedText(maxLength: number, lenient: boolean): string | undefined {
    const start = this.position;
    let at = start;
    let value = '';
    for (;;) {
      const end = this.#textEnd(at);
      if (end > at) value += this.#resolveText(at, end, lenient);
      at = end;
      const next = this.#code(at + 1);
      if (next === exclamation) {
        if (this.#text.startsWith('<!--', at)) at = this.#skipComment(at);
        else {
          value += this.#readSection(at);
          at = this.#sectionEnd;
        }
      }
      if (value.length > maxLength) throw this.#textError(start, maxLength);
      if (next === slash) {
        this.#readEndTag(at);
        return value;
      }
      if (next !== exclamation) {
        this.position = at;
        this.#skipTo(this.depth - 1);
        return undefined;
      }
    }
  }

  #skipTo(depth: number): void {
    while (this.depth > depth) this.nextChild();
  }

  /** Offset of the markup that ends character data. */
  #textEnd(start: number): number {
    const end = this.#text.indexOf('<', start);
    if (end >= 0) return end;
    throw this.#error(this.#end, `expected </${this.#openName()}>, got the end`);
  }

  /** True when character data is what it seems: no reference, no line end to normalise. `]]>` is refused. */
  #isPlain(start: number, end: number): boolean {
    if (this.#nextTerminator < start) this.#nextTerminator = this.#next(']]>', start);
    if (this.#nextTerminator < end) throw this.#error(this.#nextTerminator, 'expected no ]]> in text');
    if (this.#nextReference < start) this.#nextReference = this.#next('&', start);
    if (this.#nextReturn < start) this.#nextReturn = this.#next('\r', start);
    return this.#nextReference >= end && this.#nextReturn >= end;
  }

  #resolveText(start: number, end: number, lenient: boolean): string {
    let value = '';
    let at = start;
    while (!this.#isPlain(at, end)) {
      if (this.#nextReturn < this.#nextReference) {
        value += `${this.#text.slice(at, this.#nextReturn)}\n`;
        at = this.#nextReturn + 1;
        if (this.#code(at) === lineFeed) at++;
      } else {
        value += this.#text.slice(at, this.#nextReference);
        at = this.#readCharacter(this.#nextReference, lenient);
        value += String.fromCodePoint(this.#codePoint);
      }
    }
    return at < end ? value + this.#text.slice(at, end) : value;
  }

  /** XML 1.0, 3.3.3: every blank is a space, but for those that references name. */
  #resolveValue(start: number, end: number): string {
    const text = this.#text;
    let value = '';
    let from = start;
    let at = start;
    while (at < end) {
      const code = text.charCodeAt(at);
      if (code === ampersand) {
        value += text.slice(from, at);
        at = this.#readCharacter(at, false);
        value += String.fromCodePoint(this.#codePoint);
        from = at;
      } else if (code < space) {
        value += `${text.slice(from, at)} `;
        at += code === carriageReturn && text.charCodeAt(at + 1) === lineFeed ? 2 : 1;
        from = at;
      } else at++;
    }
    return value + text.slice(from, end);
  }

  /** A reference and what it may name: the code point is in #codePoint, the offset after it is returned. */
  #readCharacter(start: number, lenient: boolean): number {
    const end = this.#readReference(start);
    const code = this.#codePoint;
    if (isCharacter(code)) return end;
    if (lenient) {
      if (code >= 0xd800 && code <= 0xdbff && this.#text.startsWith('&#', end)) {
        const pairEnd = this.#readReference(end);
        const low = this.#codePoint;
        if (low >= 0xdc00 && low <= 0xdfff) {
          this.#codePoint = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
          this.joinedSurrogates++;
          return pairEnd;
        }
      } else if (this.#allowIllegalReferences && (code < 0x20 || code === 0xfffe || code === 0xffff)) {
        this.illegalReferences++;
        return end;
      }
    }
    const got = code > 0x10ffff ? 'one beyond U+10FFFF' : unicode(code);
    throw this.#error(start, `expected a reference to a legal character, got ${got}`);
  }

  /** [67] Reference, the five predefined entities alone. */
  #readReference(start: number): number {
    if (this.#code(start + 1) !== hash) return this.#readEntity(start);
    const hexadecimal = this.#code(start + 2) === letterX;
    const digits = start + (hexadecimal ? 3 : 2);
    const base = hexadecimal ? 16 : 10;
    let at = digits;
    let value = 0;
    for (;;) {
      const digit = digitOf(this.#code(at));
      if (digit >= base) break;
      value = Math.min(value * base + digit, 0x110000);
      at++;
    }
    if (at === digits) throw this.#error(at, `expected a digit, got ${this.#got(at)}`);
    if (this.#code(at) !== semicolon) throw this.#error(at, `expected ;, got ${this.#got(at)}`);
    this.#codePoint = value;
    return at + 1;
  }

  #readEntity(start: number): number {
    for (const [reference, code] of entities) {
      if (this.#text.startsWith(reference, start)) {
        this.#codePoint = code;
        return start + reference.length;
      }
    }
    // What follows the ampersand may be part of a secret.
    throw this.#error(start, 'expected &amp; &lt; &gt; &apos; &quot; or a character reference');
  }

  /** A CDATA section's characters; the offset after it is left in #sectionEnd. */
  #readSection(at: number): string {
    if (this.#text.startsWith('<!DOCTYPE', at)) throw this.#error(at, 'expected no DTD, got <!DOCTYPE');
    if (!this.#text.startsWith('<![CDATA[', at)) {
      throw this.#error(at, 'expected a comment, a CDATA section or a tag, got <!');
    }
    const end = this.#text.indexOf(']]>', at + 9);
    if (end < 0) throw this.#error(this.#end, 'expected ]]>, got the end');
    this.#sectionEnd = end + 3;
    return this.#text.slice(at + 9, end).replace(/\r\n?/g, '\n');
  }

  /** [15] Comment: returns the offset after it. */
  #skipComment(at: number): number {
    const end = this.#text.indexOf('--', at + 4);
    if (end < 0) throw this.#error(this.#end, 'expected -->, got the end');
    if (this.#code(end + 2) !== greaterThan) throw this.#error(end, 'expected no -- inside a comment');
    return end + 3;
  }

  // Scanning

  /** Code unit at an offset; -1 past the end, because a read out of bounds makes every later read slow. */
  #code(at: number): number {
    return at < this.#end ? this.#text.charCodeAt(at) : -1;
  }

  #skipBlanks(from: number): number {
    let at = from;
    while (isBlank(this.#code(at))) at++;
    return at;
  }

  /** Offset of the next occurrence; the end when there is none. */
  #next(search: string, from: number): number {
    const at = this.#text.indexOf(search, from);
    return at < 0 ? this.#end : at;
  }

  #attribute(index: number): Attribute {
    const attribute = this.#attributes[index];
    if (attribute === undefined || index >= this.attributeCount) {
      throw new RangeError(`attribute: expected an index below ${this.attributeCount}, got ${index}`);
    }
    return attribute;
  }

  // Errors

  #error(at: number, message: string): XmlError {
    const illegal = this.#illegal;
    if (at < this.#end || illegal === undefined) return new XmlError(this.locate(at), message);
    return new XmlError(this.locate(this.#end), `expected a legal character, got ${unicode(illegal)}`);
  }

  #limitError(at: number, limit: keyof Limits, message: string): XmlError {
    return new XmlError(this.locate(at), message, limit);
  }

  #textError(at: number, maxLength: number): XmlError {
    return this.#limitError(at, 'xmlText', `text longer than ${maxLength} characters`);
  }

  #instructionError(at: number): XmlError {
    const declaration = this.#text.startsWith('<?xml', at) && isBlank(this.#code(at + 5));
    return this.#error(
      at,
      declaration
        ? 'expected the XML declaration at the first character of the document'
        : 'expected no processing instruction, got <?',
    );
  }

  #endTagError(at: number): XmlError {
    const name = /^[^\s<>&'"=/]{0,41}/.exec(this.#text.slice(at + 2, at + 43))?.[0] ?? '';
    const expected = `expected </${this.#openName()}>`;
    if (at + 2 + name.length >= this.#end) return this.#error(this.#end, `${expected}, got the end`);
    return this.#error(at, `${expected}, got </${cut(name)}>`);
  }

  #openName(): string {
    return cut(this.#text.slice(this.#open.nameStart, this.#open.nameEnd));
  }

  #got(at: number): string {
    return at < this.#end ? unicode(this.#text.codePointAt(at) ?? 0) : 'the end';
  }
}

function hasNonBlank(text: string): boolean {
  return /[^ \t\r\n]/.test(text);
}

/** Value of a digit's code unit, 0 to 15; 16 for anything else. */
function digitOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : 16;
}

function cut(name: string): string {
  return name.length > 40 ? `${name.slice(0, 40)}…` : name;
}

function unicode(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

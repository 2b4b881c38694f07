import type { Limits } from '../contract/limits.ts';
import { Attributes } from './attributes.ts';
import type { XmlError } from './error.ts';
import { GatheredText } from './gathered-text.ts';
import { type Declaration, Namespaces } from './namespaces.ts';
import { Scanner } from './scanner.ts';

const exclamation = 0x21;
const slash = 0x2f;
const lessThan = 0x3c;
const question = 0x3f;

/**
 * Minimum number of CDATA sections of a text that are collected in a buffer, because a concatenated string would be a
 * tree.
 */
const manySections = 16;

/** Returns the maximum number of children of one element. If `xmlElements` is raised, this limit grows with it. */
export function maxChildren({ xmlChildren, xmlElements }: Limits): number {
  return xmlChildren ?? Math.max(50_000, xmlElements / 4);
}

/**
 * An open element. There is one object per depth, which all elements of that depth reuse, so that reading allocates
 * none per element.
 */
class OpenElement {
  readonly outer: OpenElement | undefined;
  inner: OpenElement | undefined = undefined;
  /** Offsets of the name in the start tag, for the comparison with the end tag. */
  nameStart = 0;
  nameEnd = 0;
  /** Number of namespace declarations in scope outside the element. */
  declarations = 0;
  children = 0;
  /** Number of characters of text between child elements so far. */
  characters = 0;
  hasText = false;

  constructor(outer: OpenElement | undefined) {
    this.outer = outer;
  }
}

/** The open elements and declarations at a start tag. */
export interface ReaderScope {
  /** The names of the open elements with their prefixes, from the root to the current element. */
  readonly names: readonly string[];
  /** By prefix, `''` for the default namespace. */
  readonly bindings: ReadonlyMap<string, string>;
  /** Elements so far. */
  readonly elements: number;
  /** Attributes and namespace declarations so far. */
  readonly attributes: number;
}

/** Deviations from XML and its namespaces that a reader accepts. */
export interface XmlTolerance {
  /** References to C0 controls, U+FFFE and U+FFFF in lenient text (W10). */
  readonly acceptsIllegalReferences: boolean;
  /** `xmlns:p=""`, which binds a prefix to no namespace (A30). Namespaces in XML 1.0, 2.2 forbids it. */
  readonly emptyPrefixes?: boolean;
}

/** The parts of a reader that are needed for the content of an element after its start tag. */
export type ContentReader = Pick<
  XmlReader,
  'local' | 'namespace' | 'prefix' | 'hasText' | 'position' | 'nextChild' | 'readText' | 'skip' | 'attribute'
>;

/**
 * A forward-only reader of a decoded document, for codecs. Call `readRoot`, then for each element `nextChild` until it
 * returns false, or `readText`, or `skip`, and `finish` after the root. It accepts strict XML 1.0 (fifth edition) and
 * Namespaces in XML 1.0, without DTD and processing instructions (W10). Each character is checked before the reader
 * moves past it. All methods throw XmlError.
 */
export class XmlReader {
  /** Name of the element of the last start tag; `namespace` and `prefix` are '' for none. */
  local = '';
  namespace = '';
  prefix = '';
  /** True at a self-closing start tag, until the next move. */
  empty = false;
  /** Number of open elements, including the one of the last start tag. */
  depth = 0;
  /** True if the element that `nextChild` or `skip` just closed contained character data other than blanks. */
  hasText = false;
  /** Offset of the next unread character. */
  position = 0;
  /** Character data before the last tag that `nextTag` read. */
  textBefore = '';
  /** True if `textBefore` is the document's text, without `>`, references and line ends to normalise. */
  isTextCanonical = true;

  readonly #scanner: Scanner;
  readonly #limits: Limits;
  readonly #maxChildren: number;
  readonly #namespaces = new Namespaces();
  readonly #attributes: Attributes;
  #open = new OpenElement(undefined);
  /** Buffer for texts of many CDATA sections, one at a time. */
  #gathered: GatheredText | undefined;
  #elements = 0;
  /** True while content is skipped. */
  #isSkipping = false;

  constructor(text: string, limits: Limits, tolerance?: XmlTolerance) {
    this.#scanner = new Scanner(text, tolerance?.acceptsIllegalReferences === true);
    this.#limits = limits;
    this.#maxChildren = maxChildren(limits);
    const emptyPrefixes = tolerance?.emptyPrefixes === true;
    this.#attributes = new Attributes(this.#scanner, this.#namespaces, limits, emptyPrefixes);
  }

  /** Number of surrogate pairs that were written as two references and joined (W10). */
  get joinedSurrogates(): number {
    return this.#scanner.joinedSurrogates;
  }

  /** Number of references to characters that XML forbids and that were accepted (W10). */
  get illegalReferences(): number {
    return this.#scanner.illegalReferences;
  }

  /** Elements so far, with their attributes and namespace declarations. */
  get counts(): { readonly elements: number; readonly attributes: number } {
    return { elements: this.#elements, attributes: this.#attributes.total };
  }

  /** Declares prefixes before `readRoot`, for a document that is part of another document. */
  declare(bindings: ReadonlyMap<string, string>): void {
    for (const [prefix, namespace] of bindings) this.#namespaces.declare(prefix, namespace);
  }

  /** Reads the prolog and the root's start tag. A DTD is refused at its first token, before it is read. */
  readRoot(): void {
    const scanner = this.#scanner;
    const at = scanner.skipProlog();
    scanner.limitToLegal(0);
    this.#readStartTag(at);
  }

  /**
   * The elements that are open, from the root on, and the namespaces of all prefixes in scope; undefined when the start tag
   * that was read last has attributes, or text stood between the tags.
   */
  scope(): ReaderScope | undefined {
    if (this.attributeCount !== 0 || this.empty) return undefined;
    const names: string[] = [];
    for (let element = this.#open; element.outer !== undefined; element = element.outer) {
      if (element.characters !== 0) return undefined;
      names.unshift(this.#scanner.text.slice(element.nameStart, element.nameEnd));
    }
    const declared = this.#namespaces.between(0, this.#namespaces.count);
    const bindings = new Map(declared.map(({ prefix, namespace }) => [prefix, namespace]));
    return { names, bindings, elements: this.#elements, attributes: this.#attributes.total };
  }

  /**
   * Moves to the start tag of the current element's next child and returns true. Without one, moves past the current
   * element's end tag and returns false. Blanks and comments are skipped; other character data sets `hasText`.
   */
  nextChild(): boolean {
    if (this.empty) {
      this.#close();
      this.hasText = false;
      return false;
    }
    const scanner = this.#scanner;
    const element = this.#open;
    let at = this.position;
    for (;;) {
      at = scanner.skipBlanks(at);
      if (scanner.code(at) !== lessThan) at = this.#passText(at, element);
      const next = scanner.code(at + 1);
      if (next === slash) {
        this.#readEndTag(at);
        this.hasText = element.hasText;
        return false;
      }
      if (next === question) throw scanner.instructionError(at);
      if (next !== exclamation) break;
      at = this.#passMarkup(at, element);
    }
    this.#readChild(at, element);
    return true;
  }

  /**
   * Like `nextChild`, but stores all character data before the tag in `textBefore`, for canonical forms. The length of
   * the text is bounded only by the document.
   */
  nextTag(lenient: boolean): boolean {
    this.textBefore = '';
    this.isTextCanonical = true;
    if (this.empty) {
      this.#close();
      return false;
    }
    const start = this.position;
    this.textBefore = this.#readCharacters(Number.POSITIVE_INFINITY, lenient);
    this.isTextCanonical =
      this.source(start, this.position) === this.textBefore && !this.textBefore.includes('>');
    if (this.#scanner.code(this.position + 1) === slash) {
      this.#readEndTag(this.position);
      return false;
    }
    this.#readChild(this.position, this.#open);
    return true;
  }

  /** Returns true if the content of the current element begins with a child element, after blanks and comments. */
  get beginsWithElement(): boolean {
    if (this.empty) return false;
    const scanner = this.#scanner;
    const at = scanner.skipMiscellany(this.position);
    const next = scanner.code(at + 1);
    return scanner.code(at) === lessThan && next !== slash && next !== exclamation;
  }

  /**
   * Moves from a start tag past the end tag and returns the character data, with resolved references and line ends as
   * LF. Returns undefined if there is a child element. `lenient` is for members that are strings: surrogate pairs
   * written as two references are joined, and illegal references are accepted if the reader allows them (W10).
   */
  readText(maxLength: number, lenient: boolean): string | undefined {
    if (this.empty) {
      this.#close();
      return '';
    }
    const scanner = this.#scanner;
    const start = this.position;
    const end = this.#textEnd(start);
    if (scanner.code(end + 1) === slash && scanner.isPlain(start, end)) {
      if (end - start > maxLength) throw this.#textError(start, maxLength);
      const value = scanner.text.slice(start, end);
      this.#readEndTag(end);
      return value;
    }
    return this.#readMixedText(maxLength, lenient);
  }

  /**
   * Moves from a start tag past its end tag and checks everything between. Text is read as lenient, because it may be
   * that of a string: the error then is about the element, not about its characters.
   */
  skip(): void {
    this.#skipTo(this.depth - 1);
  }

  /** Like `nextChild`, but for an element with ignored text. */
  passToChild(): boolean {
    this.#isSkipping = true;
    const isChild = this.nextChild();
    this.#isSkipping = false;
    return isChild;
  }

  /** Reads the rest of the document from any position, to find errors in its form. */
  drain(): void {
    if (this.#elements === 0) this.readRoot();
    this.#skipTo(0);
    this.finish();
  }

  /** Checks after the root's end tag that only comments and blanks follow. */
  finish(): void {
    const scanner = this.#scanner;
    const at = scanner.skipMiscellany(this.position);
    if (!scanner.isEnd(at)) {
      throw scanner.error(at, {
        mistake: 'trailing',
        expected: 'the end of the document',
        got: scanner.got(at),
      });
    }
    this.position = at;
  }

  /** Number of attributes of the last start tag, without namespace declarations; valid until the next move. */
  get attributeCount(): number {
    return this.#attributes.count;
  }

  /** Returns the value of an attribute by its expanded name, '' for no namespace; undefined if it is absent. */
  attribute(namespace: string, local: string): string | undefined {
    for (let index = 0; index < this.#attributes.count; index++) {
      const attribute = this.#attributes.at(index);
      if (attribute.local === local && attribute.namespace === namespace) return attribute.value;
    }
    return undefined;
  }

  /** Offset of the `<` of the last start tag; valid until the next move. */
  get startOffset(): number {
    return this.#open.nameStart - 1;
  }

  /** Returns the document's unchanged text between two offsets. Text before the reader's position has been checked. */
  source(start: number, end: number): string {
    return this.#scanner.text.slice(start, end);
  }

  /** The namespace declarations of the last start tag; valid until the next move. */
  get declarations(): readonly Declaration[] {
    return this.#namespaces.between(this.#open.declarations, this.#namespaces.count);
  }

  /** Returns the offset of an attribute's name. */
  attributeOffset(index: number): number {
    return this.#attributes.at(index).start;
  }

  attributeLocal(index: number): string {
    return this.#attributes.at(index).local;
  }

  attributePrefix(index: number): string {
    return this.#attributes.at(index).prefix;
  }

  attributeNamespace(index: number): string {
    return this.#attributes.at(index).namespace;
  }

  attributeValue(index: number): string {
    return this.#attributes.at(index).value;
  }

  /**
   * Returns the namespace of a prefix at the reader's position, '' for the default namespace; undefined for an unbound
   * prefix.
   */
  resolve(prefix: string): string | undefined {
    return this.#namespaces.resolve(prefix);
  }

  #readChild(at: number, element: OpenElement): void {
    if (++element.children > this.#maxChildren) {
      const detail = `more than ${this.#maxChildren} child elements`;
      throw this.#scanner.error(at, { detail }, 'xmlChildren');
    }
    this.#readStartTag(at);
  }

  #readStartTag(at: number): void {
    const scanner = this.#scanner;
    const limits = this.#limits;
    if (++this.#elements > limits.xmlElements) {
      throw scanner.error(at, { detail: `more than ${limits.xmlElements} elements` }, 'xmlElements');
    }
    if (this.depth >= limits.xmlDepth) {
      throw scanner.error(at, { detail: `nesting deeper than ${limits.xmlDepth}` }, 'xmlDepth');
    }
    const start = at + 1;
    const attributes = this.#attributes;
    const end = attributes.readName(start);
    const colon = scanner.colon;
    const element = this.#enter(start, end);
    this.position = attributes.read(end, element.declarations);
    this.empty = scanner.code(this.position - 2) === slash;

    const text = scanner.text;
    if (colon === -1) {
      this.prefix = '';
      this.local = text.slice(start, end);
      this.namespace = this.#namespaces.default;
    } else {
      this.prefix = text.slice(start, colon);
      this.local = text.slice(colon + 1, end);
      this.namespace = attributes.namespaceOf(this.prefix, start);
    }
  }

  #enter(nameStart: number, nameEnd: number): OpenElement {
    const outer = this.#open;
    outer.inner ??= new OpenElement(outer);
    const element = outer.inner;
    element.nameStart = nameStart;
    element.nameEnd = nameEnd;
    element.declarations = this.#namespaces.count;
    element.children = 0;
    element.characters = 0;
    element.hasText = false;
    this.#open = element;
    this.depth++;
    return element;
  }

  #close(): void {
    const element = this.#open;
    if (this.#namespaces.count > element.declarations) this.#namespaces.release(element.declarations);
    this.#open = element.outer ?? element;
    this.depth--;
    this.empty = false;
  }

  #readEndTag(at: number): void {
    this.position = this.#scanner.readEndTag(at, this.#open.nameStart, this.#open.nameEnd);
    this.#close();
  }

  /** Moves past character data between child elements. Returns the offset of the markup after it. */
  #passText(start: number, element: OpenElement): number {
    const scanner = this.#scanner;
    const end = this.#textEnd(start);
    // The first character is not blank, but it may be a reference to a blank.
    if (scanner.isPlain(start, end)) this.#addText(start, end - start, true, element);
    else {
      const value = scanner.resolveText(start, end, this.#limits.xmlText, this.#isSkipping);
      this.#addText(start, value.length, hasNonBlank(value), element);
    }
    return end;
  }

  /** Moves past a comment or CDATA section between child elements. */
  #passMarkup(at: number, element: OpenElement): number {
    const scanner = this.#scanner;
    if (scanner.text.startsWith('<!--', at)) return scanner.skipComment(at);
    const end = scanner.readSection(at);
    this.#addText(at, scanner.value.length, hasNonBlank(scanner.value), element);
    return end;
  }

  #addText(at: number, length: number, nonBlank: boolean, element: OpenElement): void {
    if (nonBlank) element.hasText = true;
    element.characters += length;
    if (element.characters > this.#limits.xmlText) throw this.#textError(at, this.#limits.xmlText);
  }

  /**
   * The slow path of `readText`, for references, line ends to normalise, comments, CDATA sections and child elements.
   */
  #readMixedText(maxLength: number, lenient: boolean): string | undefined {
    const text = this.#readCharacters(maxLength, lenient);
    if (this.#scanner.code(this.position + 1) === slash) {
      this.#readEndTag(this.position);
      return text;
    }
    this.skip();
    return undefined;
  }

  /** Moves past character data, comments and CDATA sections to the next tag, and returns the characters. */
  #readCharacters(maxLength: number, lenient: boolean): string {
    const scanner = this.#scanner;
    const start = this.position;
    let at = start;
    let value = '';
    let sections = 0;
    /** The text before `value`, if there are many sections. */
    let gathered: GatheredText | undefined;
    for (;;) {
      const end = this.#textEnd(at);
      value += scanner.resolveText(at, end, maxLength, lenient);
      at = end;
      const next = scanner.code(at + 1);
      if (next === exclamation) {
        if (scanner.text.startsWith('<!--', at)) at = scanner.skipComment(at);
        else {
          at = scanner.readSection(at);
          value += scanner.value;
          if (++sections >= manySections) {
            gathered ??= this.#gathered ??= new GatheredText();
            gathered.add(value, 0, value.length);
            value = '';
          }
        }
      }
      if (value.length + (gathered?.length ?? 0) > maxLength) throw this.#textError(start, maxLength);
      if (next === question) throw scanner.instructionError(at);
      if (next !== exclamation) break;
    }
    this.position = at;
    return gathered === undefined ? value : gathered.take() + value;
  }

  #skipTo(depth: number): void {
    this.#isSkipping = true;
    while (this.depth > depth) this.nextChild();
    this.#isSkipping = false; // not reset after an error, because reading stops then
  }

  /** Returns the offset of the markup that ends character data. */
  #textEnd(start: number): number {
    const { text } = this.#scanner;
    const end = text.indexOf('<', start);
    if (end === -1) throw this.#scanner.endTagError(text.length, this.#open.nameStart, this.#open.nameEnd);
    return end;
  }

  #textError(at: number, maxLength: number): XmlError {
    return this.#scanner.error(at, { detail: `text longer than ${maxLength} characters` }, 'xmlText');
  }
}

function hasNonBlank(text: string): boolean {
  return /[^ \t\r\n]/.test(text);
}

import { isUtf8 } from 'node:buffer';
import { type Key, keyOf, matches, padding, plainByte } from '../../bytes.ts';
import type { Limits } from '../../contract/limits.ts';
import { moveForward } from '../../recent.ts';
import { XmlError } from '../../xml/error.ts';
import { type ContentReader, maxAttributeValueCharacters, type XmlReader } from '../../xml/reader.ts';
import { Scanner } from '../../xml/scanner.ts';
import { mostBytes } from './text-tokenizer.ts';

type ElementName = Readonly<Pick<XmlReader, 'local' | 'namespace' | 'prefix'>>;

interface StartTag extends ElementName {
  readonly attributes: readonly {
    readonly local: string;
    readonly namespace: string;
    /** Or the number of its text. */
    readonly value: string | number;
  }[];
}

/** What is read one after the other: a start tag, the number of a text, or an end tag. */
type Move = StartTag | number | 'end';

/** The content of an element, up to its end tag, as it was met before. */
interface Form {
  /** What stands before each text, and behind the last. */
  readonly markups: readonly Key[];
  readonly texts: readonly ('content' | 'attribute')[];
  readonly moves: readonly Move[];
}

/** A text in an element's content. */
interface Place {
  readonly start: number;
  readonly end: number;
  readonly kind: Form['texts'][number];
}

/** How many are kept behind one beginning. */
const mostForms = 8;
const plain = plainByte;
const doubleQuote = 0x22;
const ampersand = 0x26;
const lessThan = 0x3c;
const backslash = 0x5c;
/** One in so many that aren't known is kept, so that callers who never write twice alike cost next to nothing. */
const keptOneIn = 8;

/** One document at a time. */
const bytes = Buffer.from(new ArrayBuffer(mostBytes + padding));
const view = new DataView(bytes.buffer);
/** Where its texts are; between two there is a tag or a name at least. */
const starts = new Int32Array(mostBytes);
const ends = new Int32Array(mostBytes);

/**
 * The contents of one element that were met before: markup that is the same to the last character, and texts between, which
 * are those in elements without children, and the values of attributes called Id. What is known is read as XmlReader would,
 * and whatever isn't exactly as before is left to that.
 */
export class ElementForms {
  readonly #mostText: number;
  readonly #reader: FormReader;
  /** Those asked for most come to stand before the others. */
  readonly #forms: Form[] = [];
  #unknown = 0;

  /** @param element the one whose content it is */
  constructor(limits: Limits, element: ElementName) {
    this.#mostText = Math.min(limits.xmlText, limits.xmlAttributeValue ?? maxAttributeValueCharacters);
    this.#reader = new FormReader(element);
  }

  /**
   * A reader of known content, behind the element's start tag; undefined for other content. It is the same each time. Its
   * `position` is how many bytes it has read, once the element's end tag is.
   *
   * @param from where the content begins in the document, in bytes
   */
  find(document: Buffer, from: number): ContentReader | undefined {
    const { length } = this.#forms;
    const { length: size } = document;
    if (length === 0 || size > mostBytes) return undefined;
    bytes.set(document);
    for (let at = size; at < size + padding; at++) bytes[at] = 0; // `fill` takes longer to call
    for (let index = 0; index < length; index++) {
      const form = this.#forms[index];
      const texts: (string | undefined)[] = [];
      const end = form === undefined ? -1 : readTexts(form, from, this.#mostText, texts);
      if (form === undefined || end < 0) continue;
      moveForward(this.#forms, index);
      this.#reader.start(form, texts, end - from);
      return this.#reader;
    }
    return undefined;
  }

  /**
   * Takes note of unknown content that was read without fault.
   *
   * @param text up to the element's end tag
   * @param xml reads it, and is behind the element's start tag
   */
  note(text: string, xml: XmlReader): void {
    if (++this.#unknown % keptOneIn !== 0 || text.length > mostBytes) return;
    const { position: from } = xml;
    const places: Place[] = [];
    const moves: Move[] = [];
    if (!noteContent(text, xml, places, moves)) return;
    const markups = [...places, { start: text.length }].map(({ start }, index) =>
      keyOf(text.slice(places[index - 1]?.end ?? from, start)),
    );
    if (this.#forms.length === mostForms) this.#forms.pop();
    this.#forms.push({ markups, texts: places.map(({ kind }) => kind), moves });
  }
}

/** Notes what stands in an element, from behind its start tag to behind its end tag; false for what has no form. */
function noteContent(text: string, xml: XmlReader, places: Place[], moves: Move[]): boolean {
  const { empty, position: start } = xml;
  const end = text.indexOf('<', start);
  if (!empty && text[end + 1] === '/') {
    moves.push(places.length);
    places.push({ start, end, kind: 'content' });
  }
  while (xml.nextChild()) {
    const { local, namespace, prefix } = xml;
    const attributes = Array.from({ length: xml.attributeCount }, (_, index) => {
      const name = { local: xml.attributeLocal(index), namespace: xml.attributeNamespace(index) };
      const place = name.local === 'Id' ? valueAt(text, xml.attributeOffset(index)) : undefined;
      const value = place === undefined ? own(xml.attributeValue(index)) : places.push(place) - 1;
      return { local: own(name.local), namespace: own(name.namespace), value };
    });
    moves.push({ local: own(local), namespace: own(namespace), prefix: own(prefix), attributes });
    if (!noteContent(text, xml, places, moves)) return false;
  }
  const hasText = xml.stray && typeof moves.at(-1) !== 'number';
  moves.push('end');
  return !hasText && !/<!/.test(text.slice(start, xml.position));
}

/** Where the value of an attribute is, by the offset of its name; undefined where it isn't written the usual way. */
function valueAt(text: string, name: number): Place | undefined {
  const start = text.indexOf('="', name) + 2;
  if (/[\s=>]/.test(text.slice(name, start - 2))) return undefined;
  return { start, end: text.indexOf('"', start), kind: 'attribute' };
}

/**
 * A text of its own, as a part of the document would keep all of the document in memory; and a key of an object, as two
 * of those are compared by their addresses.
 */
function own(text: string): string {
  return Object.keys({ [text]: true })[0] ?? '';
}

/**
 * Finds the texts of the content at an offset of `bytes`, and gives where its end tag ends; -1 where it has another form, or a text
 * takes more than a look at each byte. A text that is plain ASCII is left undefined: few are asked for.
 */
function readTexts(
  { markups, texts }: Form,
  from: number,
  mostText: number,
  found: (string | undefined)[],
): number {
  let at = from;
  for (let index = 0; ; index++) {
    const markup = markups[index];
    if (markup === undefined || !matches(view, at, markup)) return -1;
    at += markup.length;
    const kind = texts[index];
    if (kind === undefined) break;
    const start = at;
    let all = 0;
    let isPlain = true;
    for (;;) {
      const byte = bytes[at] as number;
      all |= byte;
      if (plain[byte] !== 1) {
        if (kind === 'attribute' || (byte !== ampersand && byte !== doubleQuote && byte !== backslash)) break;
        if (byte === ampersand) isPlain = false;
      }
      at++;
    }
    if (bytes[at] !== (kind === 'content' ? lessThan : doubleQuote) || at - start > mostText) return -1;
    starts[index] = start;
    ends[index] = at;
    if (isPlain && all < 0x80) {
      found.push(undefined);
      continue;
    }
    const text = utf8Of(start, at);
    const value = text === undefined || isPlain ? text : resolved(text);
    if (value === undefined) return -1;
    found.push(value);
  }
  return at;
}

function utf8Of(start: number, end: number): string | undefined {
  return isUtf8(bytes.subarray(start, end)) ? bytes.toString('utf8', start, end) : undefined;
}

/** A text with its references resolved; undefined where one is wrong, or let pass by some readers alone. */
function resolved(text: string): string | undefined {
  try {
    return new Scanner(text, false).resolveText(0, text.length, text.length, false);
  } catch (error) {
    if (error instanceof XmlError) return undefined;
    throw error;
  }
}

/** Reads content by its form, as XmlReader would. */
class FormReader implements ContentReader {
  local = '';
  namespace = '';
  prefix = '';
  stray = false;
  position = 0;
  readonly #element: ElementName;
  #moves: readonly Move[] = [];
  #texts: (string | undefined)[] = [];
  #attributes: StartTag['attributes'] = [];
  #next = 0;
  #depth = 0;
  #size = 0;

  constructor({ local, namespace, prefix }: ElementName) {
    this.#element = { local, namespace, prefix };
  }

  /** @param size of the content with the element's end tag, in bytes */
  start({ moves }: Form, texts: (string | undefined)[], size: number): void {
    this.#moves = moves;
    this.#texts = texts;
    this.#next = 0;
    this.#depth = 1;
    this.#size = size;
    this.position = 0;
    this.#enter(this.#element, []);
  }

  nextChild(): boolean {
    let move = this.#moves[this.#next++];
    let stray = false;
    if (typeof move === 'number') {
      stray = /[^ \t\r\n]/.test(this.#text(move));
      move = this.#moves[this.#next++];
    }
    if (typeof move === 'object') {
      this.#depth++;
      this.#enter(move, move.attributes);
      return true;
    }
    this.stray = stray;
    this.#leave();
    return false;
  }

  readText(): string | undefined {
    const move = this.#moves[this.#next];
    if (typeof move === 'object') {
      this.skip();
      return undefined;
    }
    const text = typeof move === 'number' ? this.#text(move) : '';
    this.#next += typeof move === 'number' ? 2 : 1;
    this.#leave();
    return text;
  }

  skip(): void {
    for (const depth = this.#depth; this.#depth >= depth; ) this.nextChild();
  }

  attribute(namespace: string, local: string): string | undefined {
    for (const attribute of this.#attributes) {
      if (attribute.local !== local || attribute.namespace !== namespace) continue;
      const { value } = attribute;
      return typeof value === 'number' ? this.#text(value) : value;
    }
    return undefined;
  }

  #text(index: number): string {
    return this.#texts[index] ?? bytes.toString('latin1', starts[index], ends[index]);
  }

  #enter({ local, namespace, prefix }: ElementName, attributes: StartTag['attributes']): void {
    this.local = local;
    this.namespace = namespace;
    this.prefix = prefix;
    this.#attributes = attributes;
  }

  #leave(): void {
    if (--this.#depth > 0) return;
    this.position = this.#size;
    this.#texts = []; // which hold secrets
  }
}

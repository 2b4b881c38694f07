import { Buffer } from 'node:buffer';
import { type Key, keyOf, matches, padding, plainByte } from '../../bytes.ts';
import { findIllegal } from '../../xml/characters.ts';
import { entities, Scanner } from '../../xml/scanner.ts';
import type { TextValue } from '../text-value.ts';
import { isEmptyToken } from './placeholders.ts';

/** In bytes, of a document that texts are read from: in a larger one, most of the time goes into its texts. */
export const mostBytes = 8_192;
/** How many times its text a token may be: a control character is four bytes as a reference and six as an escape, a quote one and two. */
const growth = 6;
const roomForTokens = mostBytes * growth;

const plain = plainByte;
const doubleQuote = 0x22;
const ampersand = 0x26;
const lessThan = 0x3c;
const backslash = 0x5c;

const references = entities.map(({ reference, code }) => ({ key: keyOf(reference), code }));

/** The texts of one small document on their way to JSON tokens, from bytes to bytes; used anew for each document. */
export class TextTokenizer {
  readonly #document: Buffer<ArrayBuffer> = Buffer.from(new ArrayBuffer(mostBytes + padding));
  readonly #view: DataView = new DataView(this.#document.buffer);
  #size = 0;
  #illegalReferences = false;
  /** The tokens in UTF-8, one behind the other. */
  readonly tokens: Buffer<ArrayBuffer> = Buffer.from(new ArrayBuffer(roomForTokens + padding));
  /** The same bytes. */
  readonly view: DataView = new DataView(this.tokens.buffer);
  /** Where each token ends, and before the first; behind each text is an end tag of four bytes at least. */
  readonly ends: Int32Array = new Int32Array(mostBytes / 4 + 1);
  /** Tokens so far. */
  count = 0;
  /** Character references of clients that XML forbids and that were read all the same (W10). */
  quirks = 0;

  /**
   * Begins with a document.
   *
   * @param document UTF-8, of `mostBytes` at most
   * @param illegalReferences as `XmlReader` has it
   */
  start(document: Buffer, illegalReferences: boolean): void {
    const { length } = document;
    this.#document.set(document);
    for (let at = length; at < length + padding; at++) this.#document[at] = 0; // `fill` takes longer to call
    this.#size = length;
    this.#illegalReferences = illegalReferences;
    this.count = 0;
    this.quirks = 0;
  }

  /** Whether an offset is the document's end. */
  isEnd(at: number): boolean {
    return at === this.#size;
  }

  /** Whether a key's bytes stand at an offset. */
  matches(at: number, key: Key): boolean {
    return matches(this.#view, at, key);
  }

  /**
   * Lays down the token of the text at an offset. Gives where the text ends; -1 where there is no token of its own: the
   * text is refused, or its token is an empty one. Throws XmlError.
   */
  read(at: number, value: TextValue): number {
    const from = this.ends[this.count] as number;
    if (from + (this.#size - at) * growth > roomForTokens) return -1; // what came before grew more
    const end = value.isText ? this.#copy(at, value.maxLength) : -1;
    return end < 0 ? this.#convert(at, value) : end;
  }

  /** A token as text, by its number from 0. */
  token(index: number): string {
    return this.tokens.toString('utf8', this.ends[index], this.ends[index + 1]);
  }

  /** Tokens in a row as texts: cut out of one, that costs less. */
  tokensFrom(first: number, count: number): string[] {
    const { ends } = this;
    const from = ends[first] as number;
    const to = ends[first + count] as number;
    const all = this.tokens.toString('utf8', from, to);
    const hasOneByteEach = all.length === to - from;
    const texts: string[] = [];
    for (let index = first; index < first + count; index++) {
      const start = (ends[index] as number) - from;
      const end = (ends[index + 1] as number) - from;
      texts.push(hasOneByteEach ? all.slice(start, end) : this.token(index));
    }
    return texts;
  }

  /** Makes a JSON string of a text, byte by byte; -1 for one that takes more than a look at each. */
  #copy(start: number, maxLength: number): number {
    const bytes = this.#document;
    const { tokens } = this;
    let at = start;
    let to = this.ends[this.count] as number;
    tokens[to++] = doubleQuote;
    for (;;) {
      let byte = bytes[at] as number;
      if (plain[byte] === 1) at++;
      else if (byte === ampersand) {
        const entity = this.#entityAt(at);
        if (entity === undefined) return -1;
        at += entity.key.length;
        byte = entity.code;
        if (byte === doubleQuote) tokens[to++] = backslash;
      } else if (byte === doubleQuote || byte === backslash) {
        tokens[to++] = backslash;
        at++;
      } else break;
      tokens[to++] = byte;
    }
    if (bytes[at] !== lessThan || at === start || at - start > maxLength) return -1;
    tokens[to++] = doubleQuote;
    this.ends[++this.count] = to;
    return at;
  }

  #entityAt(at: number): (typeof references)[number] | undefined {
    for (const entity of references) if (this.matches(at, entity.key)) return entity;
    return undefined;
  }

  /** Makes a token of a text as the codec would. */
  #convert(start: number, { maxLength, lenient, tokenOf }: TextValue): number {
    const end = this.#document.indexOf(lessThan, start);
    if (end < 0) return -1; // one behind the document has the padding before it, which is no character
    const text = this.#document.toString('utf8', start, end);
    if (findIllegal(text) >= 0) return -1;
    const scanner = new Scanner(text, this.#illegalReferences);
    const content = scanner.isPlain(0, text.length)
      ? text
      : scanner.resolveText(0, text.length, maxLength, lenient);
    const token = content.length > maxLength ? undefined : tokenOf(content);
    if (token === undefined || isEmptyToken(token)) return -1;
    this.quirks += scanner.joinedSurrogates + scanner.illegalReferences;
    const from = this.ends[this.count] as number;
    if (from + Buffer.byteLength(token) > roomForTokens) return -1;
    this.ends[++this.count] = from + this.tokens.write(token, from);
    return end;
  }
}

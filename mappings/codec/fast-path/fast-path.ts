import type { Limits } from '../../contract/limits.ts';
import type { RecordType } from '../../contract/model.ts';
import { XmlReader } from '../../xml/reader.ts';
import type { Input } from '../input.ts';
import type { Reading } from '../problem.ts';
import { type Prefix, PrefixCache } from './prefix-cache.ts';
import { createScratch, RequestShapes } from './request-shapes.ts';

/** What the codecs made of a beginning. */
interface Opening<T> {
  readonly meaning: T;
  readonly shapes: RequestShapes;
}

/**
 * The way around the codecs for requests whose markup was met before, to the last character: `read` gives what they
 * would, or undefined, and then they read the request. What lives here: the beginnings of documents (`prefix-cache.ts`),
 * the shapes of what follows them (`request-shapes.ts`), texts as JSON tokens (`text-tokenizer.ts`) and the places that
 * they are put in (`placeholders.ts`). What may not: anything that decides what a request means or what is wrong with it.
 * Nothing outside the folder imports another file of it ([decision 9](../../../docs/decisions/0009-forms-met-before.md)).
 */
export class FastPath<T> {
  readonly #limits: Limits;
  readonly #quirks: { readonly illegalReferences: boolean };
  readonly #prefixes = new PrefixCache<Opening<T>>();
  readonly #scratch = createScratch();
  #prefix: Prefix<Opening<T>> | undefined;

  /** @param quirks as XmlReader has them */
  constructor(limits: Limits, quirks: { readonly illegalReferences: boolean }) {
    this.#limits = limits;
    this.#quirks = quirks;
  }

  /**
   * The input of a request whose shape is known; undefined for any other, and for one with a text that isn't of its type.
   *
   * @param document its bytes
   * @param charset the Content-Type's, as `decodeXml` has it
   */
  read(document: Buffer, charset: string | undefined): Input | undefined {
    const prefix = this.#prefixes.find(document, charset);
    this.#prefix = prefix;
    return prefix?.meaning.shapes.read(document, prefix.bytes.length);
  }

  /** What the beginning of the document that `read` was given last means; undefined where it isn't known. */
  get opening(): T | undefined {
    return this.#prefix?.meaning.meaning;
  }

  /** Moves a reader of that document, which hasn't begun, behind its known beginning. */
  resume(xml: XmlReader): void {
    if (this.#prefix !== undefined) xml.resume(this.#prefix.snapshot);
  }

  /**
   * Takes note of the unknown beginning of that document.
   *
   * @param end offset behind the start tag of the wrapper, in characters
   * @param input what the request's codec gives
   */
  learnOpening(
    document: Buffer,
    charset: string | undefined,
    end: number,
    meaning: T,
    input: RecordType,
  ): void {
    const { errors } = this.#limits;
    const shapes = new RequestShapes(input, this.#scratch, errors, this.#quirks.illegalReferences);
    this.#prefixes.note(document, charset, end, { meaning, shapes }, this.#limits);
  }

  /**
   * Takes note of the shape of that document, which was read without fault; nothing where its beginning isn't known.
   *
   * @param text what it was decoded to
   * @param read the codec that read it
   */
  learnShape(text: string, read: (xml: XmlReader, reading: Reading) => Input): void {
    const prefix = this.#prefix;
    if (prefix === undefined) return;
    const { snapshot, meaning } = prefix;
    meaning.shapes.note(text, snapshot.position, (reading) => {
      const xml = new XmlReader(text, this.#limits, this.#quirks);
      xml.resume(snapshot);
      return read(xml, reading);
    });
  }
}

/** The known beginning of a document. */
export interface Beginning<T> {
  readonly meaning: T;
  /** In bytes. */
  readonly length: number;
  /** Moves a reader of that document, which hasn't begun, behind it. */
  readonly resume: (xml: XmlReader) => void;
}

/** Beginnings of documents that were met before, up to a start tag, with what that start tag means. */
export class Beginnings<T> {
  readonly #limits: Limits;
  readonly #prefixes = new PrefixCache<T>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /**
   * That of a document; undefined where it isn't known.
   *
   * @param charset the Content-Type's, as `decodeXml` has it
   */
  find(document: Buffer, charset: string | undefined): Beginning<T> | undefined {
    const prefix = this.#prefixes.find(document, charset);
    if (prefix === undefined) return undefined;
    const { meaning, bytes, snapshot } = prefix;
    return { meaning, length: bytes.length, resume: (xml) => xml.resume(snapshot) };
  }

  /**
   * Takes note of the unknown beginning of a document that was read without fault.
   *
   * @param end offset behind the start tag that it ends with, in characters
   */
  learn(document: Buffer, charset: string | undefined, end: number, meaning: T): void {
    this.#prefixes.note(document, charset, end, meaning, this.#limits);
  }
}

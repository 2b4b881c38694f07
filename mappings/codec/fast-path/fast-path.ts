import type { Limits } from '../../contract/limits.ts';
import type { RecordType } from '../../contract/model.ts';
import { type ContentReader, type ReaderSnapshot, type XmlQuirks, XmlReader } from '../../xml/reader.ts';
import type { Input, WriteCredentialsMember } from '../input.ts';
import type { Reading } from '../problem.ts';
import { ElementForms } from './element-forms.ts';
import { isAt, type Prefix, PrefixCache } from './prefix-cache.ts';
import { createScratch, RequestShapes } from './request-shapes.ts';

/** The operation whose requests a shape is of. */
interface Of {
  readonly input: RecordType;
  readonly writeCredentials: WriteCredentialsMember | undefined;
}

/** What the codecs made of a beginning. */
interface Opening<T> {
  readonly meaning: T;
  readonly shapes: RequestShapes;
}

/**
 * The way around the codecs for requests whose markup was met before, to the last character: `read` gives what they
 * would, or undefined, and then they read the request. What lives here: the beginnings of documents (`prefix-cache.ts`),
 * the shapes of what follows them (`request-shapes.ts`), texts as JSON tokens (`text-tokenizer.ts`) and the places that
 * they are put in (`placeholders.ts`); and what an element held whose content is read by itself (`element-forms.ts`). What may not: anything that decides what a request means or what is wrong with it.
 * Nothing outside the folder imports another file of it ([decision 9](../../../docs/decisions/0009-forms-met-before.md)).
 */
export class FastPath<T> {
  readonly #limits: Limits;
  readonly #quirks: XmlQuirks;
  readonly #prefixes = new PrefixCache<Opening<T>>();
  readonly #scratch = createScratch();
  #prefix: Prefix<Opening<T>> | undefined;
  /** What was found last without some bytes, so that the bytes before them needn't be compared again. */
  #lastWithout: { readonly known: Beginning<unknown>; readonly prefix: Prefix<Opening<T>> } | undefined;

  /** @param quirks as XmlReader has them */
  constructor(limits: Limits, quirks: XmlQuirks) {
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

  /**
   * The same for what a document is without some bytes behind a known beginning.
   *
   * @param known the beginning, as found in this document
   * @param end behind those bytes
   */
  readWithout(
    document: Buffer,
    charset: string | undefined,
    known: Beginning<unknown>,
    end: number,
  ): Input | undefined {
    const { length } = known;
    const last = this.#lastWithout;
    let prefix: Prefix<Opening<T>> | undefined;
    if (last?.known === known && isAt(document, end, last.prefix.bytes, length)) prefix = last.prefix;
    else {
      prefix = this.#prefixes.findWithout(document, charset, length, end);
      if (prefix !== undefined) this.#lastWithout = { known, prefix };
    }
    this.#prefix = prefix;
    return prefix?.meaning.shapes.read(document, end - length + prefix.bytes.length);
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
   * @param of what the request's codec gives, and how its credentials are written upstream, as RequestShapes has it
   */
  learnOpening(
    document: Buffer,
    charset: string | undefined,
    end: number,
    meaning: T,
    { input, writeCredentials }: Of,
  ): void {
    const { errors } = this.#limits;
    const { illegalReferences } = this.#quirks;
    const shapes = new RequestShapes(input, this.#scratch, errors, illegalReferences, writeCredentials);
    this.#prefixes.note(document, charset, end, { meaning, shapes }, this.#limits, this.#quirks);
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

/** The known beginning of documents, up to a start tag. */
export class Beginning<T> {
  readonly meaning: T;
  /** In bytes. */
  readonly length: number;
  readonly #limits: Limits;
  readonly #quirks: XmlQuirks;
  readonly #snapshot: ReaderSnapshot;
  readonly #forms: ElementForms;

  /** @param quirks as XmlReader has them */
  constructor(
    meaning: T,
    { bytes, snapshot }: Pick<Prefix<T>, 'bytes' | 'snapshot'>,
    limits: Limits,
    quirks: XmlQuirks,
  ) {
    this.meaning = meaning;
    this.length = bytes.length;
    this.#limits = limits;
    this.#quirks = quirks;
    this.#snapshot = snapshot;
    this.#forms = new ElementForms(limits, snapshot);
  }

  /**
   * Reads what follows in a document where its form is known, from behind the start tag; undefined for any other. It is the
   * same reader each time. Once the element's end tag is read its `position` is how many bytes there were.
   */
  readKnown(document: Buffer): ContentReader | undefined {
    return this.#forms.find(document, this.length);
  }

  /** Reads on in the text of a document, from behind the start tag. */
  read(text: string): XmlReader {
    const xml = new XmlReader(text, this.#limits, this.#quirks);
    xml.resume(this.#snapshot);
    return xml;
  }

  /** Takes note of the form of what follows in a document up to the element's end tag, which was read without fault. */
  learn(text: string): void {
    this.#forms.note(text, this.read(text));
  }
}

/** Beginnings of documents that were met before, up to a start tag, with what that start tag means. */
export class Beginnings<T> {
  readonly #limits: Limits;
  readonly #quirks: XmlQuirks;
  readonly #prefixes = new PrefixCache<{ readonly meaning: T; known?: Beginning<T> }>();

  /** @param quirks as XmlReader has them */
  constructor(limits: Limits, quirks: XmlQuirks) {
    this.#limits = limits;
    this.#quirks = quirks;
  }

  /**
   * That of a document; undefined where it isn't known.
   *
   * @param charset the Content-Type's, as `decodeXml` has it
   */
  find(document: Buffer, charset: string | undefined): Beginning<T> | undefined {
    const prefix = this.#prefixes.find(document, charset);
    if (prefix === undefined) return undefined;
    const { meaning: kept, bytes, snapshot } = prefix;
    kept.known ??= new Beginning(kept.meaning, { bytes, snapshot }, this.#limits, this.#quirks);
    return kept.known;
  }

  /**
   * Takes note of the unknown beginning of a document that was read without fault.
   *
   * @param end offset behind the start tag that it ends with, in characters
   */
  learn(document: Buffer, charset: string | undefined, end: number, meaning: T): void {
    this.#prefixes.note(document, charset, end, { meaning }, this.#limits, this.#quirks);
  }
}

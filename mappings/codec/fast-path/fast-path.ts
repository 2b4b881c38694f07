import type { Limits } from '../../contract/limits.ts';
import type { RecordType } from '../../contract/model.ts';
import { type ContentReader, type ReaderSnapshot, type XmlQuirks, XmlReader } from '../../xml/reader.ts';
import type { Input, WriteCredentialsMember } from '../input.ts';
import { maxReportedProblems, type Reading } from '../problem.ts';
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

/** A document whose beginning is known, and where its payload goes on. Reading it changes nothing but caches. */
export class Match<T> {
  readonly #prefix: Prefix<Opening<T>>;
  readonly #document: Buffer;
  readonly #from: number;

  /** @param from offset in bytes behind the start tag that the beginning ends with */
  constructor(prefix: Prefix<Opening<T>>, document: Buffer, from: number) {
    this.#prefix = prefix;
    this.#document = document;
    this.#from = from;
  }

  /** What the beginning means. */
  get meaning(): T {
    return this.#prefix.meaning.meaning;
  }

  /** The input of a payload whose shape is known; undefined for any other, and for a text that is not of its type. */
  readInput(): Input | undefined {
    return this.#prefix.meaning.shapes.read(this.#document, this.#from);
  }

  /** Moves a reader of the document, which has not begun, behind the known beginning. */
  resume(xml: XmlReader): void {
    xml.resume(this.#prefix.snapshot);
  }

  /**
   * Takes note of the shape of the payload, which was read without fault.
   *
   * @param text the whole document
   * @param readAgain reads the payload from behind the beginning
   */
  learnShape(text: string, readAgain: (snapshot: ReaderSnapshot, reading: Reading) => Input): void {
    const { snapshot, meaning } = this.#prefix;
    meaning.shapes.note(text, snapshot.position, (reading) => readAgain(snapshot, reading));
  }
}

/**
 * The way around the codecs for requests whose markup was met before, to the last character: a `Match` gives what they
 * would, or undefined, and then they read the request. The folder keeps beginnings of documents (`prefix-cache.ts`),
 * shapes of what follows them (`request-shapes.ts`), texts as JSON tokens (`text-tokenizer.ts`) and the places that they
 * are put in (`placeholders.ts`); and contents of elements (`element-forms.ts`). Nothing here decides what a request means
 * or what is wrong with it. Nothing outside the folder imports another file of it
 * ([decision 9](../../../docs/decisions/0009-forms-met-before.md)).
 */
export class FastPath<T> {
  readonly #limits: Limits;
  readonly #quirks: XmlQuirks;
  readonly #prefixes = new PrefixCache<Opening<T>>();
  readonly #scratch = createScratch();
  /** What was found last without some bytes, so that the bytes before them need not be compared again. */
  #lastWithout: { readonly known: Beginning<unknown>; readonly prefix: Prefix<Opening<T>> } | undefined;

  /** @param quirks as XmlReader has them */
  constructor(limits: Limits, quirks: XmlQuirks) {
    this.#limits = limits;
    this.#quirks = quirks;
  }

  /**
   * Finds the known beginning of a document; undefined if it has none.
   *
   * @param charset the Content-Type's, as `decodeXml` has it
   */
  match(document: Buffer, charset: string | undefined): Match<T> | undefined {
    const prefix = this.#prefixes.find(document, charset);
    return prefix && new Match(prefix, document, prefix.bytes.length);
  }

  /**
   * The same for what a document is without some bytes behind a known beginning.
   *
   * @param known the beginning, as found in this document
   * @param end behind those bytes
   */
  matchWithout(
    document: Buffer,
    charset: string | undefined,
    known: Beginning<unknown>,
    end: number,
  ): Match<T> | undefined {
    const { length } = known;
    const last = this.#lastWithout;
    let prefix: Prefix<Opening<T>> | undefined;
    if (last?.known === known && isAt(document, end, last.prefix.bytes, length)) prefix = last.prefix;
    else {
      prefix = this.#prefixes.findWithout(document, charset, length, end);
      if (prefix !== undefined) this.#lastWithout = { known, prefix };
    }
    return prefix && new Match(prefix, document, end - length + prefix.bytes.length);
  }

  /**
   * Takes note of the unknown beginning of a document.
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
    const { errors = maxReportedProblems } = this.#limits;
    const { illegalReferences } = this.#quirks;
    const shapes = new RequestShapes(input, this.#scratch, errors, illegalReferences, writeCredentials);
    this.#prefixes.note(document, charset, end, { meaning, shapes }, this.#limits, this.#quirks);
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

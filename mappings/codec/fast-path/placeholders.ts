import { type Piece, piece } from '../../xml/output.ts';

/** How an element's text becomes a JSON token, where nothing but the text matters. */
export interface TextValue {
  /** As `XmlReader.readText` has it. */
  readonly lenient: boolean;
  /** In characters. */
  readonly maxLength: number;
  /** undefined for a text that is refused or means that nothing was given. */
  readonly tokenOf: (text: string) => string | undefined;
  /** Whether any text's token is that text as a JSON string. */
  readonly isText: boolean;
}

/** A text of a document, by its offsets. */
export interface MarkedText {
  readonly start: number;
  readonly end: number;
  readonly value: TextValue;
}

/** The texts of one request while its form is learned: its codec gets a mark in place of each one's token. */
export class Marks {
  readonly texts: MarkedText[] = [];
  readonly #document: string;

  constructor(document: string) {
    this.#document = document;
  }

  /** The mark of the text that starts at an offset; a token that says how much was given stays what it is. */
  mark(start: number, token: string | undefined, value: TextValue): string | undefined {
    if (token === undefined || saysHowMuch(token)) return token;
    const end = this.#document.indexOf('<', start);
    return opens + (this.texts.push({ start, end, value }) - 1) + closes;
  }
}

// no JSON text has these characters as they stand
const opens = '\u0001';
const closes = '\u0002';
const marked = new RegExp(`${opens}(\\d+)${closes}`);

/** Whether a value decides by itself whether a required member was given (W42). */
export function saysHowMuch(token: string): boolean {
  return token === '""' || token === 'null';
}

/** A JSON text with places for tokens. */
export class Form {
  readonly #parts: readonly string[];
  #pieces: readonly (Piece | number)[] | undefined;

  /** @param json with marks in the places of tokens */
  constructor(json: string) {
    this.#parts = json.split(marked);
  }

  /** What is constant in it, and the tokens' numbers; made when it is first asked for, as many a form never comes again. */
  get pieces(): readonly (Piece | number)[] {
    this.#pieces ??= this.#parts
      .map((part, index) => (index % 2 === 0 ? part : Number(part)))
      .filter((part) => part !== '')
      .map((part) => (typeof part === 'number' ? part : piece(part)));
    return this.#pieces;
  }
}

export function formOf(json: string | undefined): Form | undefined {
  return json === undefined ? undefined : new Form(json);
}

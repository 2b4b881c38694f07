import { type Piece, piece } from '../../xml/output.ts';
import type { TextValue, TokenPlaceholders } from '../text-value.ts';

/** A text of a document that has a placeholder: its offsets, in UTF-16 units, and what its token is made by. */
export interface ReplacedText {
  readonly start: number;
  readonly end: number;
  readonly value: TextValue;
}

/** The placeholders of one document, whose shape is learned: the number of a text between two control characters. */
export class Placeholders implements TokenPlaceholders {
  /** In the order of the document. */
  readonly texts: ReplacedText[] = [];
  readonly #document: string;

  /** @param document its text, from the first character */
  constructor(document: string) {
    this.#document = document;
  }

  /** As TokenPlaceholders has it: an empty token stays, and is part of the shape, as no text is read to one (W42). */
  placeholderOf(start: number, token: string | undefined, value: TextValue): string | undefined {
    if (token === undefined || isEmptyToken(token)) return token;
    const end = this.#document.indexOf('<', start);
    return opens + (this.texts.push({ start, end, value }) - 1) + closes;
  }
}

// no JSON text has these characters as they stand
const opens = '\u0001';
const closes = '\u0002';
const placeholder = new RegExp(`${opens}(\\d+)${closes}`);

/** Whether a JSON token is one that a required member may not have (W42): an empty string, or null. */
export function isEmptyToken(token: string): boolean {
  return token === '""' || token === 'null';
}

/** A JSON text with places for tokens. */
export class JsonTemplate {
  readonly #parts: readonly string[];
  #pieces: readonly (Piece | number)[] | undefined;

  /** @param json with placeholders in the places of tokens */
  constructor(json: string) {
    this.#parts = json.split(placeholder);
  }

  /** What is constant in it, and the tokens' numbers; made when it is first asked for, as many a shape never comes again. */
  get pieces(): readonly (Piece | number)[] {
    this.#pieces ??= this.#parts
      .map((part, index) => (index % 2 === 0 ? part : Number(part)))
      .filter((part) => part !== '')
      .map((part) => (typeof part === 'number' ? part : piece(part)));
    return this.#pieces;
  }
}

/** The template of a JSON text; undefined where there is none. */
export function templateOf(json: string | undefined): JsonTemplate | undefined {
  return json === undefined ? undefined : new JsonTemplate(json);
}

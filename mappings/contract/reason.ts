import type { Got } from './got.ts';

/** Description in the log that replaces a quote. */
export type QuoteKind =
  | 'a text'
  | 'another element'
  | 'another value'
  | '</*>'
  | 'a namespace for the prefix *'
  | 'another place'
  | 'each id on one element'
  | 'one reference to each part';

/**
 * A text with a value or a name of a caller or an upstream. Messages have `text`, the log has `kind`. All other texts of a
 * reason are fixed, or have only names of the contract and numbers.
 */
export interface Quote {
  /** The text in a message, for example `"12,5"` or `<Idd>`. */
  readonly text: string;
  readonly kind: QuoteKind;
  /** Name in the text. If the contract has the name, the log has the text. */
  readonly name?: string;
}

/** Position of an error in a message. */
export type Place = `line ${number}, column ${number}` | `position ${number}` | 'charset';

/**
 * The data of an error, which its sentence is made of. `expected` and `got` are also members of a fault's detail (W27).
 */
export interface Reason {
  /** The start of the sentence, for example `line 2, column 5`. */
  readonly where?: Place | Quote | undefined;
  /** The right form, for example `xs:int`. */
  readonly expected?: string | Quote | undefined;
  /** The actual value: a quote, or a description, for example `none`. */
  readonly got?: Got | Quote | undefined;
  /** The known name that is similar to an unknown one. */
  readonly meant?: string | undefined;
  /** Additional text, for example how to fix the error. It is the whole sentence if `expected` is missing. */
  readonly detail?: string | undefined;
}

/** Returns a text with a value of a caller or an upstream, for a reason. */
export function quoteValue(text: string, kind: QuoteKind = 'another value'): Quote {
  return { text, kind };
}

/** Maximum number of characters of an element's name in a message. */
const shownName = 64;

/** Quotes the name of an unknown element, with an optional `end` of the text: `<Idd> again`. */
export function quoteElement(local: string, end = ''): Quote {
  return { text: `<${local.slice(0, shownName)}>${end}`, kind: 'another element' };
}

/** Returns the text of a part of a reason, for a message. */
export function textOf(part: string | Quote): string {
  return typeof part === 'string' ? part : part.text;
}

/** Adds a place in front of a reason's own place. */
export function within(place: string, reason: Reason): Reason {
  const text = reason.where === undefined ? place : `${place}: ${textOf(reason.where)}`;
  return { ...reason, where: quoteValue(text, 'another place') };
}

/** Writes the sentence of a reason: `where: expected …, got …; detail`. */
export function sentence({ where, expected, got, meant, detail }: Reason): string {
  let text = expected === undefined ? '' : `expected ${textOf(expected)}`;
  if (got !== undefined) text += `, got ${textOf(got)}`;
  if (meant !== undefined) text += `, did you mean ${meant}?`;
  if (detail !== undefined) text += text === '' ? detail : `; ${detail}`;
  return where === undefined ? text : `${textOf(where)}: ${text}`;
}

import type { Limits } from '../contract/limits.ts';
import type { ArrayType, Contract, MapType, Rules, Type } from '../contract/model.ts';
import type { Settings } from '../contract/overlay-keys.ts';
import type { JsonReader } from '../json/reader.ts';
import type { Tape } from '../json/tape.ts';
import type { Output } from '../xml/output.ts';
import type { XmlReader } from '../xml/reader.ts';
import type { Reading } from './problem.ts';
import { escapeAttribute } from './scalars/text.ts';

/**
 * The two halves of a codec, implemented in types/ for each kind of type, and the parts of a contract that they share.
 */

/** Reads values of one type in requests, from XML and from JSON. Compiled from the contract at start. */
export interface RequestReader {
  /**
   * XML → JSON: reads from the element's start tag past its end tag. Undefined if the member counts as absent (W13).
   */
  readonly read: (xml: XmlReader, reading: Reading) => string | undefined;
  /** JSON → JSON: checks a value of a request and records the necessary edits (W37). */
  readonly pass: (json: JsonReader, reading: Reading) => void;
  /** Converts a parameter's text to JSON (W38); undefined if the type is not a scalar. */
  readonly fromText: ((text: string, reading: Reading) => string | undefined) | undefined;
  /** The value of a member with `xsi:nil`: JSON null, or absent (W13). */
  readonly nil: 'null' | undefined;
  /** The value of an array item with `xsi:nil`; undefined if it is refused (W13). */
  readonly nilItem: 'null' | undefined;
}

/** Returns the reader of a type, with rules if they are given. Compiled on first use, at start. */
export type ReaderOf = (type: Type, rules?: Rules) => RequestReader;

/** The rules of a contract for the texts of simple types. */
export interface TextTerms {
  readonly limits: Limits;
  readonly settings: Settings;
  /** True if `xsi:type` may state that a string is base64, as SOAP::Lite does for each non-ASCII string (W11, A30). */
  readonly decodesText: boolean;
  /** Returns the advice for an empty element of a type (W13). */
  readonly adviceFor: (expected: string) => string;
}

/** State that all readers of a contract share. */
export interface ReaderContext extends TextTerms {
  readonly contract: Contract;
  readonly readerOf: ReaderOf;
  /**
   * Returns readers that check types without rules, if the others check rules (`validate: strict`); undefined if they
   * do not.
   */
  readonly plainReaderOf: ReaderOf | undefined;
  /** Adds rules to a reader. */
  readonly ruled: (reader: RequestReader, rules: Rules | undefined) => RequestReader;
  /** The value of a non-text item with `xsi:nil` (W13). */
  readonly nilItem: 'null' | undefined;
}

/**
 * Writes values of one type in replies, JSON → XML. Compiled at start. `scan` checks a value's JSON and stores its
 * parts on the tape. `write` then writes them in the order of the contract (W18).
 */
export interface ReplyWriter {
  /** Moves past the value at the tape's position and pushes one node. Throws MismatchError, JsonError. */
  readonly scan: (tape: Tape) => void;
  /** Writes the content of a record or list node. `writeElement` writes nodes of other kinds. */
  readonly write: (tape: Tape, node: number, output: Output) => void;
  /** Namespace declarations on each element of this type (W20). */
  readonly declarations: string;
}

/** Returns the writer of a type, compiled on first use, at start. */
export type WriterOf = (type: Type) => ReplyWriter;

/** State that all writers of a contract share. */
export interface WriterContext {
  readonly contract: Contract;
  readonly limits: Limits;
  readonly writerOf: WriterOf;
}

/** The prefix of a collection's items or entries, and its declaration (W20). */
export interface CollectionPrefix {
  readonly prefix: '' | 'a:';
  readonly declarations: string;
}

/** Returns the prefix of the elements in an array or a map; none in the types namespace. */
export function prefixOf({ namespaces }: Contract, type: ArrayType | MapType): CollectionPrefix {
  if (type.namespace === 'types' || namespaces.arrays === namespaces.types)
    return { prefix: '', declarations: '' };
  return { prefix: 'a:', declarations: ` xmlns:a="${escapeAttribute(namespaces.arrays)}"` };
}

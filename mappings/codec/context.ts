import type { Limits } from '../contract/limits.ts';
import type { ArrayType, Contract, MapType, Rules, Type } from '../contract/model.ts';
import type { JsonReader } from '../json/reader.ts';
import type { Tape } from '../json/tape.ts';
import type { Output } from '../xml/output.ts';
import type { XmlReader } from '../xml/reader.ts';
import type { Reading } from './problem.ts';
import { escapeAttribute } from './scalars/text.ts';

/** The two halves of a codec, which the files of types/ give for each kind of type, and what they share of a contract. */

/** Requests: one type from XML and from JSON, compiled from the contract at start. */
export interface RequestReader {
  /** XML → JSON: from the element's start tag past its end tag; undefined when the member is as absent (W13). */
  readonly read: (xml: XmlReader, reading: Reading) => string | undefined;
  /** JSON → JSON: checks the value of a request and notes what must be replaced (W37). */
  readonly pass: (json: JsonReader, reading: Reading) => void;
  /** A parameter's text → JSON (W38); undefined where the type is no scalar. */
  readonly fromText: ((text: string, reading: Reading) => string | undefined) | undefined;
  /** What an xsi:nil member is: JSON null, or absent (W13). */
  readonly nil: 'null' | undefined;
  /** What an xsi:nil array item is; undefined where it is refused (W13). */
  readonly nilItem: 'null' | undefined;
}

/** The reader of a type's values, or of those that obey rules too; compiled on first use, at start. */
export type ReaderOf = (type: Type, rules?: Rules) => RequestReader;

/** What every reader of a contract shares. */
export interface ReaderContext {
  readonly contract: Contract;
  readonly limits: Limits;
  readonly readerOf: ReaderOf;
  /** Readers of types alone, where others ask more of values (`validate: strict`); undefined where none do. */
  readonly plainReaderOf: ReaderOf | undefined;
  /** The reader of values that obey rules too. */
  readonly ruled: (reader: RequestReader, rules: Rules | undefined) => RequestReader;
  /** What an xsi:nil item is that isn't text (W13). */
  readonly nilItem: 'null' | undefined;
}

/**
 * Replies: JSON → XML for values of one type, compiled at start. Two steps: `scan` checks a value's JSON and lays its
 * parts out on the tape, `write` takes them from there in the order of the wire (W18).
 */
export interface ReplyWriter {
  /** Moves past the value that starts at the tape's position and pushes one node. Throws MismatchError, JsonError. */
  readonly scan: (tape: Tape) => void;
  /** Writes the content of a record or list node; nodes of other kinds write themselves. */
  readonly write: (tape: Tape, node: number, output: Output) => void;
  /** Namespace declarations on every element of this type (W20). */
  readonly declarations: string;
}

/** The writer of a type, compiled on first use, at start. */
export type WriterOf = (type: Type) => ReplyWriter;

/** What every writer of a contract shares. */
export interface WriterContext {
  readonly contract: Contract;
  readonly writerOf: WriterOf;
}

/** The prefix of a collection's items or entries, and what declares it (W20). */
export interface CollectionPrefix {
  readonly prefix: '' | 'a:';
  readonly declarations: string;
}

/** How the elements within an array or a map are prefixed: in the types namespace not at all. */
export function prefixOf({ namespaces }: Contract, type: ArrayType | MapType): CollectionPrefix {
  if (type.namespace === 'types' || namespaces.arrays === namespaces.types)
    return { prefix: '', declarations: '' };
  return { prefix: 'a:', declarations: ` xmlns:a="${escapeAttribute(namespaces.arrays)}"` };
}

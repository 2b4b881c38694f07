import { isAscii } from 'node:buffer';
import type { Limits } from '../../contract/limits.ts';
import { moveForward } from '../../recent.ts';
import { isPlainUtf8 } from '../../xml/decode.ts';
import { type ReaderSnapshot, type XmlQuirks, XmlReader } from '../../xml/reader.ts';

/** A beginning of documents, up to a start tag, and where a reader stands at the end of it. */
export interface Prefix<T> {
  /** ASCII, of documents that are UTF-8. */
  readonly bytes: Buffer;
  /** The Content-Type's charset, which the documents came with: the same bytes with another one are another text. */
  readonly charset: string | undefined;
  readonly snapshot: ReaderSnapshot;
  readonly meaning: T;
}

const mostPrefixes = 16;
/** In bytes. */
const longestPrefix = 2_048;
/** One in so many unknown beginnings is kept, so that callers who never begin twice alike cost next to nothing. */
const keptOneIn = 8;

/**
 * The beginnings of documents that were met before, each with what its reader made of it: a caller begins every message
 * with the same declaration, envelope and namespaces.
 */
export class PrefixCache<T> {
  /** Those asked for most come to stand before the others. */
  readonly #prefixes: Prefix<T>[] = [];
  #unknown = 0;

  /** The known beginning of a document, by what `decodeXml` is given; undefined for one that isn't known. */
  find(document: Buffer, charset: string | undefined): Prefix<T> | undefined {
    for (let index = 0; index < this.#prefixes.length; index++) {
      const prefix = this.#prefixes[index];
      if (prefix === undefined || prefix.charset !== charset || !startsWith(document, prefix.bytes)) continue;
      moveForward(this.#prefixes, index);
      return prefix;
    }
    return undefined;
  }

  /**
   * The known beginning of what a document would be without some bytes; undefined for one that isn't known.
   *
   * @param start of those bytes
   * @param end behind them
   */
  findWithout(
    document: Buffer,
    charset: string | undefined,
    start: number,
    end: number,
  ): Prefix<T> | undefined {
    return this.#prefixes.find(
      ({ bytes, charset: its }) =>
        its === charset &&
        bytes.length > start &&
        isAt(document, end, bytes, start) &&
        bytes.compare(document, 0, start, 0, start) === 0,
    );
  }

  /**
   * Takes note of the beginning of a document that was read without fault so far.
   *
   * @param end offset behind the start tag that it ends with, in characters
   */
  note(
    document: Buffer,
    charset: string | undefined,
    end: number,
    meaning: T,
    limits: Limits,
    quirks?: XmlQuirks,
  ): void {
    if (++this.#unknown % keptOneIn !== 0 || end > longestPrefix) return;
    // bytes of their own: a part of the document would keep all of the document in memory
    const bytes = Buffer.from(document.subarray(0, end));
    if (!isAscii(bytes) || !isPlainUtf8(document, charset)) return;
    const reader = new XmlReader(bytes.toString('latin1'), limits, quirks);
    reader.readRoot();
    while (reader.position < end) reader.nextChild();
    const snapshot = reader.snapshot();
    if (snapshot === undefined) return;
    if (this.#prefixes.length === mostPrefixes) this.#prefixes.pop();
    this.#prefixes.push({ bytes, charset, snapshot, meaning });
  }
}

function startsWith(document: Buffer, bytes: Buffer): boolean {
  const last = bytes.length - 4; // a look at the name of the last tag, where most differ, costs next to nothing
  return (
    document.length >= bytes.length &&
    document.readInt32LE(last) === bytes.readInt32LE(last) &&
    bytes.compare(document, 0, bytes.length) === 0
  );
}

/** Whether a document has a beginning's bytes from one of its offsets on at another. */
export function isAt(document: Buffer, at: number, bytes: Buffer, from: number): boolean {
  const end = at + bytes.length - from;
  return document.length >= end && bytes.compare(document, at, end, from) === 0;
}

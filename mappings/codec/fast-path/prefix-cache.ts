import { isAscii } from 'node:buffer';
import type { Limits } from '../../contract/limits.ts';
import { isPlainUtf8 } from '../../xml/decode.ts';
import { type Standing, XmlReader } from '../../xml/reader.ts';

/** A beginning of documents, and where a reader stands at the end of it. */
export interface Head<T> {
  /** ASCII, of documents that are UTF-8. */
  readonly bytes: Buffer;
  /** Which the documents came with. */
  readonly charset: string | undefined;
  readonly standing: Standing;
  readonly meaning: T;
}

const mostHeads = 16;
const mostCharacters = 2_048;
/** One in so many unknown beginnings is kept, so that callers who never begin twice alike cost next to nothing. */
const keptOneIn = 8;

/**
 * The beginnings of documents that were met before, up to a start tag, each with what its reader made of it: a caller
 * begins every message with the same declaration, envelope and namespaces.
 */
export class Heads<T> {
  readonly #heads: Head<T>[] = [];
  #unknown = 0;

  /** The known beginning of a document, by what `decodeXml` is given. */
  find(document: Buffer, charset: string | undefined): Head<T> | undefined {
    for (let index = 0; index < this.#heads.length; index++) {
      const head = this.#heads[index];
      if (head === undefined || head.charset !== charset || !startsWith(document, head.bytes)) continue;
      const before = this.#heads[index - 1];
      if (before !== undefined) {
        this.#heads[index - 1] = head;
        this.#heads[index] = before;
      }
      return head;
    }
    return undefined;
  }

  /** Takes note of a document read up to a start tag, whose end is at `end`. */
  note(document: Buffer, charset: string | undefined, end: number, meaning: T, limits: Limits): void {
    if (++this.#unknown % keptOneIn !== 0 || end > mostCharacters) return;
    // bytes of their own: a part of the document would keep all of the document in memory
    const bytes = Buffer.from(document.subarray(0, end));
    if (!isAscii(bytes) || !isPlainUtf8(document, charset)) return;
    const reader = new XmlReader(bytes.toString('latin1'), limits);
    reader.readRoot();
    while (reader.position < end) reader.nextChild();
    const standing = reader.standing();
    if (standing === undefined) return;
    if (this.#heads.length === mostHeads) this.#heads.pop();
    this.#heads.push({ bytes, charset, standing, meaning });
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

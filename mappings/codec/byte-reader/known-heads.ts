import { moveForward } from '../../recent.ts';
import type { Head } from './message.ts';

/** The beginning of a document as it was met before. */
interface KnownHead<T> {
  readonly bytes: Buffer;
  /** The Content-Type's charset: the same bytes with another one are another text. */
  readonly charset: string | undefined;
  readonly head: Head;
  readonly meaning: T;
}

/** Beginnings that are kept. */
const mostHeads = 16;
/** Bytes of a beginning that is kept. */
const longestHead = 2_048;

/** The beginnings of documents that were met last, up to the start tag of the payload, each with what it means. */
export class KnownHeads<T> {
  /** Those that are asked for most come before the others. */
  readonly #heads: KnownHead<T>[] = [];

  /** The beginning of a document; undefined for one that is not known. */
  find(document: Buffer, charset: string | undefined): KnownHead<T> | undefined {
    for (let index = 0; index < this.#heads.length; index++) {
      const known = this.#heads[index];
      if (known === undefined || known.charset !== charset || !startsWith(document, known.bytes)) continue;
      moveForward(this.#heads, index);
      return known;
    }
    return undefined;
  }

  /** Keeps the beginning of a document in place of the one that is asked for least. */
  keep(document: Buffer, charset: string | undefined, head: Head, meaning: T): void {
    if (head.from > longestHead) return;
    // bytes of their own: a part of the document would keep all of it in memory
    const bytes = Buffer.from(document.subarray(0, head.from));
    if (this.#heads.length === mostHeads) this.#heads.pop();
    this.#heads.push({ bytes, charset, head, meaning });
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

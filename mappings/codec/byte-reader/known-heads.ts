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

/** A document apart from its header, as it was met before. */
export interface KnownHeader<T> {
  /** Up to the header's start tag. */
  readonly before: Buffer;
  readonly endTag: Buffer;
  /** From behind the header's end tag up to the payload. */
  readonly after: Buffer;
  readonly charset: string | undefined;
  /** The namespaces of prefixes around the header. */
  readonly bindings: ReadonlyMap<string, string>;
  /** Its counts are without the header. */
  readonly head: Head;
  readonly meaning: T;
}

/** Documents that were met last, apart from their headers. */
export class KnownHeaders<T> {
  readonly #headers: KnownHeader<T>[] = [];

  /** What is known of a document, and the offset behind its header; undefined for one that is not known. */
  find(
    document: Buffer,
    charset: string | undefined,
  ): { readonly known: KnownHeader<T>; readonly end: number } | undefined {
    for (let index = 0; index < this.#headers.length; index++) {
      const known = this.#headers[index];
      if (known === undefined || known.charset !== charset || !startsWith(document, known.before)) continue;
      const { before, endTag, after } = known;
      const start = document.indexOf(endTag, before.length);
      const end = start + endTag.length;
      if (start < 0 || document.length < end + after.length) continue;
      if (document.compare(after, 0, after.length, end, end + after.length) !== 0) continue;
      moveForward(this.#headers, index);
      return { known, end };
    }
    return undefined;
  }

  /** Keeps one in place of the one that is asked for least. */
  keep(known: KnownHeader<T>): void {
    if (known.before.length + known.after.length > longestHead) return;
    if (this.#headers.length === mostHeads) this.#headers.pop();
    this.#headers.push(known);
  }
}

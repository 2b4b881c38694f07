import { moveForward } from '../../recent.ts';
import type { Head } from './message.ts';

/** A cached beginning of a document. */
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

/** Cache of the beginnings of documents, up to the payload's start tag, with their meaning. */
export class KnownHeads<T> {
  /** Frequently used entries are at the front. */
  readonly #heads: KnownHead<T>[] = [];

  /** Looks up the beginning of a document; returns undefined if it is not in the cache. */
  find(document: Buffer, charset: string | undefined): KnownHead<T> | undefined {
    for (let index = 0; index < this.#heads.length; index++) {
      const known = this.#heads[index];
      if (known === undefined || known.charset !== charset || !startsWith(document, known.bytes)) continue;
      moveForward(this.#heads, index);
      return known;
    }
    return undefined;
  }

  /** Adds the beginning of a document. A full cache drops its last entry. */
  keep(document: Buffer, charset: string | undefined, head: Head, meaning: T): void {
    if (head.from > longestHead) return;
    // bytes of their own: a part of the document would keep all of it in memory
    const bytes = Buffer.from(document.subarray(0, head.from));
    if (this.#heads.length === mostHeads) this.#heads.pop();
    this.#heads.push({ bytes, charset, head, meaning });
  }
}

function startsWith(document: Buffer, bytes: Buffer): boolean {
  const last = bytes.length - 4; // most beginnings differ in the name of the last tag
  return (
    document.length >= bytes.length &&
    document.readInt32LE(last) === bytes.readInt32LE(last) &&
    bytes.compare(document, 0, bytes.length) === 0
  );
}

/** A cached request without its header. */
export interface KnownHeader<T> {
  /** Up to the header's start tag. */
  readonly before: Buffer;
  readonly endTag: Buffer;
  /** From the end of the header to the end of the payload's start tag. */
  readonly after: Buffer;
  readonly charset: string | undefined;
  /** The namespaces of prefixes around the header. */
  readonly bindings: ReadonlyMap<string, string>;
  /** Counts do not include the header. */
  readonly head: Head;
  readonly meaning: T;
}

/** Cache of requests without their headers. */
export class KnownHeaders<T> {
  readonly #headers: KnownHeader<T>[] = [];

  /** Looks up a document; returns the entry and the offset after the header, or undefined. */
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

  /** Adds an entry. A full cache drops its last entry. */
  keep(known: KnownHeader<T>): void {
    if (known.before.length + known.after.length > longestHead) return;
    if (this.#headers.length === mostHeads) this.#headers.pop();
    this.#headers.push(known);
  }
}

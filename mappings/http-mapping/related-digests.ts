import { createHash, type Hash, hash } from 'node:crypto';
import type { Limits } from '../contract/limits.ts';
import {
  headerOf,
  maxOutsideBytes,
  maxPartHeaderBytes,
  passLineEnd,
  RelatedError,
  type RelatedType,
  readHeader,
} from './related.ts';

// Replaces the large parts of a `multipart/related` message by their size and SHA-256 while it arrives (G27).

/** Minimum size in bytes of a part, and of a base64 value, that is compared by its size and SHA-256. */
export const digestedBytes = 1024;

const digestStart = '(SHA-256 ';

/** Returns the text that represents bytes in a comparison. It is not base64. */
function digestText(sha256: string, size: number): string {
  return `${digestStart}${sha256}, ${size} bytes)`;
}

/** Returns the text that represents bytes in a comparison. */
export function digestOf(bytes: Buffer): string {
  return digestText(hash('sha256', bytes, 'hex'), bytes.length);
}

/** Returns true for a text that represents bytes. */
export function isDigest(text: string): boolean {
  return text.startsWith(digestStart);
}

/** The content of one part: its bytes, or their digest if there are at least `digestedBytes`. */
class PartContent {
  pieces: Buffer[] = [];
  #size = 0;
  #hash: Hash | undefined;

  /** Adds a piece. It is copied, because its owner may release it. */
  add(piece: Buffer): void {
    this.#size += piece.length;
    if (this.#hash === undefined && this.#size < digestedBytes) {
      this.pieces.push(Buffer.from(piece));
      return;
    }
    this.#hash ??= createHash('sha256');
    for (const one of this.pieces) this.#hash.update(one);
    this.pieces = [];
    this.#hash.update(piece);
  }

  /** Returns the digest; undefined for a small part. */
  digest(): string | undefined {
    return this.#hash && digestText(this.#hash.digest('hex'), this.#size);
  }
}

const crlf = Buffer.from('\r\n');
const emptyLine = Buffer.from('\r\n\r\n');
const noBytes = Buffer.alloc(0);

/**
 * A message without the content of the large parts after the envelope. `splitRelated` reads the result, and
 * reports what is wrong with the message. It stays whole from its first irregularity on, and with base64 parts.
 */
export class DigestedPackage {
  /** Digests by the position of the part after the envelope. */
  readonly digests: Map<number, string> = new Map();
  readonly #delimiter: Buffer;
  readonly #limits: Limits;
  readonly #keep: (bytes: Buffer, isEnvelope: boolean) => void;
  /** The next content of the message. */
  #next: 'preamble' | 'header' | 'envelope' | 'part' | 'rest' = 'preamble';
  #buffer: Buffer = noBytes;
  /** Number of bytes at the start of the buffer that precede the content: a line end, which may begin the delimiter. */
  #before = 0;
  /** Position of the current part; 0 is the envelope. */
  #index = -1;
  #content = new PartContent();

  /**
   * @param keep called with the bytes of the result. `isEnvelope` is false for the headers of parts and for small parts.
   */
  constructor({ boundary }: RelatedType, limits: Limits, keep: (bytes: Buffer, isEnvelope: boolean) => void) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
    this.#limits = limits;
    this.#keep = keep;
  }

  /** Adds a piece of the message. Its owner may release it afterwards. */
  add(piece: Buffer): void {
    this.#buffer = this.#buffer.length === 0 ? piece : Buffer.concat([this.#buffer, piece]);
    while (this.#step());
    this.#buffer = Buffer.from(this.#buffer);
  }

  /** The message is complete. */
  end(): void {
    this.#keepPart();
    this.#pass(this.#buffer.length, this.#next === 'envelope');
  }

  /** Processes the buffer up to the next change. Returns false if it needs more bytes. */
  #step(): boolean {
    switch (this.#next) {
      case 'preamble':
        return this.#readPreamble();
      case 'header':
        return this.#readHeader();
      case 'rest':
        this.#pass(this.#buffer.length, true);
        return false;
      default:
        return this.#readContent();
    }
  }

  /** Keeps bytes at the start of the buffer, and removes them from it. */
  #pass(count: number, isEnvelope: boolean): void {
    if (count > 0) this.#keep(this.#buffer.subarray(0, count), isEnvelope);
    this.#buffer = this.#buffer.subarray(count);
  }

  #readPreamble(): boolean {
    const { mimeOutsideBytes = maxOutsideBytes } = this.#limits;
    const bare = this.#delimiter.subarray(crlf.length);
    const isFirst = this.#buffer.subarray(0, bare.length).equals(bare);
    const found = isFirst ? -crlf.length : this.#buffer.indexOf(this.#delimiter);
    if (found >= 0 || isFirst) this.#passDelimiter(found);
    else if (this.#buffer.length < mimeOutsideBytes + this.#delimiter.length) return false;
    else this.#next = 'rest';
    return true;
  }

  /** Passes a delimiter, and what is before it in the buffer. */
  #passDelimiter(at: number): void {
    const { mimeParts } = this.#limits;
    this.#pass(at + this.#delimiter.length, false);
    this.#index++;
    this.#next = this.#index > mimeParts ? 'rest' : 'header';
  }

  /** Reads the rest of the line after a delimiter, and the header of the part. */
  #readHeader(): boolean {
    const { mimeHeaderBytes = maxPartHeaderBytes } = this.#limits;
    const end = this.#buffer.indexOf(emptyLine);
    if (end < 0) {
      if (this.#buffer.length < 2 * mimeHeaderBytes) return false;
      this.#next = 'rest';
      return true;
    }
    const isPlain = this.#isPlain(end + emptyLine.length);
    this.#pass(end + crlf.length, false);
    this.#before = crlf.length;
    this.#next = this.#index === 0 || isPlain === false ? 'envelope' : 'part';
    if (isPlain === undefined) this.#next = 'rest';
    return true;
  }

  /** Returns false for a part in base64, and undefined for a malformed header. */
  #isPlain(end: number): boolean | undefined {
    try {
      const from = passLineEnd(this.#buffer, 0);
      return !headerOf(readHeader(this.#buffer, from, end, this.#limits).header, this.#limits).isBase64;
    } catch (error) {
      if (error instanceof RelatedError) return undefined;
      throw error;
    }
  }

  /** Reads the content of a part up to the next delimiter, as far as it has arrived. */
  #readContent(): boolean {
    const found = this.#buffer.indexOf(this.#delimiter);
    const end = found < 0 ? this.#buffer.length - this.#delimiter.length + 1 : found;
    const isEmpty = end <= this.#before;
    if (!isEmpty) {
      const length = end - this.#before;
      this.#pass(this.#before, false);
      this.#addContent(this.#buffer.subarray(0, length));
      this.#buffer = this.#buffer.subarray(length);
      this.#before = 0;
    }
    if (found < 0) return false;
    this.#keepPart();
    this.#passDelimiter(isEmpty ? found : 0);
    return true;
  }

  #addContent(bytes: Buffer): void {
    if (this.#next === 'part') this.#content.add(bytes);
    else this.#keep(bytes, true);
  }

  /** Keeps a small part, or the digest of a large one. */
  #keepPart(): void {
    const digest = this.#content.digest();
    if (digest !== undefined) this.digests.set(this.#index - 1, digest);
    for (const piece of this.#content.pieces) this.#keep(piece, false);
    this.#content = new PartContent();
  }
}

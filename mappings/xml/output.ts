import { Buffer } from 'node:buffer';
import { endianness } from 'node:os';
import { NoReplyMemory } from './error.ts';

/**
 * A constant text in groups of eight bytes, for fast copying as doubles. No eight bytes of UTF-8 are a NaN, which might
 * change bits: a NaN needs a byte F0 or higher before 7F or FF.
 */
export interface Piece {
  readonly groups: Float64Array;
  readonly length: number;
}

const isBigEndian = endianness() === 'BE';

/** Converts a constant text to a piece, in UTF-8. */
export function piece(text: string): Piece {
  const length = Buffer.byteLength(text);
  const groups = new Float64Array(Math.ceil(length / 8));
  const bytes = Buffer.from(groups.buffer);
  bytes.write(text);
  if (isBigEndian) bytes.swap64(); // pieces are written as doubles in little-endian order
  return { groups, length };
}

/** Counts the characters that XML does not allow and that U+FFFD replaces (W21). */
export interface ReplacementCount {
  replaced: number;
}

/** The XML content for a byte of JSON text; undefined for an unchanged byte. */
const entities: readonly (Uint8Array | undefined)[] = Array.from({ length: 128 }, (_, byte) => {
  if (byte === 38) return Buffer.from('&amp;');
  if (byte === 60) return Buffer.from('&lt;');
  return byte === 62 ? Buffer.from('&gt;') : undefined;
});
/** By the character after the backslash (RFC 8259, 7). Characters that XML does not allow become U+FFFD (W21). */
const replacement = Buffer.from('\ufffd');
const escapes: Readonly<Record<number, Uint8Array>> = {
  34: Buffer.from('"'),
  92: Buffer.from('\\'),
  47: Buffer.from('/'),
  98: replacement,
  102: replacement,
  110: Buffer.from('\n'),
  114: Buffer.from('&#13;'),
  116: Buffer.from('\t'),
};

/** A piece may be written up to seven bytes past its end; the next write overwrites them. */
const slack = 16;
const keptSize = 64 * 1024;
/** Minimum length in bytes of a range that is not copied but written from its own memory. */
export const longRange: number = 64 * 1024;

const xopNamespace = 'http://www.w3.org/2004/08/xop/include';

/** A range between the bytes that were written before and after `at`. */
interface Insert {
  readonly at: number;
  readonly bytes: Buffer;
}

/** Bytes that are written sequentially into one growing buffer. Small buffers are reused. */
export class Output {
  bytes: Buffer<ArrayBuffer> = Buffer.from(new ArrayBuffer(keptSize));
  view: DataView = new DataView(this.bytes.buffer);
  length = 0;
  readonly #kept: Buffer<ArrayBuffer> = this.bytes;
  /** Base64 that is sent as attachments, in the order of their references. */
  attached: Buffer[] = [];
  #inserts: Insert[] = [];
  readonly #most: number;
  #capacity = Number.POSITIVE_INFINITY;
  readonly #tooLong: (expected: string) => Error;

  /**
   * @param most approximate maximum number of bytes
   * @param tooLong creates the error for more bytes, with the text `at most … bytes of XML`
   */
  constructor(
    most: number = Number.POSITIVE_INFINITY,
    tooLong: (expected: string) => Error = (expected) => new RangeError(`expected ${expected}`),
  ) {
    this.#most = most;
    this.#tooLong = tooLong;
  }

  /**
   * Starts a new output of about `expected` bytes.
   *
   * @param capacity maximum number of bytes; beyond it, NoReplyMemory is thrown as soon as the buffer must grow
   */
  start(expected: number, capacity: number = Number.POSITIVE_INFINITY): void {
    this.length = 0;
    this.#inserts = [];
    this.#capacity = capacity;
    if (this.attached.length > 0) this.attached = [];
    if (expected > keptSize)
      this.#use(Buffer.allocUnsafeSlow(Math.min(expected, Math.max(capacity, keptSize))));
    else if (this.bytes !== this.#kept) this.#use(this.#kept);
  }

  /** Returns the written bytes. A large buffer is passed to the caller, a small one is copied. */
  take(): Buffer {
    return this.#inserts.length === 0 ? this.#takeWritten() : Buffer.concat(this.#takePieces());
  }

  /**
   * Returns the written bytes as `take` does, but short outputs as a string with one character per byte, which is the
   * fastest form for HTTP replies. An output with long ranges or attachments is returned in pieces. Throws NoReplyMemory.
   */
  takeBinary(): Buffer | string | readonly Buffer[] {
    this.#checkCapacity();
    if (this.#inserts.length + this.attached.length > 0) return this.#takePieces();
    return this.bytes === this.#kept ? this.bytes.toString('latin1', 0, this.length) : this.#takeWritten();
  }

  #checkCapacity(): void {
    let { length } = this;
    for (const { bytes } of this.#inserts) length += bytes.length;
    if (length > this.#capacity) throw new NoReplyMemory();
  }

  /** Releases the memory of an output that was not taken. */
  release(): void {
    if (this.bytes === this.#kept) return;
    this.bytes.buffer.transfer(0);
    this.#inserts = [];
    this.#use(this.#kept);
  }

  #takeWritten(): Buffer {
    const written = this.bytes.subarray(0, this.length);
    if (this.bytes === this.#kept) return Buffer.from(written);
    this.#use(this.#kept);
    return written;
  }

  #takePieces(): Buffer[] {
    const written = this.#takeWritten();
    const pieces: Buffer[] = [];
    let from = 0;
    for (const { at, bytes } of this.#inserts) {
      pieces.push(written.subarray(from, at), bytes);
      from = at;
    }
    pieces.push(written.subarray(from));
    this.#inserts = [];
    return pieces;
  }

  #use(bytes: Buffer<ArrayBuffer>): void {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer);
  }

  /** Ensures capacity for `count` more bytes. */
  reserve(count: number): void {
    if (this.length + count + slack <= this.bytes.length) return;
    if (this.length + count > this.#most) throw this.#tooLong(`at most ${this.#most} bytes of XML`);
    this.#checkCapacity();
    const size = Math.max(Math.ceil(this.bytes.length * 1.6), this.length + count + slack);
    const grown = Buffer.allocUnsafeSlow(size); // not zero-filled, because that takes as long as writing
    this.bytes.copy(grown, 0, 0, this.length);
    const { buffer } = this.bytes;
    this.#use(grown);
    if (buffer !== this.#kept.buffer) buffer.transfer(0); // releases its memory immediately
  }

  /** Writes a constant. The caller has reserved its bytes. */
  piece({ groups, length }: Piece): void {
    const { view } = this;
    let at = this.length;
    for (let index = 0; index < groups.length; index++) {
      view.setFloat64(at, groups[index] as number, true);
      at += 8;
    }
    this.length += length;
  }

  /** Writes a text or a constant. */
  tags(tags: Piece | string): void {
    if (typeof tags === 'string') {
      this.text(tags);
      return;
    }
    this.reserve(tags.length);
    this.piece(tags);
  }

  /** Writes a long range without copying. Its memory must not change until the output was sent. */
  insert(bytes: Uint8Array, start: number, end: number): void {
    const range = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
    this.#inserts.push({ at: this.length, bytes: range });
  }

  /**
   * Adds base64 that is decoded and sent as an attachment, and writes a reference to it (W66). Its memory must not
   * change until the output was sent.
   */
  attach(letters: Buffer): void {
    const number = this.attached.push(letters);
    this.text(`<xop:Include xmlns:xop="${xopNamespace}" href="cid:${number}@soapbridge"/>`);
  }

  /**
   * Copies a range of UTF-8. The source must be readable a few bytes past the range. The caller has reserved the bytes.
   */
  copy(bytes: Uint8Array, source: DataView, start: number, end: number): void {
    if (end - start > 128) {
      this.bytes.set(bytes.subarray(start, end), this.length);
    } else {
      const { view } = this;
      let at = this.length;
      for (let from = start; from < end; from += 8) {
        view.setFloat64(at, source.getFloat64(from, true), true);
        at += 8;
      }
    }
    this.length += end - start;
  }

  /**
   * Writes the content of a JSON string as XML content (W21). Returns false, and writes nothing, if it contains a `\u`
   * escape or a character near U+FFFE, which are not decided by a single byte.
   */
  content(bytes: Uint8Array, start: number, end: number, count: ReplacementCount): boolean {
    this.reserve((end - start) * 5);
    const written = this.bytes;
    let at = this.length;
    let replaced = 0;
    for (let from = start; from < end; from++) {
      const byte = bytes[from] as number;
      let other: Uint8Array | undefined;
      if (byte === 92) {
        other = escapes[bytes[++from] as number];
        if (other === undefined) return false;
        if (other === replacement) replaced++;
      } else if (byte === 0xef) return false;
      else other = byte < 64 ? entities[byte] : undefined;
      if (other === undefined) written[at++] = byte;
      else for (let index = 0; index < other.length; index++) written[at++] = other[index] as number;
    }
    count.replaced += replaced;
    this.length = at;
    return true;
  }

  /** Writes 32 digits with the dashes of a GUID (W21). */
  guid(bytes: Uint8Array, start: number): void {
    this.reserve(36);
    const written = this.bytes;
    let at = this.length;
    for (let digit = 0; digit < 32; digit++) {
      if (digit === 8 || digit === 12 || digit === 16 || digit === 20) written[at++] = 45;
      written[at++] = bytes[start + digit] as number;
    }
    this.length = at;
  }

  /** Writes a short ASCII text. The caller has reserved its bytes. */
  ascii(text: string): void {
    const written = this.bytes;
    const at = this.length;
    for (let index = 0; index < text.length; index++) written[at + index] = text.charCodeAt(index);
    this.length = at + text.length;
  }

  /** Writes a nonnegative integer that a double represents exactly. The caller has reserved its bytes. */
  integer(value: number): void {
    let rest = value;
    if (rest >= 1e9) {
      const billions = Math.floor(rest / 1e9);
      this.integer(billions);
      rest -= billions * 1e9;
      this.#digits(rest, 9);
      return;
    }
    let count = 1;
    for (let bound = 10; rest >= bound; bound *= 10) count++;
    this.#digits(rest, count);
  }

  /**
   * Writes a nonnegative number of thousandths as a decimal without trailing zeros. The caller has reserved its bytes.
   */
  thousandths(value: number): void {
    const whole = Math.floor(value / 1000);
    this.integer(whole);
    const rest = value - whole * 1000;
    if (rest === 0) return;
    this.bytes[this.length++] = 46;
    if (rest % 100 === 0) this.#digits(rest / 100, 1);
    else if (rest % 10 === 0) this.#digits(rest / 10, 2);
    else this.#digits(rest, 3);
  }

  /** Writes the last `count` digits of a number below 2^31. */
  #digits(value: number, count: number): void {
    const written = this.bytes;
    const start = this.length;
    let rest = value | 0; // `| 0` makes it an integer for the compiler
    for (let at = start + count - 1; at >= start; at--) {
      const tens = (rest / 10) | 0;
      written[at] = 48 + rest - tens * 10;
      rest = tens;
    }
    this.length += count;
  }

  /** Writes any text as UTF-8. */
  text(text: string): void {
    this.reserve(text.length * 3);
    this.length += this.bytes.write(text, this.length);
  }
}

import { type Key, keyOf, matches, padding, plainByte } from '../bytes.ts';
import type { Limits } from '../contract/limits.ts';
import type { LetterRuns } from './base64-spans.ts';
import { JsonError } from './reader.ts';

/**
 * What a node of the tape is; the words behind it in its entry.
 * `plain` and `text` hold the byte range of a token, `made` the place of a text in `made`.
 */
export const nodeKinds = {
  nothing: 0,
  empty: 1,
  plain: 2,
  text: 3,
  made: 4,
  record: 5,
  list: 6,
  /** A wall clock: its day, and its ms doubled plus one for UTC. */
  date: 7,
  /** Where 32 digits start that get their dashes. */
  guid: 8,
} as const;

/** The key of a member's name: its bytes with the closing quote. */
export function nameKey(name: string): Key {
  return keyOf(JSON.stringify(name).slice(1));
}

/** Where a tape stands, to come back to. */
export interface TapeMark {
  readonly position: number;
  readonly top: number;
  readonly made: number;
  readonly dropped: number;
  readonly replaced: number;
  readonly passed: number;
  readonly depth: number;
  readonly members: number;
}

/**
 * A reply's JSON as bytes, and the tape that a codec lays out while it reads: where each value stands, so that
 * they can be written in another order than they came. Everything is looked at once; no object is made per value.
 */
export class Tape {
  readonly #scratch: Uint8Array = new Uint8Array(16 * 1024);
  bytes: Uint8Array = this.#scratch;
  view: DataView = new DataView(this.#scratch.buffer);
  /** Bytes of JSON; `bytes` is longer, by zeros that end every scan. */
  size = 0;
  position = 0;
  words: Int32Array = new Int32Array(4096);
  top = 0;
  /** Texts that are no range of the reply: dates, numbers written out. ASCII. */
  readonly made: string[] = [];
  dropped = 0;
  replaced = 0;
  /** Values that aren't of their type and were written all the same. */
  passed = 0;
  /** True where a value is tried for its type: another kind of it, or a null where there is none, is then a mismatch. */
  strict = false;
  /** Bytes that were looked at in vain, as what was tried first didn't fit. */
  wasted = 0;
  /** True once a responseStatus with an errorCode was met. */
  failed = false;
  #depth = 0;
  #members = 0;
  #maxDepth = 0;
  #maxMembers = 0;
  #runs: LetterRuns | undefined;

  /** Takes a reply's body, UTF-8 that has been checked, and where its long runs of base64 letters are, as far as known. */
  start(body: Uint8Array, limits: Limits, runs?: LetterRuns): void {
    this.bytes = this.#padded(body);
    if (this.bytes !== this.#scratch) this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset);
    this.#runs = runs;
    this.size = body.length;
    this.position = 0;
    this.top = 0;
    this.made.length = 0;
    this.dropped = 0;
    this.replaced = 0;
    this.passed = 0;
    this.wasted = 0;
    this.strict = false;
    this.failed = false;
    this.#depth = 0;
    this.#members = 0;
    this.#maxDepth = limits.jsonDepth;
    this.#maxMembers = limits.jsonMembers;
  }

  /** The body with its padding: where it is, if zeros stand behind it, else copied. */
  #padded(body: Uint8Array): Uint8Array {
    const size = body.length + padding;
    if (size <= this.#scratch.length) {
      this.#scratch.set(body);
      for (let at = body.length; at < size; at++) this.#scratch[at] = 0; // `fill` takes longer to call
      return this.#scratch;
    }
    if (body.byteOffset + size <= body.buffer.byteLength) {
      const inPlace = new Uint8Array(body.buffer, body.byteOffset, size);
      if (inPlace.subarray(body.length).every((byte) => byte === 0)) return inPlace;
    }
    const copy = new Uint8Array(size);
    copy.set(body);
    return copy;
  }

  /** The end of the letters of base64 that are known to follow an offset; the offset itself where nothing is known. */
  knownLetters(offset: number): number {
    return this.#runs === undefined ? offset : this.#runs.endFrom(offset);
  }

  /** Lets go of what a large reply needed. */
  release(): void {
    if (this.bytes !== this.#scratch) this.view = new DataView(this.#scratch.buffer);
    this.bytes = this.#scratch;
    this.#runs = undefined;
    if (this.words.length > 1 << 16) this.words = new Int32Array(4096);
  }

  mark(): TapeMark {
    return {
      position: this.position,
      top: this.top,
      made: this.made.length,
      dropped: this.dropped,
      replaced: this.replaced,
      passed: this.passed,
      depth: this.#depth,
      members: this.#members,
    };
  }

  /** Back to where a mark was made: what came since was not. */
  rewind(mark: TapeMark): void {
    this.wasted += this.position - mark.position;
    this.position = mark.position;
    this.top = mark.top;
    this.made.length = mark.made;
    this.dropped = mark.dropped;
    this.replaced = mark.replaced;
    this.passed = mark.passed;
    this.#depth = mark.depth;
    this.#members = mark.members;
  }

  fail(expected: string): never {
    const byte = this.bytes[this.position];
    const got =
      this.position >= this.size || byte === undefined
        ? 'the end'
        : `byte ${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    throw new JsonError(this.position, `expected ${expected}, got ${got}`);
  }

  /** Room for `count` more words on the tape. */
  reserve(count: number): void {
    if (this.top + count <= this.words.length) return;
    const words = new Int32Array(Math.max(this.words.length * 2, this.top + count));
    words.set(this.words);
    this.words = words;
  }

  /** The next byte that isn't blank, which becomes the position. */
  peek(): number {
    const { bytes } = this;
    let at = this.position;
    let byte = bytes[at] as number;
    while (byte === 32 || byte === 10 || byte === 13 || byte === 9) byte = bytes[++at] as number;
    this.position = at;
    return byte;
  }

  end(): void {
    this.peek();
    if (this.position < this.size) this.fail('nothing more');
  }

  enter(): void {
    if (++this.#depth > this.#maxDepth) {
      throw new JsonError(this.position, `nesting deeper than ${this.#maxDepth}`, 'jsonDepth');
    }
    this.position++;
  }

  /** As JsonReader.next: moves to the next member or item, or past the closing bracket. */
  next(first: boolean, close: number): boolean {
    let byte = this.peek();
    if (byte === close) {
      this.position++;
      this.#depth--;
      return false;
    }
    if (!first) {
      if (byte !== 44) this.fail(close === 125 ? '"," or "}"' : '"," or "]"');
      this.position++;
      byte = this.peek();
      if (byte === close) this.fail('a value after ","');
    }
    if (++this.#members > this.#maxMembers) {
      throw new JsonError(this.position, `more than ${this.#maxMembers} members and items`, 'jsonMembers');
    }
    return true;
  }

  /** True when the bytes at `at` are the name and its closing quote. */
  matches(at: number, key: Key): boolean {
    return matches(this.view, at, key);
  }

  /** Past the colon after a name, at its value. */
  colon(): void {
    if (this.peek() !== 58) this.fail('":"');
    this.position++;
  }

  /** Moves past the string that starts here; true when XML content can hold its bytes as they are. */
  scanString(): boolean {
    const { bytes } = this;
    let at = this.position + 1;
    let plain = true;
    for (;;) {
      while (plainByte[bytes[at] as number] === 1) at++;
      const byte = bytes[at] as number;
      if (byte === 34) {
        this.position = at + 1;
        return plain;
      }
      if (byte < 32) {
        this.position = at;
        this.fail('a character of a string or its closing quote');
      }
      plain = false;
      at = byte === 92 ? this.#escapeEnd(at) : at + 1;
    }
  }

  #escapeEnd(at: number): number {
    const letter = this.bytes[at + 1] as number;
    if (letter === 117) {
      for (let digit = at + 2; digit < at + 6; digit++) {
        const code = this.bytes[digit] as number;
        const hexadecimal = (code >= 48 && code <= 57) || ((code | 32) >= 97 && (code | 32) <= 102);
        if (!hexadecimal) {
          this.position = digit;
          this.fail('a hexadecimal digit');
        }
      }
      return at + 6;
    }
    // " \ / b f n r t
    if (
      letter === 34 ||
      letter === 92 ||
      letter === 47 ||
      letter === 98 ||
      letter === 102 ||
      letter === 110 ||
      letter === 114 ||
      letter === 116
    ) {
      return at + 2;
    }
    this.position = at + 1;
    return this.fail('an escape of JSON');
  }

  /** Moves past the number that starts here; true when it is an integer without exponent. */
  scanNumber(): boolean {
    const { bytes } = this;
    let at = this.position;
    let integer = true;
    if (bytes[at] === 45) at++;
    let byte = bytes[at] as number;
    if (byte === 48) byte = bytes[++at] as number;
    else if (byte >= 49 && byte <= 57) {
      do byte = bytes[++at] as number;
      while (byte >= 48 && byte <= 57);
    } else {
      this.position = at;
      this.fail('a value');
    }
    if (byte === 46) {
      integer = false;
      at = this.#digits(at + 1);
      byte = bytes[at] as number;
    }
    if (byte === 101 || byte === 69) {
      integer = false;
      byte = bytes[++at] as number;
      if (byte === 43 || byte === 45) at++;
      at = this.#digits(at);
    }
    this.position = at;
    return integer;
  }

  #digits(from: number): number {
    let at = from;
    let byte = this.bytes[at] as number;
    while (byte >= 48 && byte <= 57) byte = this.bytes[++at] as number;
    if (at === from) {
      this.position = at;
      this.fail('a digit');
    }
    return at;
  }

  /** Moves past `true`, `false` or `null`. */
  scanLiteral(): void {
    const { view, position } = this;
    const word = view.getUint32(position, true);
    if (word === 0x65757274 || word === 0x6c6c756e) this.position = position + 4;
    else if (word === 0x736c6166 && this.bytes[position + 4] === 101) this.position = position + 5;
    else this.fail('a value');
  }

  /** Moves past whatever value starts here, checking it whole. */
  skip(): void {
    const byte = this.peek();
    if (byte === 34) this.scanString();
    else if (byte === 123 || byte === 91) {
      const close = byte + 2; // "{" "}" and "[" "]" lie two apart
      this.enter();
      for (let first = true; this.next(first, close); first = false) {
        if (close === 125) {
          if (this.peek() !== 34) this.fail('a member name');
          this.scanString();
          this.colon();
        }
        this.skip();
      }
    } else if (byte === 116 || byte === 102 || byte === 110) this.scanLiteral();
    else this.scanNumber();
  }

  /** What kind of value starts here, in words for a message. */
  kind(): string {
    const byte = this.peek();
    if (byte === 34) return 'a string';
    if (byte === 123) return 'an object';
    if (byte === 91) return 'an array';
    if (byte === 116 || byte === 102) return 'a boolean';
    if (byte === 110) return 'null';
    return byte === 45 || (byte >= 48 && byte <= 57) ? 'a number' : this.fail('a value');
  }

  /** The bytes of a range as text. */
  slice(start: number, end: number): string {
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset + start, end - start).toString('utf8');
  }

  /** The string whose content is a range, decoded. */
  decode(start: number, end: number): string {
    const text: unknown = JSON.parse(`"${this.slice(start, end)}"`);
    return String(text);
  }

  /** True when the record that the reply is holds a record in a slot. */
  holdsRecord(slot: number): boolean {
    const at = this.words[0] === nodeKinds.record ? (this.words[slot] as number) : -1;
    return at !== -1 && this.words[at] === nodeKinds.record;
  }

  // --- laying out ---------------------------------------------------------------------------------

  pushKind(kind: number): void {
    this.reserve(3);
    this.words[this.top++] = kind;
  }

  pushRange(kind: number, start: number, end: number): void {
    this.reserve(3);
    const { words, top } = this;
    words[top] = kind;
    words[top + 1] = start;
    words[top + 2] = end;
    this.top = top + 3;
  }

  pushMade(text: string): void {
    this.pushRange(nodeKinds.made, this.made.length, 0);
    this.made.push(text);
  }
}

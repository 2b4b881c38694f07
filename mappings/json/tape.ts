import { type Key, keyOf, matches, padding, plainByte } from '../bytes.ts';
import type { Limits } from '../contract/limits.ts';
import { type Quote, quoteValue } from '../contract/reason.ts';
import type { Base64Spans } from './base64-spans.ts';
import { JsonGrammar, type Literal } from './grammar.ts';

/**
 * The kinds of a node on the tape. `plain` and `text` are followed by the byte range of a token, `made` by the index of
 * a text in `made`.
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
  /** Start of 32 digits that are written with dashes. */
  guid: 8,
  /** A range of base64 that becomes an attachment (W66). */
  binary: 9,
  /** A base64 text in `made` that becomes an attachment. */
  madeBinary: 10,
} as const;

/** Returns the key of a member's name: its bytes with the closing quote. */
export function nameKey(name: string): Key {
  return keyOf(JSON.stringify(name).slice(1));
}

/** A member of a reply that does not match its type. */
export interface Mismatch {
  /** A required member is missing, or an unknown member was dropped. */
  readonly kind: 'missing' | 'dropped';
  /** The type's name in the contract. */
  readonly type: string;
  readonly member: string;
  /** Offset in bytes of the object that lacks it, or of its name. */
  readonly at: number;
}

/**
 * Maximum number of bytes that may be scanned in vain, per byte of the reply. Without it, nested unions of similar
 * objects could take exponential time.
 */
const patience = 8;

/**
 * Maximum number of unknown and missing members that are recorded per reply, and of names that the log reports per
 * operation.
 */
export const maxMismatches = 100;

const plain = plainByte;

const none: ReadonlySet<string> = new Set();

const comma = 44;

/**
 * State of reading a JSON caller's request (W12, A26). Values that a reply may have are refused in it: unknown enum
 * values, dates that need a repair, surplus items.
 */
export interface JsonRequestReading {
  /** True if unknown members are left out; otherwise they are refused. */
  readonly ignores: boolean;
  /** The members that were left out. */
  readonly ignored: Ignored[];
}

/** A member that was left out, and its range of bytes without commas. */
export interface Ignored {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** Removes ignored members, given in order, from JSON that was already checked. */
export function withoutIgnored(json: Buffer, ignored: readonly Ignored[]): string {
  const isBlankAt = (at: number): boolean => (json[at] as number) <= 32;
  const pieces: Buffer[] = [];
  let from = 0;
  for (const { start, end } of ignored) {
    let to = start;
    while (to > from && isBlankAt(to - 1)) to--;
    let next = end;
    if (to > from && json[to - 1] === comma) to--;
    else {
      // the first member of its object: the comma after it is removed too
      while (isBlankAt(next)) next++;
      if (json[next] === comma) next++;
    }
    pieces.push(json.subarray(from, to));
    from = next;
  }
  return Buffer.concat([...pieces, json.subarray(from)]).toString();
}

/**
 * A reply's JSON as bytes, and the tape that a codec fills while reading. The tape has the position of each value, so
 * that values can be written in another order. Each byte is read once, and no object is allocated per value.
 */
export class Tape extends JsonGrammar {
  readonly #scratch: Uint8Array = new Uint8Array(16 * 1024);
  bytes: Uint8Array = this.#scratch;
  view: DataView = new DataView(this.#scratch.buffer);
  /** Number of bytes of JSON. `bytes` is longer: zeros at its end terminate each scan. */
  size = 0;
  words: Int32Array = new Int32Array(4096);
  top = 0;
  /** ASCII texts that are not a range of the reply, for example dates and numbers with expanded exponents. */
  readonly made: string[] = [];
  /** True while a union tries a type: a value of another kind, or a forbidden null, is then a mismatch. */
  strict = false;
  /** Members of the first object that belong to another part of the message, not to its type. */
  separate: ReadonlySet<string> = none;
  /** Undefined while a reply is read. */
  jsonRequest: JsonRequestReading | undefined;
  /** Number of bytes that were scanned in vain, because the first attempt did not match. */
  wasted = 0;
  /**
   * True if more bytes were scanned in vain than allowed. Further attempts must stop, because they could take
   * exponential time.
   */
  get isPatienceOver(): boolean {
    return this.wasted > patience * this.size;
  }
  /** Number of numbers that common readers cannot represent exactly in 96 or 64 bits. */
  inexact = 0;
  /** Number of required members that the reply lacks. */
  missing = 0;
  /** The first unknown or missing members. */
  readonly mismatches: Mismatch[] = [];
  #mostMismatches = 0;
  /** Minimum decoded size in bytes of base64 that becomes an attachment. By default nothing does. */
  attachFrom: number = Number.POSITIVE_INFINITY;
  /** True after a responseStatus with an errorCode. */
  failed = false;
  #runs: Base64Spans | undefined;

  /** Starts reading a reply's body, in valid UTF-8. `runs` has the known positions of its long base64 spans. */
  start(body: Uint8Array, limits: Limits, runs?: Base64Spans): void {
    this.bytes = this.#padded(body);
    if (this.bytes !== this.#scratch) this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset);
    this.#runs = runs;
    this.size = body.length;
    this.begin(0, limits);
    this.top = 0;
    if (this.made.length > 0) this.made.length = 0; // the assignment is slow
    this.wasted = 0;
    this.inexact = 0;
    this.missing = 0;
    if (this.mismatches.length > 0) this.mismatches.length = 0;
    this.#mostMismatches = limits.replyMisfits ?? maxMismatches;
    this.strict = false;
    this.failed = false;
    this.attachFrom = Number.POSITIVE_INFINITY;
  }

  /** Returns the body with its padding, without a copy if zeros follow it in memory. */
  #padded(body: Uint8Array): Uint8Array {
    const size = body.length + padding;
    if (size <= this.#scratch.length) {
      this.#scratch.set(body);
      for (let at = body.length; at < size; at++) this.#scratch[at] = 0; // faster than calling `fill`
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

  /** Returns the end of the known base64 letters after an offset; the offset itself if none are known. */
  knownLetters(offset: number): number {
    return this.#runs === undefined ? offset : this.#runs.endFrom(offset);
  }

  /** Releases the memory of a large reply. */
  release(): void {
    if (this.bytes !== this.#scratch) this.view = new DataView(this.#scratch.buffer);
    this.bytes = this.#scratch;
    this.#runs = undefined;
    if (this.words.length > 1 << 16) this.words = new Int32Array(4096);
  }

  /** Records a member that does not match its type, up to the limit. */
  note(mismatch: Mismatch): void {
    if (this.mismatches.length < this.#mostMismatches) this.mismatches.push(mismatch);
  }

  /** Removes the last record of a dropped member at or after an offset. */
  forget(member: string, from: number): void {
    const index = this.mismatches.findLastIndex(
      (mismatch) => mismatch.kind === 'dropped' && mismatch.member === member && mismatch.at >= from,
    );
    if (index !== -1) this.mismatches.splice(index, 1);
  }

  /** Returns the state for `rewind`. */
  mark() {
    return {
      position: this.position,
      top: this.top,
      made: this.made.length,
      dropped: this.dropped,
      replaced: this.replaced,
      passed: this.passed,
      inexact: this.inexact,
      missing: this.missing,
      mismatches: this.mismatches.length,
      ignored: this.jsonRequest?.ignored.length ?? 0,
      depth: this.depth,
      members: this.members,
    };
  }

  /** Restores the state of a mark. */
  rewind(mark: ReturnType<Tape['mark']>): void {
    this.wasted += this.position - mark.position;
    this.position = mark.position;
    this.top = mark.top;
    this.made.length = mark.made;
    this.dropped = mark.dropped;
    this.replaced = mark.replaced;
    this.passed = mark.passed;
    this.inexact = mark.inexact;
    this.missing = mark.missing;
    this.mismatches.length = Math.min(this.mismatches.length, mark.mismatches);
    if (this.jsonRequest !== undefined) this.jsonRequest.ignored.length = mark.ignored;
    this.depth = mark.depth;
    this.members = mark.members;
  }

  protected code(at: number): number {
    return this.bytes[at] as number;
  }

  protected got(at: number): Quote | undefined {
    if (at >= this.size) return undefined;
    return quoteValue(`byte ${this.code(at).toString(16).toUpperCase().padStart(2, '0')}`);
  }

  /** Ensures capacity for `count` more words on the tape. */
  reserve(count: number): void {
    if (this.top + count <= this.words.length) return;
    const words = new Int32Array(Math.max(this.words.length * 2, this.top + count));
    words.set(this.words);
    this.words = words;
  }

  /** Skips blanks and returns the next byte; 0 at the end. */
  peek(): number {
    const { bytes } = this;
    let at = this.position;
    let byte = bytes[at] as number;
    while (byte === 32 || byte === 10 || byte === 13 || byte === 9) byte = bytes[++at] as number;
    this.position = at;
    return byte;
  }

  /** Returns true if the bytes at `at` are the name and its closing quote. */
  matches(at: number, key: Key): boolean {
    return matches(this.view, at, key);
  }

  /** The same as in JsonGrammar, but specialized for this view. */
  override next(first: boolean, close: number): boolean {
    let byte = this.peek();
    if (byte === close) {
      this.position++;
      this.depth--;
      return false;
    }
    if (!first) {
      if (byte !== 44) this.failAtComma(close);
      this.position++;
      byte = this.peek();
      if (byte === close) this.fail('a value after ","');
    }
    if (++this.members > this.maxMembers) this.failAtMembers();
    return true;
  }

  /** The same as in JsonGrammar, with a fast path for a colon without blanks. */
  override colon(): void {
    if (this.bytes[this.position] === 58) this.position++;
    else super.colon();
  }

  /** Moves past the string at the position. Returns true if its bytes are valid XML content. */
  scanString(): boolean {
    const { bytes } = this;
    let at = this.position + 1;
    let isPlain = true;
    for (;;) {
      while (plain[bytes[at] as number] === 1) at++;
      const byte = bytes[at] as number;
      if (byte === 34) {
        this.position = at + 1;
        return isPlain;
      }
      if (byte < 32) this.failAt(at, 'a character of a string or its closing quote');
      isPlain = false;
      at = byte === 92 ? this.escapeEnd(at) : at + 1;
    }
  }

  /** The same as in JsonGrammar, with a fast path for integers. */
  override scanNumber(): boolean {
    const { bytes } = this;
    let at = this.position;
    let byte = bytes[at] as number;
    if (byte === 45) byte = bytes[++at] as number;
    if (byte < 49 || byte > 57) return super.scanNumber();
    do byte = bytes[++at] as number;
    while (byte >= 48 && byte <= 57);
    if (byte === 46 || (byte | 32) === 101) return super.scanNumber();
    this.position = at;
    return true;
  }

  /** The same as in JsonGrammar, with a fast path that compares four bytes at once. */
  override literal(): Literal {
    const { view, position } = this;
    const word = view.getUint32(position, true);
    if (word === 0x6c6c756e) {
      this.position = position + 4;
      return 'null';
    }
    if (word === 0x65757274) {
      this.position = position + 4;
      return 'true';
    }
    return super.literal();
  }

  /** Returns a range of bytes as text. */
  slice(start: number, end: number): string {
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset + start, end - start).toString('utf8');
  }

  /** Decodes the string with a range as its content. */
  decode(start: number, end: number): string {
    const text: unknown = JSON.parse(`"${this.slice(start, end)}"`);
    return String(text);
  }

  /** Reads the string at the position and moves past it. */
  string(): string {
    const start = this.position + 1;
    const isPlain = this.scanString();
    const end = this.position - 1;
    return isPlain ? this.slice(start, end) : this.decode(start, end);
  }

  /** Reads a member's name and moves past its colon. */
  name(): string {
    if (this.peek() !== 34) this.fail('a member name');
    const name = this.string();
    this.colon();
    return name;
  }

  /** Returns true if the reply is a record with a record in a slot. */
  holdsRecord(slot: number): boolean {
    const { words } = this;
    return words[0] === nodeKinds.record && words[words[slot] as number] === nodeKinds.record;
  }

  // --- building the tape ------------------------------------------------------------------------------

  /** Pushes a node without words. */
  pushKind(kind: number): void {
    this.reserve(3);
    this.words[this.top++] = kind;
  }

  /** Pushes a node of two words, usually the range of a token in `bytes`. */
  pushRange(kind: number, start: number, end: number): void {
    this.reserve(3);
    const { words, top } = this;
    words[top] = kind;
    words[top + 1] = start;
    words[top + 2] = end;
    this.top = top + 3;
  }

  /** Pushes a node for an ASCII text that is not a range of the reply. */
  pushMade(text: string): void {
    this.pushRange(nodeKinds.made, this.made.length, 0);
    this.made.push(text);
  }
}

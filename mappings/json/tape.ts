import { type Key, keyOf, matches, padding, plainByte } from '../bytes.ts';
import type { Limits } from '../contract/limits.ts';
import type { Base64Spans } from './base64-spans.ts';
import { JsonGrammar, type Literal } from './grammar.ts';

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
  /** A range of base64 that goes out as a part of its own (W66). */
  binary: 9,
  /** The same of a text of its own. */
  madeBinary: 10,
} as const;

/** The key of a member's name: its bytes with the closing quote. */
export function nameKey(name: string): Key {
  return keyOf(JSON.stringify(name).slice(1));
}

/** A member of a reply that isn't as its type says. */
export interface Misfit {
  /** Required and not there, or there and none of the type. */
  readonly kind: 'missing' | 'dropped';
  /** The type's name in the contract. */
  readonly type: string;
  readonly member: string;
  /** The offset in bytes of the object that lacks it, or of its own name. */
  readonly at: number;
}

/**
 * Bytes that may be looked at in vain, for each byte of the reply: unions within unions of objects that look alike could
 * take for ever otherwise.
 */
const patience = 8;

/**
 * Unknown and missing members of replies that are recorded: as many of one reply, and as many names of one operation that
 * the log reports.
 */
export const maxMisfits = 100;

const plain = plainByte;

const none: ReadonlySet<string> = new Set();

const comma = 44;

/** What a JSON caller's request is held to, beyond what a reply is (W12, A26). */
export interface Asked {
  /** Whether members that types lack are left out; else they are refused. */
  readonly ignores: boolean;
  /** Those that were left out. */
  readonly ignored: Ignored[];
}

/** A member that was left out, and where it stands in the bytes, without commas. */
export interface Ignored {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** JSON that was read, without members of its objects, which come in their order. */
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
      // the first of its object: the comma behind it goes too
      while (isBlankAt(next)) next++;
      if (json[next] === comma) next++;
    }
    pieces.push(json.subarray(from, to));
    from = next;
  }
  return Buffer.concat([...pieces, json.subarray(from)]).toString();
}

/**
 * A reply's JSON as bytes, and the tape that a codec lays out while it reads: where each value stands, so that
 * they can be written in another order than they came. Everything is looked at once; no object is made per value.
 */
export class Tape extends JsonGrammar {
  readonly #scratch: Uint8Array = new Uint8Array(16 * 1024);
  bytes: Uint8Array = this.#scratch;
  view: DataView = new DataView(this.#scratch.buffer);
  /** Bytes of JSON; `bytes` is longer, by zeros that end every scan. */
  size = 0;
  words: Int32Array = new Int32Array(4096);
  top = 0;
  /** Texts that are no range of the reply: dates, numbers written out. ASCII. */
  readonly made: string[] = [];
  /** True where a value is tried for its type: another kind of it, or a null where there is none, is then a mismatch. */
  strict = false;
  /** Members of the first object that are no members of its type, and that another part of the message has. */
  beside: ReadonlySet<string> = none;
  /** Undefined for a reply. */
  asked: Asked | undefined;
  /** Bytes that were looked at in vain, as what was tried first didn't fit. */
  wasted = 0;
  /** True once more was looked at in vain than one reply may take: what is tried next would take for ever otherwise. */
  get isPatienceOver(): boolean {
    return this.wasted > patience * this.size;
  }
  /** Numbers that readers with 96 or 64 bits can't hold as they are. */
  inexact = 0;
  /** Members that the contract requires and the reply lacks. */
  missing = 0;
  /** The first of the members that were left out or are missing. */
  readonly misfits: Misfit[] = [];
  #mostMisfits = 0;
  /** Base64 of at least so many bytes, decoded, is a part of its own: of none mostly. */
  attachFrom: number = Number.POSITIVE_INFINITY;
  /** True once a responseStatus with an errorCode was met. */
  failed = false;
  #runs: Base64Spans | undefined;

  /** Takes a reply's body, UTF-8 that has been checked, and where its long runs of base64 letters are, as far as known. */
  start(body: Uint8Array, limits: Limits, runs?: Base64Spans): void {
    this.bytes = this.#padded(body);
    if (this.bytes !== this.#scratch) this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset);
    this.#runs = runs;
    this.size = body.length;
    this.begin(0, limits);
    this.top = 0;
    if (this.made.length > 0) this.made.length = 0; // to set it takes long
    this.wasted = 0;
    this.inexact = 0;
    this.missing = 0;
    if (this.misfits.length > 0) this.misfits.length = 0;
    this.#mostMisfits = limits.replyMisfits ?? maxMisfits;
    this.strict = false;
    this.failed = false;
    this.attachFrom = Number.POSITIVE_INFINITY;
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

  /** Keeps a member that isn't as its type says, as long as there are few. */
  note(misfit: Misfit): void {
    if (this.misfits.length < this.#mostMisfits) this.misfits.push(misfit);
  }

  /** Forgets the last note of a member that was left out where an offset is or behind it. */
  forget(member: string, from: number): void {
    const index = this.misfits.findLastIndex(
      (misfit) => misfit.kind === 'dropped' && misfit.member === member && misfit.at >= from,
    );
    if (index !== -1) this.misfits.splice(index, 1);
  }

  /** Where the tape stands, for `rewind`. */
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
      misfits: this.misfits.length,
      ignored: this.asked?.ignored.length ?? 0,
      depth: this.depth,
      members: this.members,
    };
  }

  /** Back to where a mark was made: what came since was not. */
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
    this.misfits.length = Math.min(this.misfits.length, mark.misfits);
    if (this.asked !== undefined) this.asked.ignored.length = mark.ignored;
    this.depth = mark.depth;
    this.members = mark.members;
  }

  protected code(at: number): number {
    return this.bytes[at] as number;
  }

  protected got(at: number): string | undefined {
    if (at >= this.size) return undefined;
    return `byte ${this.code(at).toString(16).toUpperCase().padStart(2, '0')}`;
  }

  /** Room for `count` more words on the tape. */
  reserve(count: number): void {
    if (this.top + count <= this.words.length) return;
    const words = new Int32Array(Math.max(this.words.length * 2, this.top + count));
    words.set(this.words);
    this.words = words;
  }

  /** The next byte that isn't blank, which becomes the position; 0 at the end. */
  peek(): number {
    const { bytes } = this;
    let at = this.position;
    let byte = bytes[at] as number;
    while (byte === 32 || byte === 10 || byte === 13 || byte === 9) byte = bytes[++at] as number;
    this.position = at;
    return byte;
  }

  /** True when the bytes at `at` are the name and its closing quote. */
  matches(at: number, key: Key): boolean {
    return matches(this.view, at, key);
  }

  /** As JsonGrammar has it, with nothing in it that depends on the view. */
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

  /** As JsonGrammar has it: no blank stands there, as a rule. */
  override colon(): void {
    if (this.bytes[this.position] === 58) this.position++;
    else super.colon();
  }

  /** Moves past the string that starts here; true when XML content can hold its bytes as they are. */
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

  /** As JsonGrammar has it: integers here, all other numbers there. */
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

  /** As JsonGrammar has it: four letters at once. */
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

  /** The bytes of a range as text. */
  slice(start: number, end: number): string {
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset + start, end - start).toString('utf8');
  }

  /** The string whose content is a range, decoded. */
  decode(start: number, end: number): string {
    const text: unknown = JSON.parse(`"${this.slice(start, end)}"`);
    return String(text);
  }

  /** The string that starts here, decoded; the position is then past it. */
  string(): string {
    const start = this.position + 1;
    const isPlain = this.scanString();
    const end = this.position - 1;
    return isPlain ? this.slice(start, end) : this.decode(start, end);
  }

  /** A member's name, decoded; the position is then past its colon. */
  name(): string {
    if (this.peek() !== 34) this.fail('a member name');
    const name = this.string();
    this.colon();
    return name;
  }

  /** True when the record that the reply is holds a record in a slot. */
  holdsRecord(slot: number): boolean {
    const { words } = this;
    return words[0] === nodeKinds.record && words[words[slot] as number] === nodeKinds.record;
  }

  // --- laying out ---------------------------------------------------------------------------------

  /** A node without words. */
  pushKind(kind: number): void {
    this.reserve(3);
    this.words[this.top++] = kind;
  }

  /** A node of two words: mostly the range of a token in `bytes`. */
  pushRange(kind: number, start: number, end: number): void {
    this.reserve(3);
    const { words, top } = this;
    words[top] = kind;
    words[top + 1] = start;
    words[top + 2] = end;
    this.top = top + 3;
  }

  /** A node of a text of its own, ASCII. */
  pushMade(text: string): void {
    this.pushRange(nodeKinds.made, this.made.length, 0);
    this.made.push(text);
  }
}

import { Buffer } from 'node:buffer';
import type { Limits } from '../../contract/limits.ts';
import { maxAllAttributes } from '../../xml/attributes.ts';
import { findIllegal } from '../../xml/characters.ts';
import { XmlError } from '../../xml/error.ts';
import type { Piece } from '../../xml/output.ts';
import { maxChildren } from '../../xml/reader.ts';
import { Scanner } from '../../xml/scanner.ts';
import { type Leaf, safeDecimal } from './leaf.ts';
import type { ObjectPlan } from './plan.ts';
import { endOfBase64, endOfDate, endOfDateTime, endOfDecimal, endOfInteger } from './scalars.ts';
import { isMarkAt, type Mark, type Table, type Tag, tagKinds } from './tables.ts';
import { type Cursor, copyText } from './text.ts';

/** Bytes that a piece may be written past its end. */
const slack = 32;
/** Bytes of the scratch buffer that is kept. */
const keptSize = 512 * 1024;
const scratch = Buffer.from(new ArrayBuffer(keptSize));
const scratchView = new DataView(scratch.buffer);

const tab = 0x9;
const lineFeed = 0xa;
const carriageReturn = 0xd;
const space = 0x20;
const doubleQuote = 0x22;
const slash = 0x2f;
const zero = 0x30;
const one = 0x31;
const lessThan = 0x3c;
const greaterThan = 0x3e;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const letterF = 0x66;
const letterN = 0x6e;
const letterT = 0x74;
const openBrace = 0x7b;
const closeBrace = 0x7d;

const trueToken = Buffer.from('true');
const falseToken = Buffer.from('false');

const {
  string,
  integer,
  decimal,
  boolean,
  dateTime,
  date,
  base64,
  word,
  object,
  list,
  absent,
  null: nil,
} = tagKinds;

/** The element of a message that a reader begins with. */
export interface Place {
  /** Offset behind its start tag. */
  readonly from: number;
  /** Elements that are open, itself included. */
  readonly depth: number;
  /** Elements so far, itself included. */
  readonly elements: number;
  /** Their attributes and namespace declarations. */
  readonly attributes: number;
}

/**
 * Reads the content of an element as JSON, from bytes to bytes. It reads plain messages only: elements of the type under
 * names with prefixes that are declared at the payload or outside it, no attributes, no comments, no CDATA sections, no
 * processing instructions, no text between elements, each value of its type, each required member there, no limit
 * exceeded. For any other message it gives up, so that the usual reader reads the whole message. Every method that reads
 * returns the offset after it, or -1 to give up.
 */
export class ByteReader implements Cursor {
  at = 0;
  to = 0;
  /** True if a member of an object came after a later one. */
  isReordered = false;
  target: Buffer<ArrayBuffer> = scratch;
  /** The JSON of the inputs that are not in the JSON, by slot. */
  slots: (string | undefined)[] = [];
  /** The credentials' JSON, in the order of their type; undefined for a message without the member for them. */
  credentials: (string | undefined)[] | undefined;
  #bytes: Buffer = scratch;
  #view: DataView = scratchView;
  #mostElements = 0;
  #mostChildren = 0;
  #mostDepth = 0;
  #mostAttributes = 0;
  #targetView: DataView = scratchView;
  #capacity = 0;
  #elements = 0;
  #depth = 0;
  /** Words of `seen` that are in use. */
  #top = 0;
  /** Attributes and namespace declarations so far. */
  #attributes = 0;
  /** Start tags that were not known. */
  #learned = 0;
  #parts: (string | undefined)[] = [];

  /**
   * Begins with a message.
   *
   * @param bytes plain characters (`hasPlainCharacters`), the last one `>`
   */
  start(bytes: Buffer, { depth, elements, attributes }: Place, limits: Limits): void {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#elements = elements;
    this.#depth = depth - 1;
    this.#attributes = attributes;
    this.#mostElements = limits.xmlElements;
    this.#mostChildren = maxChildren(limits);
    this.#mostDepth = limits.xmlDepth;
    this.#mostAttributes = maxAllAttributes(limits);
    this.#top = 0;
    this.#learned = 0;
    this.isReordered = false;
    this.to = 0;
    this.slots = [];
    this.credentials = undefined;
    this.#parts = [];
    const size = bytes.length + (bytes.length >> 1) + slack;
    const isSmall = size <= keptSize;
    if (!isSmall) this.target = Buffer.allocUnsafeSlow(size);
    else if (this.target !== scratch) this.target = scratch;
    this.#targetView = isSmall ? scratchView : new DataView(this.target.buffer);
    this.#capacity = (isSmall ? keptSize : size) - slack;
  }

  /** Releases the message. */
  release(): void {
    this.#bytes = scratch;
    this.#view = scratchView;
    this.target = scratch;
    this.#targetView = scratchView;
  }

  /** The JSON so far; its memory is the caller's. */
  take(): Buffer {
    const { target, to } = this;
    if (target !== scratch) return target.subarray(0, to);
    const taken = Buffer.allocUnsafe(to);
    target.copy(taken, 0, 0, to);
    return taken;
  }

  /** True if the whole JSON fits the capacity. */
  get hasCapacity(): boolean {
    return this.to <= this.#capacity;
  }

  /** Reads the content of an element, up to its end tag. */
  read(table: Table, from: number): number {
    return table.plan.kind === 'list' ? this.#list(table, from) : this.#object(table, table.plan, from);
  }

  /** An offset behind white space. */
  skipBlanks(from: number): number {
    const bytes = this.#bytes;
    let at = from;
    for (;;) {
      const byte = bytes[at];
      if (byte !== lineFeed && byte !== space && byte !== carriageReturn && byte !== tab) return at;
      at++;
    }
  }

  /** Reads the members of an object up to its end tag. */
  #object(table: Table, plan: ObjectPlan, from: number): number {
    const bytes = this.#bytes;
    const start = this.to;
    const base = this.#enter(table.required.length);
    if (base < 0) return -1;
    let last: Tag | undefined;
    let children = 0;
    let at = from;
    for (;;) {
      at = this.skipBlanks(at);
      if (bytes[at] !== lessThan) return -1;
      if (bytes[at + 1] === slash) break;
      children++;
      const tag = this.#next(table, last, at);
      if (tag === undefined) return -1;
      if (last !== undefined && tag.index < last.index) this.isReordered = true;
      const isAgain = tag.repeats && tag.index === last?.index;
      if (last?.repeats === true && !isAgain) this.target[this.to++] = closeBracket;
      const before = this.to;
      if (isAgain) this.#put(tag.again);
      else {
        const word = base + ((tag.index / 31) | 0);
        const bit = 1 << (tag.index % 31);
        const bits = seen[word] as number;
        if ((bits & bit) !== 0) return -1;
        seen[word] = bits | bit;
        if (tag.kind !== absent) this.#put(tag.key);
      }
      at = this.#value(tag, this.at);
      if (at < 0 || (tag.isSpecial && !isAgain && !this.#isTaken(tag, before))) return -1;
      last = tag;
    }
    if (last?.repeats === true) this.target[this.to++] = closeBracket;
    if (this.to === start) this.to++;
    this.target[start] = openBrace;
    this.target[this.to++] = closeBrace;
    return this.#endElement(children) && this.#isWhole(table, plan, base) ? at : -1;
  }

  /** Reads the items of an array up to its end tag. */
  #list(table: Table, from: number): number {
    const bytes = this.#bytes;
    const start = this.to;
    const base = this.#enter(0);
    if (base < 0) return -1;
    let last: Tag | undefined;
    let children = 0;
    let at = from;
    for (;;) {
      at = this.skipBlanks(at);
      if (bytes[at] !== lessThan) return -1;
      if (bytes[at + 1] === slash) break;
      children++;
      const tag = this.#next(table, last, at);
      if (tag === undefined) return -1;
      this.#put(tag.again);
      at = this.#value(tag, this.at);
      if (at < 0) return -1;
      last = tag;
    }
    if (this.to === start) this.to++;
    this.target[start] = openBracket;
    this.target[this.to++] = closeBracket;
    return this.#endElement(children) ? at : -1;
  }

  /** Opens an element with children; returns the place of its bits in `seen`, or -1 to give up. */
  #enter(words: number): number {
    const base = this.#top;
    if (++this.#depth >= this.#mostDepth || base + words > seen.length) return -1;
    for (let word = base; word < base + words; word++) seen[word] = 0;
    this.#top = base + words;
    return base;
  }

  /** Closes an element with this number of children. Returns false if they are too many. */
  #endElement(children: number): boolean {
    this.#depth--;
    this.#elements += children;
    return (
      children <= this.#mostChildren &&
      this.#elements <= this.#mostElements &&
      this.#attributes <= this.#mostAttributes
    );
  }

  /** Returns true if the required members were there, and of each choice one branch at most. */
  #isWhole({ required }: Table, { choices }: ObjectPlan, base: number): boolean {
    this.#top = base;
    for (let word = 0; word < required.length; word++) {
      const must = required[word] as number;
      if (((seen[base + word] as number) & must) !== must) return false;
    }
    return choices.length === 0 || choices.every(({ branches }) => isOneBranch(branches, base));
  }

  /** Finds the tag of the start tag at an offset; `at` is then the offset after it. */
  #next(table: Table, last: Tag | undefined, at: number): Tag | undefined {
    if (last?.repeats === true && this.#isAt(at, last.start)) {
      this.at = at + last.start.length;
      return last;
    }
    const { followers } = table;
    const place = last === undefined ? 0 : last.index + 1;
    const likely = followers[place];
    if (likely !== undefined && this.#isAt(at, likely.start)) {
      this.at = at + likely.start.length;
      return likely;
    }
    const tag = this.#find(table, at);
    if (tag?.repeats !== true || tag.index !== last?.index) followers[place] = tag;
    return tag;
  }

  /** Finds any start tag of a type. */
  #find(table: Table, at: number): Tag | undefined {
    const bytes = this.#bytes;
    let end = at;
    let hash = 0;
    for (let byte = 0; byte !== greaterThan; end++) {
      byte = bytes[end] as number;
      hash = (Math.imul(hash, 31) + byte) | 0;
    }
    let tag = table.known(hash, bytes, at, end);
    if (tag === undefined) {
      if (end - at > longestTag || ++this.#learned > mostLearned) return undefined;
      tag = table.learn(hash, bytes, at, end);
    }
    this.at = end;
    return tag;
  }

  #isAt(at: number, mark: Mark): boolean {
    return isMarkAt(this.#view, this.#bytes, at, mark);
  }

  /** Writes a constant. */
  #put({ groups, length }: Piece): void {
    const view = this.#targetView;
    let to = this.to;
    this.to = to + length;
    if (this.to > this.#capacity) return;
    for (let index = 0; index < groups.length; index++) {
      view.setFloat64(to, groups[index] as number, true);
      to += 8;
    }
  }

  /** Reads the value of an element and its end tag. */
  #value(tag: Tag, from: number): number {
    this.#attributes += tag.attributes;
    if (tag.isEmpty) return this.#emptyValue(tag, from);
    const { kind, table, end } = tag;
    let at: number;
    if (kind === string) at = this.#text(tag.leaf, from);
    else if (table === undefined) at = this.#leaf(kind, tag.leaf, from);
    else if (kind === list) at = this.#list(table, from);
    else at = this.#object(table, table.plan as ObjectPlan, from);
    if (at < 0) return -1;
    if (tag.isWrapped) this.target[this.to++] = closeBrace;
    return this.#isAt(at, end) ? at + end.length : this.#endOf(end, at);
  }

  /** An end tag with white space in it. */
  #endOf({ bytes, length }: Mark, at: number): number {
    const name = at + length - 1;
    if (name >= this.#bytes.length || this.#bytes.compare(bytes, 0, length - 1, at, name) !== 0) return -1;
    const next = this.skipBlanks(name);
    return this.#bytes[next] === greaterThan ? next + 1 : -1;
  }

  /** Writes the value of an empty-element tag. */
  #emptyValue({ kind, leaf, table, isWrapped }: Tag, at: number): number {
    if (table !== undefined) {
      // required members are only checked between two tags
      if (kind === object && table.required.some((word) => word !== 0)) return -1;
      this.target[this.to++] = kind === list ? openBracket : openBrace;
      this.target[this.to++] = kind === list ? closeBracket : closeBrace;
      return at;
    }
    if (kind === absent) return at;
    if (kind === nil) return this.#token('null', at);
    if (!leaf.takesEmpty) return -1;
    if (kind === string) this.#quoted(at, at);
    else if (this.#token(leaf.tokenOf(''), at) < 0) return -1;
    if (isWrapped) this.target[this.to++] = closeBrace;
    return at;
  }

  /** Reads a text up to `<`. */
  #leaf(kind: Tag['kind'], leaf: Leaf, from: number): number {
    switch (kind) {
      case integer:
        return this.#plain(leaf, from, endOfInteger(this.#bytes, from, leaf.safeDigits, leaf.isSigned));
      case decimal:
        return this.#plain(leaf, from, endOfDecimal(this.#bytes, from, safeDecimal));
      case boolean:
        return this.#boolean(leaf, from);
      case dateTime:
        return this.#inQuotes(leaf, from, endOfDateTime(this.#bytes, from, leaf.takesZoneless));
      case date:
        return this.#inQuotes(leaf, from, endOfDate(this.#bytes, from));
      case base64:
        return this.#inQuotes(leaf, from, endOfBase64(this.#bytes, from));
      case word:
        return this.#word(leaf, from);
      case nil:
        return this.#token('null', this.skipBlanks(from));
      case absent:
        return this.skipBlanks(from);
      default:
        return this.#other(leaf, from);
    }
  }

  /** One of few texts. */
  #word(leaf: Leaf, from: number): number {
    const bytes = this.#bytes;
    for (const { text, token } of leaf.words) {
      let index = 0;
      while (index < text.length && bytes[from + index] === text[index]) index++;
      if (index < text.length) continue;
      for (let place = 0; place < token.length; place++) this.target[this.to++] = token[place] as number;
      return from + index - 1;
    }
    return this.#other(leaf, from);
  }

  #text({ maxLength, takesEmpty }: Leaf, from: number): number {
    this.at = from;
    this.target[this.to++] = doubleQuote;
    if (!copyText(this.#bytes, this.#view, this.target, this.#targetView, this)) return -1;
    this.target[this.to++] = doubleQuote;
    const { at } = this;
    return at - from > maxLength || (at === from && !takesEmpty) ? -1 : at;
  }

  #plain(leaf: Leaf, from: number, end: number): number {
    if (end < 0) return this.#other(leaf, from);
    const bytes = this.#bytes;
    const { target } = this;
    let { to } = this;
    for (let at = from; at < end; at++) target[to++] = bytes[at] as number;
    this.to = to;
    return end - from > leaf.maxLength ? -1 : end;
  }

  #inQuotes(leaf: Leaf, from: number, end: number): number {
    if (end < 0 || (end === from && !leaf.takesEmpty)) return this.#other(leaf, from);
    this.#quoted(from, end);
    return end - from > leaf.maxLength ? -1 : end;
  }

  #quoted(from: number, end: number): void {
    const { target } = this;
    target[this.to++] = doubleQuote;
    if (end - from > manyBytes) {
      if (this.to + end - from <= this.#capacity) this.#bytes.copy(target, this.to, from, end);
      this.to += end - from;
    } else for (let at = from; at < end; at++) target[this.to++] = this.#bytes[at] as number;
    target[this.to++] = doubleQuote;
  }

  #boolean(leaf: Leaf, from: number): number {
    const bytes = this.#bytes;
    const first = bytes[from];
    const isTrue = first === letterT || first === one;
    const token = isTrue ? trueToken : falseToken;
    let end = from + 1;
    if (first === letterT || first === letterF) {
      for (let index = 1; index < token.length; index++)
        if (bytes[end++] !== token[index]) return this.#other(leaf, from);
    } else if (first !== one && first !== zero) return this.#other(leaf, from);
    if (bytes[end] !== lessThan) return this.#other(leaf, from);
    for (let index = 0; index < token.length; index++) this.target[this.to++] = token[index] as number;
    return end;
  }

  /** Converts a text by the function of its type. */
  #other(leaf: Leaf, from: number): number {
    const end = this.#bytes.indexOf(lessThan, from);
    if (end < 0 || end - from > leaf.maxLength) return -1;
    const text = textOf(this.#bytes, from, end);
    return text === undefined ? -1 : this.#token(leaf.tokenOf(text), end);
  }

  /** Writes a token; returns `at`. */
  #token(token: string | undefined, at: number): number {
    if (token === undefined) return -1;
    if (this.to + token.length * 3 > this.#capacity) this.to = this.#capacity + 1;
    else this.to += this.target.write(token, this.to);
    return at;
  }

  /** Returns false for an empty token of a required member (W42). Stores slots and credentials. */
  #isTaken(tag: Tag, before: number): boolean {
    const start = before + tag.key.length;
    const { target } = this;
    const { required, notEmpty } = tag.member;
    if (required && target[start] === letterN) return false;
    if (required && notEmpty && target[start] === doubleQuote && target[start + 1] === doubleQuote)
      return false;
    if (!tag.isSeparate) return true;
    if (!this.hasCapacity) return false;
    const { slot, isKept } = tag.member;
    const token = target.toString('utf8', start, this.to);
    if (slot === undefined) {
      this.#parts[tag.index] = token;
      return true;
    }
    this.slots[slot] = token;
    if (isKept) this.credentials = this.#parts;
    this.to = before;
    return true;
  }
}

/** Maximum length in bytes of a start tag that is cached. */
const longestTag = 256;

/** Maximum number of new start tags per message. The usual reader takes some µs for each. */
const mostLearned = 256;

/** Length in bytes from which base64 is copied by native code. */
const manyBytes = 64;

/** The members that came, by words of 31 bits, of all open elements. */
const seen = new Int32Array(4096);

function isOneBranch(branches: readonly ReadonlySet<number>[], base: number): boolean {
  const members = new Set(branches.flatMap((branch) => [...branch]));
  const its = [...members].filter(
    (index) => ((seen[base + ((index / 31) | 0)] as number) & (1 << (index % 31))) !== 0,
  );
  return branches.some((branch) => its.every((index) => branch.has(index)));
}

/** A text with its references resolved; undefined for one that is refused. */
function textOf(bytes: Buffer, start: number, end: number): string | undefined {
  const raw = bytes.toString('utf8', start, end);
  if (findIllegal(raw) >= 0) return undefined;
  try {
    const scanner = new Scanner(raw, false);
    return scanner.isPlain(0, raw.length) ? raw : scanner.resolveText(0, raw.length, raw.length, false);
  } catch (error) {
    if (error instanceof XmlError) return undefined;
    throw error;
  }
}

/** 1 at the code of each letter of base64 (RFC 4648, 4). */
export const base64Letters = new Uint8Array(256);
for (const letter of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/') {
  base64Letters[letter.charCodeAt(0)] = 1;
}

/** In bytes; shorter spans are looked through where they are met. */
const leastLength = 64 * 1024;

/**
 * Where the letters of base64 stand in long spans, found piece by piece while a body arrives: whoever then reads the
 * whole needn't look at each of 60 million bytes in one go.
 */
export class Base64Spans {
  /** Start and end of each span, in turn. */
  readonly #bounds: number[] = [];
  /** Where the letters that go on began. */
  #start = 0;
  #position = 0;

  /** Bytes in all spans that have ended so far. */
  get total(): number {
    let total = 0;
    for (let index = 0; index < this.#bounds.length; index += 2) {
      total += (this.#bounds[index + 1] ?? 0) - (this.#bounds[index] ?? 0);
    }
    return total;
  }

  /** Start and end of each part of a body of so many bytes that is in no span. */
  gaps(length: number): readonly (readonly [start: number, end: number])[] {
    const gaps: (readonly [number, number])[] = [];
    let at = 0;
    for (let index = 0; index < this.#bounds.length; index += 2) {
      gaps.push([at, this.#bounds[index] ?? 0]);
      at = this.#bounds[index + 1] ?? 0;
    }
    return [...gaps, [at, length]];
  }

  /** The next piece of the body. */
  add(piece: Uint8Array): void {
    const { length } = piece;
    let start = this.#start - this.#position; // below 0: in a piece before
    let at = 0;
    for (;;) {
      at = endOfLetters(piece, at);
      if (at === length) break;
      if (at - start >= leastLength) this.#bounds.push(this.#position + start, this.#position + at);
      start = startOfNext(piece, at + 1);
      at = Math.min(start + leastLength, length);
    }
    this.#start = this.#position + start;
    this.#position += length;
  }

  /** The end of the span that an offset is in; the offset itself where it is in none. A span ends with a byte that is no letter. */
  endFrom(offset: number): number {
    for (let index = 0; index < this.#bounds.length; index += 2) {
      const end = this.#bounds[index + 1] ?? 0;
      if (offset < end) return offset >= (this.#bounds[index] ?? 0) ? end : offset;
    }
    return offset;
  }
}

/** 1 at the number that two letters of base64 are, whichever comes first in memory. */
const letterPairs = new Uint8Array(256 * 256);
for (const [first, isLetter] of base64Letters.entries())
  if (isLetter === 1) letterPairs.set(base64Letters, first * 256);

/** So many letters are looked at one by one: most that begin end as soon. */
const fewLetters = 32;

/** Where the letters that begin at an offset end: four pairs at a time, which takes a fifth of the time. */
function endOfLetters(piece: Uint8Array, from: number): number {
  const { buffer, byteOffset, length } = piece;
  const few = Math.min(length, from + fewLetters + ((byteOffset + from) & 1)); // pairs begin at even addresses
  let at = from;
  while (at < few && base64Letters[piece[at] as number] === 1) at++;
  if (at < few || at === length) return at;
  const pairs = new Uint16Array(buffer, byteOffset + at, (length - at) >> 1);
  let pair = 0;
  while (pair + 3 < pairs.length && areLetters(pairs, pair)) pair += 4;
  at += pair * 2;
  while (at < length && base64Letters[piece[at] as number] === 1) at++;
  return at;
}

/** Whether four pairs are letters, each of them. */
function areLetters(pairs: Uint16Array, at: number): boolean {
  const first =
    (letterPairs[pairs[at] as number] as number) & (letterPairs[pairs[at + 1] as number] as number);
  const last =
    (letterPairs[pairs[at + 2] as number] as number) & (letterPairs[pairs[at + 3] as number] as number);
  return (first & last) === 1;
}

/**
 * Where the next long span begins, at an offset or behind it; else the letters with which the piece ends, which may go on. Looks
 * from behind: a byte that is no letter rules out all long spans that it would be in.
 */
function startOfNext(piece: Uint8Array, from: number): number {
  let start = from;
  while (start + leastLength <= piece.length) {
    const last = startOfLastLetters(piece, start, start + leastLength);
    if (last === start) return start;
    start = last;
  }
  return startOfLastLetters(piece, start, piece.length);
}

/** Where the letters begin with which a part of a piece ends; the part's end where it ends with another byte. */
function startOfLastLetters(piece: Uint8Array, from: number, to: number): number {
  let at = to;
  while (at > from && base64Letters[piece[at - 1] as number] === 1) at--;
  return at;
}

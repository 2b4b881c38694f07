/** 1 at the code of each letter of base64 (RFC 4648, 4). */
export const base64Letters = new Uint8Array(256);
for (const letter of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/') {
  base64Letters[letter.charCodeAt(0)] = 1;
}

/** Minimum length of a recorded span in bytes. Shorter spans are scanned when they are read. */
const leastLength = 64 * 1024;

/**
 * Positions of long spans of base64 letters, found while a body arrives. The reader of the complete body can then skip
 * them and need not scan them at once.
 */
export class Base64Spans {
  /** Start and end of each span, alternating. */
  readonly #bounds: number[] = [];
  /** Start of the current run of letters. */
  #start = 0;
  #position = 0;

  /** Returns the number of bytes in all completed spans. */
  get total(): number {
    let total = 0;
    for (let index = 0; index < this.#bounds.length; index += 2) {
      total += (this.#bounds[index + 1] ?? 0) - (this.#bounds[index] ?? 0);
    }
    return total;
  }

  /** Returns start and end of each range outside spans, for a body of `length` bytes. */
  gaps(length: number): readonly (readonly [start: number, end: number])[] {
    const gaps: (readonly [number, number])[] = [];
    let at = 0;
    for (let index = 0; index < this.#bounds.length; index += 2) {
      gaps.push([at, this.#bounds[index] ?? 0]);
      at = this.#bounds[index + 1] ?? 0;
    }
    return [...gaps, [at, length]];
  }

  /** Adds the next chunk of the body. */
  add(piece: Uint8Array): void {
    const { length } = piece;
    let start = this.#start - this.#position; // negative if the run began in an earlier chunk
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

  /**
   * Returns the end of the span that contains an offset; the offset itself outside spans. The byte after a span is not
   * a letter.
   */
  endFrom(offset: number): number {
    for (let index = 0; index < this.#bounds.length; index += 2) {
      const end = this.#bounds[index + 1] ?? 0;
      if (offset < end) return offset >= (this.#bounds[index] ?? 0) ? end : offset;
    }
    return offset;
  }
}

/** 1 at each number that is a pair of base64 letters, in either byte order. */
const letterPairs = new Uint8Array(256 * 256);
for (const [first, isLetter] of base64Letters.entries())
  if (isLetter === 1) letterPairs.set(base64Letters, first * 256);

/** Number of letters that are checked singly, because most runs of letters are short. */
const fewLetters = 32;

/**
 * Returns the end of the letters that begin at an offset. It checks four pairs at a time, which is faster than single
 * letters.
 */
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

/** Returns true if four pairs consist of letters only. */
function areLetters(pairs: Uint16Array, at: number): boolean {
  const first =
    (letterPairs[pairs[at] as number] as number) & (letterPairs[pairs[at + 1] as number] as number);
  const last =
    (letterPairs[pairs[at + 2] as number] as number) & (letterPairs[pairs[at + 3] as number] as number);
  return (first & last) === 1;
}

/**
 * Returns the start of the next long span, at an offset or after it, or of the letters at the chunk's end, which may
 * continue. It scans backwards: a byte that is not a letter excludes all long spans that contain it.
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

/** Returns the start of the letters at the end of a range; the range's end if it ends with another byte. */
function startOfLastLetters(piece: Uint8Array, from: number, to: number): number {
  let at = to;
  while (at > from && base64Letters[piece[at - 1] as number] === 1) at--;
  return at;
}
